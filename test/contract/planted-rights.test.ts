import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
// The driver must see errors of sockets here as it does outside jest.
import "../support/node-errors";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import type { SimulatedServer } from "../tsql-server/tds/simulated-server";
import { define } from "../support/builders";
import { calledIn, CallRecord, recordCalls } from "../support/call-record";
import { postgresSetup } from "../support/postgres-setup";
import { loginNames } from "../support/roles";
import { simulatedMssqlSetup, startSimulated } from "../support/simulated-mssql-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { createTestDatabase } from "../support/test-postgres";
import { callsOfOthers, doSomeWork, operatorCalls } from "./rights-scene";

/* Goal: what rights.contract.ts says of rights would be red if a right were missing, or if an owner had made the calls. */

interface Planted {
  readonly title: string;
  /** Takes the right away, and gives it back. */
  readonly revoke: string;
  readonly grant: string;
  /** What the database says then, to the worker or to the operator. */
  readonly refusal: RegExp;
  readonly call?: keyof typeof operatorCalls;
}

const planted: Record<"postgres" | "mssql", readonly Planted[]> = {
  postgres: [
    {
      title: "a worker's function",
      revoke: "revoke execute on function taskgate.enqueue_tasks from taskgate_worker",
      grant: "grant execute on function taskgate.enqueue_tasks to taskgate_worker",
      refusal: /permission denied for function enqueue_tasks/,
    },
    {
      title: "the schema",
      revoke: "revoke usage on schema taskgate from taskgate_worker",
      grant: "grant usage on schema taskgate to taskgate_worker",
      refusal: /permission denied for schema taskgate/,
    },
    {
      title: "an operator's function",
      revoke: "revoke execute on function taskgate.set_limit from taskgate_operator",
      grant: "grant execute on function taskgate.set_limit to taskgate_operator",
      refusal: /permission denied for function set_limit/,
      call: "setLimit",
    },
  ],
  mssql: [
    {
      title: "a worker's procedure",
      revoke: "REVOKE EXECUTE ON OBJECT::Taskgate.EnqueueTasks FROM TaskgateWorker;",
      grant: "GRANT EXECUTE ON OBJECT::Taskgate.EnqueueTasks TO TaskgateWorker;",
      refusal: /EXECUTE permission was denied on the object 'EnqueueTasks'/,
    },
    {
      title: "a type that a worker's procedure declares a variable of",
      revoke: "REVOKE EXECUTE ON TYPE::Taskgate.KeyLockList FROM TaskgateWorker;",
      grant: "GRANT EXECUTE ON TYPE::Taskgate.KeyLockList TO TaskgateWorker;",
      refusal: /EXECUTE permission was denied on the object 'KeyLockList'/,
    },
    {
      title: "an operator's procedure",
      revoke: "REVOKE EXECUTE ON OBJECT::Taskgate.SetLimit FROM TaskgateOperator;",
      grant: "GRANT EXECUTE ON OBJECT::Taskgate.SetLimit TO TaskgateOperator;",
      refusal: /EXECUTE permission was denied on the object 'SetLimit'/,
      call: "setLimit",
    },
  ],
};

function describeMissing(setup: StoreSetup): void {
  let opened: TestStore;
  beforeAll(async () => {
    opened = await setup.open();
  });
  afterAll(() => setup.close());

  const each = planted[setup.dialect === "mssql" ? "mssql" : "postgres"];
  for (const { title, revoke, grant, refusal, call } of each) {
    test(`the roles' call is refused without the right, and works with it: ${title}`, async () => {
      const { worker, operator } = opened.roles;
      const name = await define(worker);
      const attempt = async (): Promise<unknown> =>
        call === undefined ? doSomeWork(worker) : operatorCalls[call]?.(operator, name);
      await opened.raw(revoke);
      await expect(attempt()).rejects.toMatchObject({
        code: "TASKGATE_STORE_FORBIDDEN",
        message: expect.stringMatching(refusal) as unknown,
      });
      await opened.raw(grant);
      await expect(attempt()).resolves.toBeDefined();
    });
  }
}

describe("a right that is missing on PostgreSQL", () => {
  describeMissing(postgresSetup());
});
describe("a right that is missing on the simulated SQL Server", () => {
  describeMissing(simulatedMssqlSetup());
});

describe("a product's call over the owner's connection", () => {
  let server: SimulatedServer;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  const stores: TaskStore[] = [];
  beforeAll(async () => {
    [server, database] = await Promise.all([startSimulated(), createTestDatabase()]);
  });
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });
  afterAll(async () => {
    await server.close();
    await database.drop();
  });

  const record = recordCalls();
  for (const dialect of ["postgres", "mssql"] as const) {
    test(`a call over the owner's connection is in the record (${dialect}), whether a store makes it or a statement`, async () => {
      const url = dialect === "mssql" ? server.url : database.url;
      const { username } = new URL(url);
      const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
      stores.push(store);
      await store.sweep({ max: 1 });
      const statement =
        dialect === "mssql"
          ? "COMMIT TRANSACTION; EXEC Taskgate.ListBatches NULL, NULL, 1; BEGIN TRANSACTION;"
          : "select * from taskgate.list_batches(null, null, 1)";
      await store.transaction((transaction) => transaction.query(statement));
      const others = new Map(callsOfOthers(record));
      expect(others.get(username)).toEqual(["listBatches", "sweep"]);
    });
  }
});

describe("the record of calls", () => {
  test("the record of calls knows a call from what defines, changes or grants an operation", () => {
    for (const [statement, called] of [
      ["select * from taskgate.work($1::bigint)", ["work"]],
      ['select * from "other".work($1::bigint)', ["work"]],
      ["Taskgate.Work", ["work"]],
      ["DECLARE @v int; EXEC Taskgate.SetLimit N'a', 1;", ["setLimit"]],
      ["execute [Taskgate].[Sweep] 1", ["sweep"]],
      ["select taskgate._now()", []],
      ["SELECT 1 FROM Taskgate.Task", []],
      [
        "-- x\ncreate or replace function taskgate.work(p bigint) as $$ select taskgate.sweep(1) $$",
        [],
      ],
      ["CREATE OR ALTER PROCEDURE Taskgate.Work AS EXEC Taskgate.Sweep 1;", []],
      ["grant execute on function taskgate.work(bigint) to x", []],
    ] as const)
      expect([statement, calledIn(statement)]).toEqual([statement, called]);
  });

  test("the record of calls keeps logins apart", () => {
    const record = new CallRecord();
    record.note(loginNames.worker, "Taskgate.Work");
    expect(callsOfOthers(record)).toEqual([]);
    record.note("sa", "Taskgate.Sweep");
    expect(callsOfOthers(record)).toEqual([["sa", ["sweep"]]]);
  });
});
