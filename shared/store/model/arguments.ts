import { InvalidArgumentError } from "../../core/errors";

/** Tests of input with the texts that the SQL raises: `field: expectation (value)`. Lengths count characters, not UTF-16 units. */

/** TG422: a value is missing, malformed or out of range. */
export function invalidArgument(message: string): InvalidArgumentError {
  return new InvalidArgumentError(message);
}

/** TG404: what the input names doesn't exist. */
export function unknownArgument(message: string): InvalidArgumentError {
  return new InvalidArgumentError(message, { code: "TASKGATE_ARG_UNKNOWN" });
}

/** TG413: too many entries or too many bytes. */
export function tooLarge(message: string): InvalidArgumentError {
  return new InvalidArgumentError(message, { code: "TASKGATE_ARG_TOO_LARGE" });
}

/** TG409: the call comes too late or out of order. */
export function conflict(message: string): InvalidArgumentError {
  return new InvalidArgumentError(message, { code: "TASKGATE_ARG_CONFLICT" });
}

/** Throws unless the value is a whole number of the range. */
export function expectRange(
  field: string,
  value: number,
  [least, most]: readonly [number, number],
): void {
  if (isWithin(value, least, most)) return;
  throw invalidArgument(`${field}: expected ${String(least)}..${String(most)} (${String(value)})`);
}

/** Is the value a whole number of the range? */
export function isWithin(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

/** Throws when a text is longer than the bytes of a payload, result or checkpoint (design 10.7). */
export function expectBytes(field: string, text: string | null, most: number): void {
  const bytes = text === null ? 0 : utf8Bytes(text);
  if (bytes > most) {
    throw tooLarge(`${field}: expected at most ${String(most)} bytes (${String(bytes)})`);
  }
}

/** Length as it is stored. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** Length as people count it. */
export function characters(text: string): number {
  return [...text].length;
}

/** The first `most` characters. */
export function left(text: string, most: number): string {
  return [...text].slice(0, most).join("");
}

/** Is it a name: 1..200 characters without blanks at either end? */
export function isName(text: string): boolean {
  return isWithin(characters(text), 1, 200) && !text.startsWith(" ") && !text.endsWith(" ");
}
