import type { JsonValue } from "taskgate";

/** A row that can't be counted, with its place and its errors. */
export interface PlantedRow {
  /** Of the finished file, from 0. */
  readonly row: number;
  readonly content: JsonValue;
  /** Part of the dead letter's error. */
  readonly problem: string;
}

const withoutOrigin = { date: "2001/02/14 10:15", delay: 12, distance: 337, destination: "SFO" };
const good = { ...withoutOrigin, origin: "LAX" };

/** Bad rows of different kinds, in the order of their places. */
export const plantedRows: readonly PlantedRow[] = [
  { row: 17, content: withoutOrigin, problem: "origin: expected an airport code" },
  { row: 120, content: { ...good, delay: "late" }, problem: "delay: expected a whole number" },
  { row: 333, content: { ...good, date: "2001/02/30 10:15" }, problem: "date: expected a date" },
  { row: 498, content: { ...good, distance: -337 }, problem: "distance: expected a whole number" },
  {
    row: 750,
    content: { ...good, destination: "QQQ" },
    problem: "airport: no airport has the code QQQ",
  },
  { row: 751, content: "LAX,SFO,337", problem: "row: expected a JSON object" },
  { row: 1_204, content: { ...good, destination: null }, problem: "destination: expected an" },
  { row: 1_499, content: { ...good, date: "yesterday" }, problem: "date: expected a date" },
  {
    row: 1_733,
    content: { ...good, delay: 1e9, origin: "lax" },
    problem: "delay: expected a whole number",
  },
];

/** The rows with the planted ones at their places. */
export function plantRows(rows: readonly JsonValue[]): JsonValue[] {
  const planted = [...rows];
  for (const { row, content } of plantedRows) planted.splice(row, 0, content);
  return planted;
}
