import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import type { WakeUp } from "../../shared/ports/wake-up";
import { openStore } from "../../shared/store/open-store";
import { TaskClient } from "../../shared/worker/client/client";
import type { WorkerEnvironment } from "../../shared/worker/environment";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { createRegistry } from "../../shared/worker/define/registry";
import { runWorker } from "../../shared/worker/run/run-worker";
import type { WorkerResult } from "../../shared/worker/run/run-worker";
import type { AnyTaskKind } from "../../shared/worker/define/task-kind";
import { quietEnvironment } from "../support/quiet-environment";

/** What a scenario works with: the product's own parts, no telemetry, no log. */
export interface Bench {
  readonly environment: WorkerEnvironment;
  readonly client: TaskClient;
  /** One execution of at most `mostMs`. */
  work(
    definition: string,
    options?: { concurrency?: number; maxMs?: number; signal?: AbortSignal },
  ): Promise<WorkerResult>;
  close(): Promise<void>;
}

/** What a scenario has in place of the plain ones. */
export interface BenchParts {
  readonly wakeUp?: WakeUp;
  readonly decorate?: (store: TaskStore) => TaskStore;
}

/** Opens the product over a database that has its schema. */
export function openBench(
  url: string,
  kinds: readonly AnyTaskKind[],
  { wakeUp, decorate = (store) => store }: BenchParts = {},
): Bench {
  const store = decorate(openStore({ url, connectionsMax: 4, random: realRandom, sleep }));
  const environment = quietEnvironment(store, {
    workerName: `bench ${String(process.pid)}`,
    ...(wakeUp === undefined ? {} : { wakeUp }),
  });
  const registry = createRegistry(kinds);
  const heartbeat = new Heartbeat(environment);
  return {
    environment,
    client: new TaskClient(environment, registry),
    work: (definition, options = {}) =>
      runWorker(
        {
          environment,
          registry,
          heartbeat,
          concurrencyPerWorker: options.concurrency ?? 8,
          idleReads: 0,
          idlePauseMs: 5,
        },
        definition,
        {
          deadlineMs: realClock.monotonicMs() + (options.maxMs ?? 120_000),
          marginMs: 100,
          signal: options.signal ?? new AbortController().signal,
        },
      ),
    close: () => store.close(),
  };
}
