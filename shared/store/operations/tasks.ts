import { asTaskId } from "../../core/ids";
import type { TaskId } from "../../core/ids";
import { limits } from "../../core/limits";
import { checkInteger, checkKey } from "../../core/text";
import { checkIds, checkInstant, checkInt, checkName } from "./checks";
import { intOrNull, json, names } from "./columns";
import { openedWaves } from "./opened";
import type { OpenedWaves } from "./opened";
import { operationsOf } from "./operation";
import { cleanActor } from "./operator";
import type { ActorInput } from "./operator";

/* ---- Tasks as operators see and change them ---- */

/** An operator's calls about tasks. */
export interface TaskOperations {
  /** An operator's cancel: ends waiting tasks, requests the end of running ones. Idempotent by nature. */
  cancelTasks(input: CancelTasksInput): Promise<CancelTasksAnswer>;
  /** Dead or cancelled tasks become tasks again, with the same ids. Idempotent by nature. */
  redriveTasks(input: RedriveTasksInput): Promise<RedriveTasksAnswer>;
  /** Another instant for scheduled tasks; ready and waiting ones are scheduled. */
  rescheduleTasks(input: RescheduleTasksInput): Promise<RescheduleTasksAnswer>;
}

export interface CancelTasksInput extends ActorInput {
  /** 1..1000 */
  taskIds: readonly TaskId[];
  /** Kept as the error of the tasks that end here, and in the audit. */
  reason?: string;
}

export interface CancelTasksAnswer extends OpenedWaves {
  /** Each task once, in input order. */
  results: {
    taskId: TaskId;
    /** requested: it runs or is on the move, and is asked to end. busy: locked at this moment, ask again. */
    outcome: "cancelled" | "requested" | "busy" | "gone";
    /** Of a task that is gone; null else. */
    state: "done" | "dead" | "cancelled" | "unknown" | null;
  }[];
}

/** Some tasks, or the oldest ones of a definition that ended so. */
export type RedriveTasksInput = ActorInput &
  (
    | { /** 1..1000 */ taskIds: readonly TaskId[] }
    | {
        name: string;
        kind?: string;
        outcome: "dead" | "cancelled";
        /** 1..1000 */
        max: number;
      }
  );

export interface RedriveTasksAnswer {
  /** Each task once: ids in input order, found ones oldest first. */
  results: {
    taskId: TaskId;
    /** duplicate: another task holds its dedupe key, it stays. busy: locked at this moment. unfinished: it is a task already. */
    outcome: "redriven" | "duplicate" | "busy" | "unfinished" | "done" | "unknown";
  }[];
  /** Definitions that got ready tasks. */
  woken: string[];
}

export interface RescheduleTasksInput extends ActorInput {
  /** 1..1000 */
  taskIds: readonly TaskId[];
  /** Milliseconds from now, or an instant; one that is past: due at once. */
  to: { runInMs: number } | { runAt: Date };
}

export interface RescheduleTasksAnswer {
  /** Each task once, in input order. */
  results: {
    taskId: TaskId;
    /** held: its wave isn't open. busy: on the move at this moment, ask again. */
    outcome: "rescheduled" | "running" | "blocked" | "busy" | "gone";
    /** Of a task that is gone; null else. */
    state: "done" | "dead" | "cancelled" | "unknown" | null;
  }[];
  /** Until the new instant; null: nothing was rescheduled. */
  nextDueMs: number | null;
  /** Those that got scheduled tasks. */
  definitions: string[];
  /** Those that got ready tasks by hand-over. */
  woken: string[];
}

const operation = operationsOf<TaskOperations>();

/** Procedure `cancel_tasks`. */
export const cancelTasks = operation("cancelTasks", {
  right: "operator",
  parameters: { taskIds: "ids", reason: "text", changedBy: "text" },
  check: ({ taskIds, ...actor }) => {
    checkIds("task_ids", taskIds);
    return { taskIds, ...cleanActor(actor) };
  },
  decode: (row) => ({
    results: json<ResultRow<CancelTasksAnswer>[]>(row, "results").map(({ task, ...result }) => ({
      taskId: asTaskId(task),
      ...result,
    })),
    ...openedWaves(row),
  }),
});

/** Procedure `redrive_tasks`. */
export const redriveTasks = operation("redriveTasks", {
  right: "operator",
  parameters: {
    taskIds: "ids",
    name: "text",
    kind: "text",
    outcome: "text",
    max: "int",
    changedBy: "text",
    reason: "text",
  },
  check: (input) => {
    const actor = cleanActor(input);
    if ("taskIds" in input) {
      checkIds("task_ids", input.taskIds);
      return { ...input, ...actor };
    }
    checkName(input.name);
    if (input.kind !== undefined) checkKey("kind", input.kind);
    checkInt("max", input.max);
    return { ...input, ...actor };
  },
  decode: (row) => ({
    results: json<ResultRow<RedriveTasksAnswer>[]>(row, "results").map(({ task, outcome }) => ({
      taskId: asTaskId(task),
      outcome,
    })),
    woken: names(row, "woken"),
  }),
});

/** Procedure `reschedule_tasks`. */
export const rescheduleTasks = operation("rescheduleTasks", {
  right: "operator",
  parameters: {
    taskIds: "ids",
    runInMs: "bigint",
    runAt: "instant",
    changedBy: "text",
    reason: "text",
  },
  check: (input) => {
    checkIds("task_ids", input.taskIds);
    const { to } = input;
    if ("runInMs" in to) checkInteger("run_in_ms", to.runInMs, { min: 0, max: limits.runInMsMax });
    else checkInstant("run_at", to.runAt);
    return { ...input, ...cleanActor(input) };
  },
  bind: ({ to }) => ({ runInMs: null, runAt: null, ...to }),
  decode: (row) => ({
    results: json<ResultRow<RescheduleTasksAnswer>[]>(row, "results").map(
      ({ task, ...result }) => ({ taskId: asTaskId(task), ...result }),
    ),
    nextDueMs: intOrNull(row, "nextDueMs"),
    definitions: names(row, "definitions"),
    woken: names(row, "woken"),
  }),
});

/** One result of an answer, as the procedure writes it. */
type ResultRow<Answer extends { results: { taskId: TaskId }[] }> = Omit<
  Answer["results"][number],
  "taskId"
> & { task: string };
