import { compareTexts } from "../../core/text";
import { durationBucket } from "../../core/duration-buckets";
import type { BucketCount } from "../../core/duration-buckets";
import type { Grain, StatisticPeriod } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { expectRange } from "./arguments";
import { iso } from "./instants";
import { newestEnded } from "./archive-rows";
import { executionsOf, isOpen } from "./execution-rows";
import { compareNumbers, definitionNamed, dueSince, limitOf, readyOf, taskOf } from "./rows";
import { heldMs, noTotals } from "./execution-totals";
import type { DefinitionRow, ExecutionRow, ExecutionTotals, Memory, StatisticRow } from "./state";

const minuteMs = 60_000;
const settledMs = 10_000;
const readyMax = 1_000;
const sampleMax = 50;
const kept: readonly (readonly [Grain, number])[] = [
  [1, 180],
  [10, 4_320],
  [60, 129_600],
];
const grains = kept.map(([grain]) => grain);
const countNames = Object.keys(noTotals) as (keyof ExecutionTotals)[];

/** roll_up_statistics: adds the counts of executions to their definitions' statistics. */
export const rollUpStatistics: Implementation<"rollUpStatistics"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const { state, nowMs } = memory;
  const { statisticRound: round, executionsCounted: counted } = state;
  const executions = executionsOf(state);
  const isNew = (row: ExecutionRow): boolean =>
    compareNumbers(row.executionId, round.lastExecutionId) > 0;
  const fresh = executions.filter(isNew).slice(0, input.max);
  const looked = [
    ...executions.filter((row) => !isNew(row) && counted.has(row.executionId)),
    ...fresh,
  ];
  const unsettled = fresh.findIndex((row) => row.startedAtMs >= nowMs - settledMs);
  const settled = unsettled === -1 ? fresh : fresh.slice(0, unsettled);
  const lastExecutionId = settled.at(-1)?.executionId ?? round.lastExecutionId;

  const done = new Map<number, { done: number; atMs: number }>();
  for (const row of looked) {
    const totals = { ...row.totals, heldMs: heldMs(memory, row) };
    const atMs = startOf(1, isOpen(row) ? nowMs : (row.endedAtMs ?? nowMs));
    const before = counted.get(row.executionId) ?? noTotals;
    const periods = () => periodsAt(memory, row.definitionId, atMs);
    if (addTotals(periods, difference(totals, before)))
      noteDone(done, row.definitionId, { done: totals.done - before.done, atMs });
    const isKept = isOpen(row) || compareNumbers(row.executionId, lastExecutionId) > 0;
    if (isKept) counted.set(row.executionId, totals);
    else counted.delete(row.executionId);
  }
  for (const executionId of counted.keys())
    if (!state.executions.has(executionId)) counted.delete(executionId);
  for (const definition of state.definitions.values()) addReadyOf(memory, definition);
  for (const [definitionId, entry] of done) addTimes(memory, definitionId, entry);
  const { deleted, isFull } = deleteOld(memory, input.max);
  state.statisticRound = { lastExecutionId, endedAtMs: nowMs };
  const isCut = fresh.length === input.max && settled.length === fresh.length;
  return { status: "rolled", executions: looked.length, deleted, more: isFull || isCut };
};

function startOf(grain: number, atMs: number): number {
  return Math.floor(atMs / (grain * minuteMs)) * grain * minuteMs;
}

function difference(totals: ExecutionTotals, before: ExecutionTotals): ExecutionTotals {
  const added = { ...totals };
  for (const name of countNames) added[name] -= before[name];
  return added;
}

/** Answers whether there was anything to add. */
function addTotals(rows: () => readonly StatisticRow[], added: ExecutionTotals): boolean {
  if (Object.values(added).every((value) => value === 0)) return false;
  for (const row of rows()) for (const name of countNames) row[name] += added[name];
  return true;
}

function noteDone(
  all: Map<number, { done: number; atMs: number }>,
  definitionId: number,
  { done, atMs }: { done: number; atMs: number },
): void {
  if (done === 0) return;
  const known = all.get(definitionId) ?? { done: 0, atMs };
  all.set(definitionId, { done: known.done + done, atMs: Math.max(known.atMs, atMs) });
}

