import { expect } from "@jest/globals";
import type { StoreTransaction } from "../../../shared/ports/task-store";
import { define, enqueue, operationId, startInput, startWorker } from "../../support/builders";
import { until } from "../../support/gate";
import type { PostgresStage } from "../postgres-stage";
import type { Scene } from "../scene";

/*
 * What PostgreSQL itself tells of locks and of the ways to rows, counted for one transaction. The T-SQL is shown the same in
 * test/tsql/source-texts and in locks-tsql.ts.
 */
const settle = "postgres/sql/functions/_settle_tokens.sql";
const work = "postgres/sql/functions/work.sql";

/** How often this transaction has looked into each index of a table so far, and read it as a whole. */
async function scansOf(
  transaction: StoreTransaction,
  table: string,
): Promise<Record<string, number>> {
  const rows = await transaction.query(
    `select c.relname as name, pg_stat_get_xact_numscans(c.oid)::int as n
       from pg_class t join pg_index i on i.indrelid = t.oid join pg_class c on c.oid = i.indexrelid
      where t.oid = $1::regclass
      union all select 'whole', pg_stat_get_xact_numscans($1::regclass)::int`,
    [`taskgate.${table}`],
  );
  return Object.fromEntries(rows.map((row) => [String(row["name"]), Number(row["n"])]));
}

/** The scans that one call makes. */
async function scansDuring(
  transaction: StoreTransaction,
  table: string,
  call: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const before = await scansOf(transaction, table);
  await call();
  const after = await scansOf(transaction, table);
  return Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );
}

async function showPrimaryKeys(stage: PostgresStage): Promise<void> {
  const store = stage.openStore(2);
  const name = await define(store, { limit: 4 });
  const worker = await startWorker(store, name);
  for (const call of ["acquire_tokens($1, 3)", "release_tokens($1, 0)"]) {
    await store.transaction(async (transaction) => {
      const scans = await scansDuring(transaction, "task_definition", () =>
        transaction.query(`select * from taskgate.${call}`, [worker.number]),
      );
      expect({ call, ways: Object.keys(scans) }).toEqual({ call, ways: ["pk_task_definition"] });
      const locks = await transaction.query(
        `select distinct l.locktype || ' ' || l.mode as lock from pg_locks l
          where l.pid = pg_backend_pid() and l.locktype not in ('virtualxid', 'transactionid', 'advisory')
            and (l.relation is null or l.relation in (select c.oid from pg_class c where c.relnamespace = 'taskgate'::regnamespace))
          order by 1`,
      );
      // Rows are locked in place; of tables and indexes only what every reader and writer shares.
      expect(locks.map((row) => row["lock"])).toEqual([
        "relation AccessShareLock",
        "relation RowExclusiveLock",
        "relation RowShareLock",
      ]);
    });
  }
}

async function showWriteFirst(stage: PostgresStage): Promise<void> {
  const store = stage.openStore(2);
  const name = await define(store, { limit: 2 });
  const held = await stage.holdDefinition(name, 0);
  // It finds two tokens free, and waits with its first write for the call that takes them away.
  const asked = store.startExecution(startInput(name));
  await until("the asker waits", async () => (await stage.countWaiting()) === 1);
  await held.commit();
  expect({ askerOf: 0, status: (await asked).status }).toEqual({ askerOf: 0, status: "limited" });
  const failures: unknown[] = [];
  const other = await define(store, { limit: 3 });
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      const own = stage.openStore(1);
      for (let cycle = 0; cycle < 10; cycle += 1) {
        const { executionId } = await own.startExecution(startInput(other));
        if (executionId !== null) await own.finishExecution({ executionId });
      }
    }).map((cycles) => cycles.catch((error: unknown) => void failures.push(error))),
  );
  expect({ failures, deadlocks: await stage.countDeadlocks() }).toEqual({
    failures: [],
    deadlocks: 0,
  });
}

