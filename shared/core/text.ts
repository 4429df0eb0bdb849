import { limits } from "./limits";
import { refusedField } from "./refused-field";

/*
 * Texts as both databases can keep them: PostgreSQL refuses U+0000, and half a surrogate pair would be stored as another
 * character, so that two different keys became one. Lengths are UTF-16 units, as nvarchar counts.
 */

/** Free text for people: what can't be stored becomes U+FFFD; cut to `lengthMax` units. */
export function cleanText(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).toWellFormed().replaceAll("\u0000", "\uFFFD");
}

/**
 * Throws InvalidArgumentError unless `value` can be a name or key: 1..200 UTF-16 units, no blanks at either end, no
 * U+0000, no half surrogate pair. The message names the field and shows the value.
 */
export function checkKey(field: string, value: string): void {
  if (isKey(value)) return;
  throw refusedField(
    field,
    `1..${String(limits.nameLengthMax)} characters without blanks at either end, U+0000 or half surrogate pairs (${shown(value)})`,
  );
}

/** Callers without TypeScript give other values, too. */
function shown(value: unknown): string {
  if (typeof value === "string") return cleanText(value, 220);
  if (typeof value === "object" && value !== null) return "an object";
  return cleanText(String(value), 220);
}

/** Can it be a name or key? */
export function isKey(value: string): boolean {
  return (
    typeof value === "string" &&
    value.length >= 1 &&
    value.length <= limits.nameLengthMax &&
    value === value.trim() &&
    value.isWellFormed() &&
    !value.includes("\u0000")
  );
}

/**
 * Free text that is kept as it is: characters that can't be stored become U+FFFD, and a longer text is refused, as in SQL. Throws
 * InvalidArgumentError.
 */
export function wholeText(field: string, text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return cleanText(text, lengthMax);
  throw refusedField(
    field,
    `at most ${String(lengthMax)} characters (${cleanText(text, lengthMax + 20)})`,
  );
}

/** Throws InvalidArgumentError unless `value` is a whole number in `min..max`. */
export function checkInteger(
  field: string,
  value: number,
  range: { min: number; max: number },
): void {
  if (Number.isSafeInteger(value) && value >= range.min && value <= range.max) return;
  throw refusedField(
    field,
    `a whole number in ${String(range.min)}..${String(range.max)} (${typeof value === "string" ? `the text "${shown(value)}"` : shown(value)})`,
  );
}

/** The order of names: by code unit, as the databases' binary collations have it. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The first line: of an error the rest is its stack. */
export function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
