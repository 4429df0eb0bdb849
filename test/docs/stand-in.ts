import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pasteShell } from "./paste-shell";
import type { ShellPlace } from "./paste-shell";
import type { BlockPlace } from "./run-blocks";
import { pastedApp } from "./run-blocks";

/*
 * Programs that stand in for those that a test can't run. Each notes its words, so that a test sees what a shell makes of quotes, variables
 * and lines that go on.
 */

const notes = join(pastedApp, "calls");

/** A program that notes its words, and answers by them: part of a call, then its output. */
export function standIn(answers: Readonly<Record<string, string>> = {}): string {
  const cases = Object.entries(answers).map(([part, text]) => `*'${part}'*) echo '${text}' ;;`);
  return [
    `for word in "$(basename "$0")" "$@"; do printf '%s\\0' "$word"; done >> '${notes}'`,
    `printf '\\1' >> '${notes}'`,
    ...(cases.length === 0 ? [] : ['case "$*" in', ...cases, "esac"]),
  ].join("\n");
}

/** Runs a block, and answers what it has called of the stand-ins, in order: a name and its words. */
export async function callsOf(place: BlockPlace, shell: ShellPlace): Promise<string[][]> {
  rmSync(notes, { force: true });
  await pasteShell(place, shell);
  const text = existsSync(notes) ? readFileSync(notes, "utf8") : "";
  const calls = text.split("\u0001").slice(0, -1);
  return calls.map((call) => call.split("\0").slice(0, -1));
}
