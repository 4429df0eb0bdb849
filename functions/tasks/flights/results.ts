import type { ResultColumn, ResultTable, StoreTransaction } from "taskgate";
import { run } from "./flight-store";

/** Lines of the two ranked tables. */
const rankedMax = 10;
/** An airport with fewer flights says little about its delays. */
const flightsMin = 50;

const delayByOrigin = {
  postgres: `select origin, city, flight_count, delay from flights.v_delay_by_origin
 where flight_count >= ${String(flightsMin)} order by delay desc, origin limit ${String(rankedMax)}`,
  mssql: `SELECT TOP (${String(rankedMax)}) Origin AS origin, City AS city, FlightCount AS flight_count, Delay AS delay
FROM Flights.vDelayByOrigin WHERE FlightCount >= ${String(flightsMin)} ORDER BY Delay DESC, Origin;`,
} as const;

const delayByHour = {
  postgres: "select hour, flight_count, delay from flights.v_delay_by_hour order by hour",
  mssql:
    "SELECT Hour AS hour, FlightCount AS flight_count, Delay AS delay FROM Flights.vDelayByHour ORDER BY Hour;",
} as const;

const busiestRoutes = {
  postgres: `select origin, destination, flight_count, delay, distance from flights.v_busiest_route
 order by flight_count desc, origin, destination limit ${String(rankedMax)}`,
  mssql: `SELECT TOP (${String(rankedMax)}) Origin AS origin, Destination AS destination, FlightCount AS flight_count, Delay AS delay,
  Distance AS distance
FROM Flights.vBusiestRoute ORDER BY FlightCount DESC, Origin, Destination;`,
} as const;

const importedFiles = {
  postgres: "select name, record_count from flights.source_file order by name, event_id",
  mssql:
    "SELECT Name AS name, RecordCount AS record_count FROM Flights.SourceFile ORDER BY Name, EventId;",
} as const;

interface Column extends ResultColumn {
  readonly name: string;
}

/** The result tables of the sample as they are now. */
export async function readResults(transaction: StoreTransaction): Promise<ResultTable[]> {
  const table = async (
    title: string,
    statement: Parameters<typeof run>[1],
    columns: readonly Column[],
  ): Promise<ResultTable> => {
    const rows = await run(transaction, statement);
    return {
      title,
      columns: columns.map(({ title: head, isNumber, hasBars = false }) => {
        return { title: head, isNumber, hasBars };
      }),
      rows: rows.map((row) => columns.map((column) => cell(row[column.name], column))),
    };
  };
  const origin = textColumn("origin", "from");
  const flights = numberColumn("flight_count", "flights");
  const delay = { ...numberColumn("delay", "mean delay, min"), hasBars: true };
  const hour = numberColumn("hour", "hour");
  const city = textColumn("city", "city");
  const destination = textColumn("destination", "to");
  const distance = numberColumn("distance", "miles");
  const rank = `Longest delays by origin (from ${String(flightsMin)} flights)`;
  return [
    await table("Files imported", importedFiles, [
      textColumn("name", "file"),
      numberColumn("record_count", "records"),
    ]),
    await table(rank, delayByOrigin, [origin, city, flights, delay]),
    await table("Delay by hour of departure", delayByHour, [hour, flights, delay]),
    await table("Busiest routes", busiestRoutes, [origin, destination, flights, delay, distance]),
  ];
}

function textColumn(name: string, title: string): Column {
  return { name, title, isNumber: false };
}

function numberColumn(name: string, title: string): Column {
  return { name, title, isNumber: true };
}

/** Both drivers give 64-bit and decimal numbers as texts. */
function cell(value: unknown, column: Column): string | number {
  if (column.isNumber) return Number(value);
  return typeof value === "string" ? value : "";
}
