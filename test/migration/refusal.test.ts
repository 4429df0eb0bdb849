import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import "../support/node-errors";
import { runCli } from "../../shared/cli/main";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { readVersion } from "../../shared/core/own-manifest";
import { loadSettings } from "../../shared/settings/load-settings";
import {
  checkSchema,
  compareVersions,
  listLogic,
  migrate,
  readScripts,
} from "../../shared/store/migrator";
import type { SchemaVersion } from "../../shared/store/migrator";
import {
  checkStoreSchema,
  migrateStore,
  openStore,
  postgresScripts,
} from "../../shared/store/open-store";
import {
  problemsOfServer,
  withPostgresMigrations,
} from "../../shared/store/postgres/postgres-migrations";
import { withClient } from "../support/test-postgres";
import { inEmptyDatabase, rowsOf } from "./empty-database";

/** What a command prints, and its exit code. */
async function cli(...words: string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const write = (text: string): void => void lines.push(text);
  const output = { line: write, error: write, columns: null };
  const code = await runCli({ words, environment: {}, folder: "/", output });
  return { code, text: lines.join("\n") };
}

/** A migrated database whose record was changed by one statement. */
async function withRecord(statement: string, body: (url: string) => Promise<void>): Promise<void> {
  await inEmptyDatabase(async (url) => {
    await migrateStore({ url });
    await withClient(url, (client) => client.query(statement));
    await body(url);
  });
}

const unknownMigration =
  "insert into taskgate.schema_version values (9999, 'of_tomorrow', 'x', '0.0.0', now())";

describe("a worker or command refuses to work", () => {
  test("a worker or command refuses to work with a database that has no schema, and says the command", async () => {
    await inEmptyDatabase(async (url) => {
      const { pathname, hostname } = new URL(url);
      const named = `\`${pathname.slice(1)}\` at \`${hostname}\``;
      await expect(checkStoreSchema({ url })).rejects.toMatchObject({
        code: "TASKGATE_SCHEMA_MISSING",
        message: `The database ${named} has no Taskgate schema. Run \`npx taskgate migrate\`.`,
      });
      await expect(checkStoreSchema({ url, schema: "jobs" })).rejects.toThrow(
        `The database ${named} has no Taskgate schema in \`jobs\` (TASKGATE_SCHEMA). Run \`npx taskgate migrate\`.`,
      );
    });
  });

  test("a worker or command refuses to work with tables that were restored without their data, and says what to do", async () => {
    await withRecord("delete from taskgate.schema_version", async (url) => {
      const error = {
        code: "TASKGATE_SCHEMA_MISSING",
        message: expect.stringContaining("`taskgate` has tables and no row in schema_version"),
      };
      await expect(checkStoreSchema({ url })).rejects.toMatchObject(error);
      await expect(migrateStore({ url })).rejects.toMatchObject(error);
    });
  });

  test("a worker or command refuses to work with a schema that lacks a migration, and says the command", async () => {
    await withRecord("delete from taskgate.schema_version where version > 0", async (url) => {
      await expect(checkStoreSchema({ url })).rejects.toMatchObject({
        code: "TASKGATE_SCHEMA_TOO_OLD",
        message: `The schema is at version 0, this code needs ${String(postgresScripts().migrations.length)}. Run \`npx taskgate migrate\`.`,
      });
    });
  });

  test("a worker or command refuses to work with a schema that only serves newer code, and says what to do", async () => {
    const change =
      "update taskgate.schema_version set client_version_min = '99.0.0' where version = 1";
    await withRecord(change, async (url) => {
      await expect(checkStoreSchema({ url })).rejects.toMatchObject({
        code: "TASKGATE_SCHEMA_TOO_NEW",
        message: expect.stringMatching(
          /^The schema \(baseline\) serves Taskgate 99\.0\.0 and later, this is \d+\.\d+\.\d+(-pre)?\. Deploy a newer version\.$/,
        ) as unknown,
      });
    });
  });

  test("a worker or command works beside a newer schema that still serves it: the database is deployed first", async () => {
    await withRecord(unknownMigration, async (url) => {
      await expect(checkStoreSchema({ url })).resolves.toBeUndefined();
    });
  });
});

