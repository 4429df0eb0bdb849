import { compareTexts } from "../../core/text";
import { limits } from "../../core/limits";
import { keyOf } from "../../core/payload-key";
import type {
  FireScheduleAnswer,
  NewSchedule,
  ScheduledInstant,
  ScheduleStatus,
} from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { expectRange, invalidArgument, left, tooLarge, unknownArgument } from "./arguments";
import { audit, byOperator } from "./audit";
import { newTask } from "./new-task";
import { addReady, addScheduled, definitionNamed, definitionOf } from "./rows";
import { iso, isoOrNull } from "./instants";
import { noteStop, stopNew } from "./stops";
import type { DefinitionRow, Memory, MemoryState, ScheduleRow, TaskRow } from "./state";

/** set_schedules: writes what the code says; those that aren't named go, an operator's pauses stay. */
export const setSchedules: Implementation<"setSchedules"> = (memory, input) => {
  expectSchedules(input.schedules);
  const definition = definitionNamed(memory.state, input.name);
  if (definition.build > input.build) return { status: "outdated", changed: 0, nextDueMs: null };
  let changed = 0;
  const note = (before: string | null, after: string | null): void => {
    changed += 1;
    audit(memory, definition, {
      setting: "schedule",
      oldValue: before,
      newValue: after,
      source: "code",
      changedBy: input.changedBy,
    });
  };
  for (const wanted of input.schedules) {
    const known = findSchedule(memory.state, definition, wanted.name);
    if (known !== undefined && isSame(known, wanted)) continue;
    const before = known === undefined ? null : describe(known);
    const row = known ?? makeSchedule(memory, definition, wanted);
    const { nextRunAt, ...own } = wanted;
    if (row.cron !== wanted.cron || row.timeZone !== wanted.timeZone) {
      row.nextRunAtMs = nextRunAt?.getTime() ?? null;
    }
    Object.assign(row, own);
    note(before, describe(row));
    if (known === undefined) stopNew(memory, definition, row);
  }
  const names = input.schedules.map((schedule) => schedule.name);
  const removed = schedulesOf(memory.state, definition).filter((row) => !names.includes(row.name));
  for (const row of removed) {
    memory.state.schedules.delete(row.scheduleId);
    memory.state.stoppedSchedules.delete(row.scheduleId);
    note(describe(row), null);
  }
  const next = schedulesOf(memory.state, definition)
    .filter((row) => !row.isPaused)
    .flatMap((row) => row.nextRunAtMs ?? []);
  return {
    status: changed === 0 ? "exists" : "set",
    changed,
    nextDueMs: next.length === 0 ? null : untilMs(memory, Math.min(...next)),
  };
};

function makeSchedule(
  memory: Memory,
  definition: DefinitionRow,
  { nextRunAt, ...own }: NewSchedule,
): ScheduleRow {
  const row: ScheduleRow = {
    scheduleId: memory.sequences.next("schedule"),
    definitionId: definition.definitionId,
    ...own,
    nextRunAtMs: nextRunAt?.getTime() ?? null,
    lastRunAtMs: null,
    isPaused: false,
  };
  memory.state.schedules.set(row.scheduleId, row);
  return row;
}

function isSame(row: ScheduleRow, wanted: NewSchedule): boolean {
  const fields = ["kind", "cron", "timeZone", "missed", "payload", "group"] as const;
  return fields.every((field) => row[field] === wanted[field]);
}

function describe(row: ScheduleRow): string {
  return left(`${row.cron} ${row.timeZone} of ${row.name}`, 400);
}

/** By name. */
function schedulesOf(state: MemoryState, definition: DefinitionRow): ScheduleRow[] {
  return [...state.schedules.values()]
    .filter((row) => row.definitionId === definition.definitionId)
    .sort((a, b) => compareTexts(a.name, b.name));
}

function findSchedule(
  state: MemoryState,
  definition: DefinitionRow,
  name: string,
): ScheduleRow | undefined {
  return schedulesOf(state, definition).find((row) => row.name === name);
}

function untilMs(memory: Memory, atMs: number | null): number | null {
  return atMs === null ? null : Math.max(Math.ceil(atMs - memory.nowMs), 0);
}

