import { addTasks } from "../../shared/admin/enqueue-actions";
import { asOperationId } from "../../shared/core/ids";
import { FreeTokenHints } from "../../shared/platform/free-token-hints";
import { createStorageQueueWakeUp } from "../../shared/platform/storage-queue-wake-up";
import type { Logger } from "../../shared/ports/logger";
import type { TaskStore } from "../../shared/ports/task-store";
import { noTelemetry } from "../../shared/ports/telemetry";
import type { WakeUp } from "../../shared/ports/wake-up";
import { createSeededRandom } from "../../shared/testing/seeded-random";
import { TaskClient } from "../../shared/worker/client/client";
import { defineTask } from "../../shared/worker/define/define-task";
import { createRegistry } from "../../shared/worker/define/registry";
import { taskRequest } from "../../shared/worker/define/task-ref";
import type { WorkerEnvironment } from "../../shared/worker/environment";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { runWorker } from "../../shared/worker/run/run-worker";
import { registerBuild } from "../../shared/worker/run/schedules";
import { Chance } from "./chance";
import { Database } from "./database";
import { Host } from "./host";
import { connect } from "./remote-store";
import { VirtualTime } from "./virtual-time";

/** Programs that add tasks: HTTP API and command line share one way, clients and running tasks the other. */
export type Enqueuer = "API and command line" | "clients and tasks";

export interface EnqueueScene {
  readonly by: Enqueuer;
  readonly limit: number | null;
  /** Processes that add tasks, in turn; default 1. */
  readonly processes?: number;
  /** Tasks that are added one by one, and the pause between two. */
  readonly tasks: number;
  readonly everyMs: number;
  readonly taskMs: number;
  /** A hint wakes a host within this time. */
  readonly arrivesWithinMs: number;
  readonly seed: number;
  /** A limit beside the definition's own; another definition has it, too, and holds all of its tokens for so long. */
  readonly shared?: { readonly limit: number; readonly heldMs: number };
  readonly perSecond?: number;
  /** How long all of it lasts. */
  readonly lastsMs: number;
  /** An operator's calls, at an instant after the start. */
  readonly operator?: readonly {
    readonly atMs: number;
    readonly act: (store: TaskStore, wakeUp: WakeUp) => Promise<void>;
  }[];
}

/** What came of it. */
export interface Played {
  /** Invocations that the hints of enqueuers caused. */
  readonly invocations: number;
  /** Tasks that began, and the longest time that one of them waited for it, ms. */
  readonly begun: number;
  readonly waitedMaxMs: number;
  readonly heldMax: number;
}

export const definitionName = "import";

const quiet = (): void => undefined;
const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Tasks are added one by one; each hint wakes a worker in a process of its own, as an invocation does. No sweep runs. */
export async function playEnqueues(options: EnqueueScene): Promise<Played> {
  const scene = new Scene(options);
  await scene.open();
  const startMs = scene.time.nowMs;
  for (let index = 0; index < options.tasks; index += 1)
    scene.time.after(index * options.everyMs, () => {
      scene.add(index);
    });
  for (const { atMs, act } of options.operator ?? [])
    scene.time.after(atMs, () => {
      scene.operate(act);
    });
  await scene.time.run(startMs + options.lastsMs);
  return scene.result();
}

class Scene {
  readonly time = new VirtualTime();
  readonly #options: EnqueueScene;
  readonly #chance: Chance;
  readonly #database: Database;
  readonly #addedAtMs = new Map<number, number>();
  readonly #waitedMs: number[] = [];
  readonly #enqueuers: ReturnType<Scene["boot"]>[];
  #hosts = 0;
  #invocations = 0;
  #heldMax = 0;

