/*
 * What becomes of queue messages, by the compiled app in a local host: a real queue emulator, a real PostgreSQL.
 */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { QueueServiceClient } from "@azure/storage-queue";
import type { QueueClient } from "@azure/storage-queue";
import { runCli } from "../../shared/cli/main";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import type { HostChild } from "../../shared/local/host-children";
import { replayPoison } from "../../shared/platform/poison-queue";
import { sleep } from "../../shared/platform/real-clock";
import { rowsOf } from "../migration/empty-database";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { moreTasks, startApp } from "./built-app";

let azurite: Azurite;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let host: HostChild;
let lines: string[] = [];

beforeAll(async () => {
  azurite = await startAzurite();
  database = await createTestDatabase();
  host = await startApp(settings(), (line) => lines.push(line));
}, 180_000);
afterAll(async () => {
  await host.stop();
  await database.drop();
  await azurite.stop();
});
beforeEach(() => {
  lines = [];
});

function settings(): Record<string, string> {
  return {
    TASKGATE_DATABASE_URL: database.url,
    AzureWebJobsStorage: azurite.connectionString,
    AzureFunctionsJobHost__extensions__queues__maxPollingInterval: "00:00:00.100",
    NODE_OPTIONS: moreTasks,
  };
}

function queue(name: string): QueueClient {
  return QueueServiceClient.fromConnectionString(azurite.connectionString).getQueueClient(name);
}

async function send(name: string, message: unknown): Promise<void> {
  const client = queue(name);
  await client.createIfNotExists();
  const text = typeof message === "string" ? message : JSON.stringify(message);
  await client.sendMessage(Buffer.from(text).toString("base64"));
}

async function take(name: string): Promise<{ text: unknown; expiresOn: Date }[]> {
  const client = queue(name);
  await client.createIfNotExists();
  const { receivedMessageItems } = await client.receiveMessages({ numberOfMessages: 32 });
  for (const { messageId, popReceipt } of receivedMessageItems)
    await client.deleteMessage(messageId, popReceipt);
  return receivedMessageItems.map(({ messageText, expiresOn }) => {
    const text = Buffer.from(messageText, "base64").toString("utf8");
    return { text: JSON.parse(text) as unknown, expiresOn };
  });
}

async function untilExecuted(name: string, times = 1): Promise<void> {
  const executed = (): number =>
    lines.filter((line) => line.includes(`Executed '${name}' (`)).length;
  for (let tries = 0; executed() < times; tries += 1) {
    if (tries === 600) throw new Error(`Not seen: ${lines.join("\n")}`);
    await sleep(50);
  }
  expect(lines.filter((line) => line.includes("(Failed"))).toEqual([]);
}

/** The host deletes what it delivered after the function's end. */
async function untilHints(count: number): Promise<void> {
  const left = async (): Promise<number | undefined> =>
    (await queue("taskgate-hints").getProperties()).approximateMessagesCount;
  for (let tries = 0; (await left()) !== count; tries += 1) {
    if (tries === 100) throw new Error(`${String(await left())} hints, not ${String(count)}`);
    await sleep(50);
  }
}

const landed = (eventId: string) => ({
  eventId,
  source: "landing",
  type: "parcel-landed",
});

async function ingestedNames(): Promise<string[]> {
  const rows = await rowsOf<{ payload: string }>(
    database.url,
    `select payload from taskgate.task where payload is not null union all
     select payload from taskgate.archive where payload is not null`,
  );
  return rows.map((row) => (JSON.parse(row.payload) as { eventId: string }).eventId).sort();
}

async function doneKeys(kind: string): Promise<string[]> {
  const text = `select dedupe_key as key from taskgate.archived where kind = '${kind}' order by 1`;
  return (await rowsOf<{ key: string }>(database.url, text)).map(({ key }) => key);
}

