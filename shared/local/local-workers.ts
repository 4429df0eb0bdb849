import { realClock } from "../platform/real-clock";
import { loadSettings } from "../settings/load-settings";
import type { Breakage } from "./breakage";
import { watchBuild } from "./build-watch";
import { LOCAL_HOST } from "./free-port";
import { HostFailure, startHostChild } from "./host-children";
import type { HostChild, TimerReport } from "./host-children";
import { readLocalSettings } from "./local-app";
import type { LocalLog } from "./local-log";
import type { RunPlan } from "./run-plan";
import { showStep } from "./steps";
import { describeEnd, WorkerHosts } from "./worker-hosts";
import type { WorkerState } from "./worker-hosts";
import { workerSettings } from "./worker-settings";
import type { WorkerPlaces } from "./worker-settings";

/** Before a worker that ended by itself is started again: long enough to be seen. */
const restartPauseMs = 1_000;

/** A run that has begun waits for the next build. */
const firstBuild = "Mend it and start `taskgate dev` again: the first build must load.";

/** What the workers of a run share. */
export interface Hosting {
  readonly places: WorkerPlaces;
  readonly log: LocalLog;
  readonly broken: Breakage;
}

/** The workers of a run, the first of them on the wanted port and with the timers. */
export class LocalWorkers {
  readonly #plan: RunPlan;
  readonly #hosting: Hosting;
  readonly #hosts: WorkerHosts;
  /** Of the first worker, when it started last. */
  #routes: readonly string[] = [];
  /** By timer, of its last run: the message of its error. */
  readonly #failures = new Map<string, string>();
  restarts = 0;

  constructor(plan: RunPlan, hosting: Hosting) {
    this.#plan = plan;
    this.#hosting = hosting;
    const { hosts } = plan.options;
    const names = Array.from({ length: hosts }, (_, index) => `local-${String(index + 1)}`);
    this.#hosts = new WorkerHosts({
      names,
      start: (name) => this.#startOne(name, name === names[0]),
      onEnd: (worker) => {
        hosting.log.add(describeEnd(worker));
      },
      onGivenUp: (name, lastWords) => {
        if (this.#isWatching)
          hosting.log.add(`error Worker ${name} waits for the next build: ${lastWords}`);
        else hosting.broken.tell(`Worker ${name}`, `again and again: ${lastWords}`);
      },
      nowMs: realClock.monotonicMs,
      pauseMs: restartPauseMs,
      waitsForRestart: this.#isWatching,
    });
  }

  /** Starts them, and watches what they are built of. */
  async start(): Promise<void> {
    const { app, options, teardown, signal } = this.#plan;
    if (options.hosts === 0) return;
    // Before the workers load the build: a later one is noticed.
    const endWatch = this.#isWatching ? await watchBuild(app, () => this.#restart()) : null;
    teardown.add("the workers", () => this.#hosts.stop());
    if (endWatch !== null) teardown.add("the watch of the build", endWatch);
    const what = options.hosts === 1 ? "a worker" : `${String(options.hosts)} workers`;
    try {
      await showStep(this.#plan, `Starting ${what}`, () => this.#hosts.start());
    } catch (error) {
      if (!(error instanceof HostFailure)) throw error;
      throw new Error(`${error.message}\n${firstBuild}`, { cause: error });
    }
    signal.throwIfAborted();
  }

  states(): WorkerState[] {
    return this.#hosts.states();
  }

  /** Timers whose last run failed, with the message of its error. */
  failingTimers(): ReadonlyMap<string, string> {
    return this.#failures;
  }

  pageUrl(): string | null {
    const route = this.#routes.find((path) => path.endsWith("dashboard/{file?}"));
    if (route === undefined) return null;
    const path = route.replace("/{file?}", "");
    return `http://${LOCAL_HOST}:${String(this.#plan.options.port)}/${path}`;
  }

  /** A run with an end of its own runs one build from its beginning to that end. */
  get #isWatching(): boolean {
    return !this.#plan.options.isOnce;
  }

  async #startOne(name: string, isFirst: boolean): Promise<HostChild> {
    const { app, options } = this.#plan;
    const { places, log } = this.#hosting;
    const env = {
      ...workerSettings(places, readLocalSettings(app.root)),
      TASKGATE_WORKER_NAME: name,
    };
    // Each of the app's functions would fail with it, and nothing but the log would tell.
    loadSettings(env);
    const port = isFirst ? options.port : 0;
    // Another build may have other timers.
    if (isFirst) this.#failures.clear();
    const child = await startHostChild(
      { appRoot: app.root, port, runsTimers: isFirst, env },
      (line) => {
        log.add(options.hosts === 1 ? line : `[${name}] ${line}`);
      },
      (report) => {
        this.#noteTimer(report);
      },
    );
    if (isFirst) this.#routes = child.routes;
    return child;
  }

  #noteTimer({ name, failure }: TimerReport): void {
    if (failure === null) this.#failures.delete(name);
    else this.#failures.set(name, failure);
  }

  async #restart(): Promise<void> {
    this.#hosting.log.add("info The app was built anew: the workers start again.");
    this.restarts += 1;
    await this.#hosts.restart();
  }
}
