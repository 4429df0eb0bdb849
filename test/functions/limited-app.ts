import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QueueServiceClient } from "@azure/storage-queue";
import type { QueueClient } from "@azure/storage-queue";
import { startAzurite } from "../../shared/local/azurite";
import type { HostChild } from "../../shared/local/host-children";
import type * as HostChildren from "../../shared/local/host-children";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { ensureBuilt, root } from "./built-app";

/** What a function of the app notes: a line of words each. */
export interface Note {
  readonly what: string;
  readonly id: string;
  readonly atMs: number;
}

/** An app with limited functions in local hosts, on a real PostgreSQL and a real storage emulator. */
export interface LimitedApp {
  /** The database, as its owner. */
  readonly url: string;
  readonly lines: string[];
  notes(): Note[];
  start(env?: Readonly<Record<string, string>>): Promise<HostChild>;
  /** Puts messages into a queue, encoded as the app reads them. */
  send(queue: string, messages: readonly unknown[]): Promise<void>;
  queue(name: string): QueueClient;
  close(): Promise<void>;
}

/**
 * Writes the app: `source` is a module in which `app`, `gate`, `note` and `sleep` are known. `parts`: the source of what the gate
 * is made of, in which `defineTask` and `taskRef` are known, too. `register`: the source of what it registers with. `url`: the
 * address of a database that is there; default: one of its own, on which the app has the rights of an app.
 */
export async function openLimitedApp(
  source: string,
  messageEncoding: "base64" | "none",
  given: { readonly parts?: string; readonly url?: string; readonly register?: string } = {},
): Promise<LimitedApp> {
  ensureBuilt();
  const [azurite, database] = await Promise.all([startAzurite(), openDatabase(given.url)]);
  const folder = mkdtempSync(join(tmpdir(), "taskgate-limited-"));
  const noteFile = join(folder, "notes");
  writeFileSync(noteFile, "");
  mkdirSync(join(folder, "dist"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  const queues = { messageEncoding, maxPollingInterval: "00:00:00.100" };
  writeFileSync(
    join(folder, "host.json"),
    JSON.stringify({ version: "2.0", extensions: { queues } }),
  );
  writeFileSync(join(folder, "package.json"), JSON.stringify({ main: "dist/index.js" }));
  writeFileSync(join(folder, "dist/index.js"), `${head(noteFile, given)}\n${source}`);
  const hosts: HostChild[] = [];
  const lines: string[] = [];
  const service = QueueServiceClient.fromConnectionString(azurite.connectionString);
  const queue = (name: string): QueueClient => service.getQueueClient(name);
  return {
    url: database.url,
    lines,
    notes: () => readFileSync(noteFile, "utf8").split("\n").slice(0, -1).map(readNote),
    start: async (env = {}) => {
      const load = createRequire(__filename);
      const path = join(root, "dist/shared/local/host-children.js");
      const { startHostChild } = load(path) as typeof HostChildren;
      const { PATH, HOME } = process.env;
      const settings = {
        PATH,
        HOME,
        AzureWebJobsStorage: azurite.connectionString,
        TASKGATE_DATABASE_URL: database.appUrl,
        ...env,
      };
      const child = { appRoot: folder, port: 0, env: settings, runsTimers: false };
      const host = await startHostChild(child, (line) => lines.push(line));
      hosts.push(host);
      return host;
    },
    send: async (name, messages) => {
      await queue(name).createIfNotExists();
      const encode = (message: unknown): string => {
        const text = JSON.stringify(message);
        return messageEncoding === "none" ? text : Buffer.from(text).toString("base64");
      };
      const left = [...messages];
      const sendOn = async (): Promise<void> => {
        for (let next = left.shift(); next !== undefined; next = left.shift())
          await queue(name).sendMessage(encode(next));
      };
      await Promise.all(Array.from({ length: 16 }, sendOn));
    },
    queue,
    close: async () => {
      await Promise.all(hosts.map((host) => host.stop()));
      await Promise.all([azurite.stop(), database.drop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Database {
  readonly url: string;
  readonly appUrl: string;
  readonly drop: () => Promise<void>;
}

async function openDatabase(given: string | undefined): Promise<Database> {
  if (given !== undefined) return { url: given, appUrl: given, drop: async () => undefined };
  const { url, drop } = await createTestDatabase();
  return { url, appUrl: urlAs(url, "app"), drop };
}

function head(
  noteFile: string,
  { parts = "{ tasks: [] }", register = "{ api: false }" }: { parts?: string; register?: string },
): string {
  const door = join(root, "dist/shared/functions");
  return `
const { appendFileSync } = require("node:fs");
const { setTimeout: sleep } = require("node:timers/promises");
const { app } = require("@azure/functions");
const { defineTask, taskRef, taskRequest } = require(${JSON.stringify(join(root, "dist/shared"))});
const note = (what, id) =>
  appendFileSync(${JSON.stringify(noteFile)}, [what, id, performance.timeOrigin + performance.now()].join(" ") + "\\n");
const gate = require(${JSON.stringify(door)}).taskgate(${parts});
gate.register(app, ${register});
`;
}

function readNote(line: string): Note {
  const [what = "", id = "", atMs = ""] = line.split(" ");
  return { what, id, atMs: Number(atMs) };
}

/** How many bodies had begun and not ended, at most, by the notes `begin` and `end`. */
export function mostAtOnce(notes: readonly Note[]): number {
  let running = 0;
  const steps = notes
    .filter(({ what }) => what === "begin" || what === "end")
    .map(({ what }) => (running += what === "begin" ? 1 : -1));
  return Math.max(0, ...steps);
}

/** Ids of the notes of one sort. */
export function idsOf(notes: readonly Note[], what: string): string[] {
  return notes.filter((each) => each.what === what).map(({ id }) => id);
}
