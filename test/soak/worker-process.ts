import { AppProcess } from "../../shared/functions/runtime";
import { workResident } from "../../shared/functions/resident";
import { soakHandler } from "./handler";
import { openLedger } from "./ledger";
import { watchStandstill } from "./standstill";
import { kindsOf } from "./plan";
import type { Scale } from "./plan";

/*
 * One worker of a run: the product's resident worker, in a process that may be killed, frozen or replaced at any time. Its only
 * argument: WorkerOrder as JSON; the database and the build are in the environment, as an app has them. It ends with the
 * process that started it.
 */

/** What a worker is told at its start. */
export interface WorkerOrder {
  readonly name: string;
  readonly build: number;
  readonly ledger: string;
  /** Where its process id stands; the next leg knows one that was left frozen by this word of its command line. */
  readonly pidFile: string;
  readonly scale: Scale;
}

/** What it answers to `memory`. */
export interface WorkerMemory {
  readonly rss: number;
  /** After a collection of garbage. */
  readonly heapUsed: number;
}

const order = JSON.parse(process.argv[2] ?? "{}") as WorkerOrder;
const write = openLedger(order.ledger, order.name);
const handler = soakHandler(order.name, write);
const app = new AppProcess({ tasks: kindsOf(order.scale, order.build, handler) });
const ending = new AbortController();

watchStandstill(({ fromMs, untilMs }) => {
  write({ is: "worker", atMs: fromMs, worker: order.name, what: "frozen" });
  write({ is: "worker", atMs: untilMs, worker: order.name, what: "thawed" });
});
process.on("disconnect", () => process.exit(0));
process.on("message", (message: "memory" | "stop") => {
  if (message === "stop") ending.abort();
  else {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    process.send?.({ rss, heapUsed } satisfies WorkerMemory);
  }
});

void workResident(app, { signal: ending.signal })
  .then(() => app.end())
  .then(() => process.exit(0));
