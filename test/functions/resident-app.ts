import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createClient } from "../../shared";
import type { Client } from "../../shared/client/create-client";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { ensureBuilt, root } from "./built-app";

/** A line that a handler has printed: a word, a task's name and an instant. */
export interface Note {
  readonly what: string;
  readonly id: string;
  readonly atMs: number;
}

/** One process of `taskgate work`. */
export interface Resident {
  readonly child: ChildProcess;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  kill(signal: NodeJS.Signals): void;
}

/** An app whose tasks are run by `taskgate work`, on a real PostgreSQL, without a Functions host and without a queue. */
export interface ResidentApp {
  readonly url: string;
  readonly client: Client;
  readonly notes: Note[];
  readonly lines: string[];
  start(words?: readonly string[], env?: Readonly<Record<string, string>>): Resident;
  /** Resolves when the notes, or a line of a process, are as wanted. */
  until(isSo: () => boolean): Promise<void>;
  /** Kills the processes that a test has left. */
  killAll(): Promise<void>;
  close(): Promise<void>;
}

/** Writes the app: `tasks` is the source of an array, in which `defineTask`, `note` and `sleep` are known. */
export async function openResidentApp(tasks: string): Promise<ResidentApp> {
  ensureBuilt();
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), "taskgate-resident-"));
  mkdirSync(join(folder, "dist"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  writeFileSync(join(folder, "package.json"), JSON.stringify({ main: "dist/index.js" }));
  writeFileSync(join(folder, "dist/index.js"), sourceOf(tasks));
  const residents: Resident[] = [];
  const notes: Note[] = [];
  const lines: string[] = [];
  const killAll = async (): Promise<void> => {
    for (const { child, ended } of residents.splice(0)) {
      child.kill("SIGKILL");
      await ended;
    }
  };
  const looks = new Set<() => void>();
  const read = (line: string): void => {
    const [, what, id = "", atMs] = /^note (\S+) (\S+) (\S+)$/.exec(line) ?? [];
    if (what === undefined) lines.push(line);
    else notes.push({ what, id, atMs: Number(atMs) });
    for (const look of looks) look();
  };
  const url = urlAs(database.url, "app");
  const client = createClient({ store: { url } });
  return {
    url: database.url,
    client,
    notes,
    lines,
    start: (words = [], env = {}) => {
      const resident = startResident([...words, "--app", folder], { url, env, read });
      residents.push(resident);
      return resident;
    },
    until: (isSo) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!isSo()) return;
          looks.delete(look);
          clearTimeout(patience);
          resolve();
        };
        const patience = setTimeout(() => {
          looks.delete(look);
          reject(new Error(`Not seen within 60 s: ${JSON.stringify(notes)} ${lines.join("\n")}`));
        }, 60_000);
        looks.add(look);
        look();
      }),
    killAll,
    close: async () => {
      await killAll();
      await client.close();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function startResident(
  words: readonly string[],
  parts: {
    readonly url: string;
    readonly env: Readonly<Record<string, string>>;
    readonly read: (line: string) => void;
  },
): Resident {
  const { PATH, HOME } = process.env;
  const program = join(root, "dist/shared/cli/main.js");
  const line = [process.execPath, program, "work", ...words];
  // npm runs a command in a shell, which gets its signals.
  const isOfNpm = parts.env["npm_command"] !== undefined;
  const [command = "", ...given] = isOfNpm ? ["sh", "-c", '"$@"; exit', "sh", ...line] : line;
  const child = spawn(command, given, {
    env: { PATH, HOME, TASKGATE_DATABASE_URL: parts.url, ...parts.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", parts.read);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once("close", (code, signal) => {
      resolve(code ?? signal);
    });
  });
  return { child, ended, kill: (signal) => child.kill(signal) };
}

function sourceOf(tasks: string): string {
  const door = (path: string): string => JSON.stringify(join(root, path));
  return `
const { setTimeout: sleep } = require("node:timers/promises");
const { app } = require("@azure/functions");
const { defineTask, taskRef } = require(${door("dist/shared/index.js")});
const { taskgate } = require(${door("dist/shared/functions/index.js")});
// Without a result: what a handler returns must be an object.
const note = (what, id) => {
  process.stdout.write(["note", what, id, performance.timeOrigin + performance.now()].join(" ") + "\\n");
};
taskgate({ tasks: ${tasks} }).register(app);
`;
}

/** How many bodies had begun and not ended, at most, by the notes `begin` and `end`. */
export function mostAtOnce(notes: readonly Note[]): number {
  let running = 0;
  const steps = [...notes]
    .sort((left, right) => left.atMs - right.atMs)
    .filter(({ what }) => what === "begin" || what === "end")
    .map(({ what }) => (running += what === "begin" ? 1 : -1));
  return Math.max(0, ...steps);
}

/** Ids of the notes of one sort. */
export function idsOf(notes: readonly Note[], what: string): string[] {
  return notes.filter((each) => each.what === what).map(({ id }) => id);
}
