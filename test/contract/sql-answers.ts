import type { TestStore } from "../support/store-setup";

/** An answer, or an error, by column. */
type Row = Record<string, unknown>;

/** Runs a call outside the transaction in which statements of tests run, with `@v` in it; its row. */
export async function answerOf(opened: TestStore, call: string, value = "NULL"): Promise<Row> {
  const [row] = await opened.call(
    `DECLARE @v nvarchar(max) = ${value}; COMMIT TRANSACTION; EXEC Taskgate.${call}; BEGIN TRANSACTION;`,
  );
  return row ?? {};
}

/**
 * Runs a call that must fail; its error. The driver takes the procedure's rollback for the end of its own transaction, so
 * nothing may follow in the batch.
 */
export async function errorOf(opened: TestStore, call: string, value = "NULL"): Promise<Row> {
  const batch = `DECLARE @v nvarchar(max) = ${value}; COMMIT TRANSACTION; EXEC Taskgate.${call};`;
  const error: unknown = await opened.call(batch).then(
    () => new Error("nothing was raised"),
    (raised: unknown) => raised,
  );
  if (!(error instanceof Error)) throw new Error(`Not an error: ${String(error)}`);
  return { number: "number" in error ? error.number : null, message: error.message };
}
