import { describe, expect, test } from "@jest/globals";
import { operations } from "../../../shared/store/operations";
import { toPascalCase } from "../../../shared/store/operations/operation";
import { runAlone } from "../../tsql-server/schedule/step";
import { callOf } from "../../tsql-server/engine/call";
import type { Connection } from "../../tsql-server/engine/connection";
import type { SqlValue } from "../../tsql-server/values";
import { engines } from "./engines";
import { plainDefinition } from "./plain-definition";
import { shippedWorld } from "./shipped-world";

/*
 * Sessions whose transactions are begun by SET IMPLICIT_TRANSACTIONS, as drivers with auto-commit off set it, or at level
 * SNAPSHOT: both start with the first statement that touches a table, and that may be the procedure's.
 */

class Caller {
  readonly world = shippedWorld(engines.azure);
  readonly connection: Connection = this.world.connect();

  constructor() {
    this.run("CREATE TABLE dbo.Mine (Id int NOT NULL CONSTRAINT PK_Mine PRIMARY KEY CLUSTERED);");
    this.call("RegisterDefinition", { Name: "mail", ...plainDefinition });
  }

  run(sql: string, connection = this.connection): SqlValue[][] {
    const answer = runAlone(connection, { kind: "batch", sql });
    const [error] = answer.errors;
    if (error !== undefined) throw error;
    return answer.rowSets.at(-1)?.rows ?? [];
  }

  call(name: string, values: Record<string, SqlValue>): Record<string, SqlValue> {
    const answer = runAlone(this.connection, callOf(this.world, `Taskgate.${name}`, values));
    const [error] = answer.errors;
    if (error !== undefined) throw error;
    return answer.objects()[0] ?? {};
  }

  error(name: string, values: Record<string, SqlValue>): number | undefined {
    const { errors } = runAlone(this.connection, callOf(this.world, `Taskgate.${name}`, values));
    return errors[0]?.number;
  }

  /** As others see it. */
  count(table: string): SqlValue | undefined {
    const other = this.world.connect();
    return this.run(`SELECT COUNT(*) FROM ${table};`, other)[0]?.[0];
  }
}

const enqueued = { Name: "mail", Build: 1, Tasks: '[{"payload":"{}"}]' };
const advanced = { ...enqueued, Watermark: "w", ExpectedVersion: 0, Value: "{}" };

/** A task that an execution has claimed, as CompleteTask names it. */
function claim(caller: Caller): Record<string, SqlValue> {
  caller.call("EnqueueTasks", enqueued);
  const started = caller.call("StartExecution", {
    ...{ Name: "mail", OperationId: "00000000-0000-0000-0000-00000000000a", Worker: "one" },
    ...{ Build: 1, SettingsHash: "h", Want: 1, NeedsReady: 0 },
  });
  const TaskExecutionId = started["TaskExecutionId"] ?? null;
  const worked = caller.call("Work", { TaskExecutionId, CallNumber: 1, Want: 1 });
  return { TaskExecutionId, TaskId: Number(worked["TaskIds"]), Fence: worked["Fence"] ?? null };
}

const joining = ["EnqueueTasks", "AdvanceWatermark", "CompleteTask"] as const;

/** Calls one of them, whose table of effects is then one row larger. */
const scenes: Readonly<
  Record<
    (typeof joining)[number],
    (caller: Caller) => { values: Record<string, SqlValue>; table: string }
  >
> = {
  EnqueueTasks: () => ({ values: enqueued, table: "Taskgate.Task" }),
  AdvanceWatermark: () => ({ values: advanced, table: "Taskgate.BlockWatermark" }),
  CompleteTask: (caller) => ({ values: claim(caller), table: "Taskgate.Archive" }),
};

describe("a session with IMPLICIT_TRANSACTIONS", () => {
  const alone = Object.values(operations).filter(
    ({ name }) => !(joining as readonly string[]).includes(toPascalCase(name)),
  );

  test.each(alone.map(({ name }) => toPascalCase(name)))(
    "%s refuses: its answer would be of a transaction that the session may roll back",
    (name) => {
      const caller = new Caller();
      caller.run("SET IMPLICIT_TRANSACTIONS ON;");
      const parameters = Object.values(operations).find((one) => toPascalCase(one.name) === name);
      const nulls = (parameters?.parameters ?? []).map(([of]) => [toPascalCase(of), null] as const);
      expect(caller.error(name, Object.fromEntries(nulls))).toBe(50490);
      expect(caller.connection.transactionCount).toBe(0);
    },
  );

  test.each(joining)("%s joins the transaction that it begins", (name) => {
    const caller = new Caller();
    const { values, table } = scenes[name](caller);
    const before = Number(caller.count(table));
    caller.run("SET IMPLICIT_TRANSACTIONS ON;");
    caller.call(name, values);
    expect(caller.connection.transactionCount).toBe(1);
    caller.run("ROLLBACK TRANSACTION;");
    expect(caller.count(table)).toBe(before);
    caller.call(name, values);
    caller.run("COMMIT TRANSACTION;");
    expect(caller.count(table)).toBe(before + 1);
  });
});

describe("a transaction at level SNAPSHOT", () => {
  test.each(joining)(
    "a transaction at level SNAPSHOT goes on behind %s as its first statement",
    (name) => {
      const caller = new Caller();
      const { values, table } = scenes[name](caller);
      const before = Number(caller.count(table));
      caller.run("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION;");
      caller.call(name, values);
      caller.run("INSERT INTO dbo.Mine (Id) VALUES (1); COMMIT TRANSACTION;");
      expect([caller.count("dbo.Mine"), caller.count(table)]).toEqual([1, before + 1]);
    },
  );
});
