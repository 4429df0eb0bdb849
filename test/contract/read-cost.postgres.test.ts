import { expect, test } from "@jest/globals";
import type { Client } from "pg";
import { asTaskId } from "../../shared/core/ids";
import { listableStates } from "../../shared/core/listable-states";
import type {
  ListableState,
  ListTasksAnswer,
  ListTasksInput,
  TaskStore,
} from "../../shared/ports/task-store";
import { define } from "../support/builders";
import { definitionId } from "../support/contention";
import { useContention } from "../support/use-contention";
import { storeOver } from "../support/store-over-connection";

/*
 * What people look at must not read more than a bounded number of rows, however much there is: the server counts the rows
 * that each read fetches from tables, by any plan.
 */
const scene = useContention(() => true); // rows are written past the operations
const many = 30_000;
/** What a read may fetch or look through in indexes, beside a few rows of definitions. */
const rowsMax = 5_000;
const few = 10;

/** Reads that look through more entries of indexes. */
const entriesMax: Readonly<Record<string, number>> = {
  // Ten per group of a thousand with its waiting tasks; a page has a hundred.
  "list_groups, 1000 a page": 11_000,
  // Counts stop at 10,000 each: ready, waiting, dead, done.
  list_definitions: 40_000,
  // An entry of the queue and the task by its key.
  "search ready": 10_000,
  "search waiting": 10_000,
};

const fillings = (id: number): string[] => [
  `insert into taskgate.task (task_id, task_definition_id, kind, priority, created_at, payload)
   select n, ${String(id)}, 'one', 100, now(), '{"n":' || n || '}' from generate_series(1, ${String(2 * many)}) n`,
  `insert into taskgate.ready (task_definition_id, priority, rank, task_id) select ${String(id)}, 100, 0, n from generate_series(1, ${String(many)}) n`,
  `insert into taskgate.task_group (task_definition_id, group_key, slots) select ${String(id)}, 'g' || n, 1 from generate_series(1, 5000) n`,
  `insert into taskgate.group_waiting (group_id, priority, rank, task_id, task_definition_id)
   select 1 + n % 5000, 100, 0, ${String(many)} + n, ${String(id)} from generate_series(1, ${String(many)}) n`,
  `insert into taskgate.archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, build, outcome, failed_count, lost_count, error, duration_ms, fence)
   select 1000000 + n, ${String(id)}, 'one', 100, 0, now(), now() - n * interval '1 ms', now() + interval '7 days', 1, case when n % 2 = 0 then 10 else 11 end, 1, 0,
          'order ' || n % 100 || ' is refused', 5, n from generate_series(1, ${String(2 * many)}) n`,
  `insert into taskgate.task_execution (operation_id, task_definition_id, state, started_at, ended_at, lease_until, worker)
   select gen_random_uuid(), ${String(id)}, 2, now(), now(), now(), 'w' from generate_series(1, ${String(many)}) n`,
  `insert into taskgate.call_audit (is_enqueue, action, task_definition_id, task_ids, task_count, changed_by, changed_at)
   select false, 'cancel_tasks', ${String(id)}, null, 1, 'ada', now() from generate_series(1, ${String(many)}) n`,
  `insert into taskgate.statistic (task_definition_id, grain, at, claimed, done, failed, dead, lost, ran_ms, held_ms, task_limit, ready, next_age_ms)
   select ${String(id)}, 60, date_bin('1 hour', now(), '2000-01-01Z') - n * interval '1 hour', 1, 1, 0, 0, 0, 5, 5, 4, 1, 1 from generate_series(0, ${String(many)}) n`,
];

async function rowsFetched(session: Client, look: () => Promise<unknown>): Promise<number> {
  const before = await fetchedBy(session);
  await look();
  return (await fetchedBy(session)) - before;
}

async function entriesRead(session: Client, look: () => Promise<unknown>): Promise<number> {
  const before = await readBy(session);
  await look();
  return (await readBy(session)) - before;
}

/** Entries of indexes, by this session's transaction so far: a plan may read more of them than rows. */
async function readBy(session: Client): Promise<number> {
  const { rows } = await session.query<{ count: string }>(
    "select sum(pg_stat_get_xact_tuples_returned(indexrelid)) as count from pg_stat_user_indexes where schemaname = 'taskgate'",
  );
  return Number(rows[0]?.count);
}

/** By this session's transaction so far. */
async function fetchedBy(session: Client): Promise<number> {
  const { rows } = await session.query<{ count: string }>(
    "select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as count from pg_stat_xact_user_tables where schemaname = 'taskgate'",
  );
  return Number(rows[0]?.count);
}

/** The place behind so many pages of a list. */
async function placeBehind(
  store: TaskStore,
  input: ListTasksInput,
  pages: number,
): Promise<string> {
  let after: string | undefined;
  for (let page = 0; page < pages; page += 1) {
    const { next } = await store.listTasks({ ...input, ...(after === undefined ? {} : { after }) });
    if (next === null) throw new Error(`The list has only ${String(page + 1)} pages`);
    after = next;
  }
  return after ?? "";
}

