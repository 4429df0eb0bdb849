import { expect, test } from "@jest/globals";
import type { Client } from "pg";
import type { TaskId, WaveId } from "../../shared/core/ids";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import { at, define, done, enqueue, failure, operationId, startWorker } from "../support/builders";
import { definitionId } from "../support/contention";
import { useContention } from "../support/use-contention";
import { explainStatementsOf, onPlan } from "../support/plan-log";
import { appLogin } from "../support/roles";
import { storeOver } from "../support/store-over-connection";

/**
 * A plan is made at a connection's first call and kept, often when the queue is empty. What it costs then must not grow with
 * later rows: no scan may stand in for a key. Two rounds of all operations on one connection, the
 * first on tables that the server knows as empty, the second beside many rows that are none of its business; the server says
 * how many rows each part of each plan has looked at.
 */
const scene = useContention(() => true); // the rows beside are of tasks that there never were
const besideEach = 30_000;
/** What a call may look through by its own words: the ready tasks that a sweep counts, the oldest executions of a purge. */
const mostOnPurpose = 1_000;

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Rows that the busiest part of a plan has looked at. */
function mostRows(node: PlanNode): number {
  const own =
    node["Actual Rows"] +
    (node["Rows Removed by Filter"] ?? 0) +
    (node["Rows Removed by Join Filter"] ?? 0);
  return Math.max(own * node["Actual Loops"], ...(node.Plans ?? []).map(mostRows));
}

/** From here on: the statements that look at more rows than they may, with their number. */
async function watchPlans(session: Client): Promise<Set<string>> {
  const busy = new Set<string>();
  await onPlan<PlanNode>(session, ({ "Query Text": text, Plan: plan }) => {
    const rows = mostRows(plan);
    if (rows > mostOnPurpose) busy.add(`${String(rows)} rows: ${text}`);
  });
  return busy;
}

/** One round: a few tasks in each place, and each move of each of them. */
async function round(store: TaskStore, name: string, label: string): Promise<void> {
  const grouped = (count: number, key: string): Partial<NewTask>[] =>
    Array.from({ length: count }, (_, n) => ({
      group: `${label}-${key}`,
      dedupeKey: `${label}-${key}-${String(n)}`,
    }));
  const add = (tasks: number | readonly Partial<NewTask>[]): Promise<TaskId[]> =>
    enqueue(store, name, tasks);
  const wave = (waveId: WaveId, count: number): Promise<unknown> =>
    store.enqueueTasks({
      name,
      build: 1,
      operationId: null,
      waveId,
      tasks: grouped(count, `w${waveId}`).map((task) => ({ payload: null, ...task })),
    });

  // Cancelled and put off, wherever they are.
  const ready = await add(4);
  const waiting = await add(grouped(5, "g"));
  const later = await add([{ runInMs: 3_600_000 }, { runInMs: 3_600_000, group: `${label}-l` }]);
  await store.rescheduleTasks({
    taskIds: [at(ready, 3), at(waiting, 4), at(later, 1)],
    to: { runInMs: 7_200_000 },
  });
  await store.cancelTasks({ taskIds: [at(ready, 0), at(waiting, 3), at(later, 0)] });

  // Waves: one ends and opens the next, another batch is cancelled.
  const batch = await store.createBatch({
    operationId: operationId(),
    name: label,
    failurePolicy: "continue",
    waves: 2,
  });
  for (const waveId of batch.waveIds) await wave(waveId, 2);
  await store.startBatch({ batchId: batch.batchId, seal: true });
  const other = await store.createBatch({
    operationId: operationId(),
    name: label,
    failurePolicy: "halt",
    waves: 1,
  });
  for (const waveId of other.waveIds) await wave(waveId, 2);
  await store.startBatch({ batchId: other.batchId, seal: false });
  await store.cancelBatch({ batchId: other.batchId });

  // Due ones, in and outside of groups; then all ends.
  await add([{ runInMs: 1 }, { runInMs: 1, group: `${label}-p` }]);
  await scene.advance(1_000);
  await store.promoteScheduled({ name, max: 10 });
  await add([{ runInMs: 1 }, { runInMs: 1, group: `${label}-q` }]);
  await scene.advance(1_000);
  const worker = await startWorker(store, name, { want: 50 });
  const claimed = await worker.claim(20);
  expect(claimed.length).toBeGreaterThan(5);
  await worker.beat();
  const [retried, dead, single, ...rest] = claimed;
  if (retried === undefined || dead === undefined || single === undefined) throw new Error("few");
  await store.failTasks({
    executionId: worker.executionId,
    failures: [failure(retried), failure(dead, { as: "dead" })],
  });
  await store.completeTask({ ...done(single), executionId: worker.executionId });
  await worker.complete(rest, 20);
  for (const { batchId } of [batch, other]) await store.pumpBatch({ batchId, max: 10 });
  await worker.finish();

  // Lost, dead, tried anew, purged.
  const lost = await startWorker(store, name, { want: 50 });
  expect((await lost.claim(5)).length).toBeGreaterThan(0);
  await scene.advance(60_001);
  await store.sweep({ max: 10 });
  await store.reclaimExpired({ max: 10 });
  const late = await startWorker(store, name, { want: 1 });
  await store.acquireTokens({ executionId: late.executionId, want: 5 });
  await store.releaseSurplus({ executionId: late.executionId, keep: 2 });
  await store.releaseTokens({ executionId: late.executionId, keep: 1 });
  await late.finish();
  await store.redriveTasks({ taskIds: [dead.taskId] });
  await store.purge({ max: 100 });

  await store.explainTask({ taskId: dead.taskId });
  await lookAround(store, name, label);
}

