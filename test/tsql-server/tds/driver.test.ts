import { afterEach, describe, expect, test } from "@jest/globals";
import sql from "mssql";
import { Connection, Request } from "tedious";
import type { EngineMessage, EngineRequest } from "./engine-port";
import { DriverBenches, failureOf, until } from "./driver-bench";
import { answerRows, errorOf, intColumn } from "./scripted-engine";
import type { Script, ScriptedCall } from "./scripted-engine";

/*
 * What the driver does of its own accord, and how it takes what a server may send: the ways that a program relies on
 * or guards against. A new version of the driver that changes one of them fails here. The answers are the model's;
 * what a real server sends stays unproved.
 */

const benches = new DriverBenches();
afterEach(() => benches.close());

const done: Script = () => ({ returnStatus: 0 });

function kinds(requests: readonly EngineRequest[]): string[] {
  return requests.map((request) => {
    if (request.kind === "transaction") return request.action;
    return request.kind === "procedure" ? request.name : request.sql;
  });
}

/** Requests that tests send, without the settings after each login. */
function asked(requests: readonly EngineRequest[]): string[] {
  return kinds(requests).filter((text) => !text.startsWith("set "));
}

describe("what the driver sends by itself", () => {
  test("a connection that only tries out the login, then others as they are needed", async () => {
    const bench = await benches.serve(done);
    const { engine, server } = bench;
    const pool = await bench.pool();
    expect(server.connectionCount).toBe(1);
    await until(() => engine.sessions[0]?.isClosed === true);
    await pool.request().query("SELECT 2");
    await pool.request().query("SELECT 3");
    expect(server.connectionCount).toBe(2);
  });

  test("the driver sends name, database and sizes with the login", async () => {
    const bench = await benches.serve(done);
    const { engine, server } = bench;
    await bench.pool();
    expect(engine.sessions[0]?.login).toMatchObject({
      user: "u",
      application: "node-mssql",
      library: "Tedious",
      language: "us_english",
      database: "App",
      packetSize: 4_096,
      asksForUtf8: true,
    });
    expect(server.log.join("\n")).not.toContain('"p"');
  });

  test("the driver sends fifteen settings after each login, and nothing else", async () => {
    const bench = await benches.serve(done);
    const { engine } = bench;
    await bench.pool();
    expect(engine.requests).toEqual([
      {
        kind: "batch",
        sql: [
          "set ansi_nulls on",
          "set ansi_null_dflt_on on",
          "set ansi_padding on",
          "set ansi_warnings on",
          "set arithabort on",
          "set concat_null_yields_null on",
          "set datefirst 7",
          "set dateformat mdy",
          "set implicit_transactions off",
          "set language us_english",
          "set numeric_roundabort off",
          "set quoted_identifier on",
          "set textsize 2147483647",
          "set transaction isolation level read committed",
          "set xact_abort off",
        ].join("\n"),
      },
    ]);
  });

  test("an error in the answer to the settings is swallowed: the connection is lent as if nothing were", async () => {
    const bench = await benches.serve(done);
    bench.engine.settingsMessage = errorOf(195, "'xact_abort' is not a recognized SET option.");
    const pool = await bench.pool();
    await pool.request().query("SELECT 2");
    expect(bench.poolErrors).toEqual([]);
  });

  test("the driver sends SELECT 1 before each request and each begin, unless told to look at the socket only", async () => {
    const bench = await benches.serve(done);
    const { engine } = bench;
    const pool = await bench.pool({ validateConnection: true });
    await pool.request().query("SELECT 2");
    await pool.request().query("SELECT 3");
    const transaction = pool.transaction();
    await transaction.begin();
    await transaction.request().query("SELECT 4");
    await transaction.commit();
    expect(asked(engine.requests)).toEqual([
      "SELECT 1;",
      "SELECT 2",
      "SELECT 1;",
      "SELECT 3",
      "SELECT 1;",
      "begin",
      "SELECT 4",
      "commit",
    ]);
  });
});

