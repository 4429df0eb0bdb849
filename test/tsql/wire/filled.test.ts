import { test } from "@jest/globals";
// A reset connection must look here as it does outside jest.
import "../../support/node-errors";
import { realRandom, sleep } from "../../../shared/platform/real-clock";
import { MssqlCaller } from "../../../shared/store/mssql/mssql-caller";
import { withMssqlMigrations } from "../../../shared/store/mssql/mssql-migrations";
import { migrate } from "../../../shared/store/migrator";
import type { SchemaScripts } from "../../../shared/store/migrator";
import { mssqlScripts, openStore } from "../../../shared/store/open-store";
import { migrateFilled, releasedScripts } from "../../migration/filled-release";
import { SimulatedServer } from "../../tsql-server/tds/simulated-server";
import { engines } from "../shipped/engines";

test("a SQL Server database that 0.2.0-pre filled is migrated under its worker, and both builds end all tasks", async () => {
  const newest = mssqlScripts();
  const applyTo = (url: string, scripts: SchemaScripts) =>
    withMssqlMigrations({ url }, (target) => migrate(target, scripts, "0.2.0"));
  const simulated = await SimulatedServer.start({
    database: engines.azure,
    install: async (url) => void (await applyTo(url, releasedScripts(newest, "mssql"))),
  });
  const { url } = simulated;
  try {
    await migrateFilled({
      newest,
      caller: new MssqlCaller({
        url,
        connectionsMax: 4,
        callTimeoutMs: 30_000,
        connectTimeoutMs: 15_000,
      }),
      apply: (scripts) => applyTo(url, scripts),
      openNewest: () => openStore({ url, connectionsMax: 4, random: realRandom, sleep }),
      tick: (ms) => {
        simulated.world.clock += ms;
      },
    });
  } finally {
    await simulated.close();
  }
}, 120_000);
