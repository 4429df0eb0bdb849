import type { AdminOptions } from "./admin-options";
import { listDefinitions } from "./app-actions";
import type { DefinitionReport } from "./app-actions";

/** Sums over all definitions; counts of each stop at 10,000. */
const summed = [
  "executions",
  "held",
  "ready",
  "scheduled",
  "waiting",
  "claimed",
  "running",
  "prefetched",
  "dead",
] as const;

/** The whole at a glance. */
export interface StatusReport {
  readonly dialect: string;
  readonly build: number;
  readonly totals: Readonly<Record<"definitions" | "paused" | (typeof summed)[number], number>>;
  /** Dead executions whose tasks the next sweep takes back; counted up to 1,000. */
  readonly expired: number;
  /** Until the next scheduled task or schedule is due; 0: some are; null: none is. */
  readonly nextDueMs: number | null;
  readonly definitions: readonly DefinitionReport[];
}

/** Most definitions that a sweep's read tells of. */
const sweepMax = 1_000;

/** All definitions with their sums. Three reads. */
export async function readStatus({
  store,
  build,
}: Pick<AdminOptions, "store" | "build">): Promise<StatusReport> {
  const [definitions, sweep] = await Promise.all([
    listDefinitions(store),
    store.sweep({ max: sweepMax }),
  ]);
  const sums = summed.map(
    (name) => [name, definitions.reduce((sum, definition) => sum + definition[name], 0)] as const,
  );
  return {
    dialect: store.dialect,
    build,
    totals: {
      definitions: definitions.length,
      paused: definitions.filter(({ paused }) => paused).length,
      ...(Object.fromEntries(sums) as Record<(typeof summed)[number], number>),
    },
    expired: sweep.expired,
    nextDueMs: sweep.nextDueMs,
    definitions,
  };
}
