import type { SystemName, WorkKind } from "./protocol";
import type { Reading, Figure } from "./results";
import type { Run } from "./run";
import type { ScenarioName } from "./scenario-names";

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

/** What all systems are measured by, in turn. */
export interface Scenario {
  readonly name: ScenarioName;
  readonly title: string;
  /** What is done, in a sentence or two of the page. */
  readonly about: string;
  readonly work: WorkKind;
  readonly processes: number;
  readonly inFlight: number;
  readonly limit: number;
  readonly taskMs: number;
  readonly callers: number;
  /** Statements are counted, which costs a little. */
  readonly counts: boolean;
  /** At most so many rounds; null: as many as asked for. */
  readonly roundsMax: number | null;
  readonly figures: readonly Figure[];
  readonly variants: readonly Variant[];
  measure(run: Run): Promise<Reading>;
}

/** What most scenarios have. */
export const usual = {
  processes: 1,
  inFlight: 1,
  limit: 1,
  taskMs: 0,
  callers: 3,
  counts: false,
  roundsMax: null,
} as const;

/** A set-up in which done tasks are deleted. */
export const nothingKeptLabel = "nothing kept";

export const rate: Figure = { name: "rate", title: "tasks/s", unit: "tasks/s", better: "more" };

export function labelOf({ system, label }: Variant): string {
  return label === undefined ? system : `${system}, ${label}`;
}
