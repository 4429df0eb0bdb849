import { createStorageQueueWakeUp } from "../../shared/platform/storage-queue-wake-up";
import type { Logger } from "../../shared/ports/logger";
import { noTelemetry } from "../../shared/ports/telemetry";
import type { DefinitionRow } from "../../shared/testing/memory-store/state";
import { countHeld } from "../../shared/testing/memory-store/token-pool";
import { createSeededRandom } from "../../shared/testing/seeded-random";
import { TaskClient } from "../../shared/worker/client/client";
import { defineTask } from "../../shared/worker/define/define-task";
import type { WorkerEnvironment } from "../../shared/worker/environment";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { createRegistry } from "../../shared/worker/define/registry";
import { runWorker } from "../../shared/worker/run/run-worker";
import { Chance } from "./chance";
import { Database } from "./database";
import { holdBucket } from "./held-bucket";
import { Host } from "./host";
import { IdleTokens } from "./idle-tokens";
import { connect } from "./remote-store";
import { locksTokens } from "./token-locks";
import { VirtualTime } from "./virtual-time";
import { taskRequest } from "../../shared/worker/define/task-ref";

/** Hosts that arrive one after the other while there is more to do than they can. */
export interface SpreadOptions {
  readonly hosts: number;
  readonly arriveEveryMs: number;
  /** Of each definition; null: none. */
  readonly limit: number | null;
  readonly tasks: number;
  readonly taskMs: number;
  /** Tasks keep their host's event loop busy: one after the other, and nothing else happens there. */
  readonly isBlocking: boolean;
  /** How long an execution may last. */
  readonly executionMs: number;
  /** How long all of it lasts. */
  readonly lastsMs: number;
  readonly seed: number;
  /** What happens to every other host whose denial was noted, while it asks again; default: nothing. */
  readonly fateOfNoted?: "crash" | "stop";
  /** Limits that all definitions share, besides their own; default: none. */
  readonly sharedLimits?: readonly number[];
  /** So many tasks a second may begin; default: any number. */
  readonly perSecond?: number;
  /** Hosts work for one of them each, in turn; default: for one. */
  readonly definitions?: number;
  /** How long a claim keeps the row of the rate, until its commit; default: no claim meets it held. */
  readonly rateHeldMs?: number;
}

/** How the tokens came about. */
export interface Spread {
  /** Tokens that each host's live executions hold at the end, in the order of arrival. */
  readonly tokens: readonly number[];
  /** Tasks that each host ran, and when each one began. */
  readonly begun: readonly (readonly number[])[];
  readonly heldMax: number;
  /** The most that was held of each shared limit. */
  readonly sharedMax: readonly number[];
  /** The longest time that a token was free while tasks waited and a living host wanted it. */
  readonly idleMostMs: number;
  /** Instants at which a denial was noted. */
  readonly notedAtMs: readonly number[];
  readonly statements: number;
  /** Those that changed the first definition's tokens: on a database each is a commit on the definition's row. */
  readonly tokenCommits: number;
  /** Those that decide under the lock of the first definition's row, also where they then change nothing. */
  readonly tokenLocks: number;
}

const quiet = (): void => undefined;
const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const marginMs = 2_000;
const concurrency = 8;
const names = ["import", "export", "report"];

/** Runs the shipped worker on such hosts; a hint wakes any of them. */
export async function spread(options: SpreadOptions): Promise<Spread> {
  const scene = new Scene(options);
  await scene.enqueue();
  const startMs = scene.time.nowMs;
  for (let count = 0; count < options.hosts; count += 1)
    scene.time.after(count * options.arriveEveryMs, () => {
      scene.arrive();
    });
  await scene.time.run(startMs + options.lastsMs);
  return scene.result(startMs);
}

interface Arrived {
  readonly host: Host;
  readonly name: string;
  readonly begun: number[];
  readonly stop: AbortController;
  readonly work: () => Promise<unknown>;
  /** Invocations that go on. */
  running: number;
}

