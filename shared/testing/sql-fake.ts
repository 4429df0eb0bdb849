import type { SqlValue } from "../ports/task-store";

/** Answers the statements that handlers send inside `ctx.completeWith`: rows as plain objects. */
export type SqlFake = (
  text: string,
  values: readonly SqlValue[],
) => Record<string, unknown>[] | Promise<Record<string, unknown>[]>;

/** A statement that a handler sent. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}
