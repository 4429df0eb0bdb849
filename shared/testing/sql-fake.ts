import type { SqlValue, StoreTransaction } from "../ports/task-store";

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

/**
 * Lets a transaction of the store in memory, which has no SQL, answer statements from a fake; keeps each in
 * `statements`. The same object: the store knows its transactions again.
 */
export function answerStatements(
  transaction: StoreTransaction,
  fake: SqlFake,
  statements: SqlStatement[],
): StoreTransaction {
  return Object.assign(transaction, {
    query: async (text: string, values: readonly SqlValue[] = []) => {
      statements.push({ text, values });
      return fake(text, values);
    },
  });
}
