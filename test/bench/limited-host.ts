import { sleep } from "../../shared/platform/real-clock";
import { idsOf, openLimitedApp } from "../functions/limited-app";
import type { LimitedApp, Note } from "../functions/limited-app";
import type { Measurement } from "./measurement";

const flood = 1_000;
/** Less than the sixteen messages of a batch need at two at once, 50 ms each: some become tasks. */
const waitMs = 300;
const source = `
app.storageQueue("slow", {
  queueName: "slow",
  connection: "AzureWebJobsStorage",
  handler: gate.limited({ name: "four", limit: 4 }, { waitMs: 60_000 }, async function slow({ id }) {
    await sleep(id < 0 ? 1 : 1_500);
    note("end", id);
  }),
});

const flooded = gate.limited({ name: "two", limit: 2 }, { waitMs: ${String(waitMs)}, overflow: "task" }, async function flood({ id }) {
  note("begin", id);
  await sleep(50);
  note("end", id);
});
app.storageQueue("flood", {
  queueName: "flood",
  connection: "AzureWebJobsStorage",
  handler: async (message, context) => {
    note("called", message.id);
    await flooded(message, context);
    note("returned", message.id);
  },
});
`;

const numbered = (count: number): { id: number }[] =>
  Array.from({ length: count }, (_, index) => ({ id: index + 1 }));

/** Functions under limits in the local host, with its queues: few long messages, and more than fit into their wait. */
export async function limitedHost(url: string): Promise<Measurement[]> {
  const app = await openLimitedApp(source, "base64", { url });
  await app.send("slow", [{ id: -1 }]);
  await app.start();
  // Warm: the database is open, and the limit is registered.
  await untilEnded(app, 1);
  const sentAtMs = performance.timeOrigin + performance.now();
  await app.send("slow", numbered(12));
  await untilEnded(app, 13);
  const tookMs = (app.notes().at(-1)?.atMs ?? Infinity) - sentAtMs;
  await app.send("flood", numbered(flood));
  await untilEnded(app, 13 + flood);
  const ended = new Set(idsOf(app.notes(), "end").slice(13)).size;
  const waits = waitsOf(app.notes());
  await app.close();
  const scenario = `${flood.toLocaleString("en")} messages, limit 2, waitMs ${String(waitMs)}, overflow task:`;
  return [
    fewest("12 messages of 1.5 s at limit 4 through the local host, ideal 4.5 s", "s", {
      value: tookMs / 1_000,
      goal: 5.5,
    }),
    fewest(`${scenario} lost`, "messages", { value: flood - ended, goal: 0 }),
    // A twentieth is for the timer and the turn of the event loop behind it.
    fewest(`${scenario} longest wait of a body in its invocation`, "ms", {
      value: Math.max(0, ...waits.served),
      goal: 1.05 * waitMs,
    }),
    // The wait, and one call that makes the task, beside fifteen others in the process.
    fewest(
      `${scenario} longest of the ${String(waits.overflowed.length)} invocations whose message became a task`,
      "ms",
      { value: Math.max(0, ...waits.overflowed), goal: 1.05 * waitMs + 100 },
    ),
  ];
}

/**
 * How long invocations waited. `served`: to the begin of the body, where it began in its invocation. `overflowed`: to the end of the invocation,
 * whose message became a task; the enqueue is in it.
 */
function waitsOf(notes: readonly Note[]): { served: number[]; overflowed: number[] } {
  const instants = (what: string): Map<string, number> =>
    new Map(notes.filter((note) => note.what === what).map(({ id, atMs }) => [id, atMs]));
  const [called, begun] = [instants("called"), instants("begin")];
  const invocations = [...instants("returned")].map(([id, returnedMs]) => ({
    calledMs: called.get(id) ?? Infinity,
    begunMs: begun.get(id) ?? Infinity,
    returnedMs,
  }));
  const served = invocations.filter(({ begunMs, returnedMs }) => begunMs < returnedMs);
  const overflowed = invocations.filter((invocation) => !served.includes(invocation));
  return {
    served: served.map(({ calledMs, begunMs }) => begunMs - calledMs),
    overflowed: overflowed.map(({ calledMs, returnedMs }) => returnedMs - calledMs),
  };
}

async function untilEnded(app: LimitedApp, count: number): Promise<void> {
  for (let left = 120_000; idsOf(app.notes(), "end").length < count; left -= 50) {
    if (left <= 0) throw new Error(`expected ${String(count)} messages to end within two minutes`);
    await sleep(50);
  }
  // A repeat would come soon.
  await sleep(500);
}

function fewest(
  scenario: string,
  unit: string,
  { value, goal }: { readonly value: number; readonly goal: number },
): Measurement {
  return { scenario, unit, value, goal, isLessBetter: true };
}
