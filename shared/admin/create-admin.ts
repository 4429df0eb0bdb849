/**
 * Everything an operator asks and does, once for HTTP, command line and dashboard. Takes checked input (requests.ts),
 * returns plain JSON. May import core and ports; knows no driver, no process, no trigger.
 */
import type { AdminOptions } from "./admin-options";
import { batchCalls } from "./families/batches";
import type { BatchCalls } from "./families/batches";
import { definitionCalls } from "./families/definitions";
import type { DefinitionCalls } from "./families/definitions";
import { groupCalls } from "./families/groups";
import type { GroupCalls } from "./families/groups";
import { incidentCalls } from "./families/incidents";
import type { IncidentCalls } from "./families/incidents";
import { limitCalls } from "./families/limits";
import type { LimitCalls } from "./families/limits";
import { scheduleCalls } from "./families/schedules";
import type { ScheduleCalls } from "./families/schedules";
import { statisticsCalls } from "./families/statistics";
import type { StatisticsCalls } from "./families/statistics";
import { taskCalls } from "./families/tasks";
import type { TaskCalls } from "./families/tasks";
import { watermarkCalls } from "./families/watermarks";
import type { WatermarkCalls } from "./families/watermarks";

export type { EnqueueReport } from "./enqueue-actions";
export type { StatusReport } from "./status-report";

/**
 * The operator's side of the product. An unknown definition, task or execution throws InvalidArgumentError with the
 * code TASKGATE_ARG_UNKNOWN, naming near ones; a failing database throws the errors of core/errors.ts.
 */
export interface Admin
  extends
    BatchCalls,
    DefinitionCalls,
    GroupCalls,
    IncidentCalls,
    LimitCalls,
    ScheduleCalls,
    StatisticsCalls,
    TaskCalls,
    WatermarkCalls {}

/** The one implementation. Nothing is sent before the first call. */
export function createAdmin(options: AdminOptions): Admin {
  return {
    ...definitionCalls(options),
    ...limitCalls(options),
    ...taskCalls(options),
    ...groupCalls(options),
    ...watermarkCalls(options),
    ...batchCalls(options),
    ...scheduleCalls(options),
    ...incidentCalls(options),
    ...statisticsCalls(options),
  };
}
