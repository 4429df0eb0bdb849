import type { TaskId } from "../../core/ids";
import type { DedupeRow, Memory } from "./state";

/** Name of a dedupe row: a key is unique within its definition. */
export function dedupeId(definitionId: number, dedupeKey: string): string {
  return `${String(definitionId)}/${dedupeKey}`;
}

/** Takes a key that is free, or whose window is over; else answers the task that holds it. */
export function takeKey({ state, nowMs }: Memory, row: DedupeRow): TaskId | null {
  const id = dedupeId(row.definitionId, row.dedupeKey);
  const holder = state.dedupe.get(id);
  const isHeld =
    holder !== undefined && (holder.expiresAtMs === null || holder.expiresAtMs >= nowMs);
  if (isHeld) return holder.taskId;
  state.dedupe.set(id, row);
  return null;
}
