// The driver must see errors of sockets here as it does outside jest.
import "../support/node-errors";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import sql from "mssql";
import { builtInTasks } from "../../shared/functions/built-in-tasks";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { startTaskgateServer } from "../tsql/wire/start-taskgate-server";
import { statusOf } from "../support/builders";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { readBlocks } from "./markdown";

/*
 * Goal: the SQL of the guide runs as pasted, in both dialects (T-SQL on the simulated SQL Server), and does what the guide
 * says: tasks are added, the built-in kind runs them, they can be watched, the limit changes.
 */
const page = "docs/guides/sql-tasks.md";

function block(marker: string): string {
  const found = readBlocks(page).find((candidate) => candidate.marker === marker);
  if (found === undefined) throw new Error(`${page} has no block under <!-- ${marker} -->`);
  return found.text;
}

interface Database {
  readonly store: TaskStore;
  /** Runs a block as a user would paste it, outside the product. */
  readonly paste: (text: string) => Promise<void>;
  readonly loaded: () => Promise<unknown[]>;
  readonly close: () => Promise<void>;
}

async function openPostgres(): Promise<Database> {
  const { url, drop } = await createTestDatabase();
  const paste = (text: string) =>
    withClient(url, async (client) => {
      await client.query(text);
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
  const { hostname, port, username, password, pathname } = new URL(server.url);
  const pool = await new sql.ConnectionPool({
    server: hostname,
    port: Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
    options: { trustServerCertificate: true, encrypt: false },
  }).connect();
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
      await query(text);
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
    await paste(block(`${dialect}-enqueue`));
    await bench.work("sql");
    expect(await database.loaded()).toEqual(["north", "south"]);
    await paste(block(`${dialect}-payloads`));
    await bench.work("sql");
    expect(await database.loaded()).toEqual(["east", "north", "south", "west"]);
    await paste(block(`${dialect}-watch`));
    await paste(block(`${dialect}-change`));
    expect(await statusOf(store, "sql")).toMatchObject({
      limit: 5,
      limitSource: "operator",
      done: 4,
      paused: false,
    });
  });
});

test("a database without allowed procedures has no such kind", () => {
  expect(builtInTasks({ sqlProcedures: [], connectionsMax: 3, hasProbe: false })).toEqual([]);
});
