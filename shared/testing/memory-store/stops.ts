import { compareTexts } from "../../core/text";
import type { ListStoppedAnswer, StoppedDefinition } from "../../ports/task-store";
import { expectRange } from "./arguments";

import type { Memory, StopRow } from "./state";

/** A pause or a resume: as part of a stop it is noted, else it takes its object out of the stop. */
export function noteStop(
  memory: Memory,
  { stopped, id }: { readonly stopped: Map<number, StopRow>; readonly id: number },
  change: {
    readonly isStop?: boolean;
    readonly didPause: boolean;
    readonly changedBy: string;
    readonly reason?: string;
  },
): void {
  const { isStop = false, didPause, changedBy, reason = null } = change;
  if (!isStop) stopped.delete(id);
  else if (didPause) stopped.set(id, { stoppedAtMs: memory.nowMs, stoppedBy: changedBy, reason });
}

/** list_stopped: what a stop of everything has paused. */
export function listStopped(memory: Memory, input: { max: number }): ListStoppedAnswer {
  expectRange("max", input.max, [1, 1_000]);
  const { state } = memory;
  const firstOf = (rows: Map<number, StopRow>): [number, StopRow][] =>
    [...rows].sort(([a], [b]) => a - b).slice(0, input.max);
  const definitions = firstOf(state.stoppedDefinitions).flatMap(([id, row]) => {
    const definition = state.definitions.get(id);
    return definition === undefined ? [] : [describe(definition.name, row)];
  });
  const schedules = firstOf(state.stoppedSchedules).flatMap(([id, row]) => {
    const schedule = state.schedules.get(id);
    const definition = state.definitions.get(schedule?.definitionId ?? 0);
    if (schedule === undefined || definition === undefined) return [];
    return [{ ...describe(definition.name, row), name: schedule.name }];
  });
  return {
    definitions: definitions.sort((a, b) => compareTexts(a.definition, b.definition)),
    schedules: schedules.sort(
      (a, b) => compareTexts(a.definition, b.definition) || compareTexts(a.name, b.name),
    ),
  };
}

function describe(definition: string, row: StopRow): StoppedDefinition {
  return {
    definition,
    at: new Date(row.stoppedAtMs).toISOString(),
    by: row.stoppedBy,
    reason: row.reason,
  };
}
