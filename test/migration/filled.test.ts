import { expect, test } from "@jest/globals";
import "../support/node-errors";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { migrate } from "../../shared/store/migrator";
import type { SchemaScripts } from "../../shared/store/migrator";
import { openStore, postgresScripts } from "../../shared/store/open-store";
import { PostgresCaller } from "../../shared/store/postgres/postgres-caller";
import { withPostgresMigrations } from "../../shared/store/postgres/postgres-migrations";
import { inEmptyDatabase, rowsOf } from "./empty-database";
import { migrateFilled, releasedScripts } from "./filled-release";

test("a PostgreSQL database that 0.2.0-pre filled is migrated under its worker, and both builds end all tasks", async () => {
  await inEmptyDatabase(async (url) => {
    const newest = postgresScripts();
    const apply = (scripts: SchemaScripts) =>
      withPostgresMigrations({ url }, (target) => migrate(target, scripts, "0.2.0"));
    await apply(releasedScripts(newest, "postgres"));
    const limits = { connectionsMax: 4, callTimeoutMs: 30_000, connectTimeoutMs: 15_000 };
    await migrateFilled({
      newest,
      caller: new PostgresCaller({ url, schema: "taskgate", ...limits }),
      apply,
      openNewest: () => openStore({ url, connectionsMax: 4, random: realRandom, sleep }),
    });
    expect(
      await rowsOf(url, "select version from taskgate.schema_version order by version"),
    ).toEqual(
      [0, ...newest.migrations.map(({ version }) => version)].map((version) => ({ version })),
    );
  });
}, 60_000);
