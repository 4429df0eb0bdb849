import { spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { bashWords } from "../support/bash";

/** Commands that stay. */
export interface ShellRun {
  readonly lines: () => string;
  /** Waits up to 30 s for a text in the lines. */
  readonly until: (text: string) => Promise<void>;
  /** SIGTERM to all processes of the commands; resolves when the last one has ended. */
  readonly end: () => Promise<void>;
  readonly ended: Promise<void>;
}

/** Starts commands in bash, until one of them fails. `env` has the path. */
export function startShell(
  text: string,
  { folder, env }: { folder: string; env: Readonly<Record<string, string>> },
): ShellRun {
  const { HOME = "", TASKGATE_TEST_RUN: mark = "" } = process.env;
  const child = spawn("bash", bashWords(`set -e\n${text}\nwait`), {
    cwd: folder,
    env: { HOME, TASKGATE_TEST_RUN: mark, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let told = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => (told += piece.toString()));
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      resolve();
    });
  });
  return {
    lines: () => told,
    ended,
    until: async (wanted) => {
      for (let tries = 0; tries < 600 && !told.includes(wanted); tries += 1) await wait(50);
      if (!told.includes(wanted)) throw new Error(`${wanted} never came: ${told}`);
    },
    end: async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
      await ended;
    },
  };
}