/** set_schedule_paused: instants that pass while it is paused aren't fired later. */
export const setSchedulePaused: Implementation<"setSchedulePaused"> = (memory, input) => {
  const definition = definitionNamed(memory.state, input.name);
  const row = findSchedule(memory.state, definition, input.schedule);
  if (row === undefined) throw unknownArgument(`schedule: unknown (${input.schedule})`);
  const { expectedPaused = row.isPaused } = input;
  if (expectedPaused !== row.isPaused) return { status: "conflict", nextDueMs: null };
  const status = row.isPaused === input.paused ? "exists" : input.paused ? "paused" : "resumed";
  const place = { stopped: memory.state.stoppedSchedules, id: row.scheduleId };
  const wasStopped = noteStop(memory, place, { ...input, didPause: status === "paused" });
  if (status !== "exists" || wasStopped) {
    row.isPaused = input.paused;
    const isPast = row.nextRunAtMs !== null && row.nextRunAtMs <= memory.nowMs;
    if (!input.paused && isPast) row.nextRunAtMs = input.nextRunAt?.getTime() ?? null;
    const old = status === "exists" ? "stopped" : String(!input.paused);
    audit(memory, definition, {
      setting: "schedule_paused",
      oldValue: `${old} of ${row.name}`,
      newValue: `${String(input.paused)} of ${row.name}`,
      ...byOperator(input),
    });
  }
  return { status, nextDueMs: input.paused ? null : untilMs(memory, row.nextRunAtMs) };
};

/** fire_schedule: a task for each instant, and on to the next one. */
export const fireSchedule: Implementation<"fireSchedule"> = (memory, input) => {
  const runAtMs = input.runAts.map((at) => at.getTime());
  const expectedMs = input.expectedRunAt.getTime();
  if (runAtMs.length > limits.scheduleRunsMax) {
    throw invalidArgument("run_ats: expected a JSON array of 0..100 instants");
  }
  const nextMs = input.nextRunAt?.getTime() ?? null;
  if (nextMs !== null && nextMs <= Math.max(expectedMs, ...runAtMs)) {
    throw invalidArgument(
      `next_run_at: expected an ISO-8601 instant with its zone after the others (${iso(nextMs)})`,
    );
  }
  const row = memory.state.schedules.get(input.scheduleId);
  const status = statusOf(memory, row, expectedMs);
  if (row === undefined) return { status, taskIds: [], nextDueMs: null };
  if (status === "fired" || status === "paused") expectDue(memory, runAtMs, expectedMs);
  const taskIds: FireScheduleAnswer["taskIds"] = [];
  if (status === "fired") {
    const runs = runAtMs.map((atMs) => runOf(memory, row, atMs));
    row.nextRunAtMs = nextMs;
    row.lastRunAtMs = runAtMs.at(-1) ?? row.lastRunAtMs;
    for (const run of runs) taskIds.push(enqueueRun(memory, row, run).taskId);
  }
  const nextDueMs = status === "paused" ? null : untilMs(memory, row.nextRunAtMs);
  return { status, taskIds, nextDueMs };
};

function statusOf(
  memory: Memory,
  row: ScheduleRow | undefined,
  expectedMs: number,
): FireScheduleAnswer["status"] {
  if (row?.nextRunAtMs !== expectedMs) return "stale";
  if (expectedMs > memory.nowMs) return "early";
  return row.isPaused ? "paused" : "fired";
}

function expectDue(memory: Memory, runAtMs: readonly number[], expectedMs: number): void {
  const bad = runAtMs.find(
    (atMs, index) =>
      atMs < expectedMs || atMs > memory.nowMs || atMs <= (runAtMs[index - 1] ?? -Infinity),
  );
  if (bad === undefined) return;
  throw invalidArgument(
    `run_ats: expected instants from expected_run_at to now, ascending (${iso(bad)})`,
  );
}

/** What one instant's task is to be: the schedule's, and what the code says of its kind. */
function runOf(memory: Memory, row: ScheduleRow, atMs: number) {
  const rules = definitionOf(memory.state, row).kinds.get(row.kind);
  const scheduledFor = `"scheduledFor":${JSON.stringify(new Date(atMs))}}`;
  const open = row.payload === null ? "{" : row.payload.slice(0, -1);
  const isEmpty =
    row.payload === null || Object.keys(JSON.parse(row.payload) as object).length === 0;
  const payload = `${open}${isEmpty ? "" : ","}${scheduledFor}`;
  const path = rules?.groupBy ?? null;
  const found = row.group !== null || path === null ? { key: row.group } : keyOf(payload, path);
  if ("problem" in found) throw invalidArgument(found.problem);
  return {
    payload,
    groupKey: found.key,
    priority: rules?.priority ?? 100,
    delayMs: rules?.runInMs ?? 0,
  };
}