/** Tasks of a definition that keeps none: one alone, some together, one of them failed before. */
async function endWithoutTrace(store: TaskStore, name: string): Promise<void> {
  await enqueue(store, name, 6);
  const worker = await startWorker(store, name, { want: 50 });
  await worker.fail(await worker.claim(1), { retryInMs: 0 });
  const [first, ...rest] = await worker.claim(6);
  if (first === undefined || rest.length < 5) throw new Error("few");
  await worker.complete([first]);
  await worker.complete(rest);
  await worker.finish();
}

/** Settings, schedules, watermarks, and what people look at. */
async function lookAround(store: TaskStore, name: string, label: string): Promise<void> {
  const who = { name, changedBy: "test" };
  const groupKey = `${label}-g`;
  await store.setGroup({ ...who, groupKey, groupScope: "definition", slots: 2 });
  await store.setLimit({ ...who, limit: 90, operationId: operationId() });
  await store.setSharedLimit({ ...who, name: label, limit: 9, operationId: operationId() });
  await store.setRate({ ...who, rate: { count: 1_000, periodMs: 1_000, burst: 1_000 } });
  await store.setRate({ ...who, rate: "code" });
  const nextRunAt = new Date(Date.now() + 60_000);
  await store.setSchedules({
    ...who,
    build: 1,
    schedules: [
      {
        name: label,
        kind: "k",
        cron: "* * * * *",
        timeZone: "UTC",
        missed: "once",
        payload: null,
        group: null,
        nextRunAt,
      },
    ],
  });
  const { schedules } = await store.listSchedules({ name, max: 5 });
  expect(schedules).toHaveLength(1);
  const task = { payload: null, dedupeKey: `${label}-key`, dedupeMs: 1_000 };
  const advance = { name, watermark: label, expectedVersion: "0", value: "{}", build: 1 };
  await store.advanceWatermark({ ...advance, tasks: [task], operationId: operationId() });
  await store.setWatermark({
    ...who,
    watermark: label,
    value: null,
    operationId: operationId(),
  });
  await store.listWatermarks({ name, watermark: label, max: 5 });
  for (const state of ["ready", "scheduled", "waiting", "claimed", "done", "dead"] as const)
    await store.listTasks({ name, state, max: 5 });
  await store.listGroups({ name, groupKey, max: 5 });
  await store.listGroups({ name, max: 5 });
  await store.listExecutions({ name, isOpen: true, max: 5 });
  await store.listExecutions({ isOpen: false, max: 5 });
  await store.listBatches({ max: 5 });
  await store.listSharedLimits({ max: 5 });
  await store.redriveTasks({ name, outcome: "dead", max: 5 });
  await scene.advance(60_001);
  await store.purge({ max: 100 });
}

