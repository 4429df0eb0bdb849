import { read } from "./foreign-value";

/** Is it a promise, or something else that can be awaited? */
export function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof read(value, "then") === "function";
}

/**
 * Where a value that can be written as JSON holds something that isn't awaited: `.order.lines[3]`; null: nowhere. JSON says `{}` for it.
 * No getter and no `toJSON` runs: what they give has been written already.
 */
export function findThenable(value: object): string | null {
  if (typeof read(value, "toJSON") === "function") return null;
  // 10,000 payloads with an empty object take 1 to 5 ms more so; lists of their members took 20 ms.
  for (const name of namesOf(value)) {
    const member = memberOf(value, name);
    if (member === null) continue;
    const within = isThenable(member) ? "" : findThenable(member);
    if (within !== null) return (Array.isArray(value) ? `[${name}]` : `.${name}`) + within;
  }
  return null;
}

/** Those that JSON writes. A proxy may refuse the question. */
function namesOf(value: object): string[] {
  try {
    return Object.keys(value);
  } catch {
    return [];
  }
}

/** An object that is there without a getter. */
function memberOf(value: object, name: string): object | null {
  try {
    const member: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
    return typeof member === "object" ? member : null;
  } catch {
    return null;
  }
}
