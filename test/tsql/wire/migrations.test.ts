import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
// A reset connection must look here as it does outside jest.
import "../../support/node-errors";
import { realRandom } from "../../../shared/platform/real-clock";
import type { TaskStore } from "../../../shared/ports/task-store";
import { withMssqlMigrations } from "../../../shared/store/mssql/mssql-migrations";
import { migrate } from "../../../shared/store/migrator";
import type { MigrationResult, SchemaScripts } from "../../../shared/store/migrator";
import { mssqlScripts, openStore } from "../../../shared/store/open-store";
import { define, operationId } from "../../support/builders";
import { createGate } from "../../support/gate";
import type { FaultPoint } from "../../tsql-server/tds/faults";
import type { SimulatedServer } from "../../tsql-server/tds/simulated-server";
import { startTaskgateServer } from "./start-taskgate-server";
import { withMigration } from "../../migration/with-migration";

/* The product's migrator beside callers, on the simulated SQL Server, whose tables and procedures have locks of their definitions. */

let simulated: SimulatedServer;
let store: TaskStore;

beforeAll(async () => {
  simulated = await startTaskgateServer();
});
beforeEach(() => {
  const sleep = (): Promise<void> => Promise.resolve();
  store = openStore({ url: simulated.url, connectionsMax: 4, random: realRandom, sleep });
});
afterEach(async () => {
  simulated.server.setFault(undefined);
  await store.close();
  simulated.reset();
});
afterAll(() => simulated.close());

const apply = (scripts: SchemaScripts, lockTries = 2): Promise<MigrationResult> =>
  withMssqlMigrations({ url: simulated.url, lockTries }, (target) =>
    migrate(target, scripts, "0.2.0"),
  );

/** All scripts, with other logic. */
function withLogic(text: string): SchemaScripts {
  const scripts = mssqlScripts();
  return { ...scripts, logic: { ...scripts.logic, text, checksum: "another" } };
}

const oneTask = (name: string) => ({
  name,
  build: 1,
  operationId: operationId(),
  tasks: [{ payload: '{"n":1}' }],
});

/** The statements of a request; empty: it calls a procedure. */
function textOf(point: FaultPoint): string {
  return point.place === "request" && "sql" in point.request ? point.request.sql : "";
}

describe("migrate on SQL Server", () => {
  test("the command migrate gives way to an open transaction: no call waits behind it, and the error says what to do", async () => {
    const name = await define(store);
    const scripts = withMigration(mssqlScripts(), "ALTER TABLE Taskgate.Task ADD More int NULL;");
    await store.transaction(async (transaction) => {
      await store.enqueueTasks(oneTask(name), transaction);
      await expect(apply(scripts, 1)).rejects.toMatchObject({
        code: "TASKGATE_STORE_CONFLICT",
        message: expect.stringMatching(
          /^more wasn't applied\. Other sessions keep its tables locked\. Workers go on meanwhile\./,
        ),
      });
      expect((await store.enqueueTasks(oneTask(name))).outcomes).toEqual(["enqueued"]);
    });
    expect((await apply(scripts)).applied).toHaveLength(1);
  });

  test("a call that comes while a migration waits is answered when the migration has given way, within its own patience", async () => {
    const name = await define(store);
    const scripts = withMigration(mssqlScripts(), "ALTER TABLE Taskgate.Task ADD More2 int NULL;");
    await store.transaction(async (transaction) => {
      await store.enqueueTasks(oneTask(name), transaction);
      const isAltering = createGate();
      simulated.server.setFault((point) => {
        if (textOf(point).includes("More2")) isAltering.open();
        return undefined;
      });
      const attempt = apply(scripts, 1).then(() => "applied", String);
      await isAltering.opened;
      expect((await store.enqueueTasks(oneTask(name))).outcomes).toEqual(["enqueued"]);
      expect(await attempt).toMatch(/keep its tables locked/);
    });
  });

  test("an object of the logic that the server refuses is named by its batch, and nothing of the logic is changed", async () => {
    const { text } = mssqlScripts().logic;
    const broken = `CREATE OR ALTER VIEW Taskgate.Fine AS SELECT 'it''s' AS Word;\nGO\nCREATE OR ALTER VIEW Taskgate.Broken AS SELECT t.Nope AS Nope FROM Taskgate.Task AS t;\nGO\n${text}`;
    await expect(apply(withLogic(broken))).rejects.toMatchObject({
      code: "TASKGATE_STORE_CONTRACT",
      message: expect.stringMatching(/batch 2 \(`CREATE OR ALTER VIEW Taskgate\.Broken/),
    });
    const name = await define(store);
    expect((await store.enqueueTasks(oneTask(name))).outcomes).toEqual(["enqueued"]);
  });

  test("the logic takes a few round trips", async () => {
    const batches: string[] = [];
    simulated.server.setFault((point) => {
      batches.push(textOf(point));
      return undefined;
    });
    await apply(withLogic(`${mssqlScripts().logic.text}\n-- another text\n`));
    simulated.server.setFault(undefined);
    const made = batches.filter((sql) => sql.includes("CREATE OR ALTER"));
    expect(made.length).toBeGreaterThan(0);
    expect(made.length).toBeLessThan(6);
  });
});
