import { Pool } from "pg";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import { defineTask } from "../../shared/worker/define/define-task";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { createRegistry } from "../../shared/worker/define/registry";
import { runWorker } from "../../shared/worker/run/run-worker";
import { OverlapLog } from "./overlap-log";
import { quietEnvironment } from "../support/quiet-environment";

/*
 * One host of the spread trials: it arrives with one message, and from then on is woken only by hints, which any of the
 * processes may fetch (a table stands for the storage queue). Its tasks keep its event loop busy for 50 ms each, without
 * using the processor. Works until SIGTERM. Arguments: database URL, name, log | quiet: whether tasks write the overlap log,
 * and the database's URL for hints and evidence.
 */
const [, , url = "", name = "", mode = "quiet", ownerUrl = url] = process.argv;
const taskMs = 50;
const definition = "busy";
const pollMs = 50;
const invocationsMax = 8;

const stop = new AbortController();
process.on("SIGTERM", () => {
  stop.abort();
});

function blockEventLoop(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, taskMs);
}

async function main(): Promise<void> {
  const pool = new Pool({ connectionString: ownerUrl, max: 2 });
  const store = openStore({ url, connectionsMax: 4, random: realRandom, sleep });
  const log = mode === "log" ? new OverlapLog(ownerUrl, name) : null;
  const quiet = (): void => undefined;
  const environment = quietEnvironment(store, {
    wakeUp: {
      hint: async (about, { inMs = 0 } = {}) => {
        const text =
          "insert into hint (definition, visible_at) values ($1, clock_timestamp() + $2 * interval '1 ms')";
        await pool.query(text, [about, inMs]);
      },
    },
    workerName: name,
  });
  const task = defineTask({
    name: definition,
    limit: 4,
    leaseMs: 10_000,
    run: async (_, context) => {
      const entry = await log?.beginTask(context.fence);
      blockEventLoop();
      if (entry !== undefined) await log?.end(entry);
    },
  });
  const registry = createRegistry([task]);
  const heartbeat = new Heartbeat(environment);
  const invocations = new Set<Promise<unknown>>();
  const invoke = (): void => {
    const invocation = runWorker(
      { environment, registry, heartbeat, concurrencyPerWorker: 8, idleReads: 1, idlePauseMs: 50 },
      definition,
      { deadlineMs: realClock.monotonicMs() + 600_000, marginMs: 1_000, signal: stop.signal },
    ).finally(() => invocations.delete(invocation));
    invocations.add(invocation);
  };
  invoke();
  while (!stop.signal.aborted) {
    await sleep(pollMs, stop.signal).catch(quiet);
    if (invocations.size >= invocationsMax) continue;
    const fetched = await pool.query(
      `delete from hint where entry = (select h.entry from hint h where h.visible_at <= clock_timestamp()
        order by h.visible_at limit 1 for update skip locked)`,
    );
    if ((fetched.rowCount ?? 0) > 0) invoke();
  }
  await Promise.allSettled(invocations);
  await log?.close();
  await store.close();
  await pool.end();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
