/** The small files that `taskgate dev` keeps in `.taskgate/`. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jsonMembers } from "../core/json-members";

/** How far the last run on the embedded database came. running: it was interrupted, unless it runs now. */
export type RunState = "running" | "finished";

/** Where the command line tool finds a run. */
export interface LocalRunFacts {
  readonly databaseUrl: string;
  readonly queueConnection: string;
  readonly url: string;
  readonly pid: number;
}

const stateName = "run-state.json";
const factsName = "local.json";

/** The mark that the last run left; null: there was none, or it can't be read. */
export async function readRunState(folder: string): Promise<RunState | null> {
  const text = await readFile(join(folder, stateName), "utf8").catch(() => "");
  const { state } = jsonMembers(text);
  return state === "running" || state === "finished" ? state : null;
}

/** Writes the mark; a crash in between leaves the old one. */
export async function writeRunState(folder: string, state: RunState): Promise<void> {
  await replace(join(folder, stateName), { state });
}

/** Says where this run is. Holds the database's address with its password: readable by its owner only. */
export async function writeLocalRun(folder: string, facts: LocalRunFacts): Promise<void> {
  await replace(join(folder, factsName), facts);
}

/** The run has ended. */
export async function removeLocalRun(folder: string): Promise<void> {
  await rm(join(folder, factsName), { force: true });
}

async function replace(path: string, value: object): Promise<void> {
  const draft = `${path}.draft`;
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
}
