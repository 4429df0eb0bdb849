import { StoreContractError } from "../../core/errors";
import { asBatchId, asFence, asTaskId } from "../../core/ids";
import type { BatchId, Fence, TaskId } from "../../core/ids";
import { limitOf } from "./limit";
import type { Limit } from "./limit";
import type { AnswerRow } from "./operation";

/*
 * Columns of an answer row. One that is missing or of the wrong kind is a StoreContractError, never a guess.
 */

type Read<Value> = (row: AnswerRow, column: string) => Value;

/** Reads an answer whose members are the columns of their names, each in its way: what it gives is the answer's type. */
export function columns<Table extends Readonly<Record<string, Read<unknown>>>>(table: Table) {
  const reads = Object.entries(table);
  return (row: AnswerRow) =>
    Object.fromEntries(reads.map(([name, read]) => [name, read(row, name)])) as {
      -readonly [Name in keyof Table]: ReturnType<Table[Name]>;
    };
}

/** A column that is one of the words that the port knows. */
export function oneOf<Word extends string>(...words: readonly Word[]): Read<Word> {
  return (row, column) => {
    const word = words.find((candidate) => candidate === row[column]);
    if (word === undefined) throw broken(row, column, words.join(" | "));
    return word;
  };
}

/** The column `status`, likewise. */
export function status<Word extends string>(row: AnswerRow, words: readonly Word[]): Word {
  return oneOf(...words)(row, "status");
}

/** A text that must be there. */
export function text(row: AnswerRow, column: string): string {
  const value = textOrNull(row, column);
  if (value === null) throw broken(row, column, "a text");
  return value;
}

/** A text; numbers as texts. */
export function textOrNull(row: AnswerRow, column: string): string | null {
  const value = row[column];
  if (value === null) return null;
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  throw broken(row, column, "a text or null");
}

/** A whole number that must be there. */
export function int(row: AnswerRow, column: string): number {
  const value = intOrNull(row, column);
  if (value === null) throw broken(row, column, "a whole number");
  return value;
}

/** Durations and counts: both drivers give 64-bit columns as strings. */
export function intOrNull(row: AnswerRow, column: string): number | null {
  const value = row[column];
  if (value === null) return null;
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw broken(row, column, "a whole number or null");
}

/** true or false. */
export function bool(row: AnswerRow, column: string): boolean {
  const value = row[column];
  if (typeof value === "boolean") return value;
  throw broken(row, column, "true or false");
}

/** A limit; null: none. */
export function limit(row: AnswerRow, column: string): Limit {
  return limitOf(int(row, column));
}

/** A fence or null. */
export function fenceOrNull(row: AnswerRow, column: string): Fence | null {
  const value = textOrNull(row, column);
  return value === null ? null : asFence(value);
}

/** Task ids joined by commas. */
export function idList(joined: string | null): TaskId[] {
  return joined === null || joined === "" ? [] : joined.split(",").map(asTaskId);
}

/** JSON array; null: no entries. */
export function entries<Entry>(row: AnswerRow, column: string): Entry[] {
  return row[column] == null ? [] : json<Entry[]>(row, column);
}

/** The same of names. */
export const names = entries<string>;

/** JSON array of batch ids, or null. */
export function batchIds(row: AnswerRow, column: string): BatchId[] {
  return names(row, column).map(asBatchId);
}

/** JSON text, taken as what the procedure promises. */
export function json<Value>(row: AnswerRow, column: string): Value {
  const written = text(row, column);
  try {
    return JSON.parse(written) as Value;
  } catch {
    throw unreadable(written, column, "JSON");
  }
}

/** The same, or null. */
export function jsonOrNull<Value>(row: AnswerRow, column: string): Value | null {
  return row[column] === null ? null : json<Value>(row, column);
}

/** JSON array of so many entries. */
export function list<Entry>(row: AnswerRow, column: string, length: number): Entry[] {
  const found = json<unknown>(row, column);
  if (!Array.isArray(found) || found.length !== length)
    throw unreadable(text(row, column), column, `a JSON array of ${String(length)} entries`);
  return found as Entry[];
}

/** Payloads and results stand in such a column, which no log may have. */
function unreadable(written: string, column: string, expected: string): StoreContractError {
  return new StoreContractError(
    `Expected \`${column}\` to be ${expected}, got another text of ${String(written.length)} characters`,
    { details: { column } },
  );
}

/** Names the column, the expected and the given value. */
export function broken(row: AnswerRow, column: string, expected: string): StoreContractError {
  const value = String(row[column]).slice(0, 200);
  return new StoreContractError(`Expected \`${column}\` to be ${expected}, got \`${value}\``, {
    details: { column },
  });
}
