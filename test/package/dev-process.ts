import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { findFreePort } from "../../shared/local/free-port";
import { sleep } from "../../shared/platform/real-clock";

/** A run of `taskgate dev` in an app. */
export interface DevRun {
  readonly port: number;
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exitCode: Promise<number | null>;
}

/** Where the run begins. */
export interface DevPlace {
  readonly app: string;
  /** The command of the installed package. */
  readonly program: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
}

/** Starts `taskgate dev` in an app. Nothing of the test's own environment but the path reaches it. */
export async function startDevIn({ app, program, env, words = [] }: DevPlace): Promise<DevRun> {
  const port = await findFreePort();
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program, "dev", "--port", String(port), ...words], {
    cwd: app,
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const exitCode = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { port, child, output: () => output, exitCode };
}

/** Waits up to a minute. Throws with the output of the run. */
export async function untilIn(
  dev: DevRun | null,
  holds: () => boolean,
  what: string,
): Promise<void> {
  for (let tries = 0; tries < 1_200 && !holds(); tries += 1) await sleep(50);
  if (!holds()) throw new Error(`${what} never came:\n${dev?.output() ?? ""}`);
}

/** Enqueues a task by the command line, again while a worker hasn't registered its definition yet. */
export async function enqueueIn(
  taskgate: (...words: string[]) => Promise<string>,
  definition: string,
  payload: object,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await taskgate("enqueue", definition, "--payload", JSON.stringify(payload));
      return;
    } catch (error) {
      if (tries === 40) throw error;
      await sleep(500);
    }
  }
}
