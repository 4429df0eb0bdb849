import type { SqlValue, StoreDialect, StoreTransaction } from "taskgate";
import type { Airport } from "./airport";
import type { OriginTotals } from "./flight-totals";
import type { LandedFile } from "./schemas";

/** The sample's own tables (sql/postgres.sql, sql/mssql.sql). Handlers reach them through `ctx.completeWith` only. */

type Statement = Readonly<Record<Exclude<StoreDialect, "memory">, string>>;

const statements = {
  addBlockTotals: {
    postgres: "select flights.add_block_totals($1, $2, $3)",
    mssql: "EXEC Flights.AddBlockTotals @WaveId = @p1, @Part = @p2, @Totals = @p3;",
  },
  addFileTotals: {
    postgres: "select flights.add_file_totals($1, $2)",
    mssql: "EXEC Flights.AddFileTotals @WaveId = @p1, @Origin = @p2;",
  },
  addAirports: {
    postgres: "select flights.add_airports($1)",
    mssql: "EXEC Flights.AddAirports @Airports = @p1;",
  },
  addSourceFile: {
    postgres: "select flights.add_source_file($1, $2, $3)",
    mssql: "EXEC Flights.AddSourceFile @EventId = @p1, @Name = @p2, @RecordCount = @p3;",
  },
  hasAirports: {
    postgres: "select exists (select 1 from flights.airport) as found",
    mssql:
      "SELECT CONVERT(bit, CASE WHEN EXISTS (SELECT 1 FROM Flights.Airport) THEN 1 ELSE 0 END) AS found;",
  },
  unknownAirports: {
    postgres: "select code from flights.unknown_airports($1)",
    mssql: "EXEC Flights.UnknownAirports @Codes = @p1;",
  },
  importedEvents: {
    postgres: "select event_id as id from flights.source_file order by event_id",
    mssql: "SELECT EventId AS id FROM Flights.SourceFile ORDER BY EventId;",
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** Leaves what one part of a file has, for the file's wave of totals. */
export async function addBlockTotals(
  transaction: StoreTransaction,
  { wave, part, totals }: { wave: string; part: string; totals: readonly OriginTotals[] },
) {
  await run(transaction, statements.addBlockTotals, [wave, part, JSON.stringify(totals)]);
}

/** Adds what a file's parts left of one origin to the sums. */
export async function addFileTotals(
  transaction: StoreTransaction,
  { wave, origin }: { wave: string; origin: string },
) {
  await run(transaction, statements.addFileTotals, [wave, origin]);
}

/** Adds airports; those that are known get the new facts. */
export async function addAirports(transaction: StoreTransaction, airports: readonly Airport[]) {
  await run(transaction, statements.addAirports, [JSON.stringify(airports)]);
}

/** Notes that a file was imported, and how many records it has. */
export async function addSourceFile(
  transaction: StoreTransaction,
  file: LandedFile,
  recordCount: number,
) {
  await run(transaction, statements.addSourceFile, [file.eventId, file.name, recordCount]);
}

/** Has a table of airports been imported? */
export async function hasAirports(transaction: StoreTransaction): Promise<boolean> {
  const rows = await run(transaction, statements.hasAirports);
  return rows[0]?.["found"] === true;
}

/** Those of the codes that no airport has. */
export async function findUnknownAirports(
  transaction: StoreTransaction,
  codes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await run(transaction, statements.unknownAirports, [JSON.stringify(codes)]);
  return new Set(rows.map((row) => String(row["code"] ?? row["Code"])));
}

/** Ids of the events whose files were imported. */
export async function listImportedEvents(transaction: StoreTransaction): Promise<string[]> {
  const rows = await run(transaction, statements.importedEvents);
  return rows.map((row) => String(row["id"]));
}

/** Runs the statement of the transaction's dialect. */
export function run(
  transaction: StoreTransaction,
  statement: Statement,
  values: readonly SqlValue[] = [],
): Promise<Record<string, unknown>[]> {
  const dialect = transaction.dialect;
  if (dialect === "memory")
    throw new Error("The sample needs a database: its sums are made in SQL");
  return transaction.query(statement[dialect], values);
}
