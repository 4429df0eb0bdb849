import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { sleep } from "../../shared/platform/real-clock";
import { until } from "../support/gate";
import { isWhole } from "../support/whole";
import { idsOf, mostAtOnce, openLimitedApp } from "./limited-app";
import type { LimitedApp } from "./limited-app";

/*
 * Goal: limited functions under a host. The app is compiled code in the local Functions host, a process of its own, with real
 * queues and a real database. Times have room for a busy machine; the bench has the exact ones.
 */
const waitMs = 50;
const source = `
app.storageQueue("slow", {
  queueName: "%SLOW_QUEUE%",
  connection: "AzureWebJobsStorage",
  handler: gate.limited({ name: "four", limit: 4 }, { waitMs: 60_000 }, async function slow({ id }) {
    note("begin", id);
    await sleep(id < 0 ? 1 : 1_500);
    note("end", id);
  }),
});

const flooded = gate.limited({ name: "two", limit: 2 }, { waitMs: ${String(waitMs)}, overflow: "task" }, async function flood({ id }) {
  note("begin", id);
  await sleep(10);
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

let isFirst = true;
app.storageQueue("again", {
  queueName: "again",
  connection: "AzureWebJobsStorage",
  handler: async (message, context) => {
    note("seen", message.id + ":" + context.triggerMetadata.dequeueCount);
    if (isFirst) await gate.defer(message, context, 200);
    isFirst = false;
  },
});

const limitedPage = gate.limited({ name: "one", limit: 1 }, { waitMs: 0 }, async function page() {
  await sleep(2_000);
  return { body: "served" };
});
app.http("page", { methods: ["GET"], authLevel: "anonymous", handler: limitedPage });
`;
const settings = { SLOW_QUEUE: "slow" };

/** Looks into the notes now and then until `isOver` says so. */
async function untilNotes(
  app: LimitedApp,
  isOver: (notes: ReturnType<LimitedApp["notes"]>) => boolean,
  maxMs = 14_000,
): Promise<void> {
  const look = async (): Promise<boolean> => {
    await sleep(25);
    return isOver(app.notes());
  };
  await until("the notes are complete", look, maxMs);
}

/** They share an `Id`, behind which the host hides the message's own. */
const numbered = (count: number): { id: number; Id: string }[] =>
  Array.from({ length: count }, (_, index) => ({ id: index + 1, Id: "customer-7" }));

describe("limited functions in a host", () => {
  let app: LimitedApp;
  beforeAll(async () => {
    app = await openLimitedApp(source, "base64");
    await app.send("slow", [{ id: -1 }]);
    await app.start(settings);
    // Warm: the database is open, and the limit is registered.
    await untilNotes(app, (notes) => idsOf(notes, "end").length === 1, 60_000);
  }, 180_000);
  afterAll(() => app.close());

  test("limited runs 12 messages of 1.5 s at limit 4 in three rounds, never more than 4 at once", async () => {
    const already = app.notes().length;
    await app.send("slow", numbered(12));
    await untilNotes(app, (notes) => idsOf(notes, "end").length === 13);
    const notes = app.notes().slice(already);
    expect(mostAtOnce(notes)).toBe(4);
    expect(new Set(idsOf(notes, "begin")).size).toBe(12);
    // The ideal is 4.5 s.
    const tookMs = (notes.at(-1)?.atMs ?? Infinity) - (notes[0]?.atMs ?? 0);
    expect(tookMs).toBeLessThan(9_000);
    expect(tookMs).toBeGreaterThan(4_400);
  }, 20_000);

  test("limited answers 429 with Retry-After while another request holds the token", async () => {
    const host = await app.start(settings);
    const urls = Array.from({ length: 3 }, () => fetch(`${host.url}/api/page`));
    const answers = await Promise.all(urls);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
    const denied = answers.filter(({ status }) => status === 429);
    for (const { headers } of denied) expect(headers.get("retry-after")).toMatch(/^[1-5]$/);
    await host.stop();
  }, 20_000);
});

/** More than its functions can run within their wait; every night more. */
const flood = isWhole ? 1_000 : 300;

describe("a flood of messages", () => {
  let app: LimitedApp;
  beforeAll(async () => {
    app = await openLimitedApp(source, "base64");
    await app.send("flood", numbered(flood));
  }, 180_000);
  afterAll(() => app.close());

  test(`limited with overflow task loses none of ${String(flood)} messages, and its invocations end soon after waitMs`, async () => {
    await app.start(settings);
    await untilNotes(
      app,
      (found) =>
        new Set(idsOf(found, "end")).size === flood && idsOf(found, "returned").length >= flood,
      60_000,
    );
    const notes = app.notes();
    expect(mostAtOnce(notes)).toBeLessThanOrEqual(2);
    // Most of them ran as tasks: their invocations had returned before.
    const begun = new Map(notes.filter(({ what }) => what === "begin").map((n) => [n.id, n.atMs]));
    const returned = notes.filter(({ what }) => what === "returned");
    const stored = returned.filter(({ id, atMs }) => (begun.get(id) ?? 0) > atMs);
    expect(stored.length).toBeGreaterThan(flood / 10);
    const called = new Map(
      notes.filter(({ what }) => what === "called").map((n) => [n.id, n.atMs]),
    );
    const tookMs = returned
      .map(({ id, atMs }) => atMs - (called.get(id) ?? 0))
      .sort((one, other) => one - other);
    // The wait, then the body or the task's enqueue; the rest is room, most of it for one that a busy machine holds up.
    expect(tookMs[Math.floor(0.95 * tookMs.length)]).toBeLessThan(waitMs + 3_000);
    expect(tookMs.at(-1)).toBeLessThan(waitMs + 10_000);
    const left = await app.queue("flood-poison").exists();
    expect(left).toBe(false);
  }, 90_000);
});

describe("an app whose host.json says messageEncoding none", () => {
  let app: LimitedApp;
  beforeAll(async () => {
    app = await openLimitedApp(source, "none");
    await app.start(settings);
  }, 180_000);
  afterAll(() => app.close());

  test("defer puts a message back as the host reads it, and it is no further try", async () => {
    await app.send("again", [{ id: "m" }]);
    await untilNotes(app, (notes) => idsOf(notes, "seen").length === 2);
    expect(idsOf(app.notes(), "seen")).toEqual(["m:1", "m:1"]);
  }, 20_000);

  test("limited with overflow task has its hints read: every message runs", async () => {
    await app.send("flood", numbered(60));
    await untilNotes(app, (notes) => new Set(idsOf(notes, "end")).size === 60);
    const failed = app.lines.filter((line) => /fail|error|poison/i.test(line));
    expect(failed).toEqual([]);
  }, 20_000);
});
