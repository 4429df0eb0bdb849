import { findThenable, isThenable } from "./find-thenable";
import { describeValue, messageOf, shownText } from "./foreign-value";
import { limits } from "./limits";

/** The JSON text of a value, or why there is none that can be kept. */
export type JsonText =
  | { readonly text: string }
  /** `isFinal`: the same value will be refused again. Otherwise its own code threw, which may do better next time. */
  | { readonly problem: string; readonly isFinal: boolean; readonly isTooLarge: boolean };

/**
 * The JSON text of any value from a handler; its getters and `toJSON` run once, here, and their errors are told. `as`
 * container: the text must be that of an object or array, as the store takes results and payloads; value: any. At most 64 KiB of
 * UTF-8 and 100 levels. A promise in it is refused, as JSON writes `{}` for it. NaN and infinite numbers become null, as JSON.stringify has it. Never throws.
 */
export function jsonTextOf(field: string, value: unknown, as: "container" | "value"): JsonText {
  let text: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    return {
      problem: `Expected \`${field}\` to be JSON, got ${describeValue(value)} that can't be written as JSON: ${messageOf(error)}`,
      isFinal: false,
      isTooLarge: false,
    };
  }
  if (typeof text !== "string") {
    const problem = `Expected \`${field}\` to be JSON, got ${describeValue(value)}, which JSON leaves out`;
    return { problem, isFinal: true, isTooLarge: false };
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.payloadBytesMax) {
    const problem = `Expected \`${field}\` to be at most ${String(limits.payloadBytesMax)} bytes of JSON, got \`${String(bytes)}\`; keep larger data elsewhere and pass a reference`;
    return { problem, isFinal: true, isTooLarge: true };
  }
  if (as === "container" && !text.startsWith("{") && !text.startsWith("[")) {
    const problem = `Expected \`${field}\` to be a JSON object or array, got ${describeValue(value)}, as JSON ${shownText(text)}`;
    return { problem, isFinal: true, isTooLarge: false };
  }
  if (text === "{}" && isEmptied(value)) {
    const way = isThenable(value) ? "; await it first" : "";
    const problem = `Expected \`${field}\` to be JSON, got ${describeValue(value)}, of which JSON keeps nothing${way}`;
    return { problem, isFinal: true, isTooLarge: false };
  }
  if (isTooDeep(text)) {
    const problem = `Expected \`${field}\` to be nested at most ${String(limits.payloadDepthMax)} levels deep, got ${describeValue(value)} of more`;
    return { problem, isFinal: true, isTooLarge: false };
  }
  // JSON writes a promise so, and nearly no other value: the search costs a usual payload nothing.
  const place = text.includes("{}") && typeof value === "object" ? findThenable(value ?? []) : null;
  if (place !== null) {
    const problem = `Expected \`${field}${place}\` to be JSON, got a promise; await it first`;
    return { problem, isFinal: true, isTooLarge: false };
  }
  return { text };
}

/** A promise, a map, a set, an error: what they hold is no member of theirs. Runs no code of the value but its `toString` tag. */
function isEmptied(value: unknown): boolean {
  return Object.prototype.toString.call(value) !== "[object Object]";
}

/** Counted in the text: nothing of the value's own runs again. */
function isTooDeep(text: string): boolean {
  if (openings(text) <= limits.payloadDepthMax) return false;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isInText) {
      if (character === "\\") at += 1;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === "{" || character === "[") {
      depth += 1;
      if (depth > limits.payloadDepthMax) return true;
    } else if (character === "}" || character === "]") depth -= 1;
  }
  return false;
}

/** Opening brackets, those within texts too, up to one more than the depth. They are found without a look at each character. */
function openings(text: string): number {
  let count = 0;
  for (const opening of ["{", "["]) {
    let at = text.indexOf(opening);
    while (at !== -1 && count <= limits.payloadDepthMax) {
      count += 1;
      at = text.indexOf(opening, at + 1);
    }
  }
  return count;
}
