import { afterEach, describe, expect, jest, test } from "@jest/globals";
import sql from "mssql";
import { Connection } from "tedious";
import { StoreContractError } from "../../../shared/core/errors";
import type { StoreTransaction } from "../../../shared/ports/task-store";
import { fromMssql } from "../../../shared/store/from-mssql";
import { bindProcedure, bindValue, toAnswer } from "../../../shared/store/mssql/mssql-binding";
import { MssqlCaller } from "../../../shared/store/mssql/mssql-caller";
import { operations } from "../../../shared/store/operations";
import { parameterTypes } from "../../../shared/store/operations/operation";
import type { AnswerRow } from "../../../shared/store/operations/operation";
import { DriverBenches, until } from "../../tsql-server/tds/driver-bench";
import type { DriverBench } from "../../tsql-server/tds/driver-bench";
import { once, serverErrors } from "../../tsql-server/tds/faults";
import type { Fault, FaultPoint } from "../../tsql-server/tds/faults";
import { expectError } from "../../support/expect-error";

/*
 * What goes out is checked against the driver's own objects; faults come over real sockets, from a server that speaks TDS
 * and gives empty answers.
 */

const benches = new DriverBenches();
const callers: MssqlCaller[] = [];

afterEach(async () => {
  await Promise.all(callers.splice(0).map((caller) => caller.close()));
  await benches.close();
});

interface CallerOptions {
  query?: string;
  password?: string;
  callTimeoutMs?: number;
  connectTimeoutMs?: number;
  idleErrors?: Error[];
}

function callerOf(port: number, options: CallerOptions = {}): MssqlCaller {
  const caller = new MssqlCaller({
    url: `mssql://u:${options.password ?? "p"}@127.0.0.1:${String(port)}/d?${options.query ?? "encrypt=false"}`,
    connectionsMax: 1,
    callTimeoutMs: options.callTimeoutMs ?? 5_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    onIdleError: (error) => options.idleErrors?.push(error),
  });
  callers.push(caller);
  return caller;
}

function sweep(caller: MssqlCaller): Promise<unknown> {
  return caller.call(operations.sweep, { max: 1 });
}

/** The server has no rows to give: this error shows that a whole answer came. */
const answered = { code: "TASKGATE_STORE_CONTRACT", value: "got 0 sets" } as const;

function isCall(point: FaultPoint): boolean {
  return point.place === "request" && point.request.kind === "procedure";
}

/** How many connections have logged in: the pool's trial, and then each that it lends. */
function loginsAt({ server }: DriverBench): number {
  return server.log.filter((line) => line.includes(" login ")).length;
}

function transactionRequests({ engine }: DriverBench): number {
  return engine.requests.filter(({ kind }) => kind === "transaction").length;
}

describe("parameters", () => {
  test("every operation gets each of its parameters by name, with the declared type, null where none is given", () => {
    for (const procedure of Object.values(operations)) {
      const request = new sql.Request();
      bindProcedure(sql, request, { procedure, values: {} });
      const bound = Object.values(request.parameters);
      expect(bound.map(({ name, value }): unknown[] => [name, value])).toEqual(
        procedure.parameters.map(([name]) => [
          name.slice(0, 1).toUpperCase() + name.slice(1),
          null,
        ]),
      );
      expect(bound.map(declare)).toEqual(
        procedure.parameters.map(([, type]) => parameterTypes[type].mssql),
      );
    }
  });

  test("ids and fences travel as text, lists of them as JSON", () => {
    const request = new sql.Request();
    bindProcedure(sql, request, {
      procedure: operations.work,
      values: {
        taskExecutionId: "9007199254740993",
        callNumber: "2",
        doneTaskIds: ["9007199254740995", "4"],
        doneFences: [],
        doneDurationsMs: [5, 6],
        want: 7,
      },
    });
    const values = Object.values(request.parameters).map(({ value }): unknown => value);
    expect(values.slice(0, 5)).toEqual([
      "9007199254740993",
      "2",
      "[9007199254740995,4]",
      "[]",
      "[5,6]",
    ]);
    expect(values[7]).toBe(7);
  });

  test("a text that is longer than declared is refused, not cut", () => {
    const bind = (settingsHash: string) => () => {
      const values = { name: "n", settingsHash };
      bindProcedure(sql, new sql.Request(), { procedure: operations.startExecution, values });
    };
    expect(bind("x".repeat(64))).not.toThrow();
    expect(bind("x".repeat(65))).toThrow(/settingsHash: expected at most 64 characters/);
  });

  test.each([
    ["a text", "NVarChar", "a text"],
    [null, "NVarChar", null],
    [true, "Bit", true],
    [7, "Int", 7],
    [-(2 ** 31) + 1, "Int", -(2 ** 31) + 1],
    [2 ** 31, "BigInt", "2147483648"],
    [1.5, "Float", 1.5],
    [9007199254740993n, "BigInt", "9007199254740993"],
  ])("%p of a user's statement travels as %s", (value, type, sent) => {
    const bound = bindValue(sql, value);
    expect([nameOf(bound.type), bound.value]).toEqual([type, sent]);
  });

  test("an instant travels with milliseconds, and no number is infinite", () => {
    const at = new Date(5);
    expect(bindValue(sql, at)).toEqual({ type: sql.DateTime2(3), value: at });
    expect(() => bindValue(sql, Infinity)).toThrow(/finite/);
  });
});

