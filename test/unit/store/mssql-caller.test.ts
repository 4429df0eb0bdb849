import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import sql from "mssql";
import { StoreContractError } from "../../../shared/core/errors";
import type { StoreTransaction } from "../../../shared/ports/task-store";
import {
  bindOperation,
  bindValue,
  MssqlCaller,
  toAnswer,
} from "../../../shared/store/mssql/mssql-caller";
import { operations, parameterTypes } from "../../../shared/store/operations";
import type { AnswerRow, OperationName } from "../../../shared/store/operations";
import { expectError } from "../../support/expect-error";

/*
 * What goes out is checked against the driver's own objects; faults come from real sockets. The server here knows just
 * enough of TDS to let the driver log in: packets of type 18 (before the login), 16 (login), 1 (batch), 3 (call).
 */

type Reply = Buffer | "cut" | "silence";
type Script = (type: number, message: Buffer) => Reply;

const packetTypes = {
  batch: 1,
  call: 3,
  answer: 4,
  attention: 6,
  transaction: 14,
  login: 16,
  before: 18,
};

/** One packet of an answer; with `isLast` false the driver waits for more. */
function packet(body: Buffer, isLast = true): Buffer {
  const head = Buffer.from([packetTypes.answer, isLast ? 1 : 0, 0, 0, 0, 0, 1, 0]);
  head.writeUInt16BE(body.length + 8, 2);
  return Buffer.concat([head, body]);
}

/** Ends a batch (0xFD) or a call (0xFE). */
function done(token: number, hasError = false): Buffer {
  const body = Buffer.alloc(13);
  body[0] = token;
  body.writeUInt16LE(hasError ? 2 : 0, 1);
  return body;
}

