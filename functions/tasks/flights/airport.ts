/** The table of airports: `iata,name,city,state,country,latitude,longitude`. Pure. */

/** One line of the table. */
export type Airport = {
  readonly code: string;
  readonly name: string;
  readonly city: string;
  readonly state: string;
  readonly country: string;
  readonly latitude: number;
  readonly longitude: number;
};

const header = "iata,name,city,state,country,latitude,longitude";

/** Reads the whole file. Throws an Error that names the first line that isn't an airport. */
export function readAirports(text: string): Airport[] {
  const [first, ...records] = parseCsv(text);
  if (first?.join(",").toLowerCase() !== header) {
    throw new Error(`Expected the first line to be ${header}, got ${String(first).slice(0, 100)}`);
  }
  return records.map((record, index) => {
    const [code = "", name = "", city = "", state = "", country = ""] = record;
    const [latitude, longitude] = record.slice(5).map(Number);
    const isPlace = Number.isFinite(latitude) && Number.isFinite(longitude);
    if (record.length !== 7 || code === "" || !isPlace) {
      throw new Error(`Record ${String(index + 2)} is not an airport: ${record.join(",")}`);
    }
    return { code, name, city, state, country, latitude: latitude ?? 0, longitude: longitude ?? 0 };
  });
}

/**
 * Records of a CSV text (RFC 4180): fields may stand in quotes, then hold commas, line ends and doubled quotes.
 * Empty lines are skipped. Throws an Error for a quote that isn't closed, or is followed by more text.
 */
export function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    const field = readField(text, at);
    record.push(field.value);
    at = field.end;
    const isComma = text[at] === ",";
    if (isComma) at += 1;
    // A comma at the very end is followed by an empty field.
    if (isComma && at === text.length) record.push("");
    if (isComma && at < text.length) continue;
    if (text[at] === "\r") at += 1;
    if (text[at] === "\n") at += 1;
    if (record.length > 1 || record[0] !== "") records.push(record);
    record = [];
  }
  return records;
}

const plainField = /[^,\r\n]*/y;
const quotedField = /"((?:[^"]|"")*)"(?=[,\r\n]|$)/y;

function readField(text: string, start: number): { value: string; end: number } {
  const isQuoted = text[start] === '"';
  const form = isQuoted ? quotedField : plainField;
  form.lastIndex = start;
  const match = form.exec(text);
  if (match === null) throw new Error(`A quote is not closed: ${text.slice(start, start + 40)}`);
  const value = isQuoted ? (match[1] ?? "").replaceAll('""', '"') : match[0];
  return { value, end: form.lastIndex };
}
