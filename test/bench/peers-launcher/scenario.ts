import type { Reading, Figure } from "./results";
import type { Conditions, Run } from "./run";
import type { ScenarioName } from "./scenario-names";
import type { Variant } from "./variant";

/** What all systems are measured by, in turn. */
export interface Scenario extends Conditions {
  readonly name: ScenarioName;
  readonly title: string;
  /** What is done, in a sentence or two of the page. */
  readonly about: string;
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

export const rate: Figure = { name: "rate", title: "tasks/s", unit: "tasks/s", better: "more" };
