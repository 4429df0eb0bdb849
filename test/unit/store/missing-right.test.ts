import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { missingRight, operatorOperations } from "../../../shared/store/missing-right";
import { toPascalCase } from "../../../shared/store/operations/operation";
import { mapPostgresError } from "../../../shared/store/postgres/postgres-errors";

const roles = readFileSync(
  join(__dirname, "../../../shared/store/mssql/sql/roles.sql"),
  "utf8",
).replace(/--.*$/gm, "");

describe("a missing right", () => {
  test("operations of operators are those that SQL Server's roles.sql grants to them alone", () => {
    const grants = [...roles.matchAll(/GRANT EXECUTE ON OBJECT::Taskgate\.(\w+) TO ([\w, ]+);/g)];
    const alone = grants.filter((grant) => grant[2] === "TaskgateOperator");
    expect(alone.map((grant) => grant[1]).sort()).toEqual(
      operatorOperations.map(toPascalCase).sort(),
    );
    expect(grants.length).toBeGreaterThan(20);
  });

  test("both roles may read the schema's version on SQL Server", () => {
    expect(roles).toContain(
      "GRANT SELECT ON OBJECT::Taskgate.SchemaVersion TO TaskgateWorker, TaskgateOperator;",
    );
  });

  test("PostgreSQL's refusal is no missing schema: it names right, role and command", () => {
    const refuse = (message: string) =>
      mapPostgresError(Object.assign(new Error(message), { code: "42501" }), "sent");
    expect(refuse("permission denied for function pause_definition")).toMatchObject({
      code: "TASKGATE_STORE_FORBIDDEN",
      isRetryable: false,
      message:
        "The database refuses this to the login (permission denied for function pause_definition). Only operators may do that: as owner of the schema run `grant taskgate_operator to LOGIN`.",
    });
    expect(refuse("permission denied for table schema_version").message).toBe(
      "The database refuses this to the login (permission denied for table schema_version). As owner of the schema run `grant taskgate_worker to LOGIN` for an app, `grant taskgate_operator to LOGIN` for people. A login that has its role already lacks rights of a newer version, or does what only the owner may: run `npx taskgate migrate` with the owner's login.",
    );
  });

  test.each(["permission denied to create role", "keine Berechtigung, um Rolle zu erzeugen"])(
    "an owner who may not make the roles is told who can, in each language of a server: %s",
    (said) => {
      const error = Object.assign(new Error(said), { code: "42501", routine: "CreateRole" });
      const { message } = mapPostgresError(error, "sent");
      expect(message).toContain(`refuses this to the login (${said}). The first `);
      expect(message).toMatch(
        / `alter role LOGIN createrole`, .* `create role taskgate_worker; create role taskgate_operator`\.$/,
      );
    },
  );

  test("a function that isn't there is a missing schema", () => {
    const error = Object.assign(new Error("function taskgate.work does not exist"), {
      code: "42883",
    });
    expect(mapPostgresError(error, "sent")).toMatchObject({
      code: "TASKGATE_SCHEMA_MISSING",
      message:
        "The database lacks Taskgate's functions (function taskgate.work does not exist). Run `npx taskgate migrate`.",
      cause: error,
    });
  });

  test("the original error stays as the cause", () => {
    const cause = new Error("denied");
    expect(missingRight({ dialect: "mssql", said: "denied", cause }).cause).toBe(cause);
  });
});