describe("answers", () => {
  const columns = {
    Status: { type: sql.NVarChar },
    OperationId: { type: sql.UniqueIdentifier },
    TaskExecutionId: { type: sql.BigInt },
    Ready: { type: sql.Bit },
  };
  const row = {
    Status: "STARTED",
    OperationId: "0F8FAD5B-D9CB-469F-A165-70867728950E",
    TaskExecutionId: "9007199254740993",
    Ready: true,
    RetryInMs: null,
  };
  const answer = (...sets: Record<string, unknown>[][]): AnswerRow => {
    const recordsets = sets.map((rows) => Object.assign([...rows], { columns }));
    const result = { recordsets } as unknown as sql.IProcedureResult<Record<string, unknown>>;
    return toAnswer(sql, "startExecution", result);
  };

  test("the answers of SQL Server have names in camelCase and ids in lower case", () => {
    expect(answer([row])).toEqual({
      status: "STARTED",
      operationId: "0f8fad5b-d9cb-469f-a165-70867728950e",
      taskExecutionId: "9007199254740993",
      ready: true,
      retryInMs: null,
    });
  });

  test.each([
    ["no set", []],
    ["no row", [[]]],
    ["two rows", [[row, row]]],
    ["two sets", [[row], [row]]],
    ["an instant", [[{ ...row, At: new Date(0) }]]],
    ["two columns of one name", [[{ ...row, Ready: [true, false] }]]],
  ])("the answers with %s are outside the contract", (_, sets) => {
    expect(() => answer(...sets)).toThrow(StoreContractError);
  });
});

describe("a server that can't be reached", () => {
  test("a server without a listener is unavailable, with the reason", async () => {
    const { server } = await benches.serve();
    const { port } = server;
    await server.close();
    await expectError(sweep(callerOf(port)), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "ECONNREFUSED",
    });
  });

  test("a silent server is unavailable after the time-out for connecting", async () => {
    const { server } = await benches.serve();
    server.setFault(({ place }) =>
      place === "connect" ? { kind: "cut", at: "before", manner: "silence" } : undefined,
    );
    await expectError(sweep(callerOf(server.port, { connectTimeoutMs: 200 })), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "in 200ms",
    });
  });

  test.each(["fin", "rst"] as const)(
    "a server that cuts before and at the login is unavailable, and the next call is tried anew (%s)",
    async (manner) => {
      const { server } = await benches.serve();
      server.setFault(({ place, connection }) =>
        (connection === 1 && place === "prelogin") || (connection === 2 && place === "login")
          ? { kind: "cut", at: "before", manner }
          : undefined,
      );
      const caller = callerOf(server.port);
      await expectError(sweep(caller), { code: "TASKGATE_STORE_UNAVAILABLE" });
      await expectError(sweep(caller), { code: "TASKGATE_STORE_UNAVAILABLE" });
      await expectError(sweep(caller), answered);
    },
  );

  test("a server that refuses the login is unavailable, with the number that the driver doesn't tell", async () => {
    const { server } = await benches.serve();
    await expectError(sweep(callerOf(server.port, { password: "wrong" })), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "(18456): Login failed",
    });
  });

  test("a server whose answer to the login begins and stalls is unavailable, though the driver would wait for ever", async () => {
    const { server } = await benches.serve();
    server.setFault(({ place }) =>
      place === "login"
        ? { kind: "cut", at: "mid answer", tokens: 1, manner: "silence" }
        : undefined,
    );
    await expectError(sweep(callerOf(server.port, { connectTimeoutMs: 200 })), {
      code: "TASKGATE_STORE_UNAVAILABLE",
    });
  });

  test("a server that doesn't encrypt and should gets no login", async () => {
    const { server } = await benches.serve();
    await expectError(sweep(callerOf(server.port, { query: "encrypt=true" })), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "doesn't offer encryption",
    });
    expect(server.connectionCount).toBe(1);
    expect(server.log).toEqual([]);
  });
});

