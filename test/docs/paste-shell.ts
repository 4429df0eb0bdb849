import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { bashWords } from "../support/bash";
import { judgedBlocks } from "./judged-blocks";
import { readBlock, root } from "./markdown";
import type { BlockPlace } from "./run-blocks";
import { noteRun, pastedApp } from "./run-blocks";

/** Where a shell block runs. */
export interface ShellPlace {
  /** The current folder; default: the pasted app. */
  readonly folder?: string;
  /** Beside the path and the home folder: nothing else of the test's environment reaches the block. */
  readonly env?: Readonly<Record<string, string>>;
  /** Puts the test's own addresses in. */
  readonly adapt?: (text: string) => string;
  /** Programs of the test, by name, that stand before those of the machine: scripts of `sh`. */
  readonly programs?: Readonly<Record<string, string>>;
}

/** The commands of a shell block: a line that ends with a backslash goes on in the next one. */
export function commandsOf(text: string): string[] {
  return text.split(/(?<!\\)\n/);
}

/** What runs of a block: the commands that judged-blocks.ts doesn't take out. */
export function commandsThatRun([page, marker]: BlockPlace): string {
  const judged = judgedBlocks.find((entry) => entry.page === page && entry.marker.test(marker));
  const { text } = readBlock(page, marker);
  if (judged?.lines === undefined) return text;
  const { lines } = judged;
  return commandsOf(text)
    .filter((command) => !lines.test(command))
    .join("\n");
}

/** Runs the commands of a block in bash until one of them fails, and notes that it has run. Answers its standard output. */
export async function pasteShell(place: BlockPlace, shell: ShellPlace = {}): Promise<string> {
  const out = await runShell(commandsThatRun(place), shell);
  noteRun(place);
  return out;
}

/** Runs a text in bash as a block is run. */
export async function runShell(
  text: string,
  { folder = pastedApp, env = {}, adapt = (same) => same, programs = {} }: ShellPlace,
): Promise<string> {
  const { HOME = "", TASKGATE_TEST_RUN: mark = "" } = process.env;
  const script = `set -eo pipefail\n${adapt(text)}`;
  try {
    const { stdout } = await promisify(execFile)("bash", bashWords(script), {
      cwd: folder,
      env: { HOME, TASKGATE_TEST_RUN: mark, ...env, ...pathWith(programs) },
    });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${script}\n${stdout}${stderr}`, { cause: error });
  }
}

/** A path with the built program, as `taskgate` and as `npx taskgate`: npm would look for it in the folder's packages. */
export function pathWith(programs: Readonly<Record<string, string>> = {}): {
  PATH: string;
  NPX_PATH: string;
} {
  const { PATH = "" } = process.env;
  const folder = join(pastedApp, "bin");
  mkdirSync(folder, { recursive: true });
  const program = `exec '${process.execPath}' '${join(root, "dist/shared/cli/main.js")}' "$@"`;
  const npx = `if [ "$1" != taskgate ]; then PATH="$NPX_PATH" exec npx "$@"; fi\nshift\n${program}`;
  for (const [name, text] of Object.entries({ taskgate: program, npx, ...programs })) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { PATH: `${folder}${delimiter}${PATH}`, NPX_PATH: PATH };
}
