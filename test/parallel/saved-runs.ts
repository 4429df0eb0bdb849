import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Call } from "../tsql/histories/call";
import { oneByLine } from "../tsql/histories/saved-histories";
import { noTaste, repeats, runParallel, stepsFor } from "./run";
import type { RunResult } from "./run";
import type { Found, OpenStore } from "./search";

/** A run that broke a promise once: it is repeated on each `npm test`. */
export interface SavedRun {
  readonly seed: number;
  readonly path: string;
  /** Which promise, when it was found. */
  readonly broken: string;
  /** The calls of each party, as few as broke it. */
  readonly calls: readonly (readonly Call[])[];
}

const file = join(__dirname, "regressions.json");

/** All of them, oldest first. */
export function readSavedRuns(): SavedRun[] {
  return JSON.parse(readFileSync(file, "utf8")) as SavedRun[];
}

/** Adds one. */
export function saveRun(seed: number, { path, broken, calls }: Found): void {
  writeFileSync(file, oneByLine([...readSavedRuns(), { seed, path, broken, calls }]));
}

/** The calls again, some times, because they meet in another way each time. Which promise breaks; undefined: none. */
export async function repeatRun(
  open: OpenStore,
  { calls }: Pick<RunResult, "calls">,
): Promise<string | undefined> {
  for (let left = repeats; left > 0; left -= 1) {
    const { broken } = await runParallel(await open(), noTaste, calls.map(stepsFor));
    if (broken !== undefined) return broken;
  }
  return undefined;
}

/** For people: how to look for it again, and what each party did. */
export function explainRun(seed: number, { path, broken, calls }: Found): string {
  const parties = calls
    .filter((made) => made.length > 0)
    .map((made) => made.map((call) => `  ${JSON.stringify(call)}`).join("\n"));
  return [
    `npm run histories -- --parallel --seed ${String(seed)} --path ${path}`,
    broken,
    parties.join("\n  meanwhile\n"),
  ].join("\n");
}
