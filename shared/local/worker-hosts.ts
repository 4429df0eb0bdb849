import { messageOf } from "../core/foreign-value";
import { workerExitCodes } from "../core/exit-codes";
import { sleep } from "../platform/real-clock";
import type { HostChild } from "./host-children";

/** One worker of the run: a Functions host in a process of its own. */
export interface WorkerState {
  readonly name: string;
  /** Null: it is being started. */
  readonly pid: number | null;
  /** How often it ended by itself. */
  readonly ends: number;
  /** How it ended last: `SIGKILL`, `exit code 1`; null: it never did. */
  readonly lastEnd: string | null;
}

/** What the workers are made of. */
export interface WorkerHostsOptions {
  readonly names: readonly string[];
  /** Starts one of them and returns when it listens. */
  readonly start: (name: string) => Promise<HostChild>;
  /** A worker ended by itself. */
  readonly onEnd: (worker: WorkerState) => void;
  /** A worker can't be kept running: it has ended so often in a row. Its last words. */
  readonly onGivenUp: (name: string, lastWords: string) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly pauseMs: number;
  /** true: one that can't be kept running is tried again at the next `restart`. Default: it stays down. */
  readonly waitsForRestart?: boolean;
}

/** A worker that lives this long had a good start: a later end doesn't count as a failed start. */
const goodStartMs = 10_000;
/** So many ends in a row, each soon after the start, and the worker isn't started again. */
const badStartsMax = 5;

/** The longest pause that a timer takes: 24 days. */
const forEverMs = 2_147_483_647;

/** The last words of a worker that left because a handler was stuck. */
const stuckEnd = `exit code ${String(workerExitCodes.stuck)}`;

interface Worker {
  readonly name: string;
  child: HostChild | null;
  ends: number;
  lastEnd: string | null;
  /** Its end isn't its own. */
  isRestarting: boolean;
  /** Aborted by a restart: ends a pause. */
  pause: AbortController;
}

/** Keeps the workers of a run alive: one that ends by itself is started again. */
export class WorkerHosts {
  readonly #options: WorkerHostsOptions;
  readonly #workers: readonly Worker[];
  readonly #stopping = new AbortController();
  #keepers: Promise<void>[] = [];

  constructor(options: WorkerHostsOptions) {
    this.#options = options;
    this.#workers = options.names.map((name) => ({
      name,
      child: null,
      ends: 0,
      lastEnd: null,
      isRestarting: false,
      pause: new AbortController(),
    }));
  }

  /** Starts all of them. Rejects when one doesn't start; those that did are ended by `stop`. */
  async start(): Promise<void> {
    const started = await Promise.allSettled(
      this.#workers.map(async (worker) => {
        worker.child = await this.#options.start(worker.name);
        this.#keepers.push(this.#keep(worker));
      }),
    );
    for (const result of started) if (result.status === "rejected") throw result.reason;
  }

  /** In the order of their names. */
  states(): WorkerState[] {
    return this.#workers.map(stateOf);
  }

  /** Ends each worker in good order, with its tasks given back, and starts it again with the present build. */
  async restart(): Promise<void> {
    await Promise.all(
      this.#workers.map(async (worker) => {
        worker.isRestarting = true;
        worker.pause.abort();
        await worker.child?.stop();
      }),
    );
  }

  /** Ends all of them: running tasks are given back. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#workers.map(({ child }) => child?.stop() ?? Promise.resolve()));
    await Promise.all(this.#keepers);
  }

  /** Until the run ends: lets it live, notes its end, and begins again. */
  async #keep(worker: Worker): Promise<void> {
    const { onEnd, onGivenUp, pauseMs, waitsForRestart = false } = this.#options;
    const { signal } = this.#stopping;
    for (let badStarts = 0; ;) {
      const { lastWords, livedMs } = await this.#live(worker);
      if (signal.aborted) return;
      if (worker.isRestarting) {
        badStarts = 0;
        continue;
      }
      // One that ends because a handler is stuck ran well: the task has its attempts, and the worker as many lives.
      const isBad = livedMs < goodStartMs && lastWords !== stuckEnd;
      badStarts = isBad ? badStarts + 1 : 0;
      worker.ends += 1;
      worker.lastEnd = lastWords;
      onEnd(stateOf(worker));
      const isGivenUp = badStarts >= badStartsMax;
      if (isGivenUp) {
        onGivenUp(worker.name, lastWords);
        if (!waitsForRestart) return;
        badStarts = 0;
      }
      const waking = AbortSignal.any([signal, worker.pause.signal]);
      await sleep(isGivenUp ? forEverMs : pauseMs, waking);
    }
  }

  /** One life of a worker, from its start, unless it runs already, to its end. */
  async #live(worker: Worker): Promise<{ lastWords: string; livedMs: number }> {
    const { start, nowMs } = this.#options;
    try {
      if (worker.child === null) {
        worker.isRestarting = false;
        worker.pause = new AbortController();
        worker.child = await start(worker.name);
      }
      const startedAtMs = nowMs();
      // Told to end while it started.
      if (this.#stopping.signal.aborted || worker.isRestarting) await worker.child.stop();
      return { lastWords: await worker.child.exited, livedMs: nowMs() - startedAtMs };
    } catch (error) {
      return { lastWords: messageOf(error), livedMs: 0 };
    } finally {
      worker.child = null;
    }
  }
}

function stateOf({ name, child, ends, lastEnd }: Worker): WorkerState {
  return { name, pid: child?.pid ?? null, ends, lastEnd };
}

/** `Worker local-2 ended by itself (SIGKILL): it is started again; its tasks come back when its lease is over.` */
export function describeEnd({ name, lastEnd }: WorkerState): string {
  if (lastEnd === stuckEnd)
    return `Worker ${name} ended because a task ran on after its time-out (${lastEnd}): it is started again; the task's token comes back when its lease is over.`;
  return `Worker ${name} ended by itself (${lastEnd ?? "unknown"}): it is started again; its tasks come back when its lease is over.`;
}
