import { afterEach, describe, expect, test } from "@jest/globals";
import type {
  EngineEvents,
  EngineRequest,
  EngineSession,
  RequestOutcome,
} from "../tds/engine-port";
import type { SqlValue } from "../values";
import type { EngineServerOptions } from "./engine-server";
import { SimulatedEngine } from "./engine-server";
import { loadScript } from "./load";
import { engines } from "./options";
import { World } from "./world";

/* Sessions that speak in promises: their meetings, time-outs, cancellation, the order of answers. */

const setup =
  "CREATE TABLE dbo.T (Id int NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED, A int NOT NULL); INSERT INTO dbo.T (Id, A) VALUES (1, 0), (2, 0);";

class Client {
  readonly told: string[] = [];
  readonly rows: SqlValue[][] = [];
  readonly #session: EngineSession;

  constructor(session: EngineSession) {
    this.#session = session;
  }

  run(request: string | EngineRequest): Promise<RequestOutcome> {
    const events: EngineEvents = {
      columns: (columns) =>
        this.told.push(`columns ${columns.map((column) => column.name).join()}`),
      row: (row) => this.rows.push(row),
      endRows: (count) => this.told.push(`end ${String(count)}`),
      count: (rows) => this.told.push(`count ${rows}`),
      message: ({ number, line }) => this.told.push(`message ${number}:${line}`),
      began: (id) => this.told.push(`began ${String(id)}`),
      committed: (id) => this.told.push(`committed ${String(id)}`),
      rolledBack: (id) => this.told.push(`rolled back ${String(id)}`),
    };
    return this.#session.run(
      typeof request === "string" ? { kind: "batch", sql: request } : request,
      events,
    );
  }

  get session(): EngineSession {
    return this.#session;
  }
}

function open(options: EngineServerOptions = {}): { world: World; client: () => Client } {
  const world = new World(engines.locking);
  loadScript(world, setup, "setup");
  const engine = new SimulatedEngine(world, options);
  opened.push(world);
  return {
    world,
    client: () => new Client(engine.connect({ database: "d", user: "u", application: "a" })),
  };
}

const opened: World[] = [];

afterEach(() => {
  for (const world of opened.splice(0)) {
    expect(world.connections.filter((connection) => connection.state !== "idle")).toEqual([]);
  }
});

const hold = "BEGIN TRANSACTION; UPDATE dbo.T SET A = A + 1 WHERE Id = 1;";

