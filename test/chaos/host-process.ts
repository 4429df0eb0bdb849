import { nodeTimers } from "../../shared/platform/node-timers";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import type { Clock } from "../../shared/ports/clock";
import { noTelemetry } from "../../shared/ports/telemetry";
import { Breaker, openStore } from "../../shared/store/open-store";
import type { WorkerEnvironment } from "../../shared/worker/environment";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { createRegistry } from "../../shared/worker/define/registry";
import { reclaim, runWorker } from "../../shared/worker/run/run-worker";
import { registerBuild } from "../../shared/worker/run/schedules";
import { Dice } from "../support/dice";
import { chaosHandler } from "./handler";
import type { HostNews, HostOptions, HostOrder } from "./host-messages";
import { openLedger } from "./ledger";
import { machineMs } from "./machine-clock";
import { kindsOf } from "./plan";
import { plantedStore } from "./planted-store";
import { recordingStore } from "./recording-store";
import type { CallCount } from "./recording-store";

/*
 * One worker host of a run: the product's worker over the product's PostgreSQL adapter, woken by messages as functions are by
 * a queue and a timer. Its only argument: HostOptions as JSON. It ends with the process that started it.
 */
const options = JSON.parse(process.argv[2] ?? "{}") as HostOptions;
const dice = new Dice(options.seed);
const ledger = openLedger(options.ledger);
const count: CallCount = { calls: 0, longestMs: 0 };
const executionsMax = 3;
const quiet = (): void => undefined;
const stop = new AbortController();
const executions = new Set<Promise<unknown>>();
let skewMs = options.isFaked ? 0 : options.skewMs;

/** The wall clock is wrong, and jumps when it is told to; what counts durations can't be set on any machine. */
const clock: Clock = {
  nowMs: () => realClock.nowMs() + skewMs,
  monotonicMs: () => realClock.monotonicMs(),
};

function say(news: HostNews): void {
  if (process.connected) process.send?.(news, undefined, undefined, quiet);
}

const breaker = new Breaker({ clock, sleep, onNews: quiet });
const opened = openStore({
  url: options.url,
  connectionsMax: 6,
  callTimeoutMs: 5_000,
  connectTimeoutMs: 3_000,
  random: realRandom,
  sleep,
  breaker,
});
const store = recordingStore(plantedStore(opened, options.plant), ledger.write, count);
const environment: WorkerEnvironment = {
  store,
  clock,
  timers: nodeTimers,
  random: realRandom,
  telemetry: noTelemetry,
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  wakeUp: {
    hint: async (definition, { inMs = 0 } = {}) => {
      say({ is: "hint", definition, inMs });
    },
  },
  workerName: options.name,
  build: options.build,
};
const handler = chaosHandler({ host: options.name, write: ledger.write });
const registry = createRegistry(kindsOf(options.build, handler));
const heartbeat = new Heartbeat(environment);

/** One invocation, which must be over by its deadline. */
async function work(definition: string): Promise<void> {
  const executionMs = dice.int(1_500, 6_000);
  const bornMs = machineMs();
  count.longestMs = 0;
  await runWorker(
    {
      environment,
      registry,
      heartbeat,
      concurrencyPerWorker: dice.int(1, 6),
      idleReads: 1,
      idlePauseMs: 50,
    },
    definition,
    { deadlineMs: clock.monotonicMs() + executionMs, marginMs: 500, signal: stop.signal },
  ).catch(() => {
    // The store can't be reached: the queue delivers the message again.
    say({ is: "hint", definition, inMs: 500 });
  });
  ledger.write({
    is: "execution",
    atMs: machineMs(),
    host: options.name,
    deadlineMs: bornMs + executionMs,
    longestCallMs: count.longestMs,
  });
}

function onHint(definition: string): void {
  if (stop.signal.aborted) return;
  if (executions.size >= executionsMax) {
    say({ is: "hint", definition, inMs: 300 });
    return;
  }
  const execution = work(definition).finally(() => executions.delete(execution));
  executions.add(execution);
}

let isKnown = false;

/** As the function `sweep` does, for the parts used here. */
async function sweep(): Promise<void> {
  if (!isKnown) {
    await registerBuild(environment, registry);
    isKnown = true;
  }
  const found = await store.sweep({ max: 100 });
  if (found.expired > 0) await reclaim(environment);
  for (const definition of found.definitions) {
    if (!definition.paused && definition.free > 0)
      say({ is: "hint", definition: definition.name, inMs: 0 });
  }
}

async function end(): Promise<void> {
  stop.abort();
  await Promise.allSettled(executions);
  await store.close();
  ledger.close();
  process.exit(0);
}

function onOrder(order: HostOrder): void {
  if (order.is === "hint") onHint(order.definition);
  else if (order.is === "sweep") void sweep().catch(quiet);
  else if (order.is === "skew") skewMs += order.byMs;
  else if (order.is === "count")
    say({ is: "count", calls: count.calls, executions: executions.size });
  else void end();
}

ledger.write({
  is: "born",
  atMs: machineMs(),
  host: options.name,
  build: options.build,
  skewMs: options.skewMs,
});
process.on("message", onOrder);
process.on("disconnect", () => process.exit(0));
say({ is: "ready" });
