import { parseArgs } from "node:util";

/** What a run is to be. */
export interface SoakOptions {
  /** How long the load lasts, all legs together. */
  readonly hours: number;
  /** Tasks enqueued a second. */
  readonly rate: number;
  readonly workers: number;
  /** Keeps the database, the ledger and the samples; null: a new one that is removed at the end. */
  readonly folder: string | null;
  /** Where the report and its plots go. */
  readonly report: string;
  readonly sampleMs: number;
  readonly isJson: boolean;
}

export const usage = `npm run soak -- --hours N [--folder DIR] [--rate N]

  --hours N        how long the load lasts, all legs together
  --minutes N      the same, for short runs
  --folder DIR     keeps the database, the ledger and the samples; the same command goes on where the last one stopped
  --rate N         tasks enqueued a second, default 75
  --workers N      worker processes, default 4; one of them is never disturbed
  --report DIR     where soak.md and soak-*.svg go, default docs/benchmarks
  --sample N       seconds between two samples, default 60
  --json           progress and result as lines of JSON
`;

/** A command line that can't be read; the message is for people. */
export class UsageError extends Error {}

/** Reads the command line; undefined: only help was wanted. Throws UsageError. */
export function readOptions(words: readonly string[]): SoakOptions | undefined {
  const values = parse(words);
  if (values.help === true) return undefined;
  if ((values.hours === undefined) === (values.minutes === undefined))
    throw new UsageError("Expected one of --hours and --minutes");
  const hours =
    values.hours === undefined
      ? numberOf("minutes", values.minutes ?? "", { least: 0.05, max: 60_000 }) / 60
      : numberOf("hours", values.hours, { least: 0.01, max: 1_000 });
  return {
    hours,
    rate: numberOf("rate", values.rate, { least: 1, max: 5_000 }),
    workers: numberOf("workers", values.workers, { least: 2, max: 16 }),
    folder: values.folder ?? null,
    report: values.report,
    sampleMs: 1_000 * numberOf("sample", values.sample, { least: 1, max: 3_600 }),
    isJson: values.json === true,
  };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        hours: { type: "string" },
        minutes: { type: "string" },
        folder: { type: "string" },
        rate: { type: "string", default: "75" },
        workers: { type: "string", default: "4" },
        report: { type: "string", default: "docs/benchmarks" },
        sample: { type: "string", default: "60" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function numberOf(name: string, text: string, { least, max }: { least: number; max: number }) {
  const value = Number(text);
  if (text !== "" && value >= least && value <= max) return value;
  throw new UsageError(
    `Expected --${name} to be ${String(least)}..${String(max)}, got \`${text}\``,
  );
}