describe("the engine behind an endpoint", () => {
  test("the engine tells what happens in order, with one id per transaction", async () => {
    const client = open().client();
    const outcome = await client.run(`${hold} SELECT A FROM dbo.T WHERE Id = 1; COMMIT; ROLLBACK;`);
    expect(client.told).toEqual([
      "began 1",
      "count 1",
      "columns A",
      "end 1",
      "committed 1",
      "message 3903:1",
    ]);
    expect(outcome).toEqual({
      returnStatus: undefined,
      outputs: [],
      isFailed: true,
      isCancelled: false,
    });
  });

  test("the engine leaves counts out under NOCOUNT ON", async () => {
    const client = open().client();
    await client.run("SET NOCOUNT ON; UPDATE dbo.T SET A = 1; SELECT A FROM dbo.T;");
    expect(client.told).toEqual(["columns A", "end undefined"]);
  });

  test("the engine lets a waiter go on when the holder commits", async () => {
    const { client } = open();
    const [one, two] = [client(), client()];
    await one.run(hold);
    const waiting = two.run(
      "UPDATE dbo.T SET A = A + 10 WHERE Id = 1; SELECT A FROM dbo.T WHERE Id = 1;",
    );
    await one.run("COMMIT;");
    await waiting;
    expect(two.rows).toEqual([[11]]);
  });

  test("the engine lets calls that arrive together meet: one of a deadlock gets 1205", async () => {
    const { client, world } = open({ seed: 5 });
    const clients = [client(), client()];
    const cross = (first: number): string =>
      `BEGIN TRANSACTION; UPDATE dbo.T SET A = 1 WHERE Id = ${first}; UPDATE dbo.T SET A = 2 WHERE Id = ${3 - first}; COMMIT;`;
    let deadlocks = 0;
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(clients.map((one, at) => one.run(cross(at + 1))));
      deadlocks = world.deadlocks;
    }
    expect(deadlocks).toBeGreaterThan(0);
    const all = clients.flatMap((one) => one.told);
    expect(all.filter((line) => line.startsWith("message 1205"))).toHaveLength(deadlocks);
    expect(all.filter((line) => line.startsWith("rolled back"))).toHaveLength(deadlocks);
    expect(all.filter((line) => line.startsWith("began"))).toHaveLength(40);
  });

  test("the engine ends LOCK_TIMEOUT after its time, or at once where a test says so", async () => {
    for (const endsTimeoutsAtOnce of [false, true]) {
      const { client } = open({ endsTimeoutsAtOnce });
      const [one, two] = [client(), client()];
      await one.run(hold);
      await two.run(
        `SET LOCK_TIMEOUT ${endsTimeoutsAtOnce ? 3_600_000 : 20}; UPDATE dbo.T SET A = 5 WHERE Id = 1; SELECT 1;`,
      );
      expect(two.told).toEqual(["message 1222:1", "columns ", "end 1"]);
      await one.run("ROLLBACK;");
    }
  });

  test("the engine cancels a waiter: CATCH doesn't see it, the queue behind it moves up", async () => {
    const { client } = open();
    const [one, two, three] = [client(), client(), client()];
    await one.run("BEGIN TRANSACTION; SELECT A FROM dbo.T WITH (HOLDLOCK) WHERE Id = 1;");
    const writes = two.run(
      "BEGIN TRANSACTION; BEGIN TRY UPDATE dbo.T SET A = 9 WHERE Id = 1; END TRY BEGIN CATCH SELECT 1; END CATCH;",
    );
    const reads = three.run("SELECT A FROM dbo.T WHERE Id = 1;");
    two.session.cancel();
    expect(await writes).toMatchObject({ isCancelled: true, isFailed: false });
    await reads;
    expect(two.told).toEqual(["began 1"]);
    await two.run("SELECT @@TRANCOUNT;");
    expect(two.rows).toEqual([[1]]); // XACT_ABORT is off
    for (const each of [one, two]) await each.run("ROLLBACK;");
  });

  test("a cancelled transaction with XACT_ABORT is over", async () => {
    const { client } = open();
    const [one, two] = [client(), client()];
    await one.run(hold);
    const writes = two.run(
      "SET XACT_ABORT ON; BEGIN TRANSACTION; UPDATE dbo.T SET A = 9 WHERE Id = 1;",
    );
    two.session.cancel();
    await writes;
    expect(two.told).toEqual(["began 1", "rolled back 1"]);
    await one.run("ROLLBACK;");
  });

  test("a closed session rolls back, and wakes who waited for it", async () => {
    const { client, world } = open();
    const [one, two] = [client(), client()];
    await one.run(hold);
    const waiting = two.run(
      "UPDATE dbo.T SET A = A + 10 WHERE Id = 1; SELECT A FROM dbo.T WHERE Id = 1;",
    );
    one.session.close();
    one.session.close();
    await waiting;
    expect(two.rows).toEqual([[10]]);
    expect(world.locks.describe()).toEqual([]);
  });

  test("a reset ends the transaction and gives the settings of a login back", async () => {
    const { client } = open();
    const one = client();
    await one.run(`SET NOCOUNT ON; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; ${hold}`);
    one.session.reset(false);
    await one.run("SELECT @@TRANCOUNT AS n; UPDATE dbo.T SET A = 0 WHERE A > 0;");
    expect([one.rows, one.told.at(-1)]).toEqual([[[0]], "count 0"]);
  });

  test("a driver's own transaction requests keep their level", async () => {
    const { client, world } = open();
    const one = client();
    await one.run({ kind: "transaction", action: "begin", level: 4 });
    await one.run("SELECT A FROM dbo.T;");
    expect(world.locks.describe().filter((line) => line.includes("RangeS-S"))).toHaveLength(3);
    await one.run({ kind: "transaction", action: "commit", level: 0 });
    expect(one.told).toEqual(["began 1", "columns A", "end 2", "committed 1"]);
    expect(world.locks.describe()).toEqual([]);
  });

  test("statements with parameters and procedures give outputs and a status", async () => {
    const { client, world } = open();
    loadScript(
      world,
      "CREATE PROCEDURE dbo.P @a int, @o int OUTPUT AS BEGIN SET @o = @a + 1; RETURN 4; END;",
      "p",
    );
    const one = client();
    const int = { name: "int" } as const;
    const argument = (name: string, value: number | null, isOutput = false) => ({
      name,
      isOutput,
      usesDefault: false,
      value: { kind: "scalar" as const, type: int, value },
    });
    const called = await one.run({
      kind: "procedure",
      name: "dbo.P",
      arguments: [argument("@a", 1), argument("@o", null, true)],
    });
    expect(called).toMatchObject({
      returnStatus: 4,
      outputs: [{ name: "@o", type: int, value: 2 }],
    });
    const asked = await one.run({
      kind: "statement",
      sql: "SET @o = @a * 2;",
      declaration: "@a int, @o int output",
      arguments: [argument("@a", 4), argument("@o", null, true)],
    });
    expect(asked.outputs).toEqual([{ name: "@o", type: int, value: 8 }]);
    await one.run({ kind: "statement", sql: "SELECT @a;", declaration: "@a int", arguments: [] });
    expect(one.told.at(-1)).toBe("message 8178:0");
  });

  test("a statement that the model doesn't know rejects: it is no answer", async () => {
    const one = open().client();
    await expect(one.run("SELEC 1;")).rejects.toThrow("SELEC");
    await one.run("SELECT 1;");
    expect(one.rows).toEqual([[1]]);
  });
});
