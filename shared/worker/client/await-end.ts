import { InvalidArgumentError } from "../../core/errors";
import type { TaskId } from "../../core/ids";
import { isKindNamed } from "../../core/kind-version";
import { isId } from "../../core/ids";
import type { JsonPayload } from "../../core/json";
import type { WorkerEnvironment } from "../environment";
import { pause } from "../run/pause";

/** How a task ended, or that it hasn't. */
export type TaskEnd<Result = JsonPayload> =
  | {
      readonly state: "done";
      readonly result: Result;
      /** Of the last attempt that failed. */
      readonly error: string | null;
    }
  | {
      /** unfinished: not within the time that was given. */
      readonly state: "dead" | "cancelled" | "unfinished";
      readonly result: null;
      readonly error: string | null;
    };

/** Pauses between looks: short for short tasks, a second for long ones. */
const pauseMinMs = 20;
const pauseMaxMs = 1_000;

/**
 * Looks until a task of the kind has ended, at most `timeoutMs`. A read each time, at most one per second after the first
 * few; nothing is locked and no other call waits for it. Throws InvalidArgumentError for a task of another kind, and for one
 * that the database doesn't know, or no longer: ended tasks are kept as long as their queue's `retain` says.
 */
export async function awaitEnd<Result>(
  environment: WorkerEnvironment,
  { kind, taskId }: { kind: string; taskId: TaskId },
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<TaskEnd<Result>> {
  const { store, clock, timers } = environment;
  if (!isId(taskId)) throw unknownTask(taskId, { code: "TASKGATE_ARG_INVALID", reason: "" });
  let wasSeen = false;
  const endMs = clock.monotonicMs() + options.timeoutMs;
  for (let pauseMs = pauseMinMs; ; pauseMs = Math.min(2 * pauseMs, pauseMaxMs)) {
    options.signal?.throwIfAborted();
    const { status, facts } = await store.explainTask({ taskId });
    if (status === "unknown") {
      const reason = wasSeen ? endedUnkept : maybeUnkept;
      throw unknownTask(taskId, { code: "TASKGATE_ARG_UNKNOWN", reason });
    }
    wasSeen = true;
    if (facts !== null && !isKindNamed(facts.kind, kind)) {
      throw new InvalidArgumentError(
        `Expected \`taskId\` to be a task of kind \`${kind}\`, got \`${taskId}\`, which is of kind \`${facts.kind}\``,
        { details: { field: "taskId" } },
      );
    }
    const error = facts?.error ?? null;
    const state = facts?.state;
    if (state === "done") {
      const text = facts?.result ?? null;
      return { state, result: JSON.parse(text ?? "null") as Result, error };
    }
    if (state === "dead" || state === "cancelled") return { state, result: null, error };
    const leftMs = endMs - clock.monotonicMs();
    if (leftMs <= 0) return { state: "unfinished", result: null, error };
    await pause(timers, Math.min(pauseMs, leftMs), options.signal);
  }
}

const howLong = "for as long as `retain.doneMs` of its definition says (0: not at all)";
const maybeUnkept = `. A task that is done is known ${howLong}`;
const endedUnkept = `. It has ended meanwhile: a task that is done or cancelled is kept ${howLong}, and its result with it`;

function unknownTask(
  taskId: unknown,
  { code, reason }: { code: "TASKGATE_ARG_UNKNOWN" | "TASKGATE_ARG_INVALID"; reason: string },
): InvalidArgumentError {
  return new InvalidArgumentError(
    `Expected \`taskId\` to be a known task, got \`${String(taskId).slice(0, 40)}\`${reason}`,
    { code, details: { field: "taskId" } },
  );
}
