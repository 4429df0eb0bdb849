import type { SqlValue } from "../values";

/** A value that isn't NULL, as its static type says that it is held. Anything else is a fault of the engine. */
export type Present = Exclude<SqlValue, null>;

/** Of values that aren't NULL. */
export type Convert = (value: Present) => SqlValue;

export function asNumber(value: Present): number | bigint {
  if (typeof value === "number" || typeof value === "bigint") return value;
  throw new Error(`Expected a number, got ${typeof value}`);
}

export function asBigint(value: Present): bigint {
  if (typeof value === "bigint") return value;
  throw new Error(`Expected a bigint, got ${typeof value}`);
}

export function asBytes(value: Present): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new Error(`Expected bytes, got ${typeof value}`);
}