describe("migrate --check", () => {
  const check = (url: string) => cli("migrate", "--check", "--db", url);

  test("migrate --check ends with 1 and names the migration whose file differs from the applied one, as migrate does", async () => {
    const change = "update taskgate.schema_version set checksum = 'another' where version = 12";
    await withRecord(change, async (url) => {
      const text =
        "Migration 12 (due_at) differs from the one this database was made with. Put the file back as it was released, and what is to change into a new migration with the next number.";
      expect(await check(url)).toEqual({ code: 1, text });
      await expect(migrateStore({ url })).rejects.toMatchObject({
        code: "TASKGATE_SCHEMA_EDITED",
        message: text,
      });
    });
  });

  test("migrate --check finds that the schema fits also beside a migration that only a newer build knows", async () => {
    await withRecord(unknownMigration, async (url) => {
      expect(await check(url)).toEqual({
        code: 0,
        text: expect.stringMatching(/^The schema is at version 9999 and fits Taskgate /) as unknown,
      });
    });
  });
});

describe("a deployment of an older release, beside the schema of a newer one that serves it", () => {
  /** As a newer release leaves it: its own procedures, which the older one's checksum doesn't know. */
  const newerRelease = `${unknownMigration}; update taskgate.schema_version set checksum = 'newer' where version = 0`;

  /** As one leaves it that has other procedures and no new migration. */
  const newerLogic =
    "update taskgate.schema_version set name = 'logic 99.0.0', checksum = 'newer' where version = 0";

  const unchanged =
    "The schema is a newer release's (procedures of 99.0.0) and serves this one; nothing was changed.";
  const renewed = "Renewed procedures, views and rights.";
  test.each([
    { name: "logic 99.0.0", code: 0, text: unchanged },
    { name: "logic 0.1.0", code: 1, text: renewed },
    { name: "logic", code: 1, text: renewed },
    { name: `logic ${readVersion()}`, code: 1, text: renewed },
  ])(
    "a deployment of an older release meets other procedures ($name) and no new migration",
    async ({ name, code, text }) => {
      await withRecord(newerLogic.replace("logic 99.0.0", name), async (url) => {
        expect(await cli("migrate", "--check", "--db", url)).toMatchObject({ code });
        expect(await cli("migrate", "--db", url)).toEqual({ code: 0, text });
        expect(await cli("migrate", "--check", "--db", url)).toMatchObject({ code: 0 });
        const [row] = await rowsOf(
          url,
          "select name from taskgate.schema_version where version = 0",
        );
        expect(row).toEqual({ name: code === 0 ? name : `logic ${readVersion()}` });
      });
    },
  );

  test("a deployment of an older release finds that the schema fits", async () => {
    await withRecord(newerRelease, async (url) => {
      expect(await cli("migrate", "--check", "--db", url)).toMatchObject({ code: 0 });
    });
  });

  test("a deployment of an older release changes nothing by migrate, and says so", async () => {
    await withRecord(newerRelease, async (url) => {
      const record = () => rowsOf(url, "select * from taskgate.schema_version order by version");
      const before = await record();
      expect(await cli("migrate", "--db", url)).toEqual({
        code: 0,
        text: "The schema is a newer release's (9999_of_tomorrow) and serves this one; nothing was changed.",
      });
      expect(await record()).toEqual(before);
    });
  });
});