class Scene {
  readonly time = new VirtualTime();
  readonly #options: SpreadOptions;
  readonly #chance: Chance;
  readonly #database: Database;
  readonly #hosts: Arrived[] = [];
  readonly #noted: number[] = [];
  readonly #idle = new IdleTokens();
  #fates = 0;
  #heldMax = 0;
  readonly #sharedMax: number[] = [];
  #statements = 0;
  #tokenCommits = 0;
  #tokenLocks = 0;
  #tokens = "";

  constructor(options: SpreadOptions) {
    this.#options = options;
    const random = createSeededRandom(options.seed);
    this.#chance = new Chance(random);
    this.#database = new Database({
      time: this.time,
      random,
      tamper:
        options.rateHeldMs === undefined
          ? null
          : holdBucket({ heldMs: options.rateHeldMs, chance: this.#chance }),
      observer: {
        before: ({ operation }) => {
          const row = this.#row;
          if (row !== undefined && locksTokens(operation, row, this.#database.nowMs))
            this.#tokenLocks += 1;
        },
        after: ({ host }, answer) => {
          this.#watch();
          if ((answer as { demand?: unknown }).demand === "noted") this.#meetFate(host);
        },
      },
    });
  }

  /** Fills the queue from a machine that doesn't work. */
  async enqueue(): Promise<void> {
    const { environment, registry, tasks } = this.#boot("client", []);
    const client = new TaskClient(environment, registry);
    const enqueued = tasks.map((task) =>
      client.enqueueAll(Array.from({ length: this.#options.tasks }, () => taskRequest(task))),
    );
    await this.time.run(10_000);
    await Promise.all(enqueued);
  }

  /** A host comes because of a message. */
  arrive(): void {
    const begun: number[] = [];
    const count = this.#hosts.length;
    const name = names[count % (this.#options.definitions ?? 1)] ?? "import";
    const { host, environment, registry } = this.#boot(`host-${String(count)}`, begun);
    const heartbeat = new Heartbeat(environment);
    const stop = new AbortController();
    const work = async (): Promise<void> => {
      arrived.running += 1;
      await runWorker(
        {
          environment,
          registry,
          heartbeat,
          concurrencyPerWorker: concurrency,
          idleReads: 1,
          idlePauseMs: 100,
        },
        name,
        {
          deadlineMs: host.clock.monotonicMs() + this.#options.executionMs,
          marginMs,
          signal: stop.signal,
        },
      );
      arrived.running -= 1;
    };
    const arrived: Arrived = { host, name, begun, stop, work, running: 0 };
    this.#hosts.push(arrived);
    host.deliver(0, () => void work());
  }

  result(startMs: number): Spread {
    const { executions } = this.#database.rows;
    return {
      tokens: this.#hosts.map(({ host }) =>
        [...executions.values()]
          .filter((row) => row.worker === host.name && row.state === "live")
          .reduce((sum, row) => sum + row.tokenCount, 0),
      ),
      begun: this.#hosts.map(({ begun }) => begun.map((atMs) => atMs - startMs)),
      heldMax: this.#heldMax,
      sharedMax: this.#sharedMax,
      idleMostMs: this.#idle.longestMs,
      notedAtMs: this.#noted.map((atMs) => atMs - startMs),
      statements: this.#statements,
      tokenCommits: this.#tokenCommits,
      tokenLocks: this.#tokenLocks,
    };
  }

  get #row(): DefinitionRow | undefined {
    return [...this.#database.rows.definitions.values()][0];
  }

  /** After each call: held tokens, whether one idles, whether a denial was noted. */
  #watch(): void {
    this.#statements += 1;
    const row = this.#row;
    if (row === undefined) return;
    if (row.executionTokens !== this.#tokens) this.#tokenCommits += 1;
    this.#tokens = row.executionTokens;
    const held = countHeld(row);
    this.#heldMax = Math.max(this.#heldMax, held);
    [...this.#database.rows.sharedLimits.values()].forEach((shared, at) => {
      this.#sharedMax[at] = Math.max(this.#sharedMax[at] ?? 0, countHeld(shared));
    });
    const isWanted =
      this.#database.rows.ready.length > 0 && this.#hosts.some((host) => this.#wants(host));
    this.#idle.see(this.time.nowMs, row.executionTokens, isWanted);
    const notedMs = row.deniedAtMs - this.#database.nowMs + this.time.nowMs;
    const last = this.#noted.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (Number.isFinite(notedMs) && notedMs > last + 1) this.#noted.push(notedMs);
  }

  /** Would it take a token? It has room for another task, or asks again. */
  #wants({ host, stop, running }: Arrived): boolean {
    if (host.isDead || stop.signal.aborted || running === 0) return false;
    const own = [...this.#database.rows.executions.values()].filter(
      (row) => row.worker === host.name && row.state === "live",
    );
    return own.length < running || own.some((row) => row.tokenCount < concurrency);
  }

  /** Half of those that ask again don't live to see the gift, or are told to stop. */
  #meetFate(host: Host | null): void {
    const { fateOfNoted } = this.#options;
    this.#fates += 1;
    if (fateOfNoted === undefined || host === null || this.#fates % 2 === 0) return;
    this.time.after(this.#chance.between(0, 300), () => {
      const arrived = this.#hosts.find((one) => one.host === host);
      if (fateOfNoted === "crash") host.crash();
      else arrived?.stop.abort();
      this.#watch();
    });
  }

  /** A hint arrives: any host that works for its definition may be the one that fetches it. */
  #onHint(message: string, delaySeconds: number): void {
    const { taskDefinition } = JSON.parse(message) as { taskDefinition: string };
    this.time.after(delaySeconds * 1_000 + this.#chance.between(5, 400), () => {
      const hosts = this.#hosts.filter(
        ({ host, name, stop }) => name === taskDefinition && !host.isDead && !stop.signal.aborted,
      );
      if (hosts.length > 0) {
        const { host, work } = this.#chance.pick(hosts);
        host.deliver(0, () => void work());
      }
    });
  }