/** First in this file: tasks of the others leave hints of their own. */
describe("run", () => {
  test("a message that isn't a hint goes to the poison queue at the first try, with the reason", async () => {
    await send("taskgate-hints", { definition: "greet" });
    await untilExecuted("run");
    expect((await take("taskgate-hints-poison")).map(({ text }) => text)).toEqual([
      {
        taskgate: { reason: expect.stringMatching(/^Not a hint: .*taskDefinition/) },
        message: { definition: "greet" },
      },
    ]);
  });

  test("hints of a definition that this build doesn't know leave one delayed hint", async () => {
    for (let hint = 0; hint < 3; hint += 1)
      await send("taskgate-hints", { taskDefinition: "of-the-next-build", schedule: true });
    await untilExecuted("run", 3);
    await untilHints(1);
    expect((await queue("taskgate-hints").peekMessages()).peekedMessageItems).toEqual([]);
    await queue("taskgate-hints").clearMessages();
  });

  test("a hint that no build has known for an hour ends", async () => {
    const message = { taskDefinition: "of-no-build" };
    await send("taskgate-hints", { taskgate: { tries: 16 }, message });
    await untilExecuted("run");
    await untilHints(0);
    expect(lines.join("\n")).toContain("no build has known for an hour definition=of-no-build");
  });
});

describe("ingest", () => {
  test("a bad and an unrouted event of an array go to the poison queue at once, with reasons; the good ones are ingested", async () => {
    const unrouted = { ...landed("b"), type: "unheard-of" };
    const bad = { ...landed("c"), source: 5 };
    await send("taskgate-ingest", [landed("a"), unrouted, bad, landed("d")]);
    await untilExecuted("ingest");

    expect(await ingestedNames()).toEqual(["a", "d"]);
    const poisoned = await take("taskgate-ingest-poison");
    expect(poisoned.map(({ text }) => text)).toEqual([
      {
        taskgate: {
          reason:
            "No route takes events of type `unheard-of` from `landing`; add one to the `events` of `taskgate({ .. })`",
        },
        message: unrouted,
      },
      {
        taskgate: { reason: expect.stringMatching(/^Not an event: source: got 5, expected /) },
        message: bad,
      },
    ]);
    // Never: the emulator writes that as a date far away.
    expect(poisoned[0]?.expiresOn.getFullYear()).toBeGreaterThan(2_100);
  });

  test("an event whose task is refused, and one whose route fails, keep no other one out", async () => {
    const urgent = { ...landed("urgent"), type: "too-urgent" };
    const thrown = { ...landed("thrown"), type: "thrown" };
    const shallow = { ...landed("shallow"), type: "deep" };
    await send("taskgate-ingest", [landed("e"), urgent, thrown, shallow, landed("g")]);
    await untilExecuted("ingest");
    expect(await ingestedNames()).toEqual(["a", "d", "e", "g"]);
    const isUndefined = "Cannot read properties of undefined (reading 'id')";
    expect((await take("taskgate-ingest-poison")).map(({ text }) => text)).toEqual([
      { taskgate: { reason: "Its route failed: a mistake in a route" }, message: thrown },
      { taskgate: { reason: `Its route failed: ${isUndefined}` }, message: shallow },
      { taskgate: { reason: expect.stringContaining("priority") }, message: urgent },
    ]);
  });

  test("a task whose kind has a key of its own keeps it, whatever event brings it", async () => {
    const paid = (eventId: string, order: string): object => ({
      eventId,
      source: "shop",
      type: "order-paid",
      data: { order },
    });
    await send("taskgate-ingest", [paid("1", "A"), paid("1", "A"), paid("2", "A"), paid("3", "B")]);
    await untilExecuted("ingest");
    expect(await take("taskgate-ingest-poison")).toEqual([]);
    const text =
      "select dedupe_key as key from taskgate.archived where kind = 'keyed' union all select dedupe_key from taskgate.task where kind = 'keyed' order by 1";
    const rows = await rowsOf<{ key: string }>(database.url, text);
    expect(rows.map(({ key }) => key)).toEqual(["A", "B"]);
  });

  test("a route's own key is held until its task has ended, and no longer: the next event makes the next task", async () => {
    const changed = (eventId: string): object => ({
      eventId,
      source: "shop",
      type: "stock-changed",
      data: { shop: "north" },
    });
    await send("taskgate-ingest", changed("1"));
    await untilExecuted("ingest");
    expect(await doneKeys("refreshed")).toEqual(["north"]);
    await send("taskgate-ingest", changed("2"));
    await untilExecuted("ingest", 2);
    expect(await take("taskgate-ingest-poison")).toEqual([]);
    expect(await doneKeys("refreshed")).toEqual(["north", "north"]);
  });

  test("a route's key that is undefined is none: the event's own key takes its place", async () => {
    const changed = { eventId: "3", source: "shop", type: "stock-changed" };
    await send("taskgate-ingest", [changed, changed]);
    await untilExecuted("ingest");
    expect(await take("taskgate-ingest-poison")).toEqual([]);
    expect(await doneKeys("refreshed")).toEqual(["event:shop/3/refreshed/0", "north", "north"]);
  });

  test("an event that comes again when its route makes a task of another kind before the others adds that one only", async () => {
    const changed = { eventId: "4", source: "shop", type: "stock-changed" };
    const before = await doneKeys("refreshed");
    await send("taskgate-ingest", changed);
    await untilExecuted("ingest");
    await send("taskgate-ingest", { ...changed, data: { isLoud: true } });
    await untilExecuted("ingest", 2);
    expect(await doneKeys("announced")).toEqual(["event:shop/4/announced/0"]);
    expect(await doneKeys("refreshed")).toHaveLength(before.length + 1);
  });

  test("an event with a long id is ingested once", async () => {
    const long = { ...landed("cut"), eventId: `${"😀".repeat(99)}x` };
    await send("taskgate-ingest", [long, long]);
    await untilExecuted("ingest");
    expect(await ingestedNames()).toHaveLength(5);
  });

  test("events of other sources or ids are all ingested, also where both read the same in a row", async () => {
    const twin = (source: string, eventId: string): object => ({
      eventId,
      source,
      type: "stock-changed",
    });
    const before = await doneKeys("refreshed");
    await send("taskgate-ingest", [twin("twins", "eu/1"), twin("twins/eu", "1")]);
    await untilExecuted("ingest");
    expect(await doneKeys("refreshed")).toHaveLength(before.length + 2);
  });

  test("a message that isn't an event at all goes to the poison queue, too, at the first try", async () => {
    await send("taskgate-ingest", "{ broken");
    await untilExecuted("ingest");
    expect((await take("taskgate-ingest-poison")).map(({ text }) => text)).toEqual([
      { taskgate: { reason: expect.stringContaining("Not an event") }, message: "{ broken" },
    ]);
  });

  test("an event that was put back is the same event", async () => {
    await send("taskgate-ingest", { taskgate: { tries: 3 }, message: landed("f") });
    await send("taskgate-ingest", landed("f"));
    await untilExecuted("ingest", 2);
    expect((await ingestedNames()).filter((name) => name === "f")).toEqual(["f"]);
  });
});

