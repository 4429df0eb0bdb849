import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import { operatorOperations } from "../../shared/store/missing-right";
import { operations, toPascalCase, toSnakeCase } from "../../shared/store/operations";
import type { OperationName } from "../../shared/store/operations";
import { at, define, done, enqueue, operationId, startWorker, statusOf } from "../support/builders";
import { loginNames, roles } from "../support/roles";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { inDialect } from "./two-dialects";

/** What a login with one role may do, and no more; the whole suite calls as such logins. */
export function describeRights(setup: StoreSetup): void {
  describe("a login with the worker's role only", () => {
    describeWorker(setup);
  });
  describe("a login with one role only", () => {
    describeEither(setup);
  });
}

/** Each operation of operators, with input that nothing is wrong with. */
type OperatorCall = (store: TaskStore, name: string) => Promise<unknown>;

const changedBy = "me";
const operatorCalls: Readonly<Record<string, OperatorCall>> = {
  setLimit: (store, name) =>
    store.setLimit({ name, limit: 1, operationId: operationId(), changedBy }),
  setRate: (store, name) => store.setRate({ name, rate: "code", changedBy }),
  setSharedLimit: (store, name) =>
    store.setSharedLimit({ name, limit: 1, operationId: operationId(), changedBy }),
  pauseDefinition: (store, name) => store.pauseDefinition({ name, changedBy }),
  resumeDefinition: (store, name) => store.resumeDefinition({ name, changedBy }),
  resumeBatch: (store, name) => batchOf(store, name).then((batch) => store.resumeBatch(batch)),
  cancelBatch: (store, name) => batchOf(store, name).then((batch) => store.cancelBatch(batch)),
  checkInvariants: (store) => store.checkInvariants(),
  cancelTasks: async (store, name) => store.cancelTasks({ taskIds: await enqueue(store, name, 1) }),
  redriveTasks: (store, name) => store.redriveTasks({ name, kind: name, outcome: "dead", most: 1 }),
  rescheduleTasks: async (store, name) =>
    store.rescheduleTasks({ taskIds: await enqueue(store, name, 1), to: { runInMs: 1 } }),
  setGroup: (store, name) =>
    store.setGroup({ name, groupKey: "g", groupScope: "definition", slots: 1, changedBy }),
  setSchedulePaused: async (store, name) => {
    const schedule = { name: "s", kind: name, cron: "@daily", timeZone: "UTC" };
    const more = { missed: "once", payload: null, group: null, nextRunAt: null } as const;
    const schedules = [{ ...schedule, ...more }];
    await store.setSchedules({ name, build: 1, changedBy, schedules });
    const input = { name, schedule: "s", nextRunAt: null, changedBy };
    return store.setSchedulePaused({ ...input, paused: true });
  },
  setWatermark: (store, name) => {
    const change = { changedBy, operationId: operationId() };
    return store.setWatermark({ name, watermark: "w", value: "[1]", ...change });
  },
};

/** What workers make is made by whoever calls. */
async function batchOf(store: TaskStore, name: string) {
  const input = { operationId: operationId(), name, failurePolicy: "halt", waves: 1 } as const;
  const { batchId } = await store.createBatch(input);
  return { batchId };
}

function describeWorker(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "rights")("every operation of operators is tried here", () => {
    expect(Object.keys(operatorCalls).sort()).toEqual([...operatorOperations].sort());
    return Promise.resolve();
  });

  for (const [operation, call] of Object.entries(operatorCalls)) {
    testWith(setup, "rights")(
      `is refused ${operation}, and told of the operator's role; an operator's login alone may call it`,
      async () => {
        const { worker, operator } = open().roles;
        const name = await define(worker);
        const [named, fix] =
          setup.dialect === "mssql"
            ? [toPascalCase(operation), "ALTER ROLE TaskgateOperator ADD MEMBER [USER]"]
            : [toSnakeCase(operation), "grant taskgate_operator to LOGIN"];
        await expect(call(worker, name)).rejects.toMatchObject({
          code: "TASKGATE_STORE_FORBIDDEN",
          message: expect.stringMatching(
            new RegExp(`\\b${named}\\b.*\\. Only operators may do that: .*${escaped(fix)}`, "u"),
          ) as unknown,
        });
        await call(operator, name);
      },
    );
  }
}

function describeEither(setup: StoreSetup): void {
  const open = useStore(setup);
  const refused = setup.dialect === "mssql" ? { number: 229 } : { code: "42501" };
  const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";

  for (const role of roles) {
    testWith(setup, "rights")(`(${role}) does the work of a worker`, async () => {
      const store = open().roles[role];
      const name = await define(store, { limit: 2 });
      await enqueue(store, name, [{ group: "g" }, { runInMs: 1 }, { dedupeKey: "k" }]);
      const worker = await startWorker(store, name, { want: 2 });
      const claimed = await worker.claim(2);
      await worker.complete(claimed.slice(0, 1));
      const last = { executionId: worker.executionId, ...done(at(claimed, 1)) };
      await store.transaction((transaction) => store.completeTask(last, transaction));
      await worker.finish();
      expect(await statusOf(store, name)).toMatchObject({ done: 2, claimed: 0 });
    });

    for (const [what, sql] of [
      ["read", "SELECT task_id FROM taskgate.task"],
      ["add to", "INSERT INTO taskgate.shared_limit (name) VALUES ('x')"],
      ["change", "UPDATE taskgate.task SET kind = kind"],
      ["delete from", "DELETE FROM taskgate.ready"],
    ] as const) {
      testWith(setup, "rights")(`(${role}) can't ${what} a table`, async () => {
        const statement = inDialect(dialect, sql, new Map());
        const call = open().roles[role].transaction((within) => within.query(statement));
        await expect(call).rejects.toMatchObject(refused);
      });
    }

    testWith(setup, "rights")(`(${role}) reads the log and the schema's version`, async () => {
      const [log, versions] =
        dialect === "mssql"
          ? ["Taskgate.vExecutionLog", "Taskgate.SchemaVersion"]
          : ["taskgate.v_execution_log", "taskgate.schema_version"];
      const rows = await open().roles[role].transaction(async (within) => [
        await within.query(`SELECT COUNT(*) AS n FROM ${log}`),
        await within.query(`SELECT COUNT(*) AS n FROM ${versions}`),
      ]);
      const [logged, known] = rows.map(([row]) => Number(row?.["n"]));
      expect(logged).toBe(0);
      expect(known).toBeGreaterThan(0);
    });
  }
}

/**
 * Nobody but the logins called an operation: an owner's connection would have proved nothing about rights. And each
 * login called all that its role is for, so that nothing was left untried.
 */
export function describeWhoCalled(setup: StoreSetup): void {
  const { record } = setup;
  if (record === undefined) return;
  describe("whoever called an operation in this suite", () => {
    test("had a login with one role: the owner's connection called none", () => {
      const others = record.users.filter((user) => !Object.values(loginNames).includes(user));
      expect(others.map((user) => [user, record.callsOf(user)])).toEqual([]);
    });

    test("was a worker for each operation of workers, and an operator for each one of operators", () => {
      const all = Object.keys(operations) as OperationName[];
      const isOperators = (name: OperationName) => operatorOperations.includes(name);
      expect(record.callsOf(loginNames.worker)).toEqual(
        expect.arrayContaining(all.filter((name) => !isOperators(name))),
      );
      expect(record.callsOf(loginNames.operator)).toEqual(
        expect.arrayContaining(all.filter(isOperators)),
      );
    });
  });
}

function escaped(text: string): string {
  return text.replace(/[[\]]/g, "\\$&");
}
