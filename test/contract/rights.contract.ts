import { describe, expect, test } from "@jest/globals";
import { operatorOperations } from "../../shared/store/missing-right";
import { operations } from "../../shared/store/operations";
import { toPascalCase, toSnakeCase } from "../../shared/store/operations/operation";
import type { OperationName } from "../../shared/store/operations";
import { define } from "../support/builders";
import { loginNames, roles } from "../support/roles";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { callsOfOthers, doSomeWork, operatorCalls } from "./rights-scene";
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

function describeWorker(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const [operation, call] of Object.entries(operatorCalls)) {
    testWith(setup, "rights")(
      `a login with the worker's role alone is refused ${operation}, and told of the operator's role; an operator's login may call it`,
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
    testWith(setup, "rights")(
      `a login with one role (${role}) does the work of a worker`,
      async () => {
        expect(await doSomeWork(open().roles[role])).toMatchObject({ done: 2, claimed: 0 });
      },
    );

    for (const [what, sql] of [
      ["read", "SELECT task_id FROM taskgate.task"],
      ["add to", "INSERT INTO taskgate.shared_limit (name) VALUES ('x')"],
      ["change", "UPDATE taskgate.task SET kind = kind"],
      ["delete from", "DELETE FROM taskgate.ready"],
    ] as const) {
      testWith(setup, "rights")(
        `a login with one role (${role}) can't ${what} a table`,
        async () => {
          const statement = inDialect(dialect, sql, new Map());
          const call = open().roles[role].transaction((within) => within.query(statement));
          await expect(call).rejects.toMatchObject(refused);
        },
      );
    }

    testWith(setup, "rights")(
      `a login with one role (${role}) reads the log and the schema's version`,
      async () => {
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
      },
    );
  }
}

/**
 * Only the logins called an operation: an owner's connection would have proved nothing about rights. And each
 * login called all that its role is for, so that nothing was left untried.
 */
export function describeWhoCalled(setup: StoreSetup): void {
  const { record } = setup;
  if (record === undefined) return;
  describe("the logins that called operations in this suite", () => {
    test("each login that called operations had one role: the owner's connection called none", () => {
      expect(callsOfOthers(record)).toEqual([]);
    });

    test("each operation of workers was called by a worker's login, and each one of operators by an operator's", () => {
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
