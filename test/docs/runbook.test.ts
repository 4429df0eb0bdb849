import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import { define, enqueueOne, operationId, startWorker } from "../support/builders";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { readBlock, root } from "./markdown";
import { pasteSql, testBlocksRan } from "./run-blocks";

/*
 * Goal: behind a failover with data loss no number is given again. Method: the runbook's SQL runs as pasted on PostgreSQL, and all
 * numbers that are given outside lie above; the T-SQL names the same five, under the names of its tables.
 */
const page = "docs/operate/runbook.md";
const above = 5_000_000;

test("the runbook's SQL raises every number that is given outside, on PostgreSQL", async () => {
  const database = await createTestDatabase();
  const store = openStore({ url: database.url, connectionsMax: 1, random: realRandom, sleep });
  const counters = async (): Promise<(string | null)[]> => {
    const sql = "select last_value::text as at from pg_sequences where schemaname = 'taskgate'";
    return (
      await withClient(database.url, (client) => client.query<{ at: string | null }>(sql))
    ).rows.map(({ at }) => at);
  };
  try {
    await pasteSql([page, "raise-postgres"], (sql) =>
      withClient(database.url, (client) => client.query(sql)),
    );
    expect(await counters()).toEqual(Array.from({ length: 11 }, () => null));
    const name = await define(store, {});
    const task = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const [claimed] = await worker.claim(1);
    const batch = await store.createBatch({
      ...{ operationId: operationId(), name, waves: 1, failurePolicy: "halt" },
    });
    const given = [task, claimed?.fence, worker.number, batch.batchId, ...batch.waveIds];
    expect(given.filter((id) => !(Number(id) >= above))).toEqual([]);
    expect(given).toHaveLength(5);
    const begun = (await counters()).filter((at) => at !== null);
    expect(begun.length).toBeGreaterThan(4);
    expect(begun.filter((at) => !(Number(at) >= above))).toEqual([]);
  } finally {
    await store.close();
    await database.drop();
  }
});

test("the runbook's T-SQL names the sequences and the tables of the same numbers", () => {
  const baseline = readFileSync(
    join(root, "shared/store/mssql/sql/migrations/0001_baseline.sql"),
    "utf8",
  );
  const { text: sql } = readBlock(page, "raise-mssql");
  const sequences = [...sql.matchAll(/ALTER SEQUENCE (\S+) RESTART WITH (\d+);/g)];
  expect(
    sequences.map(([, name = "", at]) => [baseline.includes(`CREATE SEQUENCE ${name} `), at]),
  ).toEqual([1, 2].map(() => [true, String(above)]));
  const tables = [...sql.matchAll(/DBCC CHECKIDENT \(N'(\S+)', RESEED, (\d+)\);/g)];
  const identity = (name: string): boolean =>
    new RegExp(`CREATE TABLE ${name} \\([^;]*?Id bigint IDENTITY\\(1,1\\)`).test(baseline);
  expect(tables.map(([, name = "", at]) => [name, identity(name), at])).toEqual(
    ["TaskExecution", "Batch", "Wave"].map((name) => [`Taskgate.${name}`, true, String(above)]),
  );
});

testBlocksRan([[page, "raise-postgres"]]);