describe("what the driver sends for a request", () => {
  test("a query is sent as sp_executesql with a declaration and the values by name", async () => {
    const bench = await benches.serve(done);
    const { engine } = bench;
    const pool = await bench.pool();
    await pool.request().input("a", sql.Int, 1).input("b", sql.NVarChar, "xy").query("SELECT @a");
    await pool.request().input("c", sql.NVarChar, null).query("SELECT @c");
    await pool.request().query("SELECT 2");
    expect(engine.requests.slice(-3)).toMatchObject([
      {
        kind: "statement",
        sql: "SELECT @a",
        declaration: "@a int, @b nvarchar(2)",
        arguments: [{ name: "@a" }, { name: "@b" }],
      },
      // Longer on the wire (4,000) than in its declaration.
      { kind: "statement", declaration: "@c nvarchar(1)" },
      { kind: "statement", declaration: "", arguments: [] },
    ]);
  });

  test("a batch is sent as its text, with inputs written into it", async () => {
    const bench = await benches.serve(done);
    const { engine } = bench;
    const pool = await bench.pool();
    await pool.request().batch("SELECT 2; SELECT 3");
    await pool.request().input("a", sql.Int, 7).batch("SELECT @a");
    expect(engine.requests.slice(-2)).toEqual([
      { kind: "batch", sql: "SELECT 2; SELECT 3" },
      { kind: "batch", sql: "declare @a int;select @a = 7;SELECT @a;" },
    ]);
  });

  test("a procedure is sent by its name as written, with only the parameters that are given", async () => {
    const bench = await benches.serve(done);
    const { engine } = bench;
    const pool = await bench.pool();
    await pool.request().input("Most", sql.Int, 5).execute("App.Sweep");
    expect(engine.requests.at(-1)).toEqual({
      kind: "procedure",
      name: "App.Sweep",
      arguments: [
        {
          name: "@Most",
          isOutput: false,
          usesDefault: false,
          value: { kind: "scalar", type: { name: "int" }, value: 5 },
        },
      ],
    });
  });

  test("the driver always begins with a level, by default read committed; commit and rollback have none", async () => {
    const bench = await benches.serve(done);
    const { engine } = bench;
    const pool = await bench.pool();
    for (const level of [undefined, sql.ISOLATION_LEVEL.SERIALIZABLE]) {
      const transaction = pool.transaction();
      await transaction.begin(level);
      await transaction.rollback();
    }
    expect(engine.requests.slice(-4)).toEqual([
      { kind: "transaction", action: "begin", level: 2 },
      { kind: "transaction", action: "rollback", level: 0 },
      { kind: "transaction", action: "begin", level: 4 },
      { kind: "transaction", action: "rollback", level: 0 },
    ]);
  });

  test("the flag that resets a connection: only when the lower driver is asked", async () => {
    const bench = await benches.serve(done);
    const { engine, server } = bench;
    const pool = await bench.pool();
    await pool.request().query("SELECT 2");
    await pool.request().query("SELECT 3");
    expect(engine.sessions.flatMap((session) => session.resets)).toEqual([]);
    const told = await resetByHand(server.port);
    expect(told).toBe(1);
    expect(engine.sessions.at(-1)?.resets).toEqual([false]);
  });
});

const ways = ["query", "batch", "execute"] as const;

/** The same text as statement, as batch, or as a procedure's name. */
async function ask(
  pool: sql.ConnectionPool,
  way: (typeof ways)[number],
  text: string,
): Promise<{ recordsets: unknown; rowsAffected: number[] }> {
  const request = pool.request();
  switch (way) {
    case "query":
      return request.query(text);
    case "batch":
      return request.batch(text);
    case "execute":
      return request.execute(text);
  }
}

describe("row sets and counts", () => {
  const twoSets: Script = ({ events }) => {
    answerRows(events, [intColumn("A")], [[1], [2]]);
    events.count(7);
    answerRows(events, [intColumn("B")], []);
    return { returnStatus: 0 };
  };

  test.each(ways)("the row sets and counts come in order: %s", async (way) => {
    const pool = await (await benches.serve(twoSets)).pool();
    const result = await ask(pool, way, "App.Two");
    expect(result.recordsets).toEqual([[{ A: 1 }, { A: 2 }], []]);
    expect(result.rowsAffected).toEqual([2, 7, 0]);
  });

  test.each(ways)("the row sets come without counts: %s", async (way) => {
    const pool = await (
      await benches.serve(({ events }) => {
        events.columns([intColumn("A")]);
        events.row([1]);
        events.endRows(undefined);
        return { returnStatus: 0 };
      })
    ).pool();
    const result = await ask(pool, way, "App.One");
    expect(result.recordsets).toEqual([[{ A: 1 }]]);
    expect(result.rowsAffected).toEqual([]);
  });

  test("the row sets come whole over many packets", async () => {
    const text = "r".repeat(200);
    const columns = [
      intColumn("N"),
      { name: "T", type: { name: "nvarchar" as const, length: "max" as const }, isNullable: true },
    ];
    const rows = Array.from({ length: 5_000 }, (_, index) => [index, text]);
    const pool = await (
      await benches.serve(({ events }) => {
        answerRows(events, columns, rows);
        return { returnStatus: 0 };
      })
    ).pool();
    const { recordset } = await pool.request().query<{ N: number; T: string }>("SELECT many");
    expect(recordset).toHaveLength(5_000);
    expect(recordset.every((row, index) => row.N === index && row.T === text)).toBe(true);
  });

  test("information comes beside them", async () => {
    const pool = await (
      await benches.serve(({ events }) => {
        events.message({ number: 0, state: 1, class: 0, text: "printed", procedure: "", line: 3 });
        return { returnStatus: 0 };
      })
    ).pool();
    const request = pool.request();
    const told: unknown[] = [];
    request.on("info", (message: unknown) => told.push(message));
    await request.query("PRINT");
    expect(told).toMatchObject([{ message: "printed", number: 0, class: 0, lineNumber: 3 }]);
  });
});

