import { asTaskId } from "../../../shared/core/ids";
import type { JsonObject } from "../../../shared/core/json";
import { nodeTimers } from "../../../shared/platform/node-timers";
import { realClock, realRandom } from "../../../shared/platform/real-clock";
import type { LogFields, Logger } from "../../../shared/ports/logger";
import type { TaskFacts, TaskStore } from "../../../shared/ports/task-store";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { TaskClient } from "../../../shared/worker/client/client";
import type { WorkerEnvironment } from "../../../shared/worker/environment";
import { Heartbeat } from "../../../shared/worker/run/heartbeat";
import { createRegistry } from "../../../shared/worker/define/registry";
import { runWorker } from "../../../shared/worker/run/run-worker";
import type { WorkerResult } from "../../../shared/worker/run/run-worker";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";
import { recordTelemetry } from "../../support/recorded-telemetry";
import type { RecordedTelemetry } from "../../support/recorded-telemetry";

/** A worker over the memory store: the product's own parts, real time, what it says and hints kept for the test. */
export interface WorkerBench {
  readonly store: TaskStore;
  readonly environment: WorkerEnvironment;
  readonly client: TaskClient;
  readonly heartbeat: Heartbeat;
  readonly telemetry: RecordedTelemetry;
  readonly lines: { level: string; message: string; fields: LogFields | undefined }[];
  readonly hints: { definition: string; inMs: number | undefined }[];
  /** One execution; by default it may last 10 s. */
  work(
    name: string,
    options?: {
      maxMs?: number;
      marginMs?: number;
      signal?: AbortSignal;
      concurrency?: number;
      idleReads?: number;
      idlePauseMs?: number;
    },
  ): Promise<WorkerResult>;
}

/** `wrap` may stand between the worker and the store: to lose answers, to look at calls. */
export function openWorkerBench(
  kinds: readonly AnyTaskKind[],
  options: { build?: number; wrap?: (store: TaskStore) => TaskStore; store?: TaskStore } = {},
): WorkerBench {
  const lines: WorkerBench["lines"] = [];
  const hints: WorkerBench["hints"] = [];
  const say = (level: string) => (message: string, fields?: LogFields) =>
    void lines.push({ level, message, fields });
  const logger: Logger = {
    debug: say("debug"),
    info: say("info"),
    warn: say("warn"),
    error: say("error"),
  };
  const inner =
    options.store ??
    new MemoryTaskStore({ clock: { now: () => realClock.nowMs() }, random: realRandom });
  const store = options.wrap?.(inner) ?? inner;
  const telemetry = recordTelemetry();
  const environment: WorkerEnvironment = {
    store,
    logger,
    clock: realClock,
    timers: nodeTimers,
    random: realRandom,
    telemetry,
    wakeUp: { hint: async (definition, hint) => void hints.push({ definition, inMs: hint?.inMs }) },
    workerName: "test",
    build: options.build ?? 1,
  };
  const registry = createRegistry(kinds);
  const heartbeat = new Heartbeat(environment);
  return {
    store,
    environment,
    heartbeat,
    telemetry,
    lines,
    hints,
    client: new TaskClient(environment, registry),
    work: (name, asked = {}) =>
      runWorker(
        {
          environment,
          registry,
          heartbeat,
          concurrencyPerWorker: asked.concurrency ?? 8,
          idleReads: asked.idleReads ?? 1,
          idlePauseMs: asked.idlePauseMs ?? 5,
        },
        name,
        {
          deadlineMs: realClock.monotonicMs() + (asked.maxMs ?? 10_000),
          marginMs: asked.marginMs ?? 100,
          signal: asked.signal ?? new AbortController().signal,
        },
      ),
  };
}

/** Forwards everything but `methods`. */
export function overriding(store: TaskStore, methods: Partial<TaskStore>): TaskStore {
  return new Proxy(store, {
    get: (target, property) => {
      const own: unknown = Reflect.get(methods, property);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** What explain tells of a task. */
export async function factsOf(bench: WorkerBench, taskId: string): Promise<TaskFacts> {
  const { facts } = await bench.store.explainTask({ taskId: asTaskId(taskId) });
  if (facts === null) throw new Error(`task ${taskId} is unknown`);
  return facts;
}

/** Adds a task; answers its id. */
export async function enqueueOne(
  bench: WorkerBench,
  task: AnyTaskKind,
  payload: JsonObject = {},
): Promise<string> {
  const { taskId } = await bench.client.enqueue(task, payload);
  return taskId;
}
