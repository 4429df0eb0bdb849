/*
 * An existing app with the package, as the quickstart makes it, in Microsoft's Functions host with its own Node worker. The host
 * comes from outside: TASKGATE_TEST_FUNCTIONS_HOST is the command that starts it (docs/internals/testing.md).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QueueClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { sleep } from "../../shared/platform/real-clock";
import { ensureBuilt } from "../functions/built-app";
import { createEmptyDatabase, rowsOf } from "../migration/empty-database";
import { packInto, run } from "../package/packed";
import { writeInitApp } from "../package/apps";
import { hostCommand, startFunctionsHost } from "./functions-host";
import type { FunctionsHost } from "./functions-host";
import { startStorageEmulator } from "./storage-emulator";
import type { StorageEmulator } from "./storage-emulator";

const reason = "TASKGATE_TEST_FUNCTIONS_HOST names no command that starts a Functions host";
if (hostCommand === undefined) console.info(`the real Functions host is skipped: ${reason}`);
const describeHere = hostCommand === undefined ? describe.skip : describe;
const title = hostCommand === undefined ? ` (skipped: ${reason})` : "";

const limit = 3;
const bodyMs = 600;
/** Messages of the first test, and more than a host takes at once. */
const few = 12;
const many = 40;

/** Notes begins and ends, and what the host tells of the message. */
const notifyFile = `
import { app, InvocationContext } from "@azure/functions";
import { appendFileSync } from "node:fs";
import { gate } from "./gate";

function note(entry: object): void {
  appendFileSync(process.env.NOTES_FILE ?? "", JSON.stringify(entry) + "\\n");
}

export async function notify(message: { n: number }, context: InvocationContext): Promise<void> {
  note({ what: "begin", n: message.n, metadata: context.triggerMetadata });
  await new Promise((resolve) => setTimeout(resolve, ${String(bodyMs)}));
  note({ what: "end", n: message.n });
}

app.storageQueue("notify", {
  queueName: "notifications",
  connection: "AzureWebJobsStorage",
  handler: gate.limited({ name: "partner-api", limit: ${String(limit)} }, notify),
});
`;

interface Note {
  readonly what: "begin" | "end";
  readonly n: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

describeHere(`an existing app in the real Functions host${title}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "taskgate-real-host-"));
  const app = join(folder, "billing");
  const notesFile = join(folder, "notes");
  let storage: StorageEmulator;
  let database: { url: string; drop(): Promise<void> };
  let host: FunctionsHost | null = null;

  beforeAll(async () => {
    ensureBuilt();
    writeInitApp(app, {});
    const npm = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    const { file } = await packInto(folder);
    await run("npm", [...npm, file, "pg@8"], { cwd: app });
    const taskgate = join(app, "node_modules", "taskgate", "lib", "cli", "main.js");
    await run(process.execPath, [taskgate, "init", "--yes"], { cwd: app });
    writeFileSync(join(app, "src", "functions", "notify.ts"), notifyFile);
    await run(process.execPath, [join(app, "node_modules", "typescript", "bin", "tsc")], {
      cwd: app,
    });
    database = await createEmptyDatabase();
    await run(process.execPath, [taskgate, "migrate", "--db", database.url], { cwd: app });
    storage = await startStorageEmulator();
  }, 300_000);

  afterAll(async () => {
    await host?.terminate();
    await storage.stop();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  async function start(): Promise<FunctionsHost> {
    host = await startFunctionsHost(hostCommand ?? "", {
      folder: app,
      env: {
        AzureWebJobsStorage: storage.connectionString,
        TASKGATE_DATABASE_URL: database.url,
        TASKGATE_SWEEP_SCHEDULE: "*/5 * * * * *",
        TASKGATE_FUNCTION_TIMEOUT_MS: "300000",
        NOTES_FILE: notesFile,
      },
    });
    return host;
  }

  async function terminate(): Promise<void> {
    await host?.terminate();
    host = null;
  }

  async function send(from: number, count: number): Promise<void> {
    const queue = new QueueClient(storage.connectionString, "notifications");
    await queue.createIfNotExists();
    const text = (n: number): string => Buffer.from(JSON.stringify({ n })).toString("base64");
    const numbers = Array.from({ length: count }, (_, index) => from + index);
    await Promise.all(numbers.map((n) => queue.sendMessage(text(n))));
  }

  function notes(): Note[] {
    const lines = readFileSync(notesFile, { encoding: "utf8", flag: "a+" }).split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Note);
  }

  async function untilEnded(count: number): Promise<void> {
    for (let tries = 0; tries < 600; tries += 1) {
      if (notes().filter(({ what }) => what === "end").length >= count) return;
      await sleep(100);
    }
    throw new Error(`fewer than ${String(count)} calls ended:\n${host?.log().slice(-4_000) ?? ""}`);
  }

  /** Most calls at once, by the notes. */
  function mostAtOnce(): number {
    let running = 0;
    return Math.max(...notes().map(({ what }) => (running += what === "begin" ? 1 : -1)));
  }

  async function heldTokens(): Promise<number> {
    const rows = await rowsOf<{ held: number }>(
      database.url,
      "select coalesce(sum(token_count), 0)::int as held from taskgate.task_execution where state = 1",
    );
    return rows[0]?.held ?? 0;
  }

  test("twelve messages run, never more at once than the limit, and the host warns of nothing", async () => {
    const { log } = await start();
    await send(0, few);
    await untilEnded(few);
    expect(mostAtOnce()).toBe(limit);
    expect(new Set(notes().map(({ n }) => n)).size).toBe(few);
    expect(log()).not.toMatch(/^(warn|fail|crit): /m);
  }, 120_000);

  test("a handler's metadata is that of the local host", () => {
    const [first] = notes();
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
    expect(first?.metadata).toEqual({
      queueTrigger: { n: first?.n },
      n: first?.n,
      id: expect.any(String),
      popReceipt: expect.any(String),
      dequeueCount: 1,
      insertionTime: instant,
      expirationTime: instant,
      nextVisibleTime: instant,
    });
  });

  test("a host that is told to end finishes what runs, and gives its tokens back", async () => {
    const before = notes().length / 2;
    await send(few, many);
    for (let tries = 0; tries < 300 && notes().length / 2 <= before + 1; tries += 1)
      await sleep(50);
    await terminate();
    const all = notes();
    const ends = all.filter(({ what }) => what === "end");
    expect(all.length).toBe(2 * ends.length);
    expect(ends.length).toBeLessThan(few + many);
    expect(await heldTokens()).toBe(0);
  }, 120_000);

  test("Ctrl-C at the terminal of a host lets what runs finish, too", async () => {
    const before = notes().length;
    await start();
    for (let tries = 0; tries < 300 && notes().length <= before + 1; tries += 1) await sleep(50);
    await host?.interrupt();
    host = null;
    const ends = notes().filter(({ what }) => what === "end");
    expect(notes().length).toBe(2 * ends.length);
    expect(await heldTokens()).toBe(0);
  }, 120_000);

  test("the next host runs the rest: messages, and those that became tasks", async () => {
    await start();
    await untilEnded(few + many);
    expect(new Set(notes().map(({ n }) => n)).size).toBe(few + many);
    expect(notes()).toHaveLength(2 * (few + many));
    expect(mostAtOnce()).toBe(limit);
  }, 120_000);
});