  constructor(options: EnqueueScene) {
    this.#options = options;
    const random = createSeededRandom(options.seed);
    this.#chance = new Chance(random);
    this.#database = new Database({
      time: this.time,
      random,
      tamper: null,
      observer: { before: quiet, after: this.#watch },
    });
    this.#enqueuers = Array.from({ length: options.processes ?? 1 }, () => this.boot(true));
  }

  /** Definitions are known before the first task is added, and the other one holds what it holds. */
  async open(): Promise<void> {
    const [enqueuer] = this.#enqueuers;
    if (enqueuer === undefined) return;
    const { environment, registry } = enqueuer;
    const known = registerBuild(environment, registry);
    await this.time.run(10_000);
    await known;
    const { shared } = this.#options;
    if (shared === undefined) return;
    const { store } = environment;
    const { host } = enqueuer;
    const operationId = asOperationId(environment.random.uuid());
    const input = { name: "other", operationId, worker: "other", build: 1, settingsHash: null };
    const holding = store
      .startExecution({ ...input, want: shared.limit, needsReady: false })
      .then(async ({ executionId }) => {
        if (executionId === null) throw new Error("The other definition got no token");
        await host.sleep(shared.heldMs);
        const { woken } = await store.finishExecution({ executionId });
        for (const name of woken) void environment.wakeUp.hint(name);
      });
    void holding;
    await this.time.run(this.time.nowMs + 1_000);
  }

  add(index: number): void {
    const enqueuer = this.#enqueuers[index % this.#enqueuers.length];
    if (enqueuer === undefined) return;
    const { host, client, environment, task } = enqueuer;
    this.#addedAtMs.set(index, this.time.nowMs);
    const payload = { index };
    host.deliver(0, () => {
      if (this.#options.by === "clients and tasks") {
        void client.enqueueAll([taskRequest(task, payload)]);
        return;
      }
      const addition = {
        definition: definitionName,
        rows: [{ kind: definitionName, payload: JSON.stringify(payload) }],
        operationId: asOperationId(environment.random.uuid()),
        changedBy: "an operator",
      };
      void addTasks(environment, addition);
    });
  }

  operate(act: (store: TaskStore, wakeUp: WakeUp) => Promise<void>): void {
    const [enqueuer] = this.#enqueuers;
    if (enqueuer !== undefined) void act(enqueuer.environment.store, enqueuer.environment.wakeUp);
  }

  result(): Played {
    return {
      invocations: this.#invocations,
      begun: this.#waitedMs.length,
      waitedMaxMs: Math.max(0, ...this.#waitedMs),
      heldMax: this.#heldMax,
    };
  }

  readonly #watch = (): void => {
    const held = [...this.#database.rows.executions.values()]
      .filter((row) => row.state === "live" && row.worker !== "other")
      .reduce((sum, row) => sum + row.tokenCount, 0);
    this.#heldMax = Math.max(this.#heldMax, held);
  };

  /** A message reaches a process: an invocation of `run`. */
  #invoke(): void {
    const { host, environment, registry } = this.boot(false);
    host.deliver(0, () => {
      const deadlineMs = host.clock.monotonicMs() + 600_000;
      const signal = new AbortController().signal;
      void runWorker(
        {
          environment,
          registry,
          heartbeat: new Heartbeat(environment),
          concurrencyPerWorker: 1,
          idleReads: 1,
          idlePauseMs: 100,
        },
        definitionName,
        { deadlineMs, marginMs: 2_000, signal },
      );
    });
  }

  boot(isEnqueuer: boolean) {
    this.#hosts += 1;
    const host = new Host(`host-${String(this.#hosts)}`, {
      time: this.time,
      wallOffsetMs: 0,
      onCrash: quiet,
    });
    const { limit, shared, perSecond, taskMs } = this.#options;
    const rate = perSecond === undefined ? {} : { rate: { count: perSecond, periodMs: 1_000 } };
    const within = shared === undefined ? [] : [{ name: "partner", limit: shared.limit }];
    const run = async ({ index }: { index: number }): Promise<void> => {
      this.#waitedMs.push(this.time.nowMs - (this.#addedAtMs.get(index) ?? 0));
      await host.sleep(taskMs);
    };
    // A task that another one's worker has claimed ahead would leave the worker that its hint wakes without one.
    const prefetch = 0;
    const task = defineTask({ name: definitionName, limit, within, ...rate, prefetch, run });
    const other = defineTask({ name: "other", limit: null, within, run: () => Promise.resolve() });
    const registry = createRegistry([task, other]);
    const store = connect({
      host,
      time: this.time,
      chance: this.#chance,
      database: this.#database,
      faults: () => ({ rate: 0, slowRate: 0 }),
    });
    const timed = { clock: host.clock, timers: host.timers };
    const queue = {
      send: async (_: string, delaySeconds: number): Promise<void> => {
        const inMs = delaySeconds * 1_000 + this.#chance.between(5, this.#options.arrivesWithinMs);
        this.time.after(inMs, () => {
          if (isEnqueuer) this.#invocations += 1;
          this.#invoke();
        });
      },
    };
    const hints = new FreeTokenHints({
      ...timed,
      hints: createStorageQueueWakeUp({ ...timed, queue, logger }),
      store: () => store,
    });
    const environment: WorkerEnvironment = {
      ...timed,
      store,
      // A worker's look for help is no enqueuer's hint.
      wakeUp: {
        hint: async (...hint) => (hint[1]?.isForMore === true ? undefined : hints.hint(...hint)),
      },
      random: this.#chance.random,
      logger,
      telemetry: noTelemetry,
      workerName: host.name,
      build: 1,
    };
    return { host, task, environment, registry, client: new TaskClient(environment, registry) };
  }
}
