import { join } from "node:path";
import { exitProcess } from "../../../shared/platform/exit-process";
import { nodeTimers } from "../../../shared/platform/node-timers";
import { realClock, realRandom, sleep } from "../../../shared/platform/real-clock";
import { ThreadLeaseKeeper } from "../../../shared/platform/thread-lease-keeper";
import { noTelemetry } from "../../../shared/ports/telemetry";
import { openStore } from "../../../shared/store/open-store";
import { Heartbeat } from "../../../shared/worker/run/heartbeat";
import { ProcessLeave } from "../../../shared/worker/run/leave-process";
import { ProcessGate } from "../../../shared/worker/run/process-gate";
import { createRegistry } from "../../../shared/worker/define/registry";
import { reclaim, runWorker } from "../../../shared/worker/run/run-worker";
import { kindsOf } from "./scenes";

/*
 * One process of workers with a culprit in it. It lives until it is told to end, or until the culprit ends it.
 * Arguments: database URL, name of the scene, `thread` or `no-thread` (a planted fault: no thread renews beside the event loop).
 */
const [, , url = "", scene = "", thread = "thread"] = process.argv;

async function main(): Promise<void> {
  const logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message: string, fields?: object) => {
      console.error(scene, message, fields ?? "");
    },
    error: (message: string, fields?: object) => {
      console.error(scene, message, fields ?? "");
    },
  };
  const store = openStore({ url, connectionsMax: 2, random: realRandom, sleep });
  const leaseKeeper = new ThreadLeaseKeeper({
    file: join(__dirname, "../../../dist/shared/functions/lease-renewer.js"),
    program: { address: { url }, endsHung: true },
    clock: realClock,
    logger,
  });
  const environment = {
    ...{ store, logger, clock: realClock, timers: nodeTimers, random: realRandom },
    ...(thread === "thread" ? { leaseKeeper } : {}),
    telemetry: noTelemetry,
    wakeUp: { hint: () => Promise.resolve() },
    workerName: `${scene} ${String(process.pid)}`,
    build: 1,
  };
  const stop = new AbortController();
  process.on("SIGTERM", () => {
    stop.abort();
  });
  const executions = new Set<Promise<unknown>>();
  const leave = new ProcessLeave({
    environment,
    whenStuck: "exit",
    drained: async (maxMs) => {
      await Promise.race([Promise.allSettled([...executions]), sleep(maxMs)]);
    },
    close: (last) => last(),
    exit: exitProcess,
  });
  const kinds = kindsOf(scene);
  const worker = {
    environment,
    registry: createRegistry(kinds),
    heartbeat: new Heartbeat(environment),
    ...{ concurrencyPerWorker: 8, idleReads: 1, idlePauseMs: 50 },
    stuck: leave,
    gate: new ProcessGate(environment),
  };
  const names = new Set(kinds.map(({ definition }) => definition.name));
  while (!stop.signal.aborted) {
    await reclaim(environment);
    const bounds = {
      deadlineMs: realClock.monotonicMs() + 60_000,
      ...{ marginMs: 500, signal: stop.signal, draining: leave.draining },
    };
    const running = [...names].map((name) => runWorker(worker, name, bounds));
    for (const execution of running) {
      executions.add(execution);
      void execution.finally(() => executions.delete(execution));
    }
    await Promise.all(running);
    await sleep(100, stop.signal);
  }
  await store.close();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