describe("taskgate replay", () => {
  async function replay(...words: string[]) {
    const out: string[] = [];
    const errors: string[] = [];
    const code = await runCli({
      words: ["replay", ...words],
      environment: settings(),
      folder: "/",
      output: {
        line: (text) => out.push(text),
        error: (text) => errors.push(text),
        columns: null,
      },
    });
    return { code, out: out.join("\n"), errors };
  }

  test("an empty poison queue, or none, is no error", async () => {
    await queue("taskgate-ingest-poison").deleteIfExists();
    expect(await replay("ingest")).toEqual({
      code: 0,
      out: "taskgate-ingest-poison holds nothing that can be moved.",
      errors: [],
    });
  });

  test("the command replay moves refused messages, and those that the host gave up, at most so many; each is ingested once", async () => {
    const names = ["r1", "r2", "r3"];
    await send("taskgate-ingest-poison", { taskgate: { reason: "x" }, message: landed("r1") });
    await send("taskgate-ingest-poison", landed("r2"));
    await send("taskgate-ingest-poison", landed("r3"));
    const first = await replay("ingest", "--max", "2", "--json");
    expect({ code: first.code, ...(JSON.parse(first.out) as object) }).toEqual({
      code: 0,
      queue: "taskgate-ingest",
      moved: 2,
      left: 1,
    });
    const second = await replay("ingest");
    expect(second.out).toBe("1 message is in taskgate-ingest again.");
    expect(second.errors).toEqual(["moved 1 of about 1"]);
    await untilExecuted("ingest", 3);
    expect((await ingestedNames()).filter((name) => names.includes(name))).toEqual(names);

    // Once more: dedupe makes it harmless.
    await send("taskgate-ingest-poison", landed("r1"));
    await replay("ingest");
    await untilExecuted("ingest", 4);
    expect((await ingestedNames()).filter((name) => name === "r1")).toEqual(["r1"]);
  });

  test("the command replay --dry-run counts the messages and tells their reasons, and moves none", async () => {
    await queue("taskgate-ingest-poison").deleteIfExists();
    expect((await replay("ingest", "--dry-run")).out).toBe(
      "taskgate-ingest-poison holds no message.",
    );
    const unread = { taskgate: { reason: "Not an event: message: got 1" }, message: 1 };
    for (const message of [unread, unread, landed("given up")])
      await send("taskgate-ingest-poison", message);
    const { code, out } = await replay("ingest", "--dry-run");
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      "taskgate-ingest-poison holds about 3 messages; nothing was moved. Reasons of the first 3:",
      "  2: Not an event: message: got 1",
      expect.stringMatching(/^ {2}1: no reason/),
    ]);
    const json = JSON.parse((await replay("ingest", "--dry-run", "--json")).out) as unknown;
    expect(json).toMatchObject({
      ...{ queue: "taskgate-ingest", count: 3, lookedAt: 3 },
      reasons: [
        { reason: unread.taskgate.reason, count: 2 },
        { reason: null, count: 1 },
      ],
    });
    expect((await replay("ingest", "--dry-run", "--max", "2")).code).toBe(2);
    const findings: string[] = [];
    await runCli({
      words: ["doctor"],
      environment: { ...settings(), TASKGATE_DATABASE_URL: urlAs(database.url, "operator") },
      folder: "/",
      output: { line: (text) => findings.push(text), error: () => undefined, columns: null },
    });
    expect(findings.join("\n")).toMatch(
      /^note +poison queues: taskgate-ingest-poison holds about 3 messages: `taskgate replay ingest --dry-run` tells the reasons\.$/m,
    );
    expect(await take("taskgate-ingest-poison")).toHaveLength(3);
  });

  test("the command replay --dry-run tells of plain text that a host can't read which expects base64", async () => {
    await queue("taskgate-ingest-poison").deleteIfExists();
    const poison = queue("taskgate-ingest-poison");
    await poison.createIfNotExists();
    await poison.sendMessage(JSON.stringify(landed("plain")));
    const { out } = await replay("ingest", "--dry-run");
    expect(out).toMatch(/^ {2}1: no reason: it is plain text\. .*send it as base64/m);
    await poison.clearMessages();
  });

  test("a message that is refused again goes back and doesn't make the command run for ever", async () => {
    const unrouted = { ...landed("again"), type: "unheard-of" };
    await send("taskgate-ingest-poison", { taskgate: { reason: "old" }, message: unrouted });
    const { code } = await replay("ingest");
    await untilExecuted("ingest");
    const [only, ...others] = await take("taskgate-ingest-poison");
    expect(code).toBe(0);
    expect(only?.text).toMatchObject({ message: unrouted });
    expect(others).toEqual([]);
  });

  test("a message that comes while the command runs stays, in sight of others", async () => {
    const poison = queue("unread-poison");
    await send("unread-poison", "hidden");
    await poison.receiveMessages({ visibilityTimeout: 300 });
    await send("unread-poison", "first");
    await send("unread-poison", "second");
    // The storage tells times in whole seconds.
    const sendsLater = `setTimeout(() => require("@azure/storage-queue").QueueServiceClient
      .fromConnectionString(process.argv[1]).getQueueClient("unread-poison")
      .sendMessage(Buffer.from('"new"').toString("base64")), 1100)`;
    const sent: number[] = [];
    const storage = {
      kind: "connection-string",
      connectionString: azurite.connectionString,
    } as const;
    const result = await replayPoison(storage, "unread", {
      max: 1_000,
      onProgress: (moved) => {
        sent.push(moved);
        execFileSync(process.execPath, ["-e", sendsLater, azurite.connectionString]);
      },
    });
    expect({ sent, result }).toEqual({ sent: [2], result: { moved: 2, left: 2 } });
    expect((await take("unread-poison")).map(({ text }) => text)).toEqual(["new"]);
  });

  test("the command replay without a storage it says which setting is missing", async () => {
    const errors: string[] = [];
    const code = await runCli({
      words: ["replay", "hints"],
      environment: { TASKGATE_DATABASE_URL: database.url },
      folder: "/",
      output: { line: () => undefined, error: (text) => errors.push(text), columns: null },
    });
    expect(code).not.toBe(0);
    expect(errors.join("\n")).toContain("AzureWebJobsStorage: expected the storage account");
  });
});
