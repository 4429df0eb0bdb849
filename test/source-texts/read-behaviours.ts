import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The repository. */
export const root = join(__dirname, "../..");

/** One behaviour of the source texts, as docs/internals/source-behaviours.md has it. */
export interface Behaviour {
  readonly number: string;
  readonly text: string;
  /** Titles of the tests that prove it, or why there is none. */
  readonly proof: string;
}

/** All behaviours, in order. */
export const readBehaviours = (): Behaviour[] => readRows(/^\| (S\d\.\d+) +\|([^|]*)\|(.*)\|$/gm);

/** The weaknesses of Taskling, in order, with the answer of Taskgate. */
export const readWeaknesses = (): Behaviour[] => readRows(/^\| (\d+) +\|([^|]*)\|(.*)\|$/gm);

function readRows(pattern: RegExp): Behaviour[] {
  const page = readFileSync(join(root, "docs/internals/source-behaviours.md"), "utf8");
  return [...page.matchAll(pattern)].map((match) => ({
    number: match[1] ?? "",
    text: (match[2] ?? "").trim(),
    proof: (match[3] ?? "").trim(),
  }));
}

/** The numbers that a title carries; `S0.3 to S0.6` are four. */
export function numbersOf(title: string): string[] {
  const ranges = [...title.matchAll(/\b(S\d)\.(\d+) to \1\.(\d+)\b/g)].flatMap((match) => {
    const [first, last] = [Number(match[2]), Number(match[3])];
    return Array.from(
      { length: last - first + 1 },
      (_, index) => `${match[1] ?? ""}.${String(first + index)}`,
    );
  });
  return [...new Set([...ranges, ...[...title.matchAll(/\bS[0-4]\.\d+\b/g)].map(String)])];
}
