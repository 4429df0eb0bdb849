import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import "../support/node-errors";
import { readVersion } from "../../shared/core/own-manifest";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { migrate } from "../../shared/store/migrator";
import type { SchemaScripts } from "../../shared/store/migrator";
import { migrateStore, openStore, postgresScripts } from "../../shared/store/open-store";
import { withPostgresMigrations } from "../../shared/store/postgres/postgres-migrations";
import { withClient } from "../support/test-postgres";
import { inEmptyDatabase, rowsOf } from "./empty-database";
import { dumpSchema } from "./schema-dump";
import { withMigration } from "./with-migration";

/** Every row of the schema with the transaction that wrote it: a row that is written again shows. */
const writtenRows = `
  select 'function' as kind, proname || oid as name, xmin::text as written from pg_proc where pronamespace = 'taskgate'::regnamespace
  union all select 'relation', relname || oid, xmin::text from pg_class where relnamespace = 'taskgate'::regnamespace
  union all select 'schema', nspname || oid, xmin::text from pg_namespace where nspname = 'taskgate'
  union all select 'version', version::text, xmin::text from taskgate.schema_version
  union all select 'role', rolname || oid, '' from pg_roles where rolname like 'taskgate%'
  order by 1, 2`;

const dump = (url: string): Promise<string> =>
  withClient(url, (client) => dumpSchema(client, "taskgate"));

function apply(url: string, scripts: SchemaScripts) {
  return withPostgresMigrations({ url }, (target) => migrate(target, scripts, "0.2.0"));
}

/** Reads a table in a transaction that stays open while `body` runs. */
async function whileRead(url: string, body: () => Promise<void>): Promise<void> {
  await withClient(`${url}?application_name=monthly-report`, async (client) => {
    await client.query("begin");
    await client.query("select count(*) from taskgate.task");
    await body();
    await client.query("rollback");
  });
}

