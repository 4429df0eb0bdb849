import type { SystemName } from "./protocol";
import type { ScenarioName } from "./scenario-names";

/** One figure of a scenario: its name in a reading, how it is shown, and which way is good. */
export interface Figure {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly better: "more" | "less" | "neither";
}

/** What one run of one system has given. CPU: seconds while it was measured; null: the computer doesn't tell. */
export interface Reading {
  readonly figures: Readonly<Record<string, number>>;
  readonly serverCpuS: number | null;
  readonly clientsCpuS: number | null;
  /** What that time was spent on; null: on no tasks. */
  readonly tasks: number | null;
  /** Why it isn't what was asked for, such as a run that was cut off; empty: nothing. */
  readonly note: string;
}

/** A system in one of its set-ups, with all its rounds. */
export interface Entry {
  readonly system: SystemName;
  /** Unique in the scenario. */
  readonly label: string;
  readonly settings: string;
  /** skipped: the system or this computer has nothing to measure. */
  readonly outcome: "measured" | "skipped" | "failed";
  /** Why it isn't measured. */
  readonly problem: string;
  readonly readings: readonly Reading[];
}

/** A scenario's figures, the first of which is compared. */
export interface ScenarioResult {
  readonly name: ScenarioName;
  readonly title: string;
  readonly about: string;
  readonly figures: readonly Figure[];
  readonly entries: readonly Entry[];
}

/** A whole run. */
export interface Results {
  readonly date: string;
  readonly isQuick: boolean;
  readonly rounds: number;
  readonly computer: string;
  /** Load average of a minute before the run: of others, as nothing of it has begun. */
  readonly loadBefore: number;
  readonly node: string;
  readonly postgres: string;
  readonly postgresSettings: string;
  /** Version and persistence, or why there is none. */
  readonly redis: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly scenarios: readonly ScenarioResult[];
}

/** Median and range of a figure; null: no round has it. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function summarize(values: readonly number[]): Summary | null {
  const sorted = values.filter(Number.isFinite).sort((left, right) => left - right);
  const middle = (sorted.length - 1) / 2;
  const low = sorted[Math.floor(middle)];
  const high = sorted[Math.ceil(middle)];
  const min = sorted[0];
  const max = sorted.at(-1);
  if (low === undefined || high === undefined || min === undefined || max === undefined)
    return null;
  return { median: (low + high) / 2, min, max };
}

export function figureOf(entry: Entry | undefined, name: string): Summary | null {
  const values = entry?.readings.map(({ figures }) => figures[name] ?? Number.NaN) ?? [];
  return summarize(values);
}

/** The value below which such a share of the values lies. */
export { quantile } from "../measurement";