const max = 1_000;

type Places = Partial<Record<ListableState, string>>;

function looksAt(
  store: TaskStore,
  name: string,
  places: Places = {},
): Record<string, () => Promise<unknown>> {
  return {
    ...Object.fromEntries(
      listableStates.map((state) => [
        `list_tasks ${state}`,
        () => store.listTasks({ name, state, max }),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(places).map(([state, after]) => [
        `list_tasks ${state}, page 21`,
        () => store.listTasks({ name, state: state as ListableState, max, after }),
      ]),
    ),
    ...Object.fromEntries(
      (["ready", "waiting", "dead"] as const).map((state) => [
        `search ${state}`,
        () => store.listTasks({ name, state, max, path: "n", value: "-1" }),
      ]),
    ),
    list_groups: () => store.listGroups({ name, max: 100 }),
    "list_groups, 1000 a page": () => store.listGroups({ name, max }),
    list_executions: () => store.listExecutions({ isOpen: false, max }),
    list_failures: () => store.listFailures({ name, max: 5_000 }),
    list_audit: () => store.listAudit({ max: 100 }),
    list_batches: () => store.listBatches({ max: 100 }),
    list_schedules: () => store.listSchedules({ max }),
    list_stopped: () => store.listStopped({ max }),
    list_definitions: () => store.listDefinitions({ name }),
    explain_task: () => store.explainTask({ taskId: asTaskId("17") }),
    read_pace: () => store.readPace({ name, max }),
    read_statistics: () => store.readStatistics({ name, grain: 60, max: 168 }),
    sweep: () => store.sweep({ max }),
  };
}

test("no read fetches more than 5,000 rows beside any number of tasks", async () => {
  const owner = scene.openStore(1);
  const name = await define(owner, { limit: 4 });
  const id = await definitionId(scene.client, name);
  for (const statement of fillings(id)) await scene.client.query(statement);
  await scene.client.query("vacuum analyze"); // as autovacuum does: what an index knows isn't fetched
  const session = await scene.connect("operator");
  const store = storeOver(session, scene.url);
  const places: Places = {};
  for (const state of ["ready", "waiting", "dead"] as const)
    places[state] = await placeBehind(store, { name, state, max }, 20);
  const looks = looksAt(store, name, places);
  const fetched: Record<string, number> = {};
  await session.query("begin");
  for (const [read, look] of Object.entries(looks)) {
    await look();
    fetched[read] = await rowsFetched(session, look);
  }
  expect(Object.entries(fetched).filter(([, count]) => count > rowsMax + few)).toEqual([]);
  await session.query("rollback");
  await store.close();
});

test("plans that were made beside empty tables read no more index entries beside full ones", async () => {
  const owner = scene.openStore(1);
  const name = await define(owner, { limit: 4 });
  const id = await definitionId(scene.client, name);
  const session = await scene.connect("operator");
  const store = storeOver(session, scene.url);
  const looks = looksAt(store, name);
  for (const look of Object.values(looks)) await look();
  for (const statement of fillings(id)) await scene.client.query(statement);
  const read: Record<string, number> = {};
  await session.query("begin");
  for (const [name, look] of Object.entries(looks)) read[name] = await entriesRead(session, look);
  await session.query("rollback");
  const tooMany = Object.entries(read).filter(
    ([look, count]) => count > (entriesMax[look] ?? rowsMax) + few,
  );
  expect(tooMany).toEqual([]);
  await store.close();
});

test("a search looks at 5,000 tasks of a state and says where it stopped; from there the next ones are looked at, to the end", async () => {
  const store = scene.openStore(1);
  const name = await define(store, { limit: 4 });
  const id = await definitionId(scene.client, name);
  const first = 5_000_000;
  const count = 12_000;
  await scene.client.query(
    `insert into taskgate.task (task_id, task_definition_id, kind, priority, created_at, payload)
     select ${String(first)} + n, ${String(id)}, 'one', 100, now(), '{"n":' || n || '}' from generate_series(1, ${String(count)}) n`,
  );
  await scene.client.query(
    `insert into taskgate.ready (task_definition_id, priority, rank, task_id)
     select ${String(id)}, 100, 0, ${String(first)} + n from generate_series(1, ${String(count)}) n`,
  );
  const input = { name, state: "ready", max: 10, path: "n", value: "11000" } as const;
  const looked: number[] = [];
  const found: string[] = [];
  for (let after: string | null = ""; after !== null;) {
    const page: ListTasksAnswer = await store.listTasks({
      ...input,
      ...(after === "" ? {} : { after }),
    });
    looked.push(page.lookedAt);
    found.push(...page.tasks.map(({ task }) => task));
    after = page.next;
  }
  expect(looked).toEqual([5_000, 5_000, 2_000]);
  expect(found).toEqual([String(first + 11_000)]);
});
