// The driver must see errors of sockets here as it does outside jest.
import "../support/node-errors";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { defineSqlTask } from "../../shared/worker/define/define-sql-task";
import type { SimulatedServer } from "../tsql-server/tds/simulated-server";
import { at, factsOf } from "../support/builders";
import { urlAs } from "../support/roles";
import { startSimulated } from "../support/simulated-mssql-setup";
import { openWorkerBench } from "../unit/worker/worker-bench";

/* Stored procedures as tasks through the unchanged driver and TDS, on the model of SQL Server. */
let server: SimulatedServer;
let owner: TaskStore;
let store: TaskStore;

beforeAll(async () => {
  server = await startSimulated();
  server.reset();
  owner = openStore({ url: server.url, connectionsMax: 1, random: realRandom, sleep });
  // As the app is, with no more than its own procedure and what this test looks at.
  const url = urlAs(server.url, "app");
  store = openStore({ url, connectionsMax: 3, random: realRandom, sleep });
  const scripts = [
    "CREATE TABLE dbo.Calls (Id int NOT NULL PRIMARY KEY, Note nvarchar(100) NULL);",
    `CREATE PROCEDURE dbo.AddCall @Id int, @Note nvarchar(100) = NULL AS
     BEGIN
       SET NOCOUNT ON;
       INSERT INTO dbo.Calls (Id, Note) VALUES (@Id, @Note);
       SELECT @Id AS Id, @Note AS Note;
     END;`,
    "GRANT EXECUTE ON OBJECT::dbo.AddCall TO TaskgateWorker;",
  ];
  for (const text of scripts) await owner.transaction((transaction) => transaction.query(text));
}, 60_000);

afterAll(async () => {
  await Promise.all([store, owner].map((open) => open.close()));
  await server.close();
});

const procedures = ["dbo.AddCall"];

const kind = defineSqlTask({ name: "calls", procedures, retry: { attempts: 1 }, leaseMs: 1_000 });

const addCall = (id: number, note: string) => ({
  procedure: "dbo.AddCall",
  parameters: { Id: id, Note: note },
});

const notes = (): Promise<Record<string, unknown>[]> =>
  owner.transaction((transaction) =>
    transaction.query("SELECT c.Id, c.Note FROM dbo.Calls AS c ORDER BY c.Id;"),
  );

describe("a stored procedure as a task on T-SQL", () => {
  test("a stored procedure as a task runs with its parameters inside the completion; its first row is the result, its error the attempt's", async () => {
    const bench = openWorkerBench([kind], { store });
    const tasks = await bench.client.enqueueMany(kind, [
      addCall(1, "it's it"),
      addCall(1, "too late"),
    ]);
    await bench.work("calls");
    const done = await factsOf(store, at(tasks, 0).taskId);
    expect(done.state).toBe("done");
    expect(JSON.parse(done.result ?? "")).toEqual({ Id: 1, Note: "it's it" });
    const dead = await factsOf(store, at(tasks, 1).taskId);
    expect(dead.state).toBe("dead");
    expect(dead.error).toContain("Violation of PRIMARY KEY constraint");
    expect(await notes()).toEqual([{ Id: 1, Note: "it's it" }]);
  });

  test("a cancel request breaks off a statement that waits for a lock", async () => {
    const bench = openWorkerBench([kind], { store });
    const { taskId } = await bench.client.enqueue(kind, addCall(2, "never"));
    await owner.transaction(async (transaction) => {
      await transaction.query("INSERT INTO dbo.Calls (Id) VALUES (2);");
      const working = bench.work("calls");
      while ((await factsOf(store, taskId)).state !== "claimed") await sleep(10);
      await sleep(100);
      await store.cancelTasks({ taskIds: [taskId] });
      await working;
    });
    expect((await factsOf(store, taskId)).state).toBe("cancelled");
    expect(await notes()).toEqual([
      { Id: 1, Note: "it's it" },
      { Id: 2, Note: null },
    ]);
  });
});