  #boot(hostName: string, begun: number[]) {
    const host = new Host(hostName, { time: this.time, wallOffsetMs: 0, onCrash: quiet });
    let busyUntilMs = 0;
    const run = async () => {
      const { isBlocking, taskMs } = this.#options;
      begun.push(Math.max(this.time.nowMs, busyUntilMs));
      if (!isBlocking) return host.sleep(taskMs);
      busyUntilMs = Math.max(this.time.nowMs, busyUntilMs) + taskMs;
      host.freeze(busyUntilMs - this.time.nowMs);
      return host.sleep(0);
    };
    const { limit, sharedLimits = [], definitions = 1, perSecond } = this.#options;
    const rate = perSecond === undefined ? {} : { rate: { count: perSecond, periodMs: 1_000 } };
    const shared = sharedLimits.map((max, at) => ({ name: `partner-${String(at)}`, limit: max }));
    const tasks = names
      .slice(0, definitions)
      .map((name) => defineTask({ name, limit, within: shared, ...rate, run }));
    const environment: WorkerEnvironment = {
      store: connect({
        host,
        time: this.time,
        chance: this.#chance,
        database: this.#database,
        faults: () => ({ rate: 0, slowRate: 0 }),
      }),
      wakeUp: createStorageQueueWakeUp({
        queue: {
          send: async (message, delaySeconds) => {
            this.#onHint(message, delaySeconds);
          },
        },
        clock: host.clock,
        timers: host.timers,
        logger,
      }),
      random: this.#chance.random,
      logger,
      clock: host.clock,
      timers: host.timers,
      telemetry: noTelemetry,
      workerName: hostName,
      build: 1,
    };
    return { host, tasks, environment, registry: createRegistry(tasks) };
  }
}
