import type { ClaimedTask, DoneTask, Failure } from "../../ports/task-store";
import { ending } from "./outcome";

/** The end of a task whose own end the store refused: with the reason, and without what may have been refused. */
export function refusedEnd(
  { taskId, fence }: DoneTask | Failure,
  as: "failed" | "dead",
  { message }: Error,
): Failure {
  const error = `the store refused how this task ended: ${message}`;
  return { taskId, fence, durationMs: null, ...ending(as, error) };
}

/** Why a task ended whose cancel was asked for before its handler began. */
export const cancelledBefore = "cancelled before it started";

/** The end of a claimed task that never starts. */
export function cancelledEnd({ taskId, fence }: ClaimedTask): Failure {
  return { taskId, fence, durationMs: null, ...ending("cancelled", cancelledBefore) };
}

/** The end of a task whose execution broke while it ran, or before its end was told. */
export function faultedEnd({ taskId, fence }: DoneTask | Failure, reason: string): Failure {
  const error = `its execution failed before the end of this task was told: ${reason}`;
  return { taskId, fence, durationMs: null, ...ending("failed", error) };
}