describe("migrate refuses", () => {
  test("the schema of a newer release that no longer serves this one", async () => {
    await withRecord(unknownMigration.replace("0.0.0", "99.0.0"), async (url) => {
      await expect(migrateStore({ url })).rejects.toMatchObject({
        code: "TASKGATE_SCHEMA_TOO_NEW",
        message: expect.stringContaining(
          "The schema (of_tomorrow) serves Taskgate 99.0.0 and later",
        ) as unknown,
      });
    });
  });

  test("a database that was made with another text of a frozen migration", async () => {
    await withRecord(
      "update taskgate.schema_version set checksum = 'another' where version = 1",
      async (url) => {
        await expect(migrateStore({ url })).rejects.toMatchObject({
          code: "TASKGATE_SCHEMA_EDITED",
          message:
            "Migration 1 (baseline) differs from the one this database was made with. Put the file back as it was released, and what is to change into a new migration with the next number.",
        });
      },
    );
  });

  test.each([
    "Upper",
    "with-dash",
    "1st",
    "",
    "a b",
    'x"; drop schema taskgate; --',
    "x".repeat(64),
    "public",
    "information_schema",
    "pg_taskgate",
  ])("the schema name %j, as every other way to the database does", async (schema) => {
    await inEmptyDatabase(async (url) => {
      const refusal = {
        code: "TASKGATE_ARG_INVALID",
        message: expect.stringMatching(
          /^Expected `schema` to be lower case letters, digits and _.* Choose another name for it \(TASKGATE_SCHEMA\)/,
        ) as unknown,
      };
      await expect(migrateStore({ url, schema })).rejects.toMatchObject(refusal);
      await expect(checkStoreSchema({ url, schema })).rejects.toMatchObject(refusal);
      const open = () =>
        openStore({ url, schema, connectionsMax: 1, random: realRandom, sleep: sleep });
      expect(open).toThrow(expect.objectContaining(refusal));
      const setting = { TASKGATE_DATABASE_URL: url, TASKGATE_SCHEMA: schema };
      if (schema !== "") expect(() => loadSettings(setting)).toThrow("TASKGATE_SCHEMA: expected");
    });
  });

  test("a schema that holds other things, and drops none of them", async () => {
    await inEmptyDatabase(async (url) => {
      await rowsOf(url, "create schema app");
      await rowsOf(url, "create function app.theirs() returns int language sql as 'select 1'");

      const refusal = (name: string) => ({
        code: "TASKGATE_ARG_INVALID",
        message: `Expected \`schema\` to name one that is Taskgate's, or empty, or missing, got \`app\`, which has no schema_version of Taskgate's but \`${name}\`. Choose another name for it (TASKGATE_SCHEMA)`,
      });
      await expect(migrateStore({ url, schema: "app" })).rejects.toMatchObject(refusal("theirs"));
      // Whoever only looks says the same, and not that a migration is missing.
      await expect(checkStoreSchema({ url, schema: "app" })).rejects.toMatchObject(
        refusal("theirs"),
      );
      await rowsOf(url, "create table app.schema_version (id text)");
      for (const look of [migrateStore, checkStoreSchema])
        await expect(look({ url, schema: "app" })).rejects.toMatchObject(refusal("schema_version"));
      expect(await rowsOf(url, "select app.theirs() as n")).toEqual([{ n: 1 }]);
    });
  });
});

describe("a server in which calls would fail later isn't migrated", () => {
  test.each(["LATIN1", "SQL_ASCII"])(
    "a server with a database of the encoding %s isn't migrated",
    async (encoding) => {
      const look = async (url: string): Promise<void> => {
        const { code, text } = await cli("migrate", "--db", url);
        expect({ code, text }).toEqual({
          code: 2,
          text: expect.stringContaining(`expected the encoding UTF8, got ${encoding}`) as unknown,
        });
        const made = "select 1 from pg_namespace where nspname = 'taskgate'";
        expect(await rowsOf(url, made)).toEqual([]);
      };
      await inEmptyDatabase(look, `encoding '${encoding}' locale 'C'`);
    },
  );

  test("a server of a version before 15 isn't migrated", () => {
    const encoding = "UTF8";
    expect(problemsOfServer({ version: "14.23 (Debian 14.23-1)", encoding })).toEqual([
      "server: expected PostgreSQL 15 or later, got 14.23 (Debian 14.23-1)",
    ]);
    for (const version of ["15.0", "18.4", "19devel"])
      expect(problemsOfServer({ version, encoding })).toEqual([]);
  });
});

describe("what fails beside the database says so itself", () => {
  test("a folder of scripts that is missing, while the database answers", async () => {
    await inEmptyDatabase(async (url) => {
      const attempt = withPostgresMigrations({ url }, (target) =>
        migrate(target, readScripts(join(__dirname, "no-such-folder"), "\n"), "0.2.0"),
      );
      await expect(attempt).rejects.toMatchObject({
        code: "ENOENT",
        message: expect.stringContaining("no-such-folder") as unknown,
      });
    });
  });

  test("a database that can't be reached is the only one that can't be reached", async () => {
    const attempt = migrateStore({ url: "postgres://nobody@127.0.0.1:1/none" });
    await expect(attempt).rejects.toMatchObject({
      code: "TASKGATE_STORE_UNAVAILABLE",
      message: expect.stringContaining("PostgreSQL can't be reached") as unknown,
    });
  });
});

