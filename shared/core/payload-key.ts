import type { JsonObject } from "./json";
import { limits } from "./limits";
import { refusedField } from "./refused-field";
import { cleanText, isKey } from "./text";
import { wrongValue } from "./wrong-value";

/*
 * A key that stands in a payload, at a path such as `customer.id`: what a kind's group or dedupe key is taken from. The two
 * databases read it by the same rules from the payload's text (_PayloadKey, _payload_key); the contract suite compares all three.
 */

/** A path's text; steps joined by dots, each a name that needs no quotes in either database. */
export const pathForm = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/**
 * The paths of a payload's texts and numbers, four steps deep, of any type in a union; of a payload whose members aren't known: any
 * text. Beside declared members an index signature adds names only where its values are known.
 */
export type KeyPath<Payload> = JsonObject extends Payload
  ? string
  : PathWithin<NonNullable<Payload>, [1, 1, 1, 1]>;

type PathWithin<Value, Depth extends readonly unknown[]> = Value extends readonly unknown[]
  ? never
  : Depth extends readonly [unknown, ...infer Deeper]
    ? PathAt<Value, DeclaredName<Value>, Deeper> | PathAt<Value, IndexName<Value>, Deeper>
    : never;

type PathAt<Value, Name extends keyof Value & string, Depth extends readonly unknown[]> = {
  [Each in Name]: PathThrough<Each, NonNullable<Value[Each]>, Depth>;
}[Name];

type DeclaredName<Value> = keyof Value & keyof Declared<Value> & string;

type Declared<Value> = { [Name in keyof Value as string extends Name ? never : Name]: 1 };

type IndexName<Value> = string extends keyof Value ? keyof Value & string : never;

type PathThrough<Name extends string, Value, Depth extends readonly unknown[]> = Value extends
  | string
  | number
  ? Name
  : Value extends readonly unknown[] | boolean
    ? never
    : `${Name}.${PathWithin<Value, Depth>}`;

/** Throws InvalidArgumentError unless `path` is one that both databases read alike. */
export function checkPath(field: string, path: string): void {
  if (typeof path !== "string")
    throw wrongValue(field, "the path of a member, a text such as customer.id", path);
  if (path.length <= limits.nameLengthMax && pathForm.test(path)) return;
  throw refusedField(
    field,
    `names of letters, digits and _ joined by dots, 1..${String(limits.nameLengthMax)} characters, such as customer.id (${cleanText(path, 220)})`,
  );
}

/** The value at a path. null: there is none, or JSON's null. */
export type PayloadKey = { readonly key: string | null } | { readonly problem: string };

const expected = `expected a key: a text of 1..${String(limits.nameLengthMax)} characters without blanks at either end, a whole number in plain digits up to ${String(Number.MAX_SAFE_INTEGER)}, or null`;

/**
 * The key at `path` in the text of a JSON object or array. Texts and whole numbers are keys; `1` and `"1"` are the same one.
 * A member that is missing or null gives none. Everything else is a problem that names the member: a payload of another
 * shape would silently lose its group.
 */
export function keyOf(payload: string | null, path: string): PayloadKey {
  if (payload === null) return { key: null };
  let value = payload.trim();
  let at = "payload";
  for (const step of path.split(".")) {
    if (value === "null") return { key: null };
    if (!value.startsWith("{")) return { problem: `${at}: expected an object (${kindOf(value)})` };
    at = `${at}.${step}`;
    const found = membersOf(value, step);
    const [first] = found;
    if (first === undefined) return { key: null };
    if (found.length > 1)
      return { problem: `${at}: expected it once (${String(found.length)} times)` };
    value = first;
  }
  if (value === "null") return { key: null };
  const key = value.startsWith('"') ? String(JSON.parse(value)) : value;
  if (value.startsWith('"') ? isKey(key) : isWholeNumber(value)) return { key };
  return { problem: `${at}: ${expected} (${shown(value, key)})` };
}

/**
 * Does `value` stand at `path` in the text of a JSON object or array? A text, or a number, true, false or null as it is written
 * there. A member that is missing, or there twice, has no value; nor has an object or array.
 */
export function payloadHas(payload: string | null, path: string, value: string): boolean {
  let found = payload?.trim() ?? "";
  for (const step of path.split(".")) {
    if (!found.startsWith("{")) return false;
    const [only, ...others] = membersOf(found, step);
    if (only === undefined || others.length > 0) return false;
    found = only;
  }
  if (found.startsWith("{") || found.startsWith("[")) return false;
  return (found.startsWith('"') ? String(JSON.parse(found)) : found) === value;
}

function kindOf(value: string): string {
  if (value.startsWith("{")) return "an object";
  if (value.startsWith("[")) return "an array";
  if (value.startsWith('"')) return "a text";
  return value === "true" || value === "false" ? "a boolean" : "a number";
}

function isWholeNumber(text: string): boolean {
  return /^(0|-?[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text));
}

function shown(value: string, key: string): string {
  if (value.startsWith("{") || value.startsWith("[")) return kindOf(value);
  if (!value.startsWith('"')) return value.slice(0, 100);
  return key.isWellFormed() && !key.includes("\u0000")
    ? key.slice(0, 220)
    : "a text with U+0000 or half a surrogate pair";
}

const tokens = /[{}[\]:,]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\]:,"]+/g;

/** The texts of an object's members of one name: JSON.parse would keep the last, and lose how a number was written. */
function membersOf(object: string, name: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let isNext = false;
  let member: string | null = null;
  let start = -1;
  for (const { 0: token, index } of object.matchAll(tokens)) {
    if (depth === 1 && isNext && token.startsWith('"')) {
      member = String(JSON.parse(token));
      isNext = false;
      start = -1;
      continue;
    }
    if (depth === 1 && token === ":") continue;
    if (depth === 1 && start < 0) start = index;
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    if (token === "," || (token === "{" && depth === 1)) isNext = depth === 1;
    else if (depth === 1 && member !== null) {
      if (member === name) found.push(object.slice(start, index + token.length));
      member = null;
    }
  }
  return found;
}
