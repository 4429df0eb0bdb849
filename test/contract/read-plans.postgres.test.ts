import { expect, test } from "@jest/globals";
import type { Client } from "pg";
import { asTaskId } from "../../shared/core/ids";
import type { ExecutionId, Fence } from "../../shared/core/ids";
import { listableStates } from "../../shared/core/listable-states";
import type { TaskStore } from "../../shared/ports/task-store";
import { operations } from "../../shared/store/operations";
import type { OperationName } from "../../shared/store/operations";
import { at, define, operationId } from "../support/builders";
import { callExample } from "../support/example-input";
import type { ExampleRows } from "../support/example-input";
import { definitionId } from "../support/contention";
import { useContention } from "../support/use-contention";
import { explainStatementsOf, onPlan } from "../support/plan-log";
import { loginNames } from "../support/roles";
import { storeOver } from "../support/store-over-connection";

/*
 * Reads of people, over a filled store: no statement scans a table of tasks, waiting or finished, and each statement finds the
 * rows of each such table by one index. The server tells the plan of every statement that a read runs.
 */
const scene = useContention(() => true); // rows are written past the operations
const many = 20_000;
/** Behind those that the operations have made. */
const first = 1_000;

/** Tables that grow with the tasks. */
const taskTables: readonly string[] = [
  ...["task", "ready", "scheduled", "group_waiting", "wave_blocked", "claim"],
  ...["archive", "archive_pack", "attempt", "group_slot", "dedupe"],
];

/** Reads of people: the check reads all, and a sweep reads as it changes. */
const lookers = (Object.keys(operations) as OperationName[]).filter((operation) =>
  /^(?:list|read|explain)/.test(operation),
);

const firstEntry = ["all of pk_group_waiting", "pk_group_waiting"];
/**
 * By read and table: other accesses. The groups with waiting tasks are found from the first entry of the index (limit 1) to the
 * first one of the next group, 1,000 at most.
 */
const known: Readonly<Record<string, readonly string[]>> = {
  "listGroups of all: group_waiting": firstEntry,
};

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** By index: its first column. */
type FirstColumns = ReadonlyMap<string, string>;

/** How a statement finds rows of the tables: table and index, or `scan`, or `all of` an index. */
function accessesOf(
  node: PlanNode,
  firstColumns: FirstColumns,
  relation = node["Relation Name"],
): [string, string][] {
  const below = (node.Plans ?? []).flatMap((plan) =>
    accessesOf(
      plan,
      firstColumns,
      plan["Relation Name"] ?? (isBitmap(plan) ? relation : undefined),
    ),
  );
  if (relation === undefined || !taskTables.includes(relation)) return below;
  if (node["Node Type"] === "Seq Scan") return [[relation, "scan"], ...below];
  const index = node["Index Name"];
  if (index === undefined) return below;
  // Where it may not scan a table, the planner goes through a whole index, also by a column that isn't the first: no better.
  const column = firstColumns.get(index) ?? "?";
  const isSearch = new RegExp(`\\b${column}\\b`).test(node["Index Cond"] ?? "");
  return [[relation, isSearch ? index : `all of ${index}`], ...below];
}

async function readFirstColumns(): Promise<FirstColumns> {
  const { rows } = await scene.client.query<{ index: string; column: string }>(
    `select c.relname as index, a.attname as column
       from pg_index i join pg_class c on c.oid = i.indexrelid join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
      where c.relnamespace = 'taskgate'::regnamespace`,
  );
  return new Map(rows.map(({ index, column }) => [index, column]));
}

/** Its relation stands in the node above. */
function isBitmap(node: PlanNode): boolean {
  return node["Node Type"].startsWith("Bitmap");
}

interface Statement {
  readonly read: string;
  readonly text: string;
  readonly plan: PlanNode;
}

/** The statements of a session from here on; `of` names the read that runs. */
async function watchStatements(session: Client): Promise<{ of: string; statements: Statement[] }> {
  const seen: { of: string; statements: Statement[] } = { of: "", statements: [] };
  await onPlan<PlanNode>(session, ({ "Query Text": text, Plan: plan }) => {
    if (seen.of !== "") seen.statements.push({ read: seen.of, text, plan });
  });
  return seen;
}

const fillings = (id: number): string[] => [
  `insert into taskgate.task (task_id, task_definition_id, kind, priority, created_at, payload)
   select n, ${String(id)}, 'one', 100, now(), '{}' from generate_series(${String(first)}, ${String(2 * many)}) n`,
  `insert into taskgate.ready (task_definition_id, priority, rank, task_id) select ${String(id)}, 100, 0, n from generate_series(${String(first)}, ${String(many)}) n`,
  `insert into taskgate.scheduled (task_definition_id, run_at, task_id) select ${String(id)}, now() + n * interval '1 s', ${String(many)} + n from generate_series(1, 5000) n`,
  `insert into taskgate.task_group (task_definition_id, group_key, slots) select ${String(id)}, 'g' || n, 1 from generate_series(1, 500) n`,
  `insert into taskgate.group_waiting (group_id, priority, rank, task_id, task_definition_id)
   select 1 + n % 500, 100, 0, ${String(many)} + 5000 + n, ${String(id)} + n / 25 from generate_series(1, 5000) n`,
  `insert into taskgate.archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, build, outcome, failed_count, lost_count, error, duration_ms, fence)
   select 1000000 + n, ${String(id)}, 'one', 100, 0, now(), now() - n * interval '1 ms', now() + interval '7 days', 1, 10 + n % 3, 1, 0,
          'order ' || n % 100 || ' is refused', 5, n from generate_series(1, ${String(2 * many)}) n`,
  `insert into taskgate.archive_pack (first_task_id, last_task_id, task_definition_id, kind, priority, build, task_execution_id, finished_at, purge_after,
                                      task_ids, created_ats, fences)
   select 2000000 + p * 10, 2000009 + p * 10, ${String(id)}, 'one', 0, 1, 1, now(), now() + interval '7 days',
          array(select 2000000 + p * 10 + n from generate_series(0, 9) n), array_fill(now(), array[10]), array_fill(p, array[10])
     from generate_series(0, 2000) p`,
  `insert into taskgate.attempt (task_id, fence, task_execution_id, claimed_at, finished_at, outcome, error)
   select 1000000 + n, n, 1, now(), now(), 11, 'refused' from generate_series(1, ${String(many)}) n`,
  `insert into taskgate.task_execution (operation_id, task_definition_id, state, started_at, ended_at, lease_until, worker)
   select gen_random_uuid(), ${String(id)}, 2, now(), now(), now(), 'w' from generate_series(1, ${String(many)}) n`,
];