describe("versions", () => {
  const scripts = postgresScripts();
  const row = (version: number, clientVersionMin: string): SchemaVersion => ({
    version,
    name: `m${String(version)}`,
    checksum: "x",
    clientVersionMin,
  });
  const known = scripts.migrations.map((script) => row(script.version, "0.0.0"));

  test.each([
    ["0.1.0", "0.1.0", 0],
    ["0.1.0", "0.2.0", -1],
    ["0.10.0", "0.9.0", 1],
    ["1.0.0", "0.99.99", 1],
    ["1.2.3", "1.2.10", -1],
    ["0.2.0-pre", "0.2.0", 0],
    ["0.2.0-pre", "0.2.1", -1],
    ["0.2.1", "0.2.0-pre", 1],
  ])("the version %s is compared with %s by its numbers", (left, right, sign) => {
    expect(Math.sign(compareVersions(left, right))).toBe(sign);
  });

  test("an own migration that is still to apply brings the own procedures, over those of any release", async () => {
    const script = (version: number, name: string) => ({
      ...row(version, "0.0.0"),
      name,
      text: "",
    });
    const scripts = {
      migrations: [script(1, "m1"), script(2, "m2")],
      logic: script(0, "logic"),
    };
    const applied: string[] = [];
    const versions = [{ ...script(0, "logic 9.0.0"), checksum: "newer" }, script(1, "m1")];
    const target = {
      readVersions: () => Promise.resolve(versions),
      apply: ({ name }: { name: string }) => Promise.resolve(void applied.push(name)),
      isIntact: () => Promise.resolve(true),
    };
    await migrate(target, scripts, "0.2.0");
    expect(applied).toEqual(["m2", "logic 0.2.0"]);
  });

  test("code of exactly the oldest version that a schema serves may work", () => {
    expect(() => {
      checkSchema([...known, row(2, "1.4.0")], scripts, "1.4.0");
    }).not.toThrow();
    expect(() => {
      checkSchema([...known, row(2, "1.4.0")], scripts, "1.3.9");
    }).toThrow(
      "The schema (m2) serves Taskgate 1.4.0 and later, this is 1.3.9. Deploy a newer version.",
    );
  });

  test("a migration whose name isn't NNNN_what.sql is refused by name", () => {
    expect(() => readScripts(`${__dirname}/fixtures/bad-name`, "\n")).toThrow(
      "Expected migrations to be named NNNN_what.sql, got `1_short.sql`",
    );
  });

  test("an order.txt that leaves a file out, names a missing one or one twice is refused with all of them", () => {
    const folder = mkdtempSync(join(tmpdir(), "taskgate-order-"));
    try {
      for (const sub of ["migrations", "functions"]) mkdirSync(join(folder, sub));
      for (const file of ["functions/a.sql", "functions/b.sql", "roles.sql"])
        writeFileSync(join(folder, file), `-- ${file}`);
      writeFileSync(
        join(folder, "order.txt"),
        "# comment\nfunctions/b.sql\nfunctions/a.sql\nroles.sql\n",
      );
      expect(listLogic(folder)).toEqual(["functions/b.sql", "functions/a.sql", "roles.sql"]);
      expect(readScripts(folder, "\n").logic.text).toMatch(/^-- functions\/b\.sql\n/);
      // A folder's line: each file of it, by name.
      writeFileSync(join(folder, "order.txt"), "roles.sql\nfunctions/\n");
      expect(listLogic(folder)).toEqual(["roles.sql", "functions/a.sql", "functions/b.sql"]);
      writeFileSync(join(folder, "order.txt"), "functions/b.sql\nfunctions/\nroles.sql\n");
      expect(() => listLogic(folder)).toThrow(/ but it names functions\/b\.sql twice$/);
      writeFileSync(
        join(folder, "order.txt"),
        "functions/a.sql\nfunctions/c.sql\nroles.sql\nroles.sql\n",
      );
      expect(() => readScripts(folder, "\n")).toThrow(
        "Expected order.txt to list every file of the logic once, but it leaves out functions/b.sql; there is no file functions/c.sql; it names roles.sql twice",
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test("a migration that waits for another one says so, beside the bounds of a database too, and goes on when that one has ended", async () => {
  await inEmptyDatabase(async (url) => {
    let isTold: () => void = () => undefined;
    const told = new Promise<void>((resolve) => (isTold = resolve));
    const lines: string[] = [];
    const output = {
      line: (text: string) => void lines.push(text),
      error: (text: string) => {
        lines.push(text);
        isTold();
      },
      columns: null,
    };
    await withClient(url, async (other) => {
      // Bounds for calls end no migration.
      for (const bound of ["statement_timeout", "lock_timeout"])
        await other.query(
          `do $$ begin execute format('alter database %I set ${bound} = 1000', current_database()); end $$`,
        );
      // The lock of a migration that another process has under way.
      await other.query("select pg_advisory_lock(44, hashtext('taskgate'))");
      const words = ["migrate", "--db", url];
      const migrating = runCli({ words, environment: {}, folder: "/", output });
      await told;
      await other.query("select pg_advisory_unlock_all()");
      expect(await migrating).toBe(0);
    });
    expect(lines[0]).toMatch(/^Still migrating after \d+ s. Another migration, .* in its way\.$/);
    expect(lines.at(-1)).toMatch(/^Applied 0001_baseline\.$/m);
  });
});
