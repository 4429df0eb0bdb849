import type { DefinitionStatus } from "../ports/task-store";
import type { AdminOptions } from "./admin-options";
import { listDefinitions } from "./app-actions";
import type { DefinitionReport } from "./app-actions";

/** The whole at a glance. */
export interface StatusReport {
  readonly dialect: string;
  readonly build: number;
  readonly totals: {
    readonly definitions: number;
    readonly paused: number;
    readonly executions: number;
    readonly held: number;
    /** Counts of each definition stop at 10,000. */
    readonly ready: number;
    readonly scheduled: number;
    readonly waiting: number;
    readonly claimed: number;
    /** Of the claimed, as of each definition; never more than `held`. */
    readonly running: number;
    readonly prefetched: number;
    readonly dead: number;
  };
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
  const sum = (pick: (definition: DefinitionStatus) => number): number =>
    definitions.reduce((total, definition) => total + pick(definition), 0);
  return {
    dialect: store.dialect,
    build,
    totals: {
      definitions: definitions.length,
      paused: sum((definition) => (definition.paused ? 1 : 0)),
      executions: sum((definition) => definition.executions),
      held: sum((definition) => definition.held),
      ready: sum((definition) => definition.ready),
      scheduled: sum((definition) => definition.scheduled),
      waiting: sum((definition) => definition.waiting),
      claimed: sum((definition) => definition.claimed),
      running: sum((definition) => definition.running),
      prefetched: sum((definition) => definition.prefetched),
      dead: sum((definition) => definition.dead),
    },
    expired: sweep.expired,
    nextDueMs: sweep.nextDueMs,
    definitions,
  };
}
