/** One measurement. `value` in `unit`; more is better unless `isLessBetter`. */
export interface Measurement {
  readonly scenario: string;
  readonly unit: string;
  readonly value: number;
  readonly isLessBetter?: boolean;
  /** What it is to reach, in `unit`; null: none of its own, it is compared with peers. */
  readonly goal: number | null;
}

/** How much of everything; `quick` shows that it works, the rest measures. */
export interface Scale {
  readonly tasks: number;
  readonly seconds: number;
  /** Of the largest backlog. */
  readonly backlog: number;
}

/** What one scenario measures on a database of its own; `openOther` makes another one, to compare with. */
export type BenchScenario = (
  url: string,
  scale: Scale,
  openOther: () => Promise<string>,
) => Promise<Measurement[]>;

/** Milliseconds that `body` takes. */
export async function timed(body: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await body();
  return performance.now() - startedMs;
}

/** The value below which such a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
