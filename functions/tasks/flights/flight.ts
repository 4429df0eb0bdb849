/** One flight as the files of vega-datasets give it, and what can be wrong with it. Pure. */

/** A flight that can be counted. */
export type Flight = {
  readonly origin: string;
  readonly destination: string;
  /** Hour of the scheduled departure, 0..23. */
  readonly hour: number;
  /** Minutes late at arrival; negative: early. */
  readonly delay: number;
  /** Miles. */
  readonly distance: number;
};

/** One thing that is wrong with a row. */
export interface RowProblem {
  readonly field: string;
  readonly message: string;
}

/** A flight, or everything that is wrong with the row. */
export type FlightReading =
  | { readonly ok: true; readonly flight: Flight }
  | { readonly ok: false; readonly problems: readonly RowProblem[] };

const airportCode = /^[A-Z0-9]{3}$/;
const dateForm = /^(\d{4})\/(\d{2})\/(\d{2}) (\d{2}):(\d{2})$/;
/** Two days: anything beyond is a mistake in the data, not a delay. */
const delayMax = 2_880;
/** Half the way around the Earth, in miles. */
const distanceMax = 12_500;

/** Reads `{ date: "2001/01/31 23:59", delay, distance, origin, destination }`; other members are ignored. */
export function readFlight(row: unknown): FlightReading {
  if (typeof row !== "object" || row === null || Array.isArray(row)) {
    return { ok: false, problems: [{ field: "row", message: expected("a JSON object", row) }] };
  }
  const members = new Map<string, unknown>(Object.entries(row));
  const problems: RowProblem[] = [];
  const read = <Value>(field: string, rule: Rule<Value>): Value | null => {
    const value = rule.read(members.get(field));
    if (value === null) {
      problems.push({ field, message: expected(rule.expected, members.get(field)) });
    }
    return value;
  };
  const hour = read("date", dateRule);
  const delay = read("delay", wholeNumber(-delayMax, delayMax));
  const distance = read("distance", wholeNumber(0, distanceMax));
  const origin = read("origin", airportRule);
  const destination = read("destination", airportRule);
  const isWhole = hour !== null && delay !== null && distance !== null;
  if (!isWhole || origin === null || destination === null) return { ok: false, problems };
  return { ok: true, flight: { origin, destination, hour, delay, distance } };
}

/** Reads one value; null: it doesn't have the expected form. */
interface Rule<Value> {
  readonly expected: string;
  readonly read: (value: unknown) => Value | null;
}

const airportRule: Rule<string> = {
  expected: "an airport code of three capital letters or digits",
  read: (value) => (typeof value === "string" && airportCode.test(value) ? value : null),
};

const dateRule: Rule<number> = {
  expected: "a date such as 2001/01/31 23:59",
  read: (value) => (typeof value === "string" ? hourOf(value) : null),
};

function wholeNumber(min: number, max: number): Rule<number> {
  return {
    expected: `a whole number in ${String(min)}..${String(max)}`,
    read: (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= min && value <= max
        ? value
        : null,
  };
}

/** The hour, or null when the day or the time doesn't exist. */
function hourOf(text: string): number | null {
  const parts = dateForm.exec(text)?.slice(1).map(Number);
  if (parts === undefined) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = parts;
  // Day 0 of the next month is the last one of this.
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= lastDay;
  return isDay && hour <= 23 && minute <= 59 ? hour : null;
}

function expected(what: string, value: unknown): string {
  const shown = value === undefined ? "nothing" : JSON.stringify(value).slice(0, 60);
  return `expected ${what}, got ${shown}`;
}
