import { createHash } from "node:crypto";
import { z } from "zod";
import { InvalidArgumentError } from "../../core/errors";
import { readValue } from "../../admin/object-schema";
import { invalidInput, showValue, take } from "../../admin/read-result";

/**
 * Where a list goes on. A cursor names the rows that were shown, by short hashes: a row that stays is neither repeated nor
 * left out, however the list's order changes meanwhile. It holds hashes of its list and filter, too, and nothing secret.
 */

/** Rows that one cursor can name; a list is read no further. */
export const seenMax = 1_000;
/** Two rows of a thousand have the same hash once in 2 million lists. */
const seenBytes = 5;
const placeBytes = 4;
const form = 1;

const expected =
  "the `cursor` of this list's last answer, as it is; leave it out for the first rows";

/** A cursor as a request has it. */
export const cursorText = z
  .string(expected)
  .regex(/^[A-Za-z0-9_-]{14,6800}$/, expected)
  .meta({ description: "Goes on behind the rows of the answer that had it." });

/** A list and its filter, all that a cursor belongs to. */
export interface ListPlace {
  readonly list: string;
  readonly filter: unknown;
}

/** Rows that were shown before. */
export interface Shown {
  /** Where the database goes on, where its call takes that; null: at the list's beginning. */
  readonly before: string | null;
  /** Hashes of rows. */
  readonly seen: readonly string[];
}

/** The hash of a row's key. */
export function seenHash(key: unknown): string {
  return hashOf(key, seenBytes).toString("hex");
}

/** Writes the cursor of the next rows. */
export function writeCursor({ list, filter }: ListPlace, { before, seen }: Shown): string {
  const text = Buffer.from(before ?? "");
  return Buffer.concat([
    Buffer.from([form]),
    hashOf(list, placeBytes),
    hashOf(filter, placeBytes),
    Buffer.from([text.length]),
    text,
    ...seen.map((hash) => Buffer.from(hash, "hex")),
  ]).toString("base64url");
}

/** Reads a cursor; undefined: none. Throws InvalidArgumentError for one of another list or filter, and for any other text. */
export function readCursor({ list, filter }: ListPlace, given: string | undefined): Shown {
  if (given === undefined) return { before: null, seen: [] };
  const bytes = Buffer.from(take(readValue(cursorText, given, "cursor")), "base64url");
  const head = 1 + 2 * placeBytes;
  const end = head + 1 + (bytes[head] ?? 0);
  const rows = bytes.subarray(end);
  if (bytes[0] !== form || bytes.length < end || rows.length % seenBytes !== 0)
    throw refuse(given, expected);
  if (!bytes.subarray(1, 1 + placeBytes).equals(hashOf(list, placeBytes)))
    throw refuse(given, `${expected}; this is another list's`);
  if (!bytes.subarray(1 + placeBytes, head).equals(hashOf(filter, placeBytes)))
    throw refuse(given, `${expected}; this is of another filter: only \`max\` may change`);
  const before = bytes.subarray(head + 1, bytes.length - rows.length).toString("utf8");
  const seen = Array.from({ length: rows.length / seenBytes }, (_, at) =>
    rows.subarray(at * seenBytes, (at + 1) * seenBytes).toString("hex"),
  );
  return { before: before === "" ? null : before, seen };
}

function hashOf(value: unknown, bytes: number): Buffer {
  return createHash("sha256").update(JSON.stringify(value)).digest().subarray(0, bytes);
}

/** Reads from a cursor's place; a place that the store refuses was told by no answer: the error is about the cursor. */
export async function readBehind<Result>(
  given: string | undefined,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const isRefused =
      error instanceof InvalidArgumentError && error.code === "TASKGATE_ARG_INVALID";
    throw given !== undefined && isRefused ? refuseCursor(given) : error;
  }
}

/** The error about a cursor whose place no answer has told. */
export function refuseCursor(given: string | undefined) {
  return refuse(given ?? "", expected);
}

function refuse(given: string, rule: string) {
  return invalidInput([{ field: "cursor", value: showValue(given), expected: rule }]);
}
