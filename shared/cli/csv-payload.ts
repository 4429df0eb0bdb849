import { parseJson } from "../admin/parse-json";
import type { ProblemList } from "../admin/problem-list";
import { invalidInput, showValue } from "../admin/read-result";
import { isStorable } from "../admin/text-rule";
import { didYouMean } from "../core/near-name";
import { showNumber } from "../terminal/output";
import type { CsvField, CsvRecord } from "./csv";

/** Payloads from the records of a CSV file: the first record names the fields. */

/** JSON's numbers and words. `007` and `1,5` stay texts. */
const typedForm = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/**
 * The names of the fields. Throws InvalidArgumentError for a name that is empty, can't be stored or stands there twice, and for a single
 * one with a semicolon or a tab: spreadsheets of some countries separate by these, and each row would be one text.
 */
export function readHeader({ number, fields }: CsvRecord): readonly string[] {
  const names = fields.map(({ text }) => text);
  const field = `line ${String(number)}`;
  const [only, second] = fields;
  if (second === undefined && only?.isQuoted === false && /[;\t]/.test(only.text)) {
    const expected = "columns with commas between them; a name that holds ; or a tab in quotes";
    throw invalidInput([{ field, value: showValue(only.text), expected }]);
  }
  const bad = names.findIndex(
    (name, index) => name.trim() === "" || !isStorable(name) || names.indexOf(name) !== index,
  );
  if (bad === -1) return names;
  const expected = `a name for each column, each once; column ${String(bad + 1)} has none, or one that is taken`;
  throw invalidInput([{ field, value: showValue(names[bad]), expected }]);
}

/** Throws InvalidArgumentError unless `name` is a column. */
export function requireColumn(option: string, name: string, columns: readonly string[]): void {
  if (columns.includes(name)) return;
  const near = didYouMean(name, columns);
  const expected = `one of the columns ${columns.slice(0, 20).join(", ")}${near === "" ? "" : `.${near}`}`;
  throw invalidInput([{ field: option, value: showValue(name), expected }]);
}

/**
 * The payload of a record; null: it has a problem. All values are texts. With `isTyped` a value that isn't in quotes and is a number, true,
 * false or null as JSON writes them becomes that.
 */
export function payloadOf(
  { number, fields }: CsvRecord,
  { columns, isTyped }: { readonly columns: readonly string[]; readonly isTyped: boolean },
  problems: ProblemList,
): object | null {
  const place = `line ${String(number)}`;
  if (fields.length !== columns.length) {
    const value = showNumber(fields.length, "value", "values");
    const expected = `${String(columns.length)}, one for each column: ${columns.slice(0, 20).join(", ")}`;
    problems.add({ field: place, value, expected });
    return null;
  }
  const before = problems.count;
  const entries = columns.map((name, index) => {
    const field = fields[index] ?? { text: "", isQuoted: false };
    return [name, isTyped ? typed(field, `${place}.${name}`, problems) : field.text] as const;
  });
  return problems.count > before ? null : Object.fromEntries(entries);
}

function typed({ text, isQuoted }: CsvField, field: string, problems: ProblemList): unknown {
  if (isQuoted || !typedForm.test(text)) return text;
  const read = parseJson(text, { root: field });
  if (read.ok) return read.value;
  problems.addAll(read);
  return null;
}
