/** The sample's results computed directly from the files, without any code of the sample. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Row {
  date: string;
  delay: number;
  distance: number;
  origin: string;
  destination: string;
}

/** The four tables of the sample's results, rows only. */
export interface ExpectedResults {
  readonly byOrigin: (string | number)[][];
  readonly byHour: number[][];
  readonly routes: (string | number)[][];
}

const data = join(__dirname, "..", "..", "node_modules", "vega-datasets", "data");

function readRows(name: string): Row[] {
  return JSON.parse(readFileSync(join(data, name), "utf8")) as Row[];
}

/** The planted rows are in neither file: they may not change a thing. */
export function computeResults(): ExpectedResults {
  const rows = [...readRows("flights-20k.json"), ...readRows("flights-2k.json")];
  const cities = readCities();
  const byOrigin = group(rows, (row) => row.origin)
    .filter(([, own]) => own.length >= 50)
    .map(([origin, own]) => [origin, cities.get(origin) ?? "", own.length, mean(own)] as const)
    .sort((left, right) => right[3] - left[3] || compare(left[0], right[0]));
  const byHour = group(rows, (row) => row.date.slice(11, 13))
    .map(([hour, own]) => [Number(hour), own.length, mean(own)])
    .sort((left, right) => (left[0] ?? 0) - (right[0] ?? 0));
  const routes = group(rows, (row) => `${row.origin} ${row.destination}`)
    .map(([, own]) => own)
    .map(
      (own) =>
        [
          own[0]?.origin ?? "",
          own[0]?.destination ?? "",
          own.length,
          mean(own),
          miles(own),
        ] as const,
    )
    .sort((left, right) => right[2] - left[2] || compare(left[0] + left[1], right[0] + right[1]));
  return {
    byOrigin: byOrigin.slice(0, 10).map((row) => [...row]),
    byHour,
    routes: routes.slice(0, 10).map((row) => [...row]),
  };
}

function readCities(): Map<string, string> {
  const lines = readFileSync(join(data, "airports.csv"), "utf8").trim().split("\n").slice(1);
  // No code of a flight stands in a line with quotes before the city.
  return new Map(
    lines.map((line) => line.split(",")).map(([code = "", , city = ""]) => [code, city]),
  );
}

function group(rows: readonly Row[], key: (row: Row) => string): [string, Row[]][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return [...groups];
}

/** Rounded half away from zero, as SQL does. */
function mean(rows: readonly Row[]): number {
  const sum = rows.reduce((total, row) => total + row.delay, 0);
  return (Math.sign(sum) * Math.round((Math.abs(sum) * 10) / rows.length)) / 10;
}

function miles(rows: readonly Row[]): number {
  return Math.round(rows.reduce((total, row) => total + row.distance, 0) / rows.length);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
