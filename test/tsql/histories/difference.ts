import type { Call } from "./call";
import type { Side } from "./side";

/** Where a store and the first one differ. */
export interface Difference {
  /** The call whose answers differ; undefined: the tables at the end do. */
  readonly call: Call | undefined;
  /** In a few words. */
  readonly what: string;
  readonly sides: Readonly<Record<string, unknown>>;
}

/** Values of the stores by their titles. */
export function titled(
  sides: readonly Side[],
  values: readonly unknown[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(sides.map((side, index) => [side.target.title, values[index]]));
}