describe("a connection that breaks", () => {
  test.each(["fin", "rst"] as const)(
    "a connection that breaks under a call (%s) is uncertain, the process lives on, and the next call has a new one",
    async (manner) => {
      const { server } = await benches.serve();
      server.setFault(once(isCall, { kind: "cut", at: "executed", manner }));
      const idleErrors: Error[] = [];
      const caller = callerOf(server.port, { idleErrors });
      await expectError(sweep(caller), { code: "TASKGATE_STORE_UNCERTAIN" });
      await expectError(sweep(caller), answered);
      expect(idleErrors).toEqual([]);
    },
  );

  test("a connection that breaks between calls is told as idle, and the next call doesn't notice", async () => {
    const { server } = await benches.serve();
    const idleErrors: Error[] = [];
    const caller = callerOf(server.port, { idleErrors });
    await expectError(sweep(caller), answered);
    server.cutAll("fin");
    await until(() => idleErrors.length > 0);
    await expectError(sweep(caller), answered);
  });

  test("a stalled answer is given up, its connection closed, and the pool of one recovers", async () => {
    const bench = await benches.serve();
    const stall: Fault = { kind: "cut", at: "mid answer", tokens: 1, manner: "silence" };
    bench.server.setFault(once(isCall, stall));
    const caller = callerOf(bench.server.port, { callTimeoutMs: 100 });
    await expectError(sweep(caller), {
      code: "TASKGATE_STORE_UNCERTAIN",
      value: "no whole answer",
    });
    await expectError(sweep(caller), answered);
    expect(loginsAt(bench)).toBe(3);
  }, 15_000);

  test("a cancelled call is uncertain, and its connection isn't lent again, though the server confirmed", async () => {
    let waits = 1;
    const bench = await benches.serve(async ({ cancelled }) => {
      if (waits-- > 0) await cancelled;
      return {};
    });
    const caller = callerOf(bench.server.port, { callTimeoutMs: 100 });
    const error = { code: "TASKGATE_STORE_UNCERTAIN", value: "didn't answer" } as const;
    await expectError(sweep(caller), error);
    await expectError(sweep(caller), answered);
    expect(bench.server.log.filter((line) => line.endsWith(" attention"))).toHaveLength(1);
    expect(loginsAt(bench)).toBe(3);
  });

  test("a connection that breaks under the commit is uncertain; before it, nothing happened", async () => {
    const { server } = await benches.serve();
    const outcome = (at: number): Promise<unknown> => {
      let requests = 0;
      server.setFault((point) => {
        if (point.place !== "request" || point.request.kind === "batch") return undefined;
        requests += 1;
        return requests === at ? { kind: "cut", at: "before", manner: "fin" } : undefined;
      });
      return callerOf(server.port).transaction((transaction) => transaction.query("x"));
    };
    await expectError(outcome(1), { code: "TASKGATE_STORE_UNAVAILABLE" });
    await expect(outcome(2)).rejects.toThrow(/socket hang up|ECONNRESET|Connection lost/);
    await expectError(outcome(3), { code: "TASKGATE_STORE_UNCERTAIN" });
    await expect(outcome(4)).resolves.toEqual([]);
  });
});

