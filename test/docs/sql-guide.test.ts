import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { builtInTasks } from "../../shared/functions/built-in-tasks";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { startTaskgateServer } from "../tsql/wire/start-taskgate-server";
import { statusOf } from "../support/builders";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { openWorkerBench } from "../unit/worker/worker-bench";
import type { AnyTaskKind } from "../../shared/worker/define/task-kind";
import { connectMssql } from "./mssql-pool";
import { loadBlock, pasteSql, testBlocksRan } from "./run-blocks";

/*
 * Goal: the SQL of the guide runs as pasted, in both dialects (T-SQL on the simulated SQL Server), and does what the guide
 * says: tasks are added, the built-in kind runs them, they can be watched, the limit changes.
 */
const page = "docs/guides/sql-tasks.md";

interface Database {
  readonly store: TaskStore;
  /** Runs a block as a user would paste it, outside the product; the values of each row of each answer. */
  readonly paste: (text: string) => Promise<unknown[][][]>;
  readonly loaded: () => Promise<unknown[]>;
  readonly close: () => Promise<void>;
}

async function openPostgres(): Promise<Database> {
  const { url, drop } = await createTestDatabase();
  const paste: Database["paste"] = (text) =>
    withClient(url, async (client) => {
      const answers: unknown = await client.query<object>(text);
      return (Array.isArray(answers) ? answers : [answers]).map(({ rows }: { rows: object[] }) =>
        rows.map((row) => Object.values(row) as unknown[]),
      );
    });
  await paste(`
    create table public.regions (region text primary key);
    create procedure public.load_region(region text) language sql as $$ insert into public.regions values (region) $$`);
  const store = openStore({ url, connectionsMax: 3, random: realRandom, sleep });
  return {
    store,
    paste,
    loaded: () =>
      withClient(url, async (client) => {
        const { rows } = await client.query<{ region: string }>(
          "select region from public.regions order by region",
        );
        return rows.map((row) => row.region);
      }),
    close: async () => {
      await store.close();
      await drop();
    },
  };
}

async function openTsql(): Promise<Database> {
  const server = await startTaskgateServer();
  const store = openStore({ url: server.url, connectionsMax: 3, random: realRandom, sleep });
  const pool = await connectMssql(server.url);
  const query = async (text: string): Promise<Record<string, unknown>[]> => {
    const { recordset } = await pool.request().batch<Record<string, unknown>>(text);
    return recordset;
  };
  await query("CREATE TABLE dbo.Regions (Region nvarchar(100) NOT NULL PRIMARY KEY);");
  await query(
    "CREATE PROCEDURE dbo.LoadRegion @Region nvarchar(100) AS INSERT INTO dbo.Regions (Region) VALUES (@Region);",
  );
  return {
    store,
    paste: async (text) => {
      const { recordsets } = await pool.request().batch<object>(text);
      return (recordsets as object[][]).map((rows) =>
        rows.map((row) => Object.values(row) as unknown[]),
      );
    },
    loaded: async () =>
      (await query("SELECT r.Region FROM dbo.Regions AS r ORDER BY r.Region;")).map(
        (row) => row["Region"],
      ),
    close: async () => {
      await pool.close();
      await store.close();
      await server.close();
    },
  };
}

describe.each([
  { dialect: "mssql", procedure: "dbo.LoadRegion", open: openTsql },
  { dialect: "postgres", procedure: "public.load_region", open: openPostgres },
])("as pasted on $dialect", ({ dialect, procedure, open }) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  }, 60_000);
  afterAll(() => database.close());

  test("tasks are added, run by the built-in kind, watched, and the limit is changed", async () => {
    const { store, paste } = database;
    const kinds = builtInTasks({ sqlProcedures: [procedure], connectionsMax: 3, hasProbe: false });
    const bench = openWorkerBench(kinds, { store });
    // What the first tick after a deployment does.
    await bench.work("sql");
    await pasteSql([page, `${dialect}-enqueue`], paste);
    await bench.work("sql");
    expect(await database.loaded()).toEqual(["north", "south"]);
    await pasteSql([page, `${dialect}-payloads`], paste);
    await bench.work("sql");
    expect(await database.loaded()).toEqual(["east", "north", "south", "west"]);
    const [log = [], ...lists] = await pasteSql([page, `${dialect}-watch`], paste);
    expect(log.map(([, worker, , , outcome, error]) => [worker, outcome, error])).toEqual(
      Array.from({ length: 4 }, () => ["test", "done", null]),
    );
    expect(lists.map(([row = []]) => JSON.parse(String(row[1])) as unknown)).toMatchObject([
      [],
      [{ name: "sql", done: 4 }],
    ]);
    await pasteSql([page, `${dialect}-change`], paste);
    expect(await statusOf(store, "sql")).toMatchObject({
      limit: 5,
      limitSource: "operator",
      done: 4,
      paused: false,
    });
  });

  if (dialect === "mssql")
    test("the definition of the page runs its procedures, and no other one", async () => {
      const { nightly } = await loadBlock<{ nightly: AnyTaskKind }>([page, "sql-kind"]);
      const { client, work } = openWorkerBench([nightly], { store: database.store });
      const add = (called: string): Promise<unknown> =>
        client.enqueue(nightly, { procedure: called, parameters: { Region: "centre" } });
      await add(procedure);
      await work("nightly-sql");
      expect(await database.loaded()).toContain("centre");
      expect(await statusOf(database.store, "nightly-sql")).toMatchObject({ limit: 2, done: 1 });
      await expect(add("dbo.DropRegions")).rejects.toThrow("dbo.LoadRegion");
    });
});

test("a database without allowed procedures has no such kind", () => {
  expect(builtInTasks({ sqlProcedures: [], connectionsMax: 3, hasProbe: false })).toEqual([]);
});

testBlocksRan([
  [page, "sql-kind"],
  [page, "mssql-enqueue"],
  [page, "postgres-enqueue"],
  [page, "mssql-payloads"],
  [page, "postgres-payloads"],
  [page, "mssql-watch"],
  [page, "postgres-watch"],
  [page, "mssql-change"],
  [page, "postgres-change"],
]);
