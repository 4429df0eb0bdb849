import { batchIds, bool, columns, entries, int, intOrNull, json, oneOf } from "./columns";
import { operationsOf } from "./operation";
import type { ScheduledInstant } from "./schedules";

/* ---- Upkeep: due work, deletions, invariants ---- */

/** The sweep's calls. */
export interface UpkeepOperations {
  /** One read that lists due work; changes nothing. */
  sweep(input: { max: number }): Promise<SweepAnswer>;
  /** Deletes rows whose retention is over, at most so many of each kind. Idempotent by nature. */
  purge(input: { max: number }): Promise<PurgeAnswer>;
  /** Checks every promise about limits, claims and fences that SQL can see. */
  checkInvariants(): Promise<{ status: "sound" | "broken"; findings: InvariantFinding[] }>;
}

const swept = columns({
  /** Executions to reclaim, counted up to 1000. */
  expired: int,
  definitions: entries<SweptDefinition>,
  nextDueMs: intOrNull,
  /** Batches with tasks to admit: call `pumpBatch`. */
  opening: batchIds,
  /** Schedules that are due, the longest first: call `fireSchedule`. */
  schedules: entries<ScheduledInstant>,
  /** Something may be deleted: call `purge`. */
  isPurgeable: (row) => bool(row, "purgeable"),
});
/** Due work, as of one read. */
export type SweepAnswer = ReturnType<typeof swept>;

const purged = columns({
  status: oneOf("purged", "none"),
  /** The rows of all kinds together. */
  purged: int,
  /** Ended tasks whose retention is over; their attempts go with them. */
  tasks: int,
  /** Ended a day ago, and longer ago than any definition keeps its tasks. */
  executions: int,
  /** Answers kept for repeats for a day. */
  operations: int,
  /** Dedupe keys whose window is over. */
  keys: int,
  /** Groups without tasks that hold, want or may want a slot, and that no operator has set. */
  groups: int,
  /** Ended as long ago as executions that go; their waves go with them, at most as many as a call may delete. */
  batches: int,
  /** Of the audit of settings: older than 400 days, and not the last of their setting. */
  auditEntries: int,
  /** One kind filled its share: call again, unless `status` is none. */
  more: bool,
});
/** What one slice of a purge deleted: rows. */
export type PurgeAnswer = ReturnType<typeof purged>;

/** A definition with ready or due tasks. */
export interface SweptDefinition {
  name: string;
  ready: number;
  /** Tokens that may be granted, by the shared limits, too. */
  free: number;
  /** Others hold all tokens of a shared limit, and no live execution of this definition holds any: a worker that asks is given one. */
  crowdedOut: boolean;
  due: boolean;
  paused: boolean;
}

export interface InvariantFinding {
  rule: string;
  key: string;
  detail: string;
}

const operation = operationsOf<UpkeepOperations>();

/** Procedure `sweep`. */
export const sweep = operation("sweep", {
  right: "worker",
  parameters: { max: "int" },
  decode: swept,
});

/** Procedure `purge`. */
export const purge = operation("purge", {
  right: "worker",
  parameters: { max: "int" },
  decode: purged,
});

/** Procedure `check_invariants`. */
export const checkInvariants = operation("checkInvariants", {
  right: "operator",
  parameters: {},
  decode: columns({ status: oneOf("sound", "broken"), findings: json<InvariantFinding[]> }),
});