/** The minute, the ten minutes and the hour of an instant; made where they are missing. */
function periodsAt(memory: Memory, definitionId: number, atMs: number): StatisticRow[] {
  const { state } = memory;
  const definition = state.definitions.get(definitionId);
  const limit = definition === undefined ? null : limitOf(definition);
  return grains.map((grain) => {
    const startMs = startOf(grain, atMs);
    let row = state.statistics.find(
      (one) => one.definitionId === definitionId && one.grain === grain && one.atMs === startMs,
    );
    if (row === undefined) {
      row = {
        definitionId,
        grain,
        atMs: startMs,
        ...noTotals,
        limit: -1,
        ready: 0,
        nextAgeMs: 0,
        times: { ran: new Map(), waited: new Map() },
      };
      state.statistics.push(row);
    }
    row.limit = limit ?? -1;
    return row;
  });
}

function addReadyOf(memory: Memory, definition: DefinitionRow): void {
  const ready = readyOf(memory.state, definition);
  const [next] = ready;
  if (next === undefined) return;
  const ageMs = Math.max(
    memory.nowMs - dueSince(memory.state, taskOf(memory.state, next.taskId)),
    0,
  );
  for (const row of periodsAt(memory, definition.definitionId, memory.nowMs)) {
    row.ready = Math.max(row.ready, Math.min(ready.length, readyMax));
    row.nextAgeMs = Math.max(row.nextAgeMs, ageMs);
  }
}

/** The newest that ended well since the last time, weighted so that all are counted. */
function addTimes(
  memory: Memory,
  definitionId: number,
  { done, atMs }: { done: number; atMs: number },
): void {
  const sample = newestEnded(memory.state, definitionId, "done")
    .filter((row) => row.endedAtMs > memory.state.statisticRound.endedAtMs)
    .slice(0, sampleMax);
  const ran = sample.flatMap(({ durationMs }) => durationMs ?? []);
  const waited = sample.map((row) =>
    Math.max(row.endedAtMs - row.task.createdAtMs - (row.durationMs ?? 0), 0),
  );
  for (const row of periodsAt(memory, definitionId, atMs)) {
    addBuckets(row.times.ran, ran, { done, lookedAt: sample.length });
    addBuckets(row.times.waited, waited, { done, lookedAt: sample.length });
  }
}

function addBuckets(
  to: Map<number, number>,
  durations: readonly number[],
  { done, lookedAt }: { done: number; lookedAt: number },
): void {
  const found = new Map<number, number>();
  for (const ms of durations)
    found.set(durationBucket(ms), (found.get(durationBucket(ms)) ?? 0) + 1);
  for (const [bucket, count] of found) {
    const tasks = Math.max(Math.round((count * done) / lookedAt), 1);
    to.set(bucket, (to.get(bucket) ?? 0) + tasks);
  }
}

function deleteOld(memory: Memory, max: number): { deleted: number; isFull: boolean } {
  const { state, nowMs } = memory;
  const old = kept.map(([grain, minutes]) =>
    state.statistics
      .filter((row) => row.grain === grain && row.atMs < nowMs - minutes * minuteMs)
      .sort((a, b) => a.atMs - b.atMs)
      .slice(0, max),
  );
  const gone = new Set(old.flat());
  state.statistics = state.statistics.filter((row) => !gone.has(row));
  return { deleted: gone.size, isFull: old.some((rows) => rows.length === max) };
}

/** read_statistics: the counts, by period. */
export const readStatistics: Implementation<"readStatistics"> = (memory, input) => {
  const { name, grain, max } = input;
  expectRange("max", max, [1, name === null ? 12 : 720]);
  const { state, nowMs } = memory;
  const only = name === null ? null : definitionNamed(state, name).definitionId;
  const fromMs = startOf(grain, nowMs) - (max - 1) * grain * minuteMs;
  const rows = state.statistics.filter(
    (row) =>
      row.grain === grain && row.atMs >= fromMs && (only === null || row.definitionId === only),
  );
  return {
    now: new Date(nowMs),
    countedAt: new Date(state.statisticRound.endedAtMs),
    periods: rows
      .map((row) => toPeriod(memory, row))
      .sort((a, b) => compareTexts(a.definition, b.definition) || compareTexts(a.at, b.at)),
  };
};

function toPeriod({ state }: Memory, row: StatisticRow): StatisticPeriod {
  const { definitionId, grain: _, atMs, times, ...counts } = row;
  return {
    definition: state.definitions.get(definitionId)?.name ?? "",
    at: iso(atMs),
    ...counts,
    ran: sorted(times.ran),
    waited: sorted(times.waited),
  };
}

function sorted(buckets: ReadonlyMap<number, number>): BucketCount[] {
  return [...buckets].sort(([a], [b]) => a - b);
}