function enqueueRun(memory: Memory, row: ScheduleRow, run: ReturnType<typeof runOf>): TaskRow {
  const task = newTask(memory, {
    definitionId: row.definitionId,
    kind: row.kind,
    priority: run.priority,
    dueAtMs: run.delayMs > 0 ? memory.nowMs + run.delayMs : null,
    pendingGroup: run.groupKey === null ? null : { key: run.groupKey, isGlobal: false },
    build: definitionOf(memory.state, row).build,
    payload: run.payload,
  });
  memory.state.tasks.set(task.taskId, task);
  // No group is waited for: promotion lets the task into it.
  if (run.groupKey === null && run.delayMs === 0) addReady(memory.state, task);
  else addScheduled(memory.state, task, memory.nowMs + run.delayMs);
  return task;
}

/** Schedules that aren't paused, by their next instant. */
export function nextInstants(memory: Memory): ScheduledInstant[] {
  return [...memory.state.schedules.values()]
    .flatMap((row) => {
      if (row.isPaused || row.nextRunAtMs === null) return [];
      const { id, definition, name, cron, timeZone, missed } = describeSchedule(memory, row);
      const runAt = iso(row.nextRunAtMs);
      const inMs = Math.ceil(row.nextRunAtMs - memory.nowMs);
      return [{ id, definition, name, cron, timeZone, missed, runAt, inMs }];
    })
    .sort((a, b) => a.inMs - b.inMs || a.id - b.id);
}

/** list_schedules: by definition as registered, then name. */
export const listSchedules: Implementation<"listSchedules"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const only = input.name === undefined ? null : definitionNamed(memory.state, input.name);
  const schedules = [...memory.state.definitions.values()]
    .filter((definition) => only === null || definition === only)
    .flatMap((definition) => schedulesOf(memory.state, definition))
    .slice(0, input.max)
    .map((row) => describeSchedule(memory, row));
  return { now: new Date(memory.nowMs), schedules };
};

function describeSchedule(memory: Memory, row: ScheduleRow): ScheduleStatus {
  return {
    id: row.scheduleId,
    definition: definitionOf(memory.state, row).name,
    name: row.name,
    kind: row.kind,
    cron: row.cron,
    timeZone: row.timeZone,
    missed: row.missed,
    paused: row.isPaused,
    runAt: isoOrNull(row.nextRunAtMs),
    inMs: row.nextRunAtMs === null ? null : Math.ceil(row.nextRunAtMs - memory.nowMs),
    lastRunAt: isoOrNull(row.lastRunAtMs),
    group: row.group,
    payload: row.payload,
  };
}

/** Throws with the first problem that `checkSchedules` leaves to the databases. */
function expectSchedules(schedules: readonly NewSchedule[]): void {
  if (schedules.length > limits.schedulesMax) {
    throw tooLarge(`schedules: expected 0..100 entries (${String(schedules.length)})`);
  }
  const names = schedules.map((schedule) => schedule.name);
  for (const [index, schedule] of schedules.entries()) {
    const problem = problemOf(schedule);
    if (problem !== null) throw invalidArgument(`schedules[${String(index)}].${problem}`);
  }
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) === index) continue;
    throw invalidArgument(`schedules[${String(index)}].name: expected each name once (${name})`);
  }
}

function problemOf({ timeZone, missed, payload }: NewSchedule): string | null {
  if (timeZone.length > limits.timeZoneLengthMax) {
    return `timeZone: expected 1..100 characters (${left(timeZone, 120)})`;
  }
  if (!["skip", "once", "all"].includes(missed)) {
    return `missed: expected skip, once or all (${left(missed, 100)})`;
  }
  if (payload === null) return null;
  if (!payload.startsWith("{") || !payload.endsWith("}")) {
    return `payload: expected the text of a JSON object (${left(payload, 100)})`;
  }
  if (Object.hasOwn(JSON.parse(payload) as object, "scheduledFor")) {
    return `payload: expected an object without scheduledFor, which each instant adds (${left(payload, 100)})`;
  }
  const bytes = Buffer.byteLength(payload);
  if (bytes <= limits.schedulePayloadBytesMax) return null;
  return `payload: expected at most 65472 bytes (${String(bytes)})`;
}
