import { parseArgs } from "node:util";

/** What `npm run bench` reads. */
export interface BenchOptions {
  /** Shows that everything runs; its figures are no measurement. */
  readonly isQuick: boolean;
  readonly json: string | null;
  /** A server to measure; null: an embedded one. */
  readonly db: string | null;
  /** Part of the names of the scenarios that run. */
  readonly only: string;
}

export const usage = `npm run bench -- [--quick] [--json FILE] [--db postgres://..] [--only PART OF A SCENARIO'S NAME, such as spread]

Durable commits. Believe ratios, not absolute figures: server and clients share the machine.`;

/** Throws an Error that names the unknown option. */
export function parseOptions(words: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "string" },
      db: { type: "string" },
      only: { type: "string", default: "" },
    },
  });
  const { quick, json = null, db = null, only } = values;
  return { isQuick: quick, json, db, only };
}
