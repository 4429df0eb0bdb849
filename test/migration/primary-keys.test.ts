import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { createTestDatabase, withClient } from "../support/test-postgres";

/*
 * Goal: a publication of all tables (PostgreSQL) and a mirror or replication of them (SQL Server) break no call. Without a primary key
 * PostgreSQL refuses the updates and deletes of a published table, and SQL Server doesn't publish it.
 * https://www.postgresql.org/docs/current/logical-replication-publication.html
 */
test("every table on PostgreSQL has a primary key", async () => {
  const database = await createTestDatabase();
  const { rows } = await withClient(database.url, (client) =>
    client.query<{ name: string; has_key: boolean }>(
      `select c.relname as name,
              exists (select 1 from pg_index i where i.indrelid = c.oid and i.indisprimary) as has_key
         from pg_class c
        where c.relnamespace = 'taskgate'::regnamespace and c.relkind in ('r', 'p') order by 1`,
    ),
  );
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.filter((row) => !row.has_key)).toEqual([]);
  await database.drop();
});

test("every table on SQL Server has a primary key", () => {
  const folder = join(__dirname, "../../shared/store/mssql/sql/migrations");
  const texts = readdirSync(folder)
    .filter((file) => file.endsWith(".sql"))
    .map((file) => readFileSync(join(folder, file), "utf8"));
  const tables = texts.flatMap((text) => [
    ...text.matchAll(/^CREATE TABLE (Taskgate\.\w+) \((.*?);$/gms),
  ]);
  expect(tables.length).toBeGreaterThan(30);
  expect(
    tables.filter(([, , columns = ""]) => !columns.includes("PRIMARY KEY")).map(([, name]) => name),
  ).toEqual([]);
});
