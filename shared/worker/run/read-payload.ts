import { StoreConflictError } from "../../core/errors";
import type { TaskId } from "../../core/ids";
import type { JsonPayload } from "../../core/json";
import { jsonValue } from "../../core/json-members";
import type { TaskStore } from "../../ports/task-store";

/*
 * Payloads are checked when they are enqueued, and a claim brings them all in one text. A payload that was changed in SQL by
 * hand may be no JSON, and then none of that claim can be read: each is read by itself, and the one that is broken ends dead.
 */

/** A task's payload as the database has it, or why there is none to run with. */
export async function readPayload(
  store: TaskStore,
  taskId: TaskId,
): Promise<{ payload: JsonPayload } | { problem: string }> {
  const { facts } = await store.explainTask({ taskId });
  // Moved since: its lease is lost, and its next holder reads it.
  if (facts === null)
    throw new StoreConflictError(`task ${taskId} moved while its payload was read`);
  const text = facts.payload;
  if (text === null) return { payload: null };
  const payload = jsonValue(text);
  if (typeof payload === "object") return { payload: payload as JsonPayload };
  return {
    problem: `the payload in the database was changed by another hand: expected a JSON object or array, got another text of ${String(text.length)} characters. Set it right in the archive, then redrive the task`,
  };
}
