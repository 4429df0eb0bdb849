import type { TaskId } from "../../core/ids";
import type { MemoryState, TaskRow } from "./state";

/** Where an unfinished task stands, as check_invariants names it. */
export type PlaceName = "ready" | "scheduled" | "group_waiting" | "wave_blocked" | "claimed";

/** One task in one place: each unfinished task has exactly one. */
export interface Standing {
  readonly taskId: TaskId;
  readonly place: PlaceName;
  readonly definitionId: number;
}

/** Every task that stands somewhere. */
export function allStandings(state: MemoryState): Standing[] {
  const from = (place: PlaceName, rows: readonly { taskId: TaskId; definitionId: number }[]) =>
    rows.map(({ taskId, definitionId }) => ({ taskId, place, definitionId }));
  const claims = [...state.executions.values()].flatMap(({ claims: held, definitionId }) =>
    held.map(({ taskId }) => ({ taskId, definitionId })),
  );
  return [
    ...from("ready", state.ready),
    ...from("scheduled", state.scheduled),
    ...from("group_waiting", state.groupWaiting),
    ...from("wave_blocked", state.waveBlocked),
    ...from("claimed", claims),
  ];
}

/** Where each of them stands. */
export function placesOf(state: MemoryState): Map<TaskId, PlaceName> {
  return new Map(allStandings(state).map(({ taskId, place }) => [taskId, place]));
}

/** Takes unclaimed tasks from wherever they wait. */
export function leaveContainers(state: MemoryState, tasks: readonly TaskRow[]): void {
  const ids = new Set(tasks.map(({ taskId }) => taskId));
  const stays = (row: { readonly taskId: TaskId }): boolean => !ids.has(row.taskId);
  state.ready = state.ready.filter(stays);
  state.scheduled = state.scheduled.filter(stays);
  state.groupWaiting = state.groupWaiting.filter(stays);
  state.waveBlocked = state.waveBlocked.filter(stays);
}
