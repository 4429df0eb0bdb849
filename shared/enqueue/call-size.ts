import { limits } from "../core/limits";
import type { NewTask } from "../ports/task-store";

/** Half of what one call may carry, because text in text grows by its quotes. */
export const callBytesMax = limits.enqueueBytesMax / 2;

/** What a task adds to a call, about. */
export function bytesOf(task: NewTask): number {
  return 200 + 2 * Buffer.byteLength(task.payload ?? "");
}
