import type { BucketCount } from "../../core/duration-buckets";
import { checkMax, checkName, unlike } from "./checks";
import { bool, columns, int, json, oneOf, text } from "./columns";
import { operationsOf } from "./operation";

/* ---- Statistics: counts of executions, by definition and period ---- */

/** Executions count in their own rows; the sweep adds the counts up, and deletes statistics that are too old. */
export interface StatisticOperations {
  /** The counts, by period. Changes nothing. */
  readStatistics(input: ReadStatisticsInput): Promise<ReadStatisticsAnswer>;
  /** Adds up the counts of executions since the last call. Of several calls at a time one does it. */
  rollUpStatistics(input: { max: number }): Promise<RollUpStatisticsAnswer>;
}

/** A period's length in minutes. Periods of a minute are kept for 3 hours, of ten minutes for 3 days, of an hour for 90 days. */
export type Grain = 1 | 10 | 60;

export interface ReadStatisticsInput {
  /** A definition; null: all. */
  name: string | null;
  grain: Grain;
  /** So many periods back from now, the current one included; 1..720, of all definitions 1..12. */
  max: number;
}

export interface ReadStatisticsAnswer {
  /** The database's clock. */
  now: Date;
  /** Until then everything is counted. */
  countedAt: Date;
  /** By definition, then by time; a period in which nothing was counted isn't there. */
  periods: StatisticPeriod[];
}

/** The counts of a definition in a period. */
export interface StatisticPeriod {
  definition: string;
  /** ISO-8601 UTC: its begin. */
  at: string;
  claimed: number;
  /** Tasks that ended well. */
  done: number;
  /** Attempts, those of dead tasks too. */
  failed: number;
  /** Tasks. */
  dead: number;
  /** Attempts whose execution lost its lease. */
  lost: number;
  /** Of those done, together. */
  ranMs: number;
  /** Tokens times milliseconds. */
  heldMs: number;
  /** At the last count; -1: none. */
  limit: number;
  /** The most that a count found, up to 1000. */
  ready: number;
  /** Age of the task that comes next, the highest that a count found, ms; 0: none was ready. */
  nextAgeMs: number;
  /** How long tasks ran, by `durationBoundsMs`: a sample, weighted so that all are counted. */
  ran: BucketCount[];
  /** From their enqueue until the begin of their last attempt, likewise. */
  waited: BucketCount[];
}

const rolledUp = columns({
  /** busy: another call is at it, and nothing was done. */
  status: oneOf("rolled", "busy"),
  /** Looked at. */
  executions: int,
  /** Periods that were too old. */
  deleted: int,
  /** Call again. */
  more: bool,
});
/** Answer of `rollUpStatistics`. */
export type RollUpStatisticsAnswer = ReturnType<typeof rolledUp>;

const operation = operationsOf<StatisticOperations>();

/** Procedure `read_statistics`. */
export const readStatistics = operation("readStatistics", {
  right: "worker",
  parameters: { name: "text", grain: "int", max: "int" },
  check: (input) => {
    if (input.name !== null) checkName(input.name);
    if (![1, 10, 60].includes(input.grain))
      throw unlike("grain", "1, 10 or 60", String(input.grain));
    return checkMax(input);
  },
  decode: (row) => ({
    now: new Date(text(row, "nowAt")),
    countedAt: new Date(text(row, "countedAt")),
    periods: json<StatisticPeriod[]>(row, "periods"),
  }),
});

/** Procedure `roll_up_statistics`. */
export const rollUpStatistics = operation("rollUpStatistics", {
  right: "worker",
  parameters: { max: "int" },
  check: checkMax,
  decode: rolledUp,
});
