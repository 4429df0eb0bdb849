import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import type { Call } from "./call";
import type { Difference } from "./difference";
import type { Found } from "./search";

/** A history that showed a difference once: it is run again on each `npm test`. */
export interface Regression {
  readonly seed: number;
  /** Which of the seed's histories. */
  readonly path?: string;
  /** What differed when it was found. */
  readonly found: string;
  /** As few calls as showed it. */
  readonly calls: readonly Call[];
}

const file = join(__dirname, "regressions.json");

/** All of them, oldest first. */
export function readRegressions(): Regression[] {
  return JSON.parse(readFileSync(file, "utf8")) as Regression[];
}

/** Adds one; once a seed is in, it stays as it is. */
export function saveRegression(added: Regression): void {
  const known = readRegressions();
  if (known.some(({ seed }) => seed === added.seed)) return;
  writeFileSync(file, oneByLine([...known, added]));
}

/** A JSON array with an entry a line. */
export function oneByLine(entries: readonly unknown[]): string {
  return `[\n${entries.map((entry) => JSON.stringify(entry)).join(",\n")}\n]\n`;
}

/** For people: how to find it again, and what it is. */
export function explainFound(
  { seed, calls: max }: { seed: number; calls: number },
  { path, length, calls, difference }: Found,
): string {
  const lines = calls.map((call) => `  ${JSON.stringify(call)}`);
  return [
    `npm run histories -- --seed ${String(seed)} --path ${path} --calls ${String(max)}`,
    `${String(calls.length)} of ${String(length)} calls:`,
    ...lines,
    explainDifference(difference),
  ].join("\n");
}

/** For people: the calls, and the answers of each store; of tables only the rows that not all have. */
export function explainDifference(difference: Difference): string {
  const { call, sides } = difference;
  const asked = call === undefined ? [] : [`  asked: ${shown(call)}`];
  const said = Object.entries(sides).map(([title, value]) => {
    const others = Object.entries(sides).filter(([other]) => other !== title);
    return `  ${title}: ${shown(
      without(
        value,
        others.map(([, other]) => other),
      ),
    )}`;
  });
  return [`${difference.what} differs`, ...asked, ...said].join("\n");
}

/** Rows that some other store lacks; anything but a list stays as it is. */
function without(value: unknown, others: readonly unknown[]): unknown {
  if (!Array.isArray(value)) return value;
  const lists = others.map((other) => (Array.isArray(other) ? other.map(shown) : []));
  return (value as readonly unknown[]).filter(
    (row) => !lists.every((list) => list.includes(shown(row))),
  );
}

function shown(value: unknown): string {
  return inspect(value, { depth: 9, breakLength: Infinity, sorted: true });
}
