import { checkInt } from "./checks";
import { limitToSql } from "./limit";
import type { Limit } from "./limit";
import { cleanOperator } from "./operator";
import type { OperatorInput } from "./operator";

export interface SetLimitInput extends OperatorInput {
  /** null: no limit; "code": the code's limit again. */
  limit: Limit | "code";
  /** A UUID made at random for this call and kept for its repeats. */
  operationId: string;
  /** Only if this limit is in force, else the answer is a conflict; left out: any. */
  expectedLimit?: Limit;
}

/** How both calls that set a limit, a definition's or a shared one, give their input to SQL. */
export const limitCall = {
  parameters: {
    name: "text",
    limit: "int",
    operationId: "uuid",
    changedBy: "text",
    reason: "text",
    expectedLimit: "int",
  },
  check: (input: SetLimitInput) => {
    if (typeof input.limit === "number") checkInt("limit", input.limit);
    return cleanOperator(input);
  },
  bind: ({ limit, expectedLimit }: SetLimitInput) => ({
    limit: limit === "code" ? null : limitToSql(limit),
    expectedLimit: expectedLimit === undefined ? null : limitToSql(expectedLimit),
  }),
} as const;
