import type { StoreSetup, TestStore } from "../support/store-setup";

/** What a call in plain SQL says that is refused; its values stand in it. Calls are written without SELECT, EXEC and schema. */
export async function refusalOf(
  opened: TestStore,
  { dialect }: StoreSetup,
  calls: { postgres: string; mssql: string },
): Promise<string> {
  if (dialect === "mssql") {
    const [row] = await opened.call(`
      COMMIT TRANSACTION;
      BEGIN TRY
        EXEC Taskgate.${calls.mssql};
      END TRY
      BEGIN CATCH
        SELECT ERROR_MESSAGE() AS [message];
      END CATCH;
      BEGIN TRANSACTION;`);
    const message = row?.["message"];
    return typeof message === "string" ? message : "not refused";
  }
  return opened.call(`select * from taskgate.${calls.postgres}`).then(
    () => "not refused",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}
