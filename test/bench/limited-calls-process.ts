import { sleep } from "../../shared/platform/real-clock";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { LimitPools } from "../../shared/worker/run/limit-pools";
import { withTokens } from "../../shared/worker/run/with-tokens";
import { openBench } from "./bench-environment";

/*
 * One of the processes that call under a limit: url, limit, milliseconds of a body, callers at once, milliseconds of silence behind
 * them at most. Answers each message with its calls so far and their waits.
 */
const [url = "", limitText = "", bodyText = "", callersText = "", silenceText = ""] =
  process.argv.slice(2);
// Of one that ends while its bodies run the tokens come back late.
const limit = { name: `bench-calls-${limitText}`, limit: Number(limitText) };
const bodyMs = Number(bodyText);
const callers = Number(callersText);
const silenceMs = Number(silenceText);
const bench = openBench(url, []);
const pools = new LimitPools(bench.environment, new Heartbeat(bench.environment));
const startedMs = performance.now();
let calls = 0;
/** Of calls in bursts: milliseconds until their bodies began. */
const waits: number[] = [];
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

/** Some callers at once, each with a body of another length, then silence. */
async function callInBursts(): Promise<void> {
  while (!isOver) {
    const burst = 1 + Math.floor(Math.random() * callers);
    await Promise.all(Array.from({ length: burst }, () => callOnce()));
    await sleep(Math.random() * silenceMs);
  }
}

async function callOnce(): Promise<void> {
  const askedMs = performance.now();
  let beganMs = Infinity;
  await withTokens(pools, { limit, waitMs: 60_000 }, async () => {
    beganMs = performance.now();
    await sleep(2 * Math.random() * bodyMs);
  });
  if (!isOver) waits.push(beganMs - askedMs);
  calls += 1;
}

process.on("message", () => {
  process.send?.({ calls, firstMs, waits });
});
process.on("SIGTERM", () => {
  isOver = true;
  void pools
    .stop()
    .then(() => bench.close())
    .then(() => process.exit(0));
});
if (silenceMs > 0) void callInBursts();
else for (let caller = 0; caller < callers; caller += 1) void callOn();
