/*
 * JSON Schemas (draft 2020-12, as OpenAPI 3.1 takes them) of what the admin answers. Those of requests come from the schemas
 * that read them (shared/admin/object-schema.ts).
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
export const whole = (minimum?: number): Schema => ({
  type: "integer",
  ...(minimum === undefined ? {} : { minimum }),
});

/** Any text of an answer. */
export const text: Schema = { type: "string" };

/** True or false. */
export const flag: Schema = { type: "boolean" };

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
