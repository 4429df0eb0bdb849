import type { Connection } from "./connection";

/** @@ROWCOUNT, and the count that is sent unless NOCOUNT is on or rows were sent. */
export function noteCount(connection: Connection, rows: number, hasSentRows: boolean): void {
  connection.rowCount = rows;
  if (!connection.settings.isNoCount && !hasSentRows) connection.requireAnswer().count(rows);
}
