import { serialize } from "node:v8";
import { createStorageQueueWakeUp } from "../../shared/platform/storage-queue-wake-up";
import type { Logger } from "../../shared/ports/logger";
import { noTelemetry } from "../../shared/ports/telemetry";
import { createSeededRandom } from "../../shared/testing/seeded-random";
import { defineTask } from "../../shared/worker/define/define-task";
import { TaskClient } from "../../shared/worker/client/client";
import type { WorkerEnvironment } from "../../shared/worker/environment";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { createRegistry } from "../../shared/worker/define/registry";
import { runWorker } from "../../shared/worker/run/run-worker";
import type { WorkerResult } from "../../shared/worker/run/run-worker";
import { Chance } from "./chance";
import { Database } from "./database";
import { Host } from "./host";
import { connect } from "./remote-store";
import { VirtualTime } from "./virtual-time";
import { taskRequest } from "../../shared/worker/define/task-ref";

/** What a stampede cost. */
export interface Stampede {
  /** Hosts by how their execution went. */
  readonly results: Record<WorkerResult["status"], number>;
  readonly tasksRun: number;
  readonly mostAtOnce: number;
  /** Calls in the air at once: connections that are needed. */
  readonly connectionsMax: number;
  /** Statements of hosts that were denied; the most of one of them. */
  readonly deniedStatements: number;
  readonly deniedStatementsMax: number;
  /** Denied asks that changed a row. */
  readonly deniedWrites: number;
  readonly statements: number;
  /** Hints left by all. */
  readonly hints: number;
}

const quiet = (): void => undefined;
const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Many hosts are started for one definition within the same tenth of a second; the limit is small. */
export async function stampede(options: {
  hosts: number;
  limit: number;
  tasks: number;
  seed: number;
}): Promise<Stampede> {
  const time = new VirtualTime();
  const random = createSeededRandom(options.seed);
  const chance = new Chance(random);
  const statements = new Map<string, number>();
  let [tasksRun, running, mostAtOnce, inAir, connectionsMax, hints, deniedWrites] = Array<number>(
    7,
  ).fill(0) as [number, number, number, number, number, number, number];
  let rowsBefore: Buffer | null = null;
  const database: Database = new Database({
    time,
    random,
    tamper: null,
    observer: {
      before: (call) => {
        rowsBefore = call.operation === "startExecution" ? serialize(database.rows) : null;
      },
      after: (call, answer) => {
        const name = call.host?.name ?? "person";
        statements.set(name, (statements.get(name) ?? 0) + 1);
        const isDenied = (answer as { status?: string }).status === "limited";
        if (isDenied && rowsBefore?.equals(serialize(database.rows)) === false) deniedWrites += 1;
      },
    },
  });
  const start = (name: string) => {
    const host = new Host(name, { time, wallOffsetMs: 0, onCrash: quiet });
    const task = defineTask({
      name: "import",
      limit: options.limit,
      run: async () => {
        tasksRun += 1;
        mostAtOnce = Math.max(mostAtOnce, (running += 1));
        await host.sleep(chance.between(50, 200));
        running -= 1;
      },
    });
    const store = connect({
      host,
      time,
      chance,
      database,
      faults: () => ({ rate: 0, slowRate: 0 }),
      onAir: (change) => {
        connectionsMax = Math.max(connectionsMax, (inAir += change));
      },
    });
    const wakeUp = createStorageQueueWakeUp({
      queue: { send: async () => void (hints += 1) },
      clock: host.clock,
      timers: host.timers,
      logger,
    });
    const environment: WorkerEnvironment = {
      store,
      wakeUp,
      random,
      logger,
      clock: host.clock,
      timers: host.timers,
      telemetry: noTelemetry,
      workerName: name,
      build: 1,
    };
    const registry = createRegistry([task]);
    return { host, task, environment, registry };
  };

  const first = start("first");
  const enqueued = new TaskClient(first.environment, first.registry).enqueueAll(
    Array.from({ length: options.tasks }, () => taskRequest(first.task)),
  );
  await time.run(10_000);
  await enqueued;
  hints = 0;
  inAir = 0;
  connectionsMax = 0;

  const results: Stampede["results"] = { worked: 0, limited: 0, paused: 0, none: 0, unknown: 0 };
  const denied: string[] = [];
  for (let count = 0; count < options.hosts; count += 1) {
    const { host, environment, registry } = start(`host-${String(count)}`);
    host.deliver(chance.between(0, 100), () => {
      const bounds = {
        deadlineMs: host.clock.monotonicMs() + 60_000,
        marginMs: 10_000,
        signal: new AbortController().signal,
      };
      const worker = {
        environment,
        registry,
        heartbeat: new Heartbeat(environment),
        concurrencyPerWorker: 1,
        idleReads: 1,
        idlePauseMs: 100,
      };
      void runWorker(worker, "import", bounds).then(({ status }) => {
        results[status] += 1;
        if (status === "limited") denied.push(host.name);
      });
    });
  }
  await time.run(120_000);
  const costs = denied.map((name) => statements.get(name) ?? 0);
  return {
    results,
    tasksRun,
    mostAtOnce,
    connectionsMax,
    deniedStatements: costs.reduce((sum, cost) => sum + cost, 0),
    deniedStatementsMax: Math.max(...costs, 0),
    deniedWrites,
    statements: [...statements.values()].reduce((sum, count) => sum + count, 0),
    hints,
  };
}
