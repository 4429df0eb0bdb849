import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { keyOf } from "./numbered-mutant";
import type { NamedEdit } from "./numbered-mutant";
import type { Outcome } from "./verdict";

/**
 * A survivor that was judged by hand (known-survivors/). The hash is of the edit's lines, so that an entry holds while other
 * lines change, and is refused once nothing matches it any more.
 */
export interface Equivalent {
  /** The shipped file without folder and ending: `Work`. */
  readonly file: string;
  /** `hashOf` of the edit: 12 hexadecimal digits. */
  readonly hash: string;
  /** The place among the edits with these lines, from 1; missing: all of them. */
  readonly nth?: number;
  /** equivalent: no test could notice the edit; gap: a test could, and none does. */
  readonly verdict: "equivalent" | "gap";
  readonly reason: string;
}

/** The tried edits, the survivors in three parts, and entries that are to be removed. */
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

/**
 * All entries of a folder: `equivalents.txt` has one a line, `gaps.md` has them behind the reason that they share.
 * @throws Error with file and line: no entry, no reason, an edit that is listed twice
 */
export function readEquivalents(folder = knownFolder): Equivalent[] {
  const read = (name: string): string[] => readFileSync(join(folder, name), "utf8").split("\n");
  const equivalents = readLines(read("equivalents.txt"));
  const gaps = readGaps(read("gaps.md"));
  const seen = new Set<string>();
  for (const entry of [...equivalents, ...gaps]) {
    if (seen.has(nameOf(entry)))
      throw new Error(`known-survivors: ${nameOf(entry)} stands there twice`);
    seen.add(nameOf(entry));
  }
  return [...equivalents, ...gaps];
}

/** An entry as it is written: `Work 0123456789ab#2`. */
export function nameOf({ file, hash, nth }: Pick<Equivalent, "file" | "hash" | "nth">): string {
  return `${file} ${hash}${nth === undefined ? "" : `#${nth}`}`;
}

const entryForm = String.raw`(\w+) ([0-9a-f]{12})(?:#([1-9]\d*))?`;

type Place = Pick<Equivalent, "file" | "hash" | "nth">;

function toPlace([, file = "", hash = "", nth]: RegExpMatchArray): Place {
  return { file, hash, ...(nth !== undefined && { nth: Number(nth) }) };
}

function readLines(lines: readonly string[]): Equivalent[] {
  const form = new RegExp(`^${entryForm} (\\S.*)$`);
  return lines.flatMap((line, index): Equivalent[] => {
    if (line === "" || line.startsWith("#")) return [];
    const match = form.exec(line);
    if (match === null) {
      throw new Error(`equivalents.txt:${index + 1}: expected FILE HASH REASON, got ${line}`);
    }
    return [{ ...toPlace(match), verdict: "equivalent", reason: match[4] ?? "" }];
  });
}

/** Each item of a list is a reason, then its entries, each as code. */
function readGaps(lines: readonly string[]): Equivalent[] {
  const entries = new RegExp(`\`${entryForm}\``, "g");
  const items = lines
    .map((line, index) => ({ line, at: index + 1 }))
    .filter(({ line }) => /^(- | {2}\S)/.test(line))
    .reduce<{ text: string; at: number }[]>((found, { line, at }) => {
      const last = found.at(-1);
      if (line.startsWith("- ") || last === undefined) return [...found, { text: line, at }];
      return [...found.slice(0, -1), { text: `${last.text} ${line.trim()}`, at: last.at }];
    }, []);
  return items.flatMap(({ text, at }) => {
    const places = [...text.matchAll(entries)];
    const reason = text.replaceAll(entries, "").slice(2).trim();
    if (places.length === 0 || reason === "") {
      throw new Error(
        `gaps.md:${at}: expected a reason and edits like \`Work 0123456789ab\`, got ${text}`,
      );
    }
    return places.map((match): Equivalent => ({ ...toPlace(match), verdict: "gap", reason }));
  });
}

/** Is there an entry for this edit? */
export function isListed(edit: NamedEdit, entries: readonly Equivalent[]): boolean {
  return entryOf(edit, entries) !== undefined;
}

/** How entries name the lines of an edit. */
export function hashOf(edit: Pick<NamedEdit, "file" | "diff">): string {
  return createHash("sha256").update(keyOf(edit)).digest("hex").slice(0, 12);
}

/** An edit as an entry names it, with its place. */
export function placeOf(edit: NamedEdit): Required<Place> {
  return { file: basename(edit.file, ".sql"), hash: hashOf(edit), nth: edit.nth };
}

/** The first entry for this edit. */
export function entryOf(edit: NamedEdit, entries: readonly Equivalent[]): Equivalent | undefined {
  const known = entriesByLines.get(entries) ?? byLines(entries, (entry) => entry);
  entriesByLines.set(entries, known);
  return known.get(linesOf(placeOf(edit)))?.find((entry) => isAbout(entry, edit));
}

/** Things about edits that change the same lines of the same file, by those: there are thousands of edits, and of entries. */
type ByLines<Item> = ReadonlyMap<string, readonly Item[]>;

const entriesByLines = new WeakMap<readonly Equivalent[], ByLines<Equivalent>>();

function linesOf({ file, hash }: Place): string {
  return nameOf({ file, hash });
}

function byLines<Item>(items: readonly Item[], place: (item: Item) => Place): ByLines<Item> {
  const sorted = new Map<string, Item[]>();
  for (const item of items) {
    const key = linesOf(place(item));
    const same = sorted.get(key);
    if (same === undefined) sorted.set(key, [item]);
    else same.push(item);
  }
  return sorted;
}

/** The known facts of the survivors among `outcomes`; `made` are all edits that there are, tried or not. */
export function judge(
  outcomes: readonly Outcome[],
  made: readonly NamedEdit[],
  entries: readonly Equivalent[],
): Judged {
  const scored = outcomes.filter(({ kind }) => kind !== "number");
  const survivors = scored.filter(({ verdict }) => verdict.kind === "survived");
  const madeByLines = byLines(made, placeOf);
  const triedByLines = byLines(outcomes, placeOf);
  const of = (verdict: Equivalent["verdict"] | undefined): Outcome[] =>
    survivors.filter((outcome) => entryOf(outcome, entries)?.verdict === verdict);
  const isStale = (entry: Equivalent): boolean => {
    const key = linesOf(entry);
    const isMade = madeByLines.get(key)?.some((edit) => isAbout(entry, edit)) === true;
    const tried = triedByLines.get(key)?.filter((outcome) => isAbout(entry, outcome)) ?? [];
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
