import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Outcome } from "./verdict";
import { keyOf } from "./verdict";

/**
 * Survivors that were judged by hand (known-survivors/, one file for each shipped one: `Work.json`). An entry names its
 * edit by its lines, so that it holds while other lines change, and is refused once nothing matches it any more.
 */
export interface Equivalent {
  readonly file: string;
  readonly diff: readonly string[];
  /** Which of those with this diff; missing: all of them. */
  readonly nth?: number;
  /** equivalent: nobody could see a difference; gap: somebody could, and no test does. */
  readonly verdict: "equivalent" | "gap";
  readonly reason: string;
}

/** What was tried, its survivors in three parts, and entries that are to be removed. */
export interface Judged {
  readonly outcomes: readonly Outcome[];
  readonly unexplained: readonly Outcome[];
  readonly equivalent: readonly Outcome[];
  readonly gaps: readonly Outcome[];
  /** Changed numbers: they are no part of the rest, nor of the score (docs/internals/tsql-simulation.md). */
  readonly numbers: readonly Outcome[];
  /** Entries whose edit isn't made any more, or doesn't survive any more. */
  readonly stale: readonly Equivalent[];
}

const knownFolder = join(__dirname, "known-survivors");

/** All entries, each from the file that is named like the shipped one that it is about. */
export function readEquivalents(folder = knownFolder): Equivalent[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .flatMap((name) => readList(join(folder, name)).map((entry) => checked(entry, name)));
}

function readList(path: string): Equivalent[] {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Equivalent[];
  } catch (error) {
    throw new Error(`${path}: expected a JSON list`, { cause: error });
  }
}

function checked(entry: Equivalent, name: string): Equivalent {
  const expected = `${basename(entry.file, ".sql")}.json`;
  if (name !== expected) {
    throw new Error(`${name}: expected an entry about ${entry.file} to stand in ${expected}`);
  }
  if (entry.reason.trim() === "") {
    throw new Error(`${name}: ${entry.diff.join(" ")} gives no reason`);
  }
  return entry;
}

/** An edit with its place among those of the same diff. */
export type NamedEdit = Pick<Outcome, "file" | "diff" | "nth">;

/** Is there an entry for this edit? */
export function isListed(edit: NamedEdit, entries: readonly Equivalent[]): boolean {
  return entryOf(edit, entries) !== undefined;
}

/** The first entry for this edit. */
function entryOf(edit: NamedEdit, entries: readonly Equivalent[]): Equivalent | undefined {
  const known = entriesByChange.get(entries) ?? byChange(entries);
  entriesByChange.set(entries, known);
  return known.get(keyOf(edit))?.find((entry) => isAbout(entry, edit));
}

/** Edits that change the same lines of the same file, by those: there are thousands of edits, and of entries. */
type ByChange<Edit> = ReadonlyMap<string, readonly Edit[]>;

const entriesByChange = new WeakMap<readonly Equivalent[], ByChange<Equivalent>>();

function byChange<Edit extends Pick<NamedEdit, "file" | "diff">>(
  edits: readonly Edit[],
): ByChange<Edit> {
  const sorted = new Map<string, Edit[]>();
  for (const edit of edits) {
    const key = keyOf(edit);
    const same = sorted.get(key);
    if (same === undefined) sorted.set(key, [edit]);
    else same.push(edit);
  }
  return sorted;
}

/** What is known of the survivors among `outcomes`; `made` are all edits that there are, tried or not. */
export function judge(
  outcomes: readonly Outcome[],
  made: readonly NamedEdit[],
  entries: readonly Equivalent[],
): Judged {
  const scored = outcomes.filter(({ kind }) => kind !== "number");
  const survivors = scored.filter(({ verdict }) => verdict.kind === "survived");
  const madeByChange = byChange(made);
  const triedByChange = byChange(outcomes);
  const of = (verdict: Equivalent["verdict"] | undefined): Outcome[] =>
    survivors.filter((outcome) => entryOf(outcome, entries)?.verdict === verdict);
  const isStale = (entry: Equivalent): boolean => {
    const key = keyOf(entry);
    const isMade = madeByChange.get(key)?.some((edit) => isAbout(entry, edit)) === true;
    const tried = triedByChange.get(key)?.filter((outcome) => isAbout(entry, outcome)) ?? [];
    return !isMade || tried.some(({ verdict }) => verdict.kind !== "survived");
  };
  return {
    outcomes: scored,
    unexplained: of(undefined),
    equivalent: [
      ...of("equivalent"),
      ...scored.filter(({ verdict }) => verdict.kind === "equivalent"),
    ],
    gaps: of("gap"),
    numbers: outcomes.filter(({ kind }) => kind === "number"),
    stale: entries.filter(isStale),
  };
}

/** Of those that change the same lines: does an entry mean this one? */
function isAbout(entry: Equivalent, edit: NamedEdit): boolean {
  return (entry.nth ?? edit.nth) === edit.nth;
}