/** By operation: its calls, under the name of each. An operation without one here is called by its example. */
function readsOf(store: TaskStore, rows: ExampleRows): Record<string, () => Promise<unknown>> {
  const { name } = rows;
  const max = 100;
  const tasks = { [first + 17]: "ready", [many + 17]: "scheduled", [many + 5_017]: "waiting" };
  const own = {
    ...Object.fromEntries(
      listableStates.map((state) => [
        `listTasks ${state}`,
        () => store.listTasks({ name, state, max }),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries({ ...tasks, 1_000_017: "finished", 2_000_017: "packed" }).map(
        ([taskId, what]) => [
          `explainTask ${what}`,
          () => store.explainTask({ taskId: asTaskId(taskId) }),
        ],
      ),
    ),
    listDefinitions: () => store.listDefinitions({}),
    listGroups: () => store.listGroups({ name, max }),
    "listGroups of all": () => store.listGroups({ max }),
    listExecutions: () => store.listExecutions({ isOpen: false, max }),
    "listExecutions open": () => store.listExecutions({ name, isOpen: true, max }),
    listFailures: () => store.listFailures({ name, max }),
    "listFailures of all": () => store.listFailures({ max }),
    listAudit: () => store.listAudit({ object: name, max }),
    listBatches: () => store.listBatches({ max }),
    listSchedules: () => store.listSchedules({ max }),
    listSharedLimits: () => store.listSharedLimits({ max }),
    listStopped: () => store.listStopped({ max }),
    listWatermarks: () => store.listWatermarks({ max }),
    listApps: () => store.listApps(),
    readPace: () => store.readPace({ name, max }),
    readStatistics: () => store.readStatistics({ name, grain: 60, max }),
  };
  const named = new Set(Object.keys(own).map((read) => at(read.split(" "), 0)));
  const others = lookers.filter((operation) => !named.has(operation));
  return {
    ...own,
    ...Object.fromEntries(
      others.map((operation) => [operation, () => callExample(store, operation, rows)]),
    ),
  };
}

test("no read scans a table of tasks, and each statement of a read uses one index of such a table", async () => {
  const owner = scene.openStore(1);
  const name = await define(owner, { limit: 4 });
  const id = await definitionId(scene.client, name);
  const batch = { operationId: operationId(), name: "filled", failurePolicy: "halt" } as const;
  const { batchId, waveIds } = await owner.createBatch({ ...batch, waves: 2 });
  const rows = Array.from({ length: 100 }, () => ({ payload: null }));
  for (const waveId of waveIds)
    await owner.enqueueTasks({ name, build: 1, operationId: null, waveId, tasks: rows });
  await owner.startBatch({ batchId, seal: true });
  for (const statement of fillings(id)) await scene.client.query(statement);
  await scene.client.query("analyze");

  await explainStatementsOf(scene.client, loginNames.operator);
  const session = await scene.connect("operator");
  const seen = await watchStatements(session);
  const store = storeOver(session, scene.url);
  const reads = readsOf(store, {
    ...{ name, batchId, waveId: at(waveIds, 0), taskId: asTaskId(String(first)) },
    ...{ executionId: "1" as ExecutionId, fence: "1" as Fence },
  });
  for (const [read, look] of Object.entries(reads)) {
    seen.of = read;
    await look();
  }
  seen.of = "";
  await store.close();

  const seenOf = new Set(seen.statements.map(({ read }) => at(read.split(" "), 0)));
  expect([...seenOf].sort()).toEqual([...lookers].sort());

  const firstColumns = await readFirstColumns();
  const found = new Map<string, string[]>();
  for (const { read, plan } of seen.statements) {
    const accesses = accessesOf(plan, firstColumns);
    for (const table of new Set(accesses.map(([relation]) => relation))) {
      const used = accesses.filter(([relation]) => relation === table).map(([, index]) => index);
      const different = [...new Set(used)].sort();
      if (different.length > 1 || different.some((each) => /^(scan|all of .*)$/.test(each)))
        found.set(`${read}: ${table}`, [...(found.get(`${read}: ${table}`) ?? []), ...different]);
    }
  }
  expect(seen.statements.length).toBeGreaterThan(40);
  expect(Object.fromEntries([...found].sort())).toEqual(known);
});
