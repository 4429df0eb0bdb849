/**
 * Everything an operator asks and does, once for HTTP, command line and dashboard. Takes checked input (requests.ts),
 * returns plain JSON. May import core and ports; knows no driver, no process, no trigger.
 */
import type { ListAuditInput } from "../ports/task-store";
import type { AdminOptions } from "./admin-options";
import { readableEntry } from "./audit-report";
import { batchCalls } from "./batch-actions";
import { definitionCalls } from "./definition-calls";
import { runDoctor } from "./doctor";
import { failureCalls } from "./failure-actions";
import { groupCalls } from "./group-calls";
import { limitCalls } from "./limit-actions";
import { scheduleCalls } from "./schedule-calls";
import { statisticsCalls } from "./statistics-report";
import { stopCalls } from "./stop-actions";
import { taskCalls } from "./task-calls";
import { watermarkCalls } from "./watermark-actions";

export type { EnqueueReport } from "./enqueue-actions";
export type { StatusReport } from "./status-report";

/**
 * The operator's side of the product. An unknown definition, task or execution throws InvalidArgumentError with the
 * code TASKGATE_ARG_UNKNOWN, naming near ones; a failing database throws the errors of core/errors.ts.
 */
export type Admin = ReturnType<typeof createAdmin>;

/** The one implementation. Nothing is sent before the first call. */
export function createAdmin(options: AdminOptions) {
  const { store, build, probes = [] } = options;
  return {
    ...definitionCalls(options),
    ...limitCalls(options),
    ...taskCalls(options),
    ...groupCalls(options),
    ...watermarkCalls(options),
    ...batchCalls(options),
    ...scheduleCalls(options),
    ...failureCalls(options),
    ...stopCalls(options),
    ...statisticsCalls(options),
    /** Changes with their actors, instants and reasons, newest first. */
    audit: async (request: ListAuditInput) =>
      (await store.listAudit(request)).entries.map(readableEntry),
    /** Looks for faults; `deep` checks every promise that SQL can see, over the whole database. */
    doctor: ({ deep }: { deep: boolean }) => runDoctor({ store, build, deep, probes }),
  };
}
