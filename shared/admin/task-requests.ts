/** What operators ask of tasks and groups, as requests.ts has it. */
import { limits } from "../core/limits";
import type { RedriveTasksInput, RescheduleTasksInput } from "../ports/task-store";
import { previewIdsMax } from "./task-preview";
import type { ReadResult } from "./read-result";
import { alone, listQueryOf, needsOne, notBoth, objectOf, onlyWith } from "./object-schema";
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

/** Nothing is changed: the answer is what would become of the tasks. */
const dryRun = flag
  .meta({
    description: `Only tells what would become of them; at most ${String(previewIdsMax)} ids.`,
  })
  .exactOptional();

/** A preview reads each task by itself. */
const fewForPreview = {
  broken: ({ dryRun: isDry, tasks }: Readonly<Record<string, unknown>>) =>
    isDry === true && Array.isArray(tasks) && tasks.length > previewIdsMax
      ? (["tasks", `at most ${String(previewIdsMax)} ids with dryRun`] as const)
      : null,
  json: {},
};

/** End waiting tasks, request the end of running ones. */
export const readCancelRequest = objectOf(
  { tasks: taskIds, dryRun, reason },
  { names: { tasks: "taskIds" }, relations: [fewForPreview] },
);
/** End waiting tasks, request the end of running ones. */
export type CancelRequest = ValueOf<typeof readCancelRequest>;

/** A handler, as a filter of tasks. */
export const readKindFilter = objectOf({ kind: key.exactOptional() });

/** Tasks to redrive: these, or the oldest dead letters or cancelled tasks of a definition. */
export const redriveRequest = objectOf(
  {
    tasks: taskIds.exactOptional(),
    definition: key.exactOptional(),
    kind: key.exactOptional(),
    outcome: oneOf("dead", "cancelled").default("dead"),
    max: whole(1, limits.idsMax).default(limits.idsMax),
    dryRun,
    reason,
  },
  {
    relations: [
      alone(onlyWith("kind", "definition")),
      alone(onlyWith("outcome", "definition")),
      alone(onlyWith("max", "definition")),
      needsOne("tasks", "definition", taskIdsRule),
      alone(notBoth("tasks", "definition")),
      alone(onlyWith("dryRun", "tasks")),
      fewForPreview,
    ],
    forms: [
      { needs: ["tasks"], may: ["dryRun", "reason"] },
      { needs: ["definition"], may: ["kind", "outcome", "max", "reason"] },
    ],
  },
);

/** What changes tasks, or only tells what would become of them. */
export type OrPreview<Input> = Input & { readonly dryRun?: boolean };

/** The body of a redrive. */
export function readRedriveRequest(input: unknown): ReadResult<OrPreview<RedriveTasksInput>> {
  const read = redriveRequest(input);
  if (!read.ok) return read;
  const { tasks, definition, kind, outcome, max: count, reason: why, dryRun: isDry } = read.value;
  const rest = why === undefined ? {} : { reason: why };
  const dry = isDry === undefined ? {} : { dryRun: isDry };
  if (tasks !== undefined) return { ok: true, value: { taskIds: tasks, ...dry, ...rest } };
  const ofKind = kind === undefined ? {} : { kind };
  return { ok: true, value: { name: definition ?? "", ...ofKind, outcome, max: count, ...rest } };
}

/** Tasks that get another instant. */
export const rescheduleRequest = objectOf(
  {
    tasks: taskIds,
    runInMs: whole(0, limits.runInMsMax).exactOptional(),
    runAt: instant.exactOptional(),
    dryRun,
    reason,
  },
  {
    relations: [
      notBoth("runAt", "runInMs"),
      needsOne("runInMs", "runAt", "milliseconds from now, or runAt: an instant"),
      fewForPreview,
    ],
    forms: [
      { needs: ["tasks", "runInMs"], may: ["dryRun", "reason"] },
      { needs: ["tasks", "runAt"], may: ["dryRun", "reason"] },
    ],
  },
);

/** The body of a reschedule. */
export function readRescheduleRequest(input: unknown): ReadResult<OrPreview<RescheduleTasksInput>> {
  const read = rescheduleRequest(input);
  if (!read.ok) return read;
  const { tasks: ids, runAt, runInMs, ...rest } = read.value;
  const to = runAt === undefined ? { runInMs: runInMs ?? 0 } : { runAt };
  return { ok: true, value: { taskIds: ids, to, ...rest } };
}

/** An operator's settings of a group: absent ones stay. */
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

/** Which groups to list. */
export const readListGroupsQuery = listQueryOf(
  { definition: key.exactOptional(), key: key.exactOptional(), max: maxEntries() },
  { definition: "name", key: "groupKey" },
);
