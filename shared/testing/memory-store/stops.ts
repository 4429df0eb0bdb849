import { compareTexts } from "../../core/text";
import type { StopNote, StoppedDefinition } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { expectRange } from "./arguments";
import { audit, byOperator } from "./audit";
import { iso } from "./instants";
import type { DefinitionRow, Memory, ScheduleRow, StopRow } from "./state";

/** set_stop: a stop of everything is on, or has ended. */
export const setStop: Implementation<"setStop"> = (memory, input) => {
  const { state, nowMs } = memory;
  const { isOn, changedBy, reason = null } = input;
  if (isOn === (state.stop !== null)) return { status: "exists" };
  state.stop = isOn ? { stoppedAtMs: nowMs, stoppedBy: changedBy, reason } : null;
  audit(memory, null, {
    setting: "stop",
    oldValue: String(!isOn),
    newValue: String(isOn),
    ...byOperator(input),
  });
  return { status: isOn ? "stopped" : "resumed" };
};

/** A new definition, or a new schedule of one, is paused as a part of the stop that is on. */
export function stopNew(memory: Memory, definition: DefinitionRow, schedule?: ScheduleRow): void {
  const { stop, stoppedDefinitions, stoppedSchedules } = memory.state;
  if (stop === null) return;
  const row = { ...stop, stoppedAtMs: memory.nowMs };
  if (schedule === undefined) stoppedDefinitions.set(definition.definitionId, row);
  else stoppedSchedules.set(schedule.scheduleId, row);
  (schedule ?? definition).isPaused = true;
  const name = schedule === undefined ? "" : ` of ${schedule.name}`;
  audit(memory, definition, {
    setting: schedule === undefined ? "paused" : "schedule_paused",
    oldValue: `false${name}`,
    newValue: `true${name}`,
    ...byOperator({ changedBy: stop.stoppedBy, reason: stop.reason }),
  });
}

/**
 * A pause or a resume: as part of a stop it is noted, else it takes its object out of the stop. Answers true for an object
 * that was stopped and is no more.
 */
export function noteStop(
  memory: Memory,
  { stopped, id }: { readonly stopped: Map<number, StopRow>; readonly id: number },
  change: {
    readonly isStop?: boolean;
    readonly didPause: boolean;
    readonly changedBy: string;
    readonly reason?: string;
  },
): boolean {
  const { isStop = false, didPause, changedBy, reason = null } = change;
  if (!isStop) return stopped.delete(id) && !didPause;
  if (didPause) stopped.set(id, { stoppedAtMs: memory.nowMs, stoppedBy: changedBy, reason });
  return false;
}

/** list_stopped: what a stop of everything has paused. */
export const listStopped: Implementation<"listStopped"> = (memory, input) => {
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
    stop: state.stop === null ? null : noteOf(state.stop),
    definitions: definitions.sort((a, b) => compareTexts(a.definition, b.definition)),
    schedules: schedules.sort(
      (a, b) => compareTexts(a.definition, b.definition) || compareTexts(a.name, b.name),
    ),
  };
};

function describe(definition: string, row: StopRow): StoppedDefinition {
  return { definition, ...noteOf(row) };
}

function noteOf({ stoppedAtMs, stoppedBy: by, reason }: StopRow): StopNote {
  return { at: iso(stoppedAtMs), by, reason };
}
