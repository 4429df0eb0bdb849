import type { SystemName } from "./protocol";

/** A system in one of its set-ups. */
export interface Variant {
  readonly system: SystemName;
  /** Beside the system's name; empty: it has one set-up only. */
  readonly style?: "best" | "fewest" | "batching";
  readonly label?: string;
  /** false: done tasks are deleted; default true: as the system does unless told otherwise. */
  readonly keeps?: boolean;
  /** Tasks of a full run: so many that every system is measured for some seconds. */
  readonly tasks: number;
  /** Why it isn't measured here: it has no such feature. */
  readonly lacks?: string;
}

/** A set-up in which done tasks are deleted. */
export const nothingKeptLabel = "nothing kept";

export function labelOf({ system, label }: Variant): string {
  return label === undefined ? system : `${system}, ${label}`;
}