async function showHeldToTheEnd(stage: PostgresStage): Promise<void> {
  const store = stage.openStore(2);
  const name = await define(store, { limit: 4 });
  const worker = await startWorker(store, name);
  const isLocked = async (): Promise<boolean> => {
    const rows = await stage.raw(
      `select 1 from taskgate.task_definition where name = '${name}' for update skip locked`,
    );
    return rows.length === 0;
  };
  expect({ whileWorking: await isLocked() }).toEqual({ whileWorking: false });
  // The asker's own row is shared by a reader: it has locked its definition by then, and can't go on.
  const { held } = await stage.hold((transaction) =>
    transaction.query(
      "select 1 from taskgate.task_execution where task_execution_id = $1 for share",
      [worker.number],
    ),
  );
  const asked = store.acquireTokens({ executionId: worker.executionId, want: 2 });
  await until("the asker waits", async () => (await stage.countWaiting()) === 1);
  const between = await isLocked();
  await held.commit();
  await asked;
  expect({ between, afterwards: await isLocked() }).toEqual({ between: true, afterwards: false });
}

async function showOneReference(stage: PostgresStage): Promise<void> {
  const store = stage.openStore(2);
  const name = await define(store, { limit: 20, prefetchMax: 0 });
  await enqueue(store, name, 50);
  const worker = await startWorker(store, name, { want: 10 });
  const tasks = await worker.claim(5);
  await store.transaction(async (transaction) => {
    const scans = await scansDuring(transaction, "ready", () =>
      transaction.query(
        "select * from taskgate.work($1, 2, $2::bigint[], $3::bigint[], p_want => 5)",
        [
          worker.number,
          `{${tasks.map(({ taskId }) => taskId).join(",")}}`,
          `{${tasks.map(({ fence }) => fence).join(",")}}`,
        ],
      ),
    );
    // Found once; taken by the address that was found and locked, without looking for it again.
    expect(scans).toEqual({ pk_ready: 1 });
  });
}

async function showAdvisoryLocks(stage: PostgresStage): Promise<void> {
  const store = stage.openStore(3);
  const name = await define(store);
  const call = (key: string) =>
    store.enqueueTasks({
      name,
      build: 1,
      operationId: operationId(),
      tasks: [{ payload: null, group: key }],
    });
  const { held } = await stage.hold((transaction) =>
    transaction.query(
      "select pg_advisory_xact_lock(42, task_definition_id) from taskgate.task_definition",
    ),
  );
  // An asker gives up after its two seconds, and says so; no other call is kept waiting.
  const began = performance.now();
  const asked = store.startExecution(startInput(name)).then(
    () => "started",
    () => "gave up",
  );
  expect((await call("a")).outcomes).toEqual(["enqueued"]);
  expect(await asked).toBe("gave up");
  const waitedMs = performance.now() - began;
  expect({ isBounded: waitedMs > 1_500 && waitedMs < 4_000 }).toEqual({ isBounded: true });
  await held.commit();
  await startWorker(store, name);
  const left = await stage.raw(
    "select 1 from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
  );
  expect({ left: left.length }).toEqual({ left: 0 });
}

/** Each step is seen to wait before the next one is made, so that another order makes a circle each time. */
async function showAscendingGroups(stage: PostgresStage): Promise<void> {
  const store = stage.openStore(3);
  const name = await define(store, { limit: 4 });
  const tasks = [{ group: "first" }, { group: "second" }];
  await enqueue(store, name, tasks);
  const worker = await startWorker(store, name, { want: 2 });
  const claimed = await worker.claim(2);
  const { held } = await stage.hold((transaction) =>
    transaction.query(
      "select 1 from taskgate.task_group where group_key = 'second' for no key update",
    ),
  );
  const ended = worker.complete(claimed);
  ended.catch(() => undefined);
  await until("the end waits", async () => (await stage.countWaiting()) === 1);
  const enqueued = enqueue(store, name, tasks);
  enqueued.catch(() => undefined);
  await until("the enqueue waits", async () => (await stage.countWaiting()) === 2);
  await held.commit();
  await ended;
  await enqueued;
}

const writeFirst =
  "update task_definition set hold_lock_task_execution_id = p_task_execution_id\n   where task_definition_id = p_task_definition_id\n  returning name, execution_tokens, token_fence, paused, coalesce(concurrency_limit_override, concurrency_limit) as task_limit, lease_ms into d;";
