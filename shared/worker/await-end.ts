import { InvalidArgumentError } from "../core/errors";
import type { TaskId } from "../core/ids";
import type { JsonArray, JsonObject } from "../core/json";
import type { WorkerEnvironment } from "./environment";

/** How a task ended, or that it hasn't. */
export interface TaskEnd {
  /** unfinished: not within the time that was given. */
  readonly state: "done" | "dead" | "cancelled" | "unfinished";
  readonly result: JsonObject | JsonArray | null;
  /** Of the last attempt that failed. */
  readonly error: string | null;
}

/** Pauses between looks: short for short tasks, a second for long ones. */
const pauseMinMs = 20;
const pauseMaxMs = 1_000;

/**
 * Looks until a task has ended, at most `timeoutMs`. A read each time, at most one per second after the first few; nothing
 * is locked and nobody is kept waiting by it. Throws InvalidArgumentError for a task that the database doesn't know (any
 * more: finished tasks are kept as long as their definition's `retain` says).
 */
export async function awaitEnd(
  environment: WorkerEnvironment,
  taskId: TaskId,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<TaskEnd> {
  const { store, clock, timers } = environment;
  const endMs = clock.monotonicMs() + options.timeoutMs;
  for (let pauseMs = pauseMinMs; ; pauseMs = Math.min(2 * pauseMs, pauseMaxMs)) {
    options.signal?.throwIfAborted();
    const { status, facts } = await store.explainTask({ taskId });
    if (status === "unknown") {
      throw new InvalidArgumentError(`Expected \`taskId\` to be a known task, got \`${taskId}\``, {
        code: "TASKGATE_ARG_UNKNOWN",
        details: { field: "taskId" },
      });
    }
    const error = facts?.lastError ?? null;
    const state = facts?.state;
    if (state === "done" || state === "dead" || state === "cancelled") {
      const text = facts?.result ?? null;
      const result = text === null ? null : (JSON.parse(text) as JsonObject | JsonArray);
      return { state, result, error };
    }
    const leftMs = endMs - clock.monotonicMs();
    if (leftMs <= 0) return { state: "unfinished", result: null, error };
    await new Promise<void>((resolve) => {
      timers.after(Math.min(pauseMs, leftMs), resolve);
    });
  }
}
