/** What operators ask of tasks and groups, as requests.ts has it. */
import { limits } from "../core/limits";
import type { RedriveTasksInput, RescheduleTasksInput } from "../ports/task-store";
import type { ReadResult } from "./read-result";
import { alone, needsOne, notBoth, objectOf, onlyWith, queryOf } from "./object-schema";
import type { ValueOf } from "./object-schema";
import {
  flag,
  groupScope,
  instant,
  key,
  maxEntries,
  oneOf,
  reason,
  taskIds,
  taskIdsRule,
  whole,
} from "./schemas";

/** End waiting tasks, request the end of running ones. */
export const readCancelRequest = objectOf(
  { tasks: taskIds, reason },
  { names: { tasks: "taskIds" } },
);
/** End waiting tasks, request the end of running ones. */
export type CancelRequest = ValueOf<typeof readCancelRequest>;

/** Tasks to redrive: these, or the oldest dead letters or cancelled tasks of a definition. */
export const redriveRequest = objectOf(
  {
    tasks: taskIds.exactOptional(),
    definition: key.exactOptional(),
    kind: key.exactOptional(),
    outcome: oneOf("dead", "cancelled").default("dead"),
    max: whole(1, limits.idsMax).default(limits.idsMax),
    reason,
  },
  {
    relations: [
      alone(onlyWith("kind", "definition")),
      alone(onlyWith("outcome", "definition")),
      alone(onlyWith("max", "definition")),
      needsOne("tasks", "definition", taskIdsRule),
      alone(notBoth("tasks", "definition")),
    ],
    forms: [
      { needs: ["tasks"], may: ["reason"] },
      { needs: ["definition"], may: ["kind", "outcome", "max", "reason"] },
    ],
  },
);

/** The body of a redrive. */
export function readRedriveRequest(input: unknown): ReadResult<RedriveTasksInput> {
  const read = redriveRequest(input);
  if (!read.ok) return read;
  const { tasks, definition, kind, outcome, max: count, reason: why } = read.value;
  const rest = why === undefined ? {} : { reason: why };
  if (tasks !== undefined) return { ok: true, value: { taskIds: tasks, ...rest } };
  const ofKind = kind === undefined ? {} : { kind };
  return { ok: true, value: { name: definition ?? "", ...ofKind, outcome, max: count, ...rest } };
}

/** Tasks that get another instant. */
export const rescheduleRequest = objectOf(
  {
    tasks: taskIds,
    runInMs: whole(0, limits.runInMsMax).exactOptional(),
    runAt: instant.exactOptional(),
    reason,
  },
  {
    relations: [
      notBoth("runAt", "runInMs"),
      needsOne("runInMs", "runAt", "milliseconds from now, or runAt: an instant"),
    ],
    forms: [
      { needs: ["tasks", "runInMs"], may: ["reason"] },
      { needs: ["tasks", "runAt"], may: ["reason"] },
    ],
  },
);

/** The body of a reschedule. */
export function readRescheduleRequest(input: unknown): ReadResult<RescheduleTasksInput> {
  const read = rescheduleRequest(input);
  if (!read.ok) return read;
  const { tasks: ids, runAt, runInMs, ...rest } = read.value;
  const to = runAt === undefined ? { runInMs: runInMs ?? 0 } : { runAt };
  return { ok: true, value: { taskIds: ids, to, ...rest } };
}

/** An operator's settings of a group: what isn't said stays. */
export const readGroupRequest = objectOf(
  {
    key,
    scope: groupScope.default("definition"),
    slots: whole(1, 1_000).exactOptional(),
    paused: flag.exactOptional(),
    strict: flag.exactOptional(),
    reason,
  },
  { names: { key: "groupKey", scope: "groupScope" } },
);
/** An operator's settings of a group: what isn't said stays. */
export type GroupRequest = ValueOf<typeof readGroupRequest>;

/** Which groups to list. */
export const readListGroupsQuery = queryOf(
  { definition: key.exactOptional(), key: key.exactOptional(), max: maxEntries() },
  { definition: "name", key: "groupKey" },
);
/** Which groups to list. */
export type ListGroupsRequest = ValueOf<typeof readListGroupsQuery>;
