import { limits } from "../../../core/limits";

/*
 * JSON Schemas (draft 2020-12, as OpenAPI 3.1 takes them) for what the readers of shared/admin accept and the admin
 * answers. Bounds come from the readers' own constants.
 */

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** One of `schemas` or null. */
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: "null" }] });

/** A list. */
export const listOf = (items: Schema): Schema => ({ type: "array", items });

/** One of some words. */
export const oneOf = (...words: readonly string[]): Schema => ({ type: "string", enum: words });

/** A whole number. */
export const whole = (minimum?: number, maximum?: number): Schema => ({
  type: "integer",
  ...(minimum === undefined ? {} : { minimum }),
  ...(maximum === undefined ? {} : { maximum }),
});

/** Any text of an answer. */
export const text: Schema = { type: "string" };

/** True or false. */
export const flag: Schema = { type: "boolean" };

/** A name or key: no blank at either end, no U+0000. */
export const key: Schema = {
  type: "string",
  minLength: 1,
  maxLength: limits.nameLengthMax,
  pattern: "^[^\\s\\u0000]([^\\u0000]*[^\\s\\u0000])?$",
};

/** A text for people. */
export const words = (maxLength: number): Schema => ({
  type: "string",
  minLength: 1,
  maxLength,
  pattern: "^[^\\u0000]+$",
});

/** Why, for the audit. */
export const reason: Schema = {
  ...words(limits.reasonLengthMax),
  description: "Why, for the audit.",
};

/** A 64-bit id as a text of digits. */
export const id: Schema = {
  type: "string",
  pattern: "^[0-9]{1,19}$",
  description: "Below 2^63.",
};

/** ISO-8601 with seconds and its zone. */
export const instant: Schema = { type: "string", format: "date-time" };

/** What a caller keeps for repeats. */
export const operationId: Schema = {
  type: "string",
  format: "uuid",
  description: "Made for this call: a repeat with it answers what the first call did.",
};

/** A JSON object or array of at most 64 KiB. */
export const container: Schema = {
  anyOf: [{ type: "object" }, { type: "array" }],
  description: `At most ${String(limits.payloadBytesMax)} bytes as UTF-8.`,
};

/** null no limit, 0 nothing starts. */
export const limit: Schema = { type: ["integer", "null"], minimum: 0, maximum: limits.tokensMax };

/** At most so many entries of a list, as a query has it. */
export const max = (maximum: number, fallback: number): Schema => ({
  ...whole(1, maximum),
  default: fallback,
});

/** What a client sends: no other members than these. */
export function input(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
  more: Schema = {},
): Schema {
  return { type: "object", properties, required, additionalProperties: false, ...more };
}

/** What an answer has: all of these members, but for the optional ones. */
export function answer(
  properties: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  const all = { ...properties, ...optional };
  return { type: "object", properties: all, required: Object.keys(properties) };
}

/** A part of the document that several routes name. */
export const named = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
