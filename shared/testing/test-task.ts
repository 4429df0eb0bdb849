import type { TaskId } from "../core/ids";
import type { JsonArray, JsonObject } from "../core/json";
import { parseContainer } from "./parse-container";
import type { TaskAttempt, TaskFacts } from "../ports/task-store";

/** Where a task stands, or how it ended. */
export type TestTaskState = TaskFacts["state"];

/** A task as the store knows it. */
export interface TestTask {
  readonly taskId: TaskId;
  readonly kind: string;
  readonly definition: string;
  readonly state: TestTaskState;
  readonly payload: JsonObject | JsonArray | null;
  readonly result: JsonObject | JsonArray | null;
  /** Tries that didn't end well, oldest first, with their errors. */
  readonly attempts: readonly TaskAttempt[];
  /** Failures that counted. */
  readonly failedCount: number;
  /** Workers that died under it. */
  readonly lostCount: number;
  /** Of the last attempt that failed, or the reason of its cancel. */
  readonly error: string | null;
  /** Milliseconds until a scheduled task is due. */
  readonly dueInMs: number | null;
  readonly group: string | null;
  readonly priority: number;
  readonly dedupeKey: string | null;
}

/** What the store says of a task, for people who compare. */
export function describeTask(facts: TaskFacts): TestTask {
  return {
    taskId: facts.task,
    kind: facts.kind,
    definition: facts.definition,
    state: facts.state,
    payload: parseContainer(facts.payload),
    result: parseContainer(facts.result ?? null),
    attempts: facts.attempts,
    failedCount: facts.failedCount,
    lostCount: facts.lostCount,
    error: facts.error,
    dueInMs: facts.dueInMs ?? null,
    group: facts.group?.key ?? null,
    priority: facts.priority,
    dedupeKey: facts.dedupeKey,
  };
}
