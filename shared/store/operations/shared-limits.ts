import { columns, int, json, limit, names, oneOf } from "./columns";
import { limitOf } from "./limit";
import type { Limit, SharedLimitStatus } from "./limit";
import { operationsOf } from "./operation";
import { limitCall } from "./set-limit";
import type { SetLimitInput } from "./set-limit";

/* ---- Shared limits: several definitions draw tokens from one ---- */

/** Limits that several definitions share. */
export interface SharedLimitOperations {
  /** Sets or clears the operator's limit that several definitions share. Idempotent by operation id. */
  setSharedLimit(input: SetSharedLimitInput): Promise<SetSharedLimitAnswer>;
  /** Shared limits by name, each with its definitions and the tokens that each holds. */
  listSharedLimits(input: ListSharedLimitsInput): Promise<{ sharedLimits: SharedLimitReading[] }>;
}

/** Of a shared limit: one that doesn't exist is made, unless `expectedLimit` is given. */
export type SetSharedLimitInput = SetLimitInput;

const limitSet = columns({
  /** conflict: another limit than the expected one is in force, `oldLimit`, or there is none; nothing was written. */
  status: oneOf("set", "created", "conflict"),
  /** undefined: it was made, or isn't there. */
  oldLimit: (row, column) => (row[column] === null ? undefined : limit(row, column)),
  newLimit: limit,
  /** Tokens held by all definitions together; of them above the new limit. */
  held: int,
  overLimit: int,
  /** Definitions that draw from it and have ready tasks. */
  definitions: names,
});
/** Answer of `setSharedLimit`. */
export type SetSharedLimitAnswer = ReturnType<typeof limitSet>;

export interface ListSharedLimitsInput {
  /** Left out: all. */
  name?: string;
  /** 1..1000 */
  max: number;
}

/** A shared limit with those that draw from it. */
export interface SharedLimitReading extends SharedLimitStatus {
  codeLimit: Limit;
  /**
   * Those that draw from it, by name, and what each holds. `held` of the limit is more when an execution is no longer
   * kept that died with its tokens: the next asker frees them.
   */
  definitions: { name: string; held: number }[];
}

const operation = operationsOf<SharedLimitOperations>();

/** Procedure `set_shared_limit`. */
export const setSharedLimit = operation("setSharedLimit", {
  right: "operator",
  ...limitCall,
  decode: limitSet,
});

/** Procedure `list_shared_limits`. */
export const listSharedLimits = operation("listSharedLimits", {
  right: "worker",
  parameters: { name: "text", max: "int" },
  decode: (row) => ({
    sharedLimits: json<ReadingRow[]>(row, "sharedLimits").map((shared) => ({
      ...shared,
      limit: limitOf(shared.limit),
      codeLimit: limitOf(shared.codeLimit),
    })),
  }),
});

type ReadingRow = SharedLimitReading & { limit: number; codeLimit: number };
