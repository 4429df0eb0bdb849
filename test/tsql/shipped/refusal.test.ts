import { describe, expect, test } from "@jest/globals";
import { runAlone } from "../../tsql-server/schedule/step";
import type { SqlValue } from "../../tsql-server/values";
import { callOf } from "../../tsql-server/engine/call";
import type { ShippedFile } from "./shipped-world";
import { loadScript } from "../../tsql-server/engine/load";
import { shippedFiles, shippedWorld } from "./shipped-world";
import { engines } from "./engines";
import { plainDefinition } from "./plain-definition";
import type { SqlError } from "../../tsql-server/engine/sql-error";
import { World } from "../../tsql-server/engine/world";

/*
 * What a server refuses when the shipped files are installed, and to a user with only a shipped role: faults that are
 * planted there are found. The rules themselves are litmus tests, each with its source.
 */

/** Installs files and tells how the first refusal reads. */
function refusalOf(files: readonly ShippedFile[]): string | undefined {
  const world = new World(engines.azure);
  try {
    for (const file of files) loadScript(world, file.text, file.name);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}

function inFolder(file: ShippedFile): boolean {
  return !file.name.startsWith("migrations/") && file.name.includes("/");
}

describe("the installation", () => {
  const files = shippedFiles();

  test("the installation passes in the shipped order", () => {
    expect(refusalOf(files)).toBeUndefined();
  });

  test("the installation is refused with 208 in alphabetical order: inline functions come before what they call", () => {
    const rest = files.filter((file) => !inFolder(file));
    const sorted = files.filter(inFolder).sort((one, other) => (one.name < other.name ? -1 : 1));
    const migrations = rest.filter(({ name }) => name.startsWith("migrations/"));
    const roles = rest.filter(({ name }) => name === "roles.sql");
    expect(refusalOf([...migrations, ...sorted, ...roles])).toMatch(
      /functions\/_IsAsked\.sql:\d+ .*208 Invalid object name 'Taskgate\._OpenDemand'/,
    );
  });

  test("the installation is refused with 2715 without the migration of a type that a procedure declares", () => {
    const changed = files.map((file) => ({
      ...file,
      text: file.text.replace(/CREATE TYPE Taskgate\.KeyLockList [^;]*;/, ""),
    }));
    expect(refusalOf(changed)).toMatch(
      /2715 Column, parameter, or variable #\d+: Cannot find data type Taskgate\.KeyLockList/,
    );
  });

  test("the installation is refused with 15151 where a right is granted on a procedure that is gone", () => {
    expect(refusalOf(files.filter(({ name }) => name !== "procedures/Purge.sql"))).toMatch(
      /roles\.sql:\d+ .*15151 Cannot find the object 'Purge'/,
    );
  });
});

/** Calls procedures as a user with one role. */
class Member {
  readonly world: World;
  readonly #user: string;

  constructor(role: string, edit?: (file: ShippedFile) => string) {
    this.world = shippedWorld(engines.azure, edit);
    this.#user = `a ${role}`;
    const setUp = `CREATE USER [${this.#user}] WITHOUT LOGIN; ALTER ROLE ${role} ADD MEMBER [${this.#user}];`;
    loadScript(this.world, setUp, "set-up");
  }

  call(name: string, values: Record<string, SqlValue>): SqlError[] {
    const connection = this.world.connect();
    connection.user = this.#user;
    const { errors } = runAlone(connection, callOf(this.world, `Taskgate.${name}`, values));
    this.world.forget(connection);
    return errors;
  }

  enqueue(): SqlError[] {
    expect(this.call("RegisterDefinition", { Name: "A", ...plainDefinition })).toEqual([]);
    return this.call("EnqueueTasks", { Name: "A", Build: 1, Tasks: '[{"payload":"{}"}]' });
  }
}

/** roles.sql without what one of its lines grants. */
function without(line: string): (file: ShippedFile) => string {
  return ({ name, text }) => {
    if (name !== "roles.sql") return text;
    expect(text).toContain(line);
    return text.replace(line, "");
  };
}

describe("a member of TaskgateWorker", () => {
  test("a member of TaskgateWorker enqueues with the shipped rights", () => {
    expect(new Member("TaskgateWorker").enqueue()).toEqual([]);
  });

  test("a member of TaskgateWorker is refused with 229 where EXECUTE on a type is missing that the procedure declares", () => {
    const line = "GRANT EXECUTE ON TYPE::Taskgate.KeyLockList TO TaskgateWorker, TaskgateOperator;";
    const [error] = new Member("TaskgateWorker", without(line)).enqueue();
    expect(error).toMatchObject({
      number: 229,
      class: 14,
      state: 5,
      message:
        "The EXECUTE permission was denied on the object 'KeyLockList', database 'Simulated', schema 'Taskgate'.",
    });
  });

  test("a member of TaskgateWorker is refused with 229 where EXECUTE on the procedure is missing", () => {
    const line =
      "GRANT EXECUTE ON OBJECT::Taskgate.EnqueueTasks TO TaskgateWorker, TaskgateOperator;";
    const [error] = new Member("TaskgateWorker", without(line)).enqueue();
    expect(error?.message).toBe(
      "The EXECUTE permission was denied on the object 'EnqueueTasks', database 'Simulated', schema 'Taskgate'.",
    );
  });

  test("a member of TaskgateWorker may not do what operators may", () => {
    const pausedBy = (role: string): number[] => {
      const member = new Member(role);
      expect(member.enqueue()).toEqual([]);
      const errors = member.call("PauseDefinition", { Name: "A", ChangedBy: "x" });
      return errors.map(({ number }) => number);
    };
    expect(pausedBy("TaskgateWorker")).toEqual([229]);
    expect(pausedBy("TaskgateOperator")).toEqual([]);
  });
});