/** Rows beside, in every place; those of this definition come after all that the second round makes. */
function besides(): string[] {
  const from = `from generate_series(1, ${String(besideEach)}) n`;
  return [
    `insert into taskgate.task (task_id, task_definition_id, kind, priority, created_at)
     select 1000000 + n, $1, 'k', 32767, now() ${from}`,
    `insert into taskgate.ready (task_definition_id, priority, rank, task_id) select $1, 32767, 0, 1000000 + n ${from}`,
    `insert into taskgate.scheduled (task_definition_id, run_at, task_id) select $1, now() + interval '9 days', 2000000 + n ${from}`,
    `insert into taskgate.task_group (task_definition_id, group_key, slots) select $1, 'beside ' || n, 1 ${from}`,
    `insert into taskgate.group_kept (group_id) select group_id from taskgate.task_group where group_key like 'beside %'`,
    `insert into taskgate.group_slot (group_id, slot, task_id) select 3000000 + n, 1, 3000000 + n ${from}`,
    `insert into taskgate.group_waiting (group_id, priority, rank, task_id, task_definition_id) select 3000000 + n, 100, 0, 4000000 + n, $1 ${from}`,
    `insert into taskgate.wave_blocked (wave_id, priority, rank, task_id, task_definition_id) select 3000000, 100, 0, 5000000 + n, $1 ${from}`,
    `insert into taskgate.wave_shard (wave_id, shard, remaining) select 3000000 + n, 1, 1 ${from}`,
    `insert into taskgate.wave (batch_id, ordinal, state, open_shards) select 3000000 + n, 1, 0, 0 ${from}`,
    `insert into taskgate.dedupe (task_definition_id, dedupe_key, task_id) select $1, 'beside ' || n, 6000000 + n ${from}`,
    `insert into taskgate.attempt (task_id, fence, task_execution_id, claimed_at, finished_at, outcome)
     select 7000000 + n, 0, 1, now(), now(), 13 ${from}`,
    `insert into taskgate.archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, build, outcome, failed_count, lost_count)
     select 7000000 + n, $1, 'k', 100, 0, now(), now() - n * interval '1 s', now() + interval '9 days', 1, 10 + n % 3, 0, 0 ${from}`,
    `insert into taskgate.archive_pack (first_task_id, last_task_id, task_definition_id, kind, priority, build, task_execution_id, finished_at, purge_after, task_ids, created_ats, fences)
     select 8000000 + 2 * n, 8000001 + 2 * n, $1, 'k', 100, 1, 1, now() - n * interval '1 s', now() + interval '9 days', array[8000000 + 2 * n, 8000001 + 2 * n], array[now(), now()], array[1, 1] ${from}`,
    `insert into taskgate.operation (operation_id, name, done_at) select gen_random_uuid(), 'beside', now() ${from}`,
    `insert into taskgate.task_execution (operation_id, task_definition_id, state, started_at, ended_at, lease_until, worker)
     select gen_random_uuid(), $1, 4, now(), now(), now(), 'beside' ${from}`,
  ];
}

async function tables(): Promise<string[]> {
  const { rows } = await scene.client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'taskgate'",
  );
  return rows.map(({ name }) => `taskgate.${name}`);
}

test("no plan that was made for empty tables reads through rows that come later", async () => {
  for (const table of await tables())
    await scene.client.query(`alter table ${table} set (autovacuum_enabled = off)`);
  await scene.client.query("vacuum analyze");
  await explainStatementsOf(scene.client, appLogin, {
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
  });
  const session = await scene.connect("app");
  const store = storeOver(session, scene.url);
  const name = await define(store, { limit: 100, lostMax: 1, retainDoneMs: 1_000 });
  const untraced = await define(store, { limit: 100, retainDoneMs: 0 });
  await round(store, name, "a");
  await endWithoutTrace(store, untraced);
  const id = await definitionId(scene.client, name);
  for (const text of besides()) await scene.client.query(text, text.includes("$1") ? [id] : []);
  const busy = await watchPlans(session);
  await round(store, name, "b");
  await endWithoutTrace(store, untraced);
  expect([...busy]).toEqual([]);
  await store.close();
});