describe("migrate", () => {
  test("the command migrate gives way to a transaction that stays open: no call waits behind it, and the error names the session", async () => {
    await inEmptyDatabase(async (url) => {
      await migrateStore({ url });
      const scripts = withMigration(
        postgresScripts(),
        "alter table taskgate.task add column more int",
      );
      await whileRead(url, async () => {
        const attempt = withPostgresMigrations({ url, lockTries: 1 }, (target) =>
          migrate(target, scripts, "0.2.0"),
        );
        await expect(attempt).rejects.toMatchObject({
          code: "TASKGATE_STORE_CONFLICT",
          message: expect.stringMatching(
            /^more wasn't applied\. Session \d+ \(.*monthly-report, idle in transaction\)/,
          ),
        });
        await rowsOf(url, "select count(*) from taskgate.task");
      });
      expect((await apply(url, scripts)).applied).toHaveLength(1);
    });
  });

  test("the command migrate brings an empty database to head: every migration once, in order, then the logic", async () => {
    await inEmptyDatabase(async (url) => {
      const { migrations, logic } = postgresScripts();

      const result = await migrateStore({ url });

      expect(result).toEqual({
        applied: migrations.map(
          (script) => `${String(script.version).padStart(4, "0")}_${script.name}`,
        ),
        isLogicRenewed: true,
      });
      expect(
        await rowsOf(
          url,
          "select version, name, checksum from taskgate.schema_version order by version",
        ),
      ).toEqual(
        [{ ...logic, name: `logic ${readVersion()}` }, ...migrations].map(
          ({ version, name, checksum }) => ({ version, name, checksum }),
        ),
      );
    });
  });

  test.each(["off", "on"])(
    "a second call writes nothing at all (quote_all_identifiers %s)",
    async (quoted) => {
      await inEmptyDatabase(async (url) => {
        const set = `do $$ begin execute format('alter database %I set quote_all_identifiers = ${quoted}', current_database()); end $$`;
        await rowsOf(url, set);
        await migrateStore({ url });
        const before = await rowsOf(url, writtenRows);

        const result = await migrateStore({ url });

        expect(result).toEqual({ applied: [], isLogicRenewed: false });
        expect(await rowsOf(url, writtenRows)).toEqual(before);
        expect(before.length).toBeGreaterThan(80);
      });
    },
  );

  test("one of twenty migrators at once works, and the others find it done", async () => {
    await inEmptyDatabase(async (url) => {
      const results = await Promise.all(Array.from({ length: 20 }, () => migrateStore({ url })));

      const workers = results.filter(
        (result) => result.isLogicRenewed || result.applied.length > 0,
      );
      expect(workers).toEqual([
        {
          applied: postgresScripts().migrations.map(
            (script) => `${String(script.version).padStart(4, "0")}_${script.name}`,
          ),
          isLogicRenewed: true,
        },
      ]);
      expect(results).toHaveLength(20);
    });
  });

  test("eight migrators in eight schemas of one server make the shared roles once", async () => {
    await inEmptyDatabase(async (url) => {
      const schemas = Array.from({ length: 8 }, (_, index) => `s${String(index)}`);

      const results = await Promise.all(schemas.map((schema) => migrateStore({ url, schema })));

      expect(results.filter((result) => !result.isLogicRenewed)).toEqual([]);
      expect(
        await rowsOf(
          url,
          "select count(distinct nspname)::int as schemas, count(*)::int as functions from pg_proc join pg_namespace n on n.oid = pronamespace where nspname ~ '^s[0-9]+$' and proname = 'work'",
        ),
      ).toEqual([{ schemas: 8, functions: 8 }]);
    });
  });

  test("a migrator waits for the one before it and then finds nothing to do", async () => {
    await inEmptyDatabase(async (url) => {
      let second: Promise<unknown> | undefined;
      await withPostgresMigrations({ url }, async (target) => {
        second = migrateStore({ url });
        await wait(200);
        expect(await rowsOf(url, "select 1 from pg_namespace where nspname = 'taskgate'")).toEqual(
          [],
        );
        await migrate(target, postgresScripts(), "0.2.0");
      });

      expect(await second).toEqual({ applied: [], isLogicRenewed: false });
    });
  });

  test("logic that differs is made anew as a whole: what the files no longer have is gone", async () => {
    await inEmptyDatabase(async (url) => {
      await migrateStore({ url });
      const head = await dump(url);
      await withClient(url, (client) =>
        client.query(
          `create function taskgate.left_over(a int) returns int language sql as 'select 1';
           drop function taskgate.sweep;
           update taskgate.schema_version set checksum = 'of an older version' where version = 0`,
        ),
      );

      const result = await migrateStore({ url });

      expect(result).toEqual({ applied: [], isLogicRenewed: true });
      expect(await dump(url)).toBe(head);
    });
  });

  test.each(["archived", "v_execution_log"])(
    "a view that has other columns now is made anew: %s",
    async (view) => {
      await inEmptyDatabase(async (url) => {
        await migrateStore({ url });
        const head = await dump(url);
        await withClient(url, (client) =>
          client.query(
            `drop view taskgate.v_execution_log;
             drop view if exists taskgate.${view};
             create view taskgate.${view} as select 1 as before;
             update taskgate.schema_version set checksum = 'of an older version' where version = 0`,
          ),
        );

        await migrateStore({ url });

        expect(await dump(url)).toBe(head);
      });
    },
  );

  test("a migration that fails leaves nothing behind, and a corrected one goes through", async () => {
    await inEmptyDatabase(async (url) => {
      await migrateStore({ url });
      const before = await rowsOf(url, writtenRows);
      const broken = withMigration(
        postgresScripts(),
        "create table taskgate.half (a int); select 1 / 0;",
      );

      await expect(apply(url, broken)).rejects.toMatchObject({
        name: "InvalidArgumentError",
        message: expect.stringContaining("division by zero") as unknown,
      });

      expect(await rowsOf(url, writtenRows)).toEqual(before);
      const result = await apply(
        url,
        withMigration(postgresScripts(), "create table taskgate.half (a int);"),
      );
      const { length } = postgresScripts().migrations;
      const applied = [`${String(length + 1).padStart(4, "0")}_more`];
      expect(result).toEqual({ applied, isLogicRenewed: true });
    });
  });

  test("logic that fails leaves the old one in place", async () => {
    await inEmptyDatabase(async (url) => {
      await migrateStore({ url });
      const before = await rowsOf(url, writtenRows);
      const scripts = postgresScripts();
      const logic = {
        ...scripts.logic,
        checksum: "another",
        text: `${scripts.logic.text}\nselect 1 / 0;`,
      };

      await expect(apply(url, { ...scripts, logic })).rejects.toThrow("division by zero");

      expect(await rowsOf(url, writtenRows)).toEqual(before);
    });
  });

  test("a migrator that is killed in the middle leaves nothing behind and frees the lock", async () => {
    await inEmptyDatabase(async (url) => {
      const scripts = withMigration(postgresScripts(), "select pg_sleep(60)");
      const killed = apply(url, scripts).catch((error: unknown) => error);
      await waitForSleeper(url);

      await rowsOf(
        url,
        "select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_sleep(60)%' and datname = current_database()",
      );

      expect(await killed).toMatchObject({ code: "TASKGATE_STORE_UNAVAILABLE" });
      expect(await migrateStore({ url })).toEqual({ applied: [], isLogicRenewed: true });
    });
  });

  test("while the logic is renewed again and again, callers see the old or the new one and no error", async () => {
    await inEmptyDatabase(async (url) => {
      await migrateStore({ url });
      const store = openStore({ url, connectionsMax: 4, random: realRandom, sleep });
      const ending = new AbortController();
      let calls = 0;
      const callers = Array.from({ length: 4 }, async () => {
        while (!ending.signal.aborted) {
          await store.listDefinitions({});
          calls += 1;
        }
      });
      const all = Promise.all(callers);
      const failure = all.then(
        () => null,
        (error: unknown) => error,
      );

      for (let round = 0; round < 10; round += 1) {
        await rowsOf(url, "update taskgate.schema_version set checksum = 'old' where version = 0");
        await migrateStore({ url });
      }
      ending.abort();

      expect(await failure).toBeNull();
      expect(calls).toBeGreaterThan(40);
      await store.close();
    });
  });
});

async function waitForSleeper(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (let tries = 0; tries < 100; tries += 1) {
      const found = await client.query(
        "select 1 from pg_stat_activity where query like 'select pg_sleep(60)%' and datname = current_database() and pid <> pg_backend_pid()",
      );
      if (found.rows.length > 0) return;
      await wait(50);
    }
    throw new Error("the migration never began");
  } finally {
    await client.end();
  }
}