describe("transactions", () => {
  test.each([
    ["by the server", { isCommitted: false, code: "TASKGATE_STORE_CONFLICT", value: "1205" }],
    [
      "by a COMMIT in its body",
      { isCommitted: true, code: "TASKGATE_STORE_CONTEXT", value: "with COMMIT" },
    ],
  ] as const)(
    "transactions that were ended %s run nothing more, and aren't reported as committed",
    async (_, { isCommitted, code, value }) => {
      let calls = 0;
      const bench = await benches.serve(({ events, session }) => {
        calls += 1;
        if (!isCommitted) {
          events.message(serverErrors.deadlock.message);
          session.rollBack(events);
          return { isFailed: true };
        }
        events.committed(session.transactionId);
        session.transactionId = 0n;
        return {};
      });
      const outcome = callerOf(bench.server.port).transaction(async (transaction) => {
        await transaction.query("one").catch(() => undefined);
        await expectError(transaction.query("two"), { code, value });
      });
      await expectError(outcome, { code, value });
      expect(calls).toBe(1);
      expect(transactionRequests(bench)).toBe(1);
    },
  );

  test("transactions leave no listener on their connection, however they end", async () => {
    const { server } = await benches.serve(({ events, session }) => {
      events.committed(session.transactionId);
      session.transactionId = 0n;
      return {};
    });
    const listening = jest.spyOn(Connection.prototype, "on");
    const caller = callerOf(server.port);
    for (let count = 0; count < 3; count += 1)
      await caller.transaction((transaction) => transaction.query("commit")).catch(() => undefined);
    const connections = listening.mock.contexts as Connection[];
    listening.mockRestore();
    expect(connections).not.toEqual([]);
    for (const one of connections) expect(one.listenerCount("rollbackTransaction")).toBe(0);
  });

  test("rethrow what their body throws, after a rollback, and end with it", async () => {
    const bench = await benches.serve();
    const mine = new Error("mine");
    let kept: StoreTransaction | undefined;
    const outcome = callerOf(bench.server.port).transaction((transaction) => {
      kept = transaction;
      throw mine;
    });
    await expect(outcome).rejects.toBe(mine);
    expect(bench.engine.requests.at(-1)).toMatchObject({ kind: "transaction", action: "rollback" });
    expect(transactionRequests(bench)).toBe(2);
    await expectError(kept?.query("late") ?? Promise.resolve(), {
      code: "TASKGATE_STORE_CONTEXT",
      value: "body has returned",
    });
  });

  test("transactions take statements that come at once one after the other", async () => {
    const texts: string[] = [];
    const { server } = await benches.serve(({ text }) => {
      texts.push(text);
      return {};
    });
    const both = await callerOf(server.port).transaction((transaction) =>
      Promise.all([transaction.query("one"), transaction.query("two")]),
    );
    expect(both).toEqual([[], []]);
    expect(texts).toEqual(["one", "two"]);
  });

  test("transactions of another store are refused", async () => {
    const foreign = { dialect: "postgres" as const, query: () => Promise.resolve([]) };
    const call = callerOf(1).call(operations.sweep, { max: 1 }, foreign);
    await expectError(call, { code: "TASKGATE_ARG_INVALID" });
  });

  test("transactions of the user's that haven't begun run nothing", async () => {
    const transaction = fromMssql(new sql.Transaction());
    await expect(transaction.query("insert")).rejects.toThrow(/not begun/);
    const call = callerOf(1).call(operations.sweep, { max: 1 }, transaction);
    await expectError(call, { code: "TASKGATE_STORE_CONTEXT" });
  });
});

test("a closed store is unavailable", async () => {
  const { server } = await benches.serve();
  const caller = callerOf(server.port);
  await caller.close();
  await expectError(sweep(caller), { code: "TASKGATE_STORE_UNAVAILABLE", value: "closed" });
  expect(server.connectionCount).toBe(0);
});

/** A bound parameter's type as SQL declares it. */
function declare(parameter: sql.IRequestParameters[string]): string {
  const name = nameOf(parameter.type).toLowerCase();
  if (name !== "nvarchar") return name;
  return `nvarchar(${parameter.length === sql.MAX ? "max" : String(parameter.length)})`;
}

function nameOf(type: (() => sql.ISqlType) | sql.ISqlType): string {
  const factory = typeof type === "function" ? type : type.type;
  return Object.entries(sql.TYPES).find(([, candidate]) => candidate === factory)?.[0] ?? "none";
}
