import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import type { Call } from "./call";
import type { Difference } from "./history";

/** A history that showed a difference once: it is run again on each `npm test`. */
export interface Regression {
  readonly seed: number;
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
  writeFileSync(file, `${JSON.stringify([...known, added], null, 2)}\n`);
}

/** In one line. */
export function titleOf({ call, table }: Difference): string {
  return call === undefined
    ? `table ${table ?? "?"}`
    : `the answer of call ${call.id} (${call.do})`;
}

/** For people: what was asked, and what each store said; of tables only the rows that not all have. */
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
  return [`${titleOf(difference)} differs`, ...asked, ...said].join("\n");
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
