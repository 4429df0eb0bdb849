import { InvalidArgumentError } from "../../core/errors";
import { asOperationId, executionNumber, executionStart, isId } from "../../core/ids";
import type { ExecutionId, ExecutionNumber, OperationId } from "../../core/ids";
import { instantMs } from "../../core/instant";
import { jsonValue } from "../../core/json-members";
import { limits } from "../../core/limits";
import type { Rate } from "../../core/rate";
import { checkInteger, checkKey, cleanText } from "../../core/text";
import { wrongValue } from "../../core/wrong-value";

/*
 * What SQL can't check by itself, or only too late: texts that can't be stored as they are, numbers that would lose
 * their field's name on the way. Every store checks this first. SQL checks the rest, and everything again for SQL users.
 */

/** The name of what a call is about. */
export function checkName(name: string): void {
  checkKey("name", name);
}

/** Whole numbers of a rate; their ranges are SQL's. */
export function checkRate(rate: Rate | null | "code"): void {
  if (rate === null || rate === "code") return;
  checkInt("rate_count", rate.count);
  checkInt("rate_period_ms", rate.periodMs);
  checkInt("rate_burst", rate.burst);
}

/** A whole number that becomes an `int` parameter. */
export function checkInt(field: string, value: number): void {
  checkInteger(field, value, { min: -2_147_483_648, max: 2_147_483_647 });
}

/** The input of a call that asks for at most so many. */
export function checkMax<Input extends { max: number }>(input: Input): Input {
  checkInt("max", input.max);
  return input;
}

/** Lists of ids: 1..1000, each a whole number of 64 bits. */
export function checkIds(field: string, ids: readonly string[]): void {
  const isList = ids.length >= 1 && ids.length <= limits.idsMax;
  const bad = isList ? ids.find((id) => !isId(id)) : String(ids.length);
  if (bad !== undefined) throw unlike(field, `1..${String(limits.idsMax)} ids`, bad);
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Is this a UUID as databases write it? */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** A UUID as databases write it; null or undefined: the call has none. Whether it may be left out is SQL's to say. */
export function cleanOperationId(field: string, id: unknown): OperationId | null | undefined {
  if (id === null || id === undefined) return id;
  const text = typeof id === "string" ? id.toLowerCase() : "";
  if (isUuid(text)) return asOperationId(text);
  throw wrongValue(field, "a UUID made for this call and kept for its repeats", id);
}

/** How a call names the execution it is made for. */
export function executionParameters({ executionId }: { executionId: ExecutionId }): {
  taskExecutionId: ExecutionNumber;
  startId: OperationId | null;
} {
  return { taskExecutionId: executionNumber(executionId), startId: executionStart(executionId) };
}

/** The error of a value that isn't as expected, of which 100 characters are shown. */
export function unlike(field: string, expected: string, given: string): InvalidArgumentError {
  const text = `${field}: expected ${expected} (${cleanText(given, 100)})`;
  return new InvalidArgumentError(text, { details: { field } });
}

/** An instant, or null. */
export function checkInstant(field: string, at: Date | null): void {
  if (at !== null) instantMs(field, at);
}

/** JSON text of an object or array, at most 64 KiB of UTF-8. */
export function checkJsonContainer(field: string, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.payloadBytesMax) {
    throw new InvalidArgumentError(
      `${field}: expected at most ${String(limits.payloadBytesMax)} bytes (${String(bytes)})`,
      { code: "TASKGATE_ARG_TOO_LARGE", details: { field } },
    );
  }
  if (!isJsonContainer(text)) throw unlike(field, "the text of a JSON object or array", text);
}

function isJsonContainer(text: string): boolean {
  if (!text.isWellFormed() || text.includes("\u0000")) return false;
  const value = jsonValue(text);
  return typeof value === "object" && value !== null;
}