describe("errors of the server", () => {
  test.each(ways)("an error of the server has all its parts: %s", async (way) => {
    const pool = await (await benches.serve(failing(errorOf(50_404, "no such task")))).pool();
    expect(await failureOf(ask(pool, way, "App.Work"))).toMatchObject({
      name: "RequestError",
      code: "EREQUEST",
      message: "no such task",
      number: 50_404,
      state: 3,
      class: 16,
      procName: "App.Work",
      lineNumber: 42,
      precedingErrors: [],
    });
  });

  test.each(["query", "batch"] as const)(
    "the last of two counts, the first is kept: %s",
    async (way) => {
      const two = failing(errorOf(2_627, "duplicate"), errorOf(3_930, "doomed"));
      const pool = await (await benches.serve(two)).pool();
      expect(await failureOf(ask(pool, way, "INSERT"))).toMatchObject({
        number: 3_930,
        precedingErrors: [{ number: 2_627 }],
      });
    },
  );

  test("the errors of two in a procedure are only among the earlier ones", async () => {
    const two = failing(errorOf(2_627, "duplicate"), errorOf(3_930, "doomed"));
    const pool = await (await benches.serve(two)).pool();
    const failure = await failureOf(pool.request().execute("App.Work"));
    expect(failure["number"]).toBeUndefined();
    expect(failure).toMatchObject({ precedingErrors: [{ number: 2_627 }, { number: 3_930 }] });
  });

  test("information after an error doesn't hide it", async () => {
    const ended = { ...errorOf(3_621, "The statement has been terminated."), class: 0 };
    const pool = await (await benches.serve(failing(errorOf(2_627, "duplicate"), ended))).pool();
    expect(await failureOf(pool.request().query("INSERT"))).toMatchObject({ number: 2_627 });
  });

  test("the rows before an error are dropped", async () => {
    const pool = await (
      await benches.serve(({ events }) => {
        events.columns([intColumn("A")]);
        events.row([1]);
        events.message(errorOf(8_134, "Divide by zero error encountered."));
        return { isFailed: true };
      })
    ).pool();
    const failure = await failureOf(pool.request().query("SELECT"));
    expect(failure).toMatchObject({ number: 8_134 });
    expect(failure).not.toHaveProperty("recordsets");
  });

  test("a failure without an error is unknown", async () => {
    const pool = await (await benches.serve(() => ({ isCancelled: true }))).pool();
    expect(await failureOf(pool.request().query("SELECT"))).toMatchObject({ code: "UNKNOWN" });
  });
});

describe("a transaction that the server ends", () => {
  const victim: Script = ({ text, events, session }) => {
    if (text !== "victim") return { returnStatus: 0 };
    events.message({ ...errorOf(1_205, "deadlocked"), class: 13 });
    session.rollBack(events);
    return { isFailed: true };
  };

  test("a transaction that the server ends and tells of makes the driver refuse all that follows", async () => {
    const bench = await benches.serve(victim);
    const { engine } = bench;
    const pool = await bench.pool();
    const transaction = pool.transaction();
    const told: boolean[] = [];
    transaction.on("rollback", (isAborted: boolean) => told.push(isAborted));
    await transaction.begin();
    expect(await failureOf(transaction.request().query("victim"))).toMatchObject({ number: 1_205 });
    expect(told).toEqual([true]);
    expect(await failureOf(transaction.request().query("SELECT 2"))).toMatchObject({
      code: "ENOTBEGUN",
    });
    expect(await failureOf(transaction.commit())).toMatchObject({ code: "EABORT" });
    expect(asked(engine.requests)).toEqual(["begin", "victim"]);
    await pool.request().query("SELECT 3");
  });

  test("a statement behind an end that the server doesn't tell of runs outside any transaction, without an error", async () => {
    const pool = await (
      await benches.serve(({ text, session }) => {
        if (text === "lost") session.transactionId = 0n;
        return { returnStatus: 0 };
      })
    ).pool();
    const transaction = pool.transaction();
    await transaction.begin();
    await transaction.request().query("lost");
    await transaction.request().query("SELECT 2");
    expect(await failureOf(transaction.rollback())).toMatchObject({
      name: "TransactionError",
      code: "EREQUEST",
      originalError: { number: 3_903 },
    });
  });

  test("a begin and a commit within a statement are followed, too", async () => {
    const bench = await benches.serve(({ events }) => {
      events.began(77n);
      events.committed(77n);
      return { returnStatus: 0 };
    });
    const { engine } = bench;
    const pool = await bench.pool();
    await pool.request().execute("App.Work");
    await pool.request().execute("App.Work");
    expect(asked(engine.requests)).toHaveLength(2);
  });
});

