import type { BatchId } from "../../core/ids";
import { batchIds, bool, int, intOrNull, json, status } from "./columns";
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

/** Due work, as of one read. */
export interface SweepAnswer {
  /** Executions to reclaim, counted up to 1000. */
  expired: number;
  definitions: SweptDefinition[];
  nextDueMs: number | null;
  /** Batches with tasks to admit: call `pumpBatch`. */
  opening: BatchId[];
  /** Schedules that are due, the longest first: call `fireSchedule`. */
  schedules: ScheduledInstant[];
  /** Something may be deleted: call `purge`. */
  isPurgeable: boolean;
}

/** What one slice of a purge deleted: rows. */
export interface PurgeAnswer {
  status: "purged" | "none";
  /** The rows of all kinds together. */
  purged: number;
  /** Finished tasks whose retention is over; their attempts go with them. */
  tasks: number;
  /** Ended a day ago, and longer ago than any definition keeps its tasks. */
  executions: number;
  /** Answers kept for repeats for a day. */
  operations: number;
  /** Dedupe keys whose window is over. */
  keys: number;
  /** Groups without tasks that hold, want or may want a slot, and that no operator has set. */
  groups: number;
  /** Finished as long ago as executions that go; their waves go with them, at most as many as a call may delete. */
  batches: number;
  /** Of the audit of settings: older than 400 days, and not the last of their setting. */
  auditEntries: number;
  /** One kind filled its share: call again, unless `status` is none. */
  more: boolean;
}

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
  parameters: { max: "int" },
  decode: (row) => ({
    expired: int(row, "expired"),
    definitions: row["definitions"] == null ? [] : json<SweptDefinition[]>(row, "definitions"),
    nextDueMs: intOrNull(row, "nextDueMs"),
    opening: batchIds(row, "opening"),
    schedules: row["schedules"] == null ? [] : json<ScheduledInstant[]>(row, "schedules"),
    isPurgeable: bool(row, "purgeable"),
  }),
});

/** Procedure `purge`. */
export const purge = operation("purge", {
  parameters: { max: "int" },
  decode: (row) => ({
    status: status(row, ["purged", "none"]),
    purged: int(row, "purged"),
    tasks: int(row, "tasks"),
    executions: int(row, "executions"),
    operations: int(row, "operations"),
    keys: int(row, "keys"),
    groups: int(row, "groups"),
    batches: int(row, "batches"),
    auditEntries: int(row, "auditEntries"),
    more: bool(row, "more"),
  }),
});

/** Procedure `check_invariants`. */
export const checkInvariants = operation("checkInvariants", {
  parameters: {},
  decode: (row) => ({
    status: status(row, ["sound", "broken"]),
    findings: json<InvariantFinding[]>(row, "findings"),
  }),
});
