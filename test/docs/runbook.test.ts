import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { ConnectionPool } from "mssql";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { at, define, enqueueOne, operationId, startWorker } from "../support/builders";
import { createTestDatabase, withClient } from "../support/test-postgres";
import type { SimulatedServer } from "../tsql-server/tds/simulated-server";
import { startTaskgateServer } from "../tsql/wire/start-taskgate-server";
import { readBlock } from "./markdown";
import { connectMssql } from "./mssql-pool";
import { pasteSql, testBlocksRan } from "./run-blocks";

/*
 * Goal: behind a failover with data loss no number is given again. Method: the runbook's SQL runs as pasted, on PostgreSQL and over
 * TDS, and all numbers that are given outside lie above, whether their tables had rows before or not.
 */
const page = "docs/operate/runbook.md";
const above = 5_000_000;

/** One number of each kind that is given outside. */
async function giveNumbers(store: TaskStore): Promise<Record<string, number>> {
  const name = await define(store, {});
  const task = await enqueueOne(store, name);
  const worker = await startWorker(store, name);
  const { fence } = at(await worker.claim(1), 0);
  const { batchId, waveIds } = await store.createBatch({
    ...{ operationId: operationId(), name, waves: 1, failurePolicy: "halt" },
  });
  const wave = at(waveIds, 0);
  const given = { task, fence, execution: worker.number, batch: batchId, wave };
  return Object.fromEntries(Object.entries(given).map(([kind, id]) => [kind, Number(id)]));
}

function kindsBelow(given: Record<string, number>): string[] {
  return Object.keys(given).filter((kind) => !(Number(given[kind]) >= above));
}

const kinds = ["task", "fence", "execution", "batch", "wave"];

test("the runbook's SQL raises every number that is given outside, on PostgreSQL", async () => {
  const database = await createTestDatabase();
  const store = openStore({ url: database.url, connectionsMax: 1, random: realRandom, sleep });
  const counters = async (): Promise<(string | null)[]> => {
    const sql = "select last_value::text as at from pg_sequences where schemaname = 'taskgate'";
    return (
      await withClient(database.url, (client) => client.query<{ at: string | null }>(sql))
    ).rows.map(({ at: value }) => value);
  };
  try {
    await pasteSql([page, "raise-postgres"], (sql) =>
      withClient(database.url, (client) => client.query(sql)),
    );
    expect(await counters()).toEqual(Array.from({ length: 11 }, () => null));
    expect(kindsBelow(await giveNumbers(store))).toEqual([]);
    const begun = (await counters()).filter((value) => value !== null);
    expect(begun.length).toBeGreaterThan(4);
    expect(begun.filter((value) => !(Number(value) >= above))).toEqual([]);
  } finally {
    await store.close();
    await database.drop();
  }
});

describe("the runbook's T-SQL", () => {
  const olga = { user: "olga", password: "o1" };
  let server: SimulatedServer;
  let store: TaskStore;
  let owner: ConnectionPool;

  beforeAll(async () => {
    const setUp = `CREATE USER olga WITH PASSWORD = 'o1';
ALTER ROLE TaskgateWorker ADD MEMBER olga;
ALTER ROLE TaskgateOperator ADD MEMBER olga;`;
    server = await startTaskgateServer({ setUp });
  }, 60_000);
  beforeEach(async () => {
    server.reset();
    store = openStore({ url: server.url, connectionsMax: 1, random: realRandom, sleep });
    owner = await connectMssql(server.url);
  });
  afterEach(() => Promise.all([store.close(), owner.close()]));
  afterAll(() => server.close());

  const raise = (): Promise<unknown> =>
    pasteSql([page, "raise-mssql"], (sql) => owner.request().batch(sql));

  test("the block gives its number to the first rows of tables without rows", async () => {
    await raise();
    const given = kinds.map((kind) => [kind, above]);
    expect(await giveNumbers(store)).toEqual(Object.fromEntries(given));
  });

  test("the block raises the numbers of tables with rows", async () => {
    expect(kindsBelow(await giveNumbers(store))).toEqual(kinds);
    await raise();
    expect(kindsBelow(await giveNumbers(store))).toEqual([]);
  });

  test("no statement of the block runs with the rights of Taskgate's roles", async () => {
    const operator = await connectMssql(server.urlOf(olga));
    try {
      for (const statement of readBlock(page, "raise-mssql").text.split("\n"))
        await expect(operator.request().batch(statement)).rejects.toThrow("permission");
    } finally {
      await operator.close();
    }
  });
});

testBlocksRan([
  [page, "raise-postgres"],
  [page, "raise-mssql"],
]);