describe("a request that is given up", () => {
  const waiting: Script = async ({ text, cancelled, events, session }) => {
    if (text !== "wait") return { returnStatus: 0 };
    await cancelled;
    session.rollBack(events);
    return {};
  };

  test("a request that is given up after its time-out sends an attention, and the connection lives on", async () => {
    const bench = await benches.serve(waiting);
    const { server } = bench;
    const pool = await bench.pool({ requestTimeout: 100 });
    expect(await failureOf(pool.request().query("wait"))).toMatchObject({
      name: "RequestError",
      code: "ETIMEOUT",
    });
    await pool.request().query("SELECT 2");
    expect(server.connectionCount).toBe(2);
    expect(server.log.filter((line) => line.endsWith("attention"))).toHaveLength(1);
  });

  test("a request that is given up in a transaction that the server rolls back for it is aborted", async () => {
    const pool = await (await benches.serve(waiting)).pool({ requestTimeout: 100 });
    const transaction = pool.transaction();
    const told: boolean[] = [];
    transaction.on("rollback", (isAborted: boolean) => told.push(isAborted));
    await transaction.begin();
    expect(await failureOf(transaction.request().query("wait"))).toMatchObject({
      code: "ETIMEOUT",
    });
    expect(told).toEqual([true]);
    expect(await failureOf(transaction.rollback())).toMatchObject({ code: "EABORT" });
  });

  test("a request that the program gives up, before and between rows, ends with ECANCEL", async () => {
    const bench = await benches.serve(async (call) => {
      if (call.text === "rows") await streamUntilCancelled(call);
      return waiting(call);
    });
    const { server } = bench;
    const pool = await bench.pool();
    const early = pool.request();
    const first = failureOf(early.query("wait"));
    await until(() => server.log.some((line) => line.includes("wait")));
    early.cancel();
    expect(await first).toMatchObject({ code: "ECANCEL" });

    const late = pool.request();
    late.stream = true;
    const second = new Promise<unknown>((resolve) => {
      late.on("error", resolve);
      late.once("row", () => {
        late.cancel();
      });
    });
    void late.query("rows");
    expect(await second).toMatchObject({ code: "ECANCEL" });
    await pool.request().query("SELECT 2");
    expect(server.connectionCount).toBe(2);
  });

  test("a request that a server never hears cancelled is given up after a further wait, on a new connection", async () => {
    const bench = await benches.serve(waiting, {
      fault: (point) =>
        point.place === "request" &&
        point.request.kind === "statement" &&
        point.request.sql === "wait"
          ? { kind: "deaf" }
          : undefined,
    });
    const { server } = bench;
    const pool = await bench.pool({ requestTimeout: 100, options: { cancelTimeout: 100 } });
    const failure = await failureOf(pool.request().query("wait"));
    expect(failure).toMatchObject({ code: "ETIMEOUT" });
    expect(failure["message"]).toContain("Failed to cancel request");
    await pool.request().query("SELECT 2");
    expect(server.connectionCount).toBe(3);
  });
});

function failing(...messages: EngineMessage[]): Script {
  return ({ events }) => {
    for (const message of messages) events.message(message);
    return { isFailed: true };
  };
}

/** Rows one by one, with room for events in between. */
async function streamUntilCancelled({ events, cancelled }: ScriptedCall): Promise<void> {
  const state = { isCancelled: false };
  void cancelled.then(() => (state.isCancelled = true));
  events.columns([intColumn("N")]);
  while (!state.isCancelled) {
    // Enough to fill a packet: smaller answers wait on the server.
    for (let index = 0; index < 2_000; index += 1) events.row([index]);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Connects without a pool, resets, runs one more request; returns how often the driver was told of a reset. */
async function resetByHand(port: number): Promise<number> {
  const connection = new Connection({
    server: "127.0.0.1",
    authentication: { type: "default", options: { userName: "u", password: "p" } },
    options: { port, encrypt: false },
  });
  let told = 0;
  connection.on("resetConnection", () => (told += 1));
  const step = (act: (finish: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      act((error) => {
        if (error instanceof Error) reject(error);
        else resolve();
      });
    });
  await step((finish) => {
    connection.connect(finish);
  });
  await step((finish) => {
    connection.reset(finish);
  });
  await step((finish) => {
    connection.execSql(new Request("SELECT 4", finish));
  });
  connection.close();
  return told;
}
