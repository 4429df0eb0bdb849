import { sleep } from "../../shared/platform/real-clock";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { LimitPools } from "../../shared/worker/run/limit-pools";
import { withTokens } from "../../shared/worker/run/with-tokens";
import { openBench } from "./bench-environment";

/* One of the processes that call under a limit: url, limit, milliseconds of a body, callers at once. Answers each message with its calls so far. */
const [url = "", limitText = "", bodyText = "", callersText = ""] = process.argv.slice(2);
const limit = { name: "bench-calls", limit: Number(limitText) };
const bodyMs = Number(bodyText);
const bench = openBench(url, []);
const pools = new LimitPools(bench.environment, new Heartbeat(bench.environment));
const startedMs = performance.now();
let calls = 0;
let firstMs: number | null = null;
let isOver = false;

async function body(): Promise<void> {
  firstMs ??= performance.now() - startedMs;
  if (bodyMs > 0) await sleep(bodyMs);
}

async function callOn(): Promise<void> {
  while (!isOver) {
    const answer = await withTokens(pools, { limit, waitMs: 60_000 }, body);
    if (answer.ran) calls += 1;
  }
}

process.on("message", () => {
  process.send?.({ calls, firstMs });
});
process.on("SIGTERM", () => {
  isOver = true;
  void pools
    .stop()
    .then(() => bench.close())
    .then(() => process.exit(0));
});
for (let caller = 0; caller < Number(callersText); caller += 1) void callOn();