const readFirst = {
  file: settle,
  edits: [
    { from: "perform pg_advisory_xact_lock(42, p_task_definition_id);", to: "" },
    {
      from: writeFirst,
      to: "select name, execution_tokens, token_fence, paused, coalesce(concurrency_limit_override, concurrency_limit) as task_limit, lease_ms into d from task_definition where task_definition_id = p_task_definition_id;",
    },
  ],
};

export const postgresLockScenes: readonly Scene<PostgresStage>[] = [
  {
    numbers: "S0.12",
    title:
      "an end of tasks of two groups and an enqueue for both lock the groups in one order: no circle",
    on: ["postgres"],
    play: showAscendingGroups,
    faults: [
      {
        numbers: "S0.12",
        what: "groups are handed over from the highest on",
        planted: {
          postgres: {
            file: "postgres/sql/functions/_hand_over.sql",
            edits: [
              {
                from: "where u.group_id is not null order by 1)",
                to: "where u.group_id is not null order by 1 desc)",
              },
              {
                from: "order by x.group_id for no key update",
                to: "order by x.group_id desc for no key update",
              },
            ],
          },
        },
        found: /deadlock/,
      },
    ],
  },
  {
    numbers: "S0.13",
    title:
      "a grant and a return go by the definition's primary key only, and lock no table and no range",
    on: ["postgres"],
    play: showPrimaryKeys,
    faults: [
      {
        numbers: "S0.13",
        what: "the definition's row is found by its name",
        planted: {
          postgres: {
            file: settle,
            edits: [
              {
                from: writeFirst,
                to: writeFirst.replace(
                  "where task_definition_id = p_task_definition_id",
                  "where name = (select x.name from task_definition x where x.task_definition_id = p_task_definition_id)",
                ),
              },
            ],
          },
        },
        found: /uq_task_definition_name/,
      },
    ],
  },
  {
    numbers: "S0.15",
    title:
      "an asker writes before it reads: it decides by what the one before it has left, and no load makes a deadlock",
    on: ["postgres"],
    play: showWriteFirst,
    faults: [
      {
        numbers: "S0.15",
        what: "tokens are read before the row is written",
        planted: { postgres: readFirst },
        found: /askerOf|the asker waits/,
      },
    ],
  },
  {
    numbers: "S0.16",
    title:
      "the definition's row is locked between an asker's first write and its commit, and free while a worker works",
    on: ["postgres"],
    play: showHeldToTheEnd,
    faults: [
      {
        numbers: "S0.16",
        what: "tokens are read before the row is written",
        planted: { postgres: readFirst },
        found: /between/,
      },
    ],
  },
  {
    numbers: "S2.2",
    title: "a claim looks for its tasks once",
    on: ["postgres"],
    play: showOneReference,
    faults: [
      {
        numbers: "S2.2",
        what: "a claim finds its tasks, and then looks for them again by their keys",
        planted: {
          postgres: {
            file: work,
            edits: [
              {
                from: "delete from ready d where d.ctid = any (array(\n          select r.ctid from ready r",
                to: "delete from ready d where d.task_definition_id = e.task_definition_id and d.task_id = any (array(\n          select r.task_id from ready r",
              },
            ],
          },
        },
        found: /pk_ready/,
      },
    ],
  },
  {
    numbers: "S4.16",
    title:
      "an advisory lock ends with its transaction: a call waits for it two seconds at most, and no other call is kept",
    on: ["postgres"],
    play: showAdvisoryLocks,
    faults: [
      {
        numbers: "S4.16",
        what: "an advisory lock belongs to the connection and is never given back",
        planted: {
          postgres: {
            file: settle,
            edits: [
              {
                from: "perform pg_advisory_xact_lock(42, p_task_definition_id);",
                to: "perform pg_advisory_xact_lock(42, p_task_definition_id); perform pg_advisory_lock(44, pg_backend_pid());",
              },
            ],
          },
        },
        found: /left/,
      },
    ],
  },
];
