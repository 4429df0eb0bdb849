import { limits } from "../core/limits";
import { isStorable } from "./text-rule";

/** From here on JSON.stringify writes an exponent: what the text was written as has been compared (json-scan.ts). */
const exponentFrom = 1e21;

/** The text of a payload, or its errors. */
export type PayloadText = { readonly text: string } | { readonly expected: string };

/**
 * Turns a payload that came as parsed JSON into the text that is stored. Refused are: anything but an object or array,
 * more than 64 KiB of UTF-8, more than 100 levels, texts with U+0000 or half a surrogate pair (no database stores
 * them), whole numbers beyond 2^53, because parsing may have changed them already, and values that are no number.
 */
export function payloadText(payload: unknown): PayloadText {
  const expected = "a JSON object or array";
  if (typeof payload !== "object" || payload === null) return { expected };
  const problem = findUnstorable(payload);
  if (problem !== null) return { expected: `${expected} ${problem}` };
  const text = JSON.stringify(payload);
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.payloadBytesMax) return { text };
  return {
    expected: `${expected} of at most ${String(limits.payloadBytesMax)} bytes of JSON in UTF-8, here ${String(bytes)}; keep larger data elsewhere and pass a reference`,
  };
}

/**
 * What can't be stored of parsed JSON, in words, or null. Looks at every value without recursion: input from outside may be
 * nested deeper than the stack.
 */
export function findUnstorable(
  payload: object,
  isChanged: (value: number) => boolean = isChangedByParsing,
): string | null {
  const pending: Place[] = [{ value: payload, depth: 1, name: "", parent: null }];
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    const { value, depth } = entry;
    if (typeof value === "string" && !isStorable(value)) {
      return `without U+0000 and lone surrogates in its texts, found at ${pathOf(entry)}`;
    }
    if (typeof value === "number" && isChanged(value)) {
      return `with whole numbers up to 2^53 (send larger ones as texts), here about ${String(value)}`;
    }
    if (typeof value !== "object" || value === null) continue;
    if (depth > limits.payloadDepthMax)
      return `nested at most ${String(limits.payloadDepthMax)} levels deep`;
    for (const [name, member] of Object.entries(value)) {
      if (!isStorable(name)) return "without U+0000 and lone surrogates in its names";
      pending.push({ value: member, depth: depth + 1, name, parent: entry });
    }
  }
  return null;
}

/** A value inside a payload. */
interface Place {
  readonly value: unknown;
  readonly depth: number;
  /** Of the member, or the index of the entry. */
  readonly name: string;
  readonly parent: Place | null;
}

/** Where it stands, such as `customer.lines.2`; cut in front. */
function pathOf(place: Place): string {
  const names: string[] = [];
  for (let at = place; at.parent !== null; at = at.parent) names.unshift(at.name);
  const path = names.join(".");
  return path.length <= pathShownMax ? path : `..${path.slice(-pathShownMax)}`;
}

const pathShownMax = 100;

/** Of numbers whose text wasn't compared: any that a longer one may have become. */
export function isUncertain(value: number): boolean {
  return !Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function isChangedByParsing(value: number): boolean {
  if (!Number.isFinite(value)) return true;
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < exponentFrom;
}