function serverError(number: number, text: string): Buffer {
  const message = Buffer.from(text, "utf16le");
  const body = Buffer.alloc(8 + message.length + 6);
  body.writeInt32LE(number, 0);
  body.writeUInt8(1, 4);
  body.writeUInt8(14, 5);
  body.writeUInt16LE(text.length, 6);
  message.copy(body, 8);
  const head = Buffer.from([0xaa, 0, 0]);
  head.writeUInt16LE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** The server tells that a transaction began (8), was committed (9) or rolled back (10). */
function changed(kind: 8 | 9 | 10): Buffer {
  const id = [8, 1, 0, 0, 0, 0, 0, 0, 0];
  return Buffer.from([0xe3, 11, 0, kind, ...(kind === 8 ? [...id, 0] : [0, ...id])]);
}

function begun(): Buffer {
  return Buffer.concat([changed(8), done(0xfd)]);
}

const noEncryption = packet(Buffer.from([1, 0, 6, 0, 1, 0xff, 2]));
const loginAck = Buffer.from([0xad, 10, 0, 1, 0x74, 0, 0, 4, 0, 16, 0, 0, 0]);
const loggedIn = packet(Buffer.concat([loginAck, done(0xfd)]));
const emptyCall = packet(done(0xfe));

/** Answers like a server with procedures that give nothing. */
function plain(type: number): Reply {
  if (type === packetTypes.before) return noEncryption;
  if (type === packetTypes.login) return loggedIn;
  return type === packetTypes.call ? emptyCall : packet(done(0xfd));
}

interface FakeServer {
  port: number;
  /** Types of the packets that came, in order. */
  types: number[];
}

const servers: { server: Server; sockets: Set<Socket> }[] = [];
const callers: MssqlCaller[] = [];

afterEach(async () => {
  await Promise.all(callers.splice(0).map((caller) => caller.close()));
  for (const { server, sockets } of servers.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(script: Script): Promise<FakeServer> {
  const sockets = new Set<Socket>();
  const types: number[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    let waiting = Buffer.alloc(0);
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      waiting = Buffer.concat([waiting, data]);
      // A packet: type, status, length (2 bytes, big-endian) with the head of 8.
      while (waiting.length >= 8 && waiting.length >= waiting.readUInt16BE(2)) {
        const message = waiting.subarray(0, waiting.readUInt16BE(2));
        waiting = waiting.subarray(message.length);
        const type = message.readUInt8(0);
        types.push(type);
        const reply = script(type, message);
        if (reply === "cut") socket.destroy();
        else if (reply !== "silence") socket.write(reply);
      }
    });
  });
  servers.push({ server, sockets });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return { port: (server.address() as AddressInfo).port, types };
}

interface CallerOptions {
  query?: string;
  callTimeoutMs?: number;
  connectTimeoutMs?: number;
  idleErrors?: Error[];
}

function callerOf(port: number, options: CallerOptions = {}): MssqlCaller {
  const caller = new MssqlCaller({
    url: `mssql://u:p@127.0.0.1:${String(port)}/d?${options.query ?? "encrypt=false"}`,
    connectionsMax: 1,
    callTimeoutMs: options.callTimeoutMs ?? 5_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    onIdleError: (error) => options.idleErrors?.push(error),
  });
  callers.push(caller);
  return caller;
}

function sweep(caller: MssqlCaller): Promise<unknown> {
  return caller.call("sweep", { most: 1 });
}

/** The fake has no rows to give: this error shows that a whole answer came. */
const answered = { code: "TASKGATE_STORE_CONTRACT", value: "got 0 sets" } as const;

describe("parameters", () => {
  test("every operation gets each of its parameters by name, with the declared type, null where none is given", () => {
    for (const operation of Object.keys(operations) as OperationName[]) {
      const request = new sql.Request();
      bindOperation(sql, request, { operation, values: {} });
      const bound = Object.values(request.parameters);
      expect(bound.map(({ name, value }): unknown[] => [name, value])).toEqual(
        operations[operation].map(([name]) => [
          name.slice(0, 1).toUpperCase() + name.slice(1),
          null,
        ]),
      );
      expect(bound.map(declare)).toEqual(
        operations[operation].map(([, type]) => parameterTypes[type].mssql),
      );
    }
  });

  test("ids and fences travel as text, lists of them as JSON", () => {
    const request = new sql.Request();
    bindOperation(sql, request, {
      operation: "work",
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
    const bind = (reason: string) => () => {
      const values = { name: "n", changedBy: "me", reason };
      bindOperation(sql, new sql.Request(), { operation: "pauseDefinition", values });
    };
    expect(bind("x".repeat(400))).not.toThrow();
    expect(bind("x".repeat(401))).toThrow(/reason: expected at most 400 characters/);
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

  test("have names in camelCase and ids in lower case", () => {
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
  ])("with %s are outside the contract", (_, sets) => {
    expect(() => answer(...sets)).toThrow(StoreContractError);
  });
});

describe("a server that can't be reached", () => {
  test("nobody listens: unavailable, with the reason", async () => {
    const { port } = await serve(plain);
    const listening = servers.pop();
    await new Promise((resolve) => listening?.server.close(resolve));
    await expectError(sweep(callerOf(port)), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "ECONNREFUSED",
    });
  });

  test("it is silent: unavailable after the time-out for connecting", async () => {
    const { port } = await serve(() => "silence");
    await expectError(sweep(callerOf(port, { connectTimeoutMs: 200 })), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "in 200ms",
    });
  });

  test("it cuts before and at the login: unavailable, and the next call is tried anew", async () => {
    let cuts = 2;
    const { port } = await serve((type) => {
      const at = cuts === 2 ? packetTypes.before : packetTypes.login;
      if (cuts > 0 && type === at) {
        cuts -= 1;
        return "cut";
      }
      return plain(type);
    });
    const caller = callerOf(port);
    await expectError(sweep(caller), { code: "TASKGATE_STORE_UNAVAILABLE" });
    await expectError(sweep(caller), { code: "TASKGATE_STORE_UNAVAILABLE" });
    await expectError(sweep(caller), answered);
  });

  test("it refuses the login: unavailable, with the number that the driver doesn't tell", async () => {
    const refusal = Buffer.concat([serverError(18456, "Login failed."), done(0xfd, true)]);
    const { port } = await serve((type) =>
      type === packetTypes.login ? packet(refusal) : plain(type),
    );
    await expectError(sweep(callerOf(port)), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "(18456): Login failed.",
    });
  });

  test("its answer to the login begins and stalls: unavailable, though the driver would wait for ever", async () => {
    const { port } = await serve((type) =>
      type === packetTypes.login ? packet(loginAck, false) : plain(type),
    );
    await expectError(sweep(callerOf(port, { connectTimeoutMs: 200 })), {
      code: "TASKGATE_STORE_UNAVAILABLE",
    });
  });

  test("it doesn't encrypt and should: the login isn't sent", async () => {
    const { port, types } = await serve(plain);
    await expectError(sweep(callerOf(port, { query: "encrypt=true" })), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "doesn't offer encryption",
    });
    expect(types).toEqual([packetTypes.before]);
  });
});

describe("a connection that breaks", () => {
  test("under a call: uncertain, the process lives on, and the next call has a new connection", async () => {
    let cuts = 1;
    const idleErrors: Error[] = [];
    const { port } = await serve((type) =>
      type === packetTypes.call && cuts-- > 0 ? "cut" : plain(type),
    );
    const caller = callerOf(port, { idleErrors });
    await expectError(sweep(caller), { code: "TASKGATE_STORE_UNCERTAIN" });
    await expectError(sweep(caller), answered);
    expect(idleErrors).toEqual([]);
  });

  test("between calls: told as idle, and the next call doesn't notice", async () => {
    const idleErrors: Error[] = [];
    const { port } = await serve(plain);
    const caller = callerOf(port, { idleErrors });
    await expectError(sweep(caller), answered);
    for (const socket of servers[0]?.sockets ?? []) socket.destroy();
    while (idleErrors.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await expectError(sweep(caller), answered);
  });

  test("a stalled answer is given up, its connection closed, and the pool of one recovers", async () => {
    let stalls = 1;
    const { port, types } = await serve((type) =>
      type === packetTypes.call && stalls-- > 0 ? packet(Buffer.from([0xff]), false) : plain(type),
    );
    const caller = callerOf(port, { callTimeoutMs: 100 });
    await expectError(sweep(caller), {
      code: "TASKGATE_STORE_UNCERTAIN",
      value: "no whole answer",
    });
    await expectError(sweep(caller), answered);
    expect(types.filter((type) => type === packetTypes.login)).toHaveLength(3);
  }, 15_000);

  test("a cancelled call is uncertain, and its connection isn't lent again, though the server confirmed", async () => {
    let waits = 1;
    const confirmed = done(0xfd);
    confirmed.writeUInt16LE(0x20, 1);
    const { port, types } = await serve((type) => {
      if (type === packetTypes.call && waits-- > 0) return "silence";
      if (type !== packetTypes.attention) return plain(type);
      return Buffer.concat([packet(done(0xfe, true)), packet(confirmed)]);
    });
    const caller = callerOf(port, { callTimeoutMs: 100 });
    const error = { code: "TASKGATE_STORE_UNCERTAIN", value: "didn't answer" } as const;
    await expectError(sweep(caller), error);
    await expectError(sweep(caller), answered);
    expect(types).toContain(packetTypes.attention);
    expect(types.filter((type) => type === packetTypes.login)).toHaveLength(3);
  });

  test("under the commit: uncertain; before it: nothing happened", async () => {
    let cutAt = 0;
    let requests = 0;
    const { port } = await serve((type) => {
      if (type !== packetTypes.transaction && type !== packetTypes.call) return plain(type);
      requests += 1;
      if (requests === cutAt) return "cut";
      return type === packetTypes.transaction ? packet(begun()) : emptyCall;
    });
    const outcome = (at: number): Promise<unknown> => {
      cutAt = at;
      requests = 0;
      return callerOf(port).transaction((transaction) => transaction.query("x"));
    };
    await expectError(outcome(1), { code: "TASKGATE_STORE_UNAVAILABLE" });
    await expect(outcome(2)).rejects.toThrow(/socket hang up|ECONNRESET/);
    await expectError(outcome(3), { code: "TASKGATE_STORE_UNCERTAIN" });
    await expect(outcome(4)).resolves.toEqual([]);
  });
});

describe("transactions", () => {
  test.each([
    ["by the server", { kind: 10, code: "TASKGATE_STORE_CONFLICT", value: "1205" }],
    ["by a COMMIT in its body", { kind: 9, code: "TASKGATE_STORE_CONTEXT", value: "with COMMIT" }],
  ] as const)(
    "that were ended %s run nothing more, and aren't reported as committed",
    async (_, { kind, code, value }) => {
      const end = Buffer.concat([
        kind === 10 ? serverError(1205, "deadlock") : Buffer.alloc(0),
        changed(kind),
        done(0xfe, kind === 10),
      ]);
      let calls = 0;
      const { port, types } = await serve((type) => {
        if (type === packetTypes.transaction) return packet(begun());
        if (type === packetTypes.call) calls += 1;
        return type === packetTypes.call ? packet(end) : plain(type);
      });
      const outcome = callerOf(port).transaction(async (transaction) => {
        await transaction.query("one").catch(() => undefined);
        await expectError(transaction.query("two"), { code, value });
      });
      await expectError(outcome, { code, value });
      expect(calls).toBe(1);
      expect(types.filter((type) => type === packetTypes.transaction)).toHaveLength(1);
    },
  );

  test("rethrow what their body throws, after a rollback, and end with it", async () => {
    const { port, types } = await serve((type) =>
      type === packetTypes.transaction ? packet(begun()) : plain(type),
    );
    const mine = new Error("mine");
    let kept: StoreTransaction | undefined;
    const outcome = callerOf(port).transaction((transaction) => {
      kept = transaction;
      throw mine;
    });
    await expect(outcome).rejects.toBe(mine);
    expect(types.filter((type) => type === packetTypes.transaction)).toHaveLength(2);
    await expectError(kept?.query("late") ?? Promise.resolve(), {
      code: "TASKGATE_STORE_CONTEXT",
      value: "body has returned",
    });
  });

  test("take statements that come at once one after the other", async () => {
    const { port, types } = await serve((type) =>
      type === packetTypes.transaction ? packet(begun()) : plain(type),
    );
    const both = await callerOf(port).transaction((transaction) =>
      Promise.all([transaction.query("one"), transaction.query("two")]),
    );
    expect(both).toEqual([[], []]);
    expect(types.filter((type) => type === packetTypes.call)).toHaveLength(2);
  });

  test("of another store are refused", async () => {
    const foreign = { dialect: "postgres" as const, query: () => Promise.resolve([]) };
    const call = callerOf(1).call("sweep", { most: 1 }, foreign);
    await expectError(call, { code: "TASKGATE_ARG_INVALID" });
  });

  test("of the user's that haven't begun run nothing", async () => {
    const transaction = MssqlCaller.join(new sql.Transaction());
    await expect(transaction.query("insert")).rejects.toThrow(/not begun/);
    const call = callerOf(1).call("sweep", { most: 1 }, transaction);
    await expectError(call, { code: "TASKGATE_STORE_CONTEXT" });
  });
});

test("a closed store is unavailable", async () => {
  const { port, types } = await serve(plain);
  const caller = callerOf(port);
  await caller.close();
  await expectError(sweep(caller), { code: "TASKGATE_STORE_UNAVAILABLE", value: "closed" });
  expect(types).toEqual([]);
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
