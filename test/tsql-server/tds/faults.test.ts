import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { EngineRequest } from "./engine-port";
import { DriverBenches, failureOf, until } from "./driver-bench";
import type { DriverBench } from "./driver-bench";
import { once, seeded, serverErrors } from "./faults";
import type { Fault, FaultPoint } from "./faults";
import { answerRows, intColumn } from "./scripted-engine";
import type { Script } from "./scripted-engine";

/*
 * Everything that the endpoint can do to a connection, and how the driver reports it: what a mapping of errors
 * can build on. After each of them the next call works on a new connection.
 */

const benches = new DriverBenches();
afterEach(() => benches.close());

const rows: Script = ({ events }) => {
  const list = Array.from({ length: 500 }, (_, index) => [index]);
  answerRows(events, [intColumn("N")], list);
  return { returnStatus: 0 };
};

const short = { requestTimeout: 200, connectionTimeout: 500, options: { cancelTimeout: 200 } };

function isHit(request: EngineRequest): boolean {
  return request.kind === "statement" && request.sql === "hit";
}

const atHit = (point: FaultPoint): boolean => point.place === "request" && isHit(point.request);

/** How often the engine has run the request that is hit. */
function runs(bench: DriverBench): number {
  return bench.engine.requests.filter(isHit).length;
}

const lost = { name: "RequestError", code: "ECONNRESET", number: "ECONNRESET" };

interface CutCase {
  title: string;
  fault: Fault;
  /** How often the request was run. */
  runs: number;
}

const cuts: CutCase[] = (["fin", "rst"] as const).flatMap((manner) => [
  { title: `before it is run, ${manner}`, fault: { kind: "cut", at: "before", manner }, runs: 0 },
  { title: `after it was run, ${manner}`, fault: { kind: "cut", at: "executed", manner }, runs: 1 },
  {
    title: `behind the names of the columns, ${manner}`,
    fault: { kind: "cut", at: "mid answer", tokens: 1, manner },
    runs: 1,
  },
  {
    title: `between rows, ${manner}`,
    fault: { kind: "cut", at: "mid answer", tokens: 100, manner },
    runs: 1,
  },
]);

describe("a connection that is lost under a request", () => {
  test.each(cuts)(
    "a connection that is lost $title gives the same error each time, so the outcome is unknown",
    async (entry) => {
      const bench = await benches.serve(rows, { fault: once(atHit, entry.fault) });
      const pool = await bench.pool(short);
      expect(await failureOf(pool.request().query("hit"))).toMatchObject(lost);
      expect(runs(bench)).toBe(entry.runs);
      await until(() => bench.server.openConnections === 0);
      expect(bench.engine.sessions.every((session) => session.isClosed)).toBe(true);
      expect((await pool.request().query("next")).recordset).toHaveLength(500);
      expect(bench.server.connectionCount).toBe(3);
    },
  );

  test("a connection that is lost in order is told to the pool's listener besides; without a listener the process would end", async () => {
    const fault: Fault = { kind: "cut", at: "before", manner: "fin" };
    const bench = await benches.serve(rows, { fault: once(atHit, fault) });
    const pool = await bench.pool(short);
    await failureOf(pool.request().query("hit"));
    await until(() => bench.poolErrors.length > 0);
    expect(bench.poolErrors[0]?.message).toContain("socketError");
  });

  test.each(["begin", "commit", "rollback"] as const)(
    "a connection that is lost by a %s is a TransactionError",
    async (action) => {
      const bench = await benches.serve(rows);
      const pool = await bench.pool(short);
      bench.server.setFault(
        once(
          (point) =>
            point.place === "request" &&
            point.request.kind === "transaction" &&
            point.request.action === action,
          { kind: "cut", at: "executed", manner: "rst" },
        ),
      );
      const transaction = pool.transaction();
      const work = async (): Promise<void> => {
        await transaction.begin();
        if (action === "commit") await transaction.commit();
        else await transaction.rollback();
      };
      expect(await failureOf(work())).toMatchObject({
        name: "TransactionError",
        code: "ECONNRESET",
      });
    },
  );

  test("a connection that is lost behind the server's whole answer is noticed by no caller", async () => {
    for (const manner of ["fin", "rst"] as const) {
      const fault: Fault = { kind: "cut", at: "answered", manner };
      const bench = await benches.serve(rows, { fault: once(atHit, fault) });
      const pool = await bench.pool(short);
      expect((await pool.request().query("hit")).recordset).toHaveLength(500);
      await until(() => bench.server.openConnections === 0);
      // The driver hears of the end some turns of the event loop later; a request sent before that would fail.
      await sleep(100);
      await pool.request().query("next");
      expect(bench.server.connectionCount).toBe(3);
    }
  });

  test("a connection that is lost takes all others with it, as in a failover", async () => {
    const bench = await benches.serve(({ text, cancelled }) =>
      text === "wait" ? cancelled.then(() => undefined) : { returnStatus: 0 },
    );
    const pool = await bench.pool({ ...short, requestTimeout: 5_000 });
    const work = [1, 2, 3].map(() => failureOf(pool.request().query("wait")));
    await until(
      () => bench.engine.requests.filter((entry) => entry.kind === "statement").length === 3,
    );
    bench.server.cutAll();
    for (const failure of await Promise.all(work)) expect(failure).toMatchObject(lost);
    await pool.request().query("next");
  });
});

describe("a server that stops speaking", () => {
  test.each([
    { title: "before it runs the request", at: "before", runs: 0 },
    { title: "after it has run it", at: "executed", runs: 1 },
  ] as const)("a server that stops $title is given up after both waits", async (entry) => {
    const fault: Fault = { kind: "cut", at: entry.at, manner: "silence" };
    const bench = await benches.serve(rows, { fault: once(atHit, fault) });
    const pool = await bench.pool(short);
    const failure = await failureOf(pool.request().query("hit"));
    expect(failure).toMatchObject({ name: "RequestError", code: "ETIMEOUT" });
    expect(failure["message"]).toContain("Failed to cancel request");
    expect(runs(bench)).toBe(entry.runs);
    await pool.request().query("next");
  });

  test("a server that speaks another protocol is as if it were silent", async () => {
    const fault: Fault = { kind: "cut", at: "before", manner: "garbage" };
    const bench = await benches.serve(rows, { fault: once(atHit, fault) });
    const pool = await bench.pool(short);
    expect(await failureOf(pool.request().query("hit"))).toMatchObject({ code: "ETIMEOUT" });
    await pool.request().query("next");
  });

  test("a server that stops within its answer makes the driver wait for ever, as the driver's own time-out is over", async () => {
    const fault: Fault = { kind: "cut", at: "mid answer", tokens: 100, manner: "silence" };
    const bench = await benches.serve(rows, { fault: once(atHit, fault) });
    const pool = await bench.pool(short);
    const asked = failureOf(pool.request().query("hit"));
    const waited = new Promise<string>((resolve) => {
      setTimeout(resolve, 1_000, "no answer after five times the time-out");
    });
    expect(await Promise.race([asked, waited])).toBe("no answer after five times the time-out");
    bench.server.cutAll();
    expect(await asked).toMatchObject(lost);
  });
});

describe("a login", () => {
  test.each(["connect", "prelogin", "login"] as const)("a login is lost at %s", async (place) => {
    for (const manner of ["fin", "rst"] as const) {
      const fault: Fault = { kind: "cut", at: "before", manner };
      const bench = await benches.serve(rows, {
        fault: once((point) => point.place === place, fault),
      });
      const pool = bench.unconnectedPool(short);
      expect(await failureOf(pool.connect())).toMatchObject({
        name: "ConnectionError",
        code: "ESOCKET",
      });
      await pool.connect();
      await pool.request().query("next");
    }
  });

  test("a login that meets silence is given up", async () => {
    const fault: Fault = { kind: "cut", at: "before", manner: "silence" };
    const bench = await benches.serve(rows, {
      fault: once((point) => point.place === "login", fault),
    });
    expect(await failureOf(bench.unconnectedPool(short).connect())).toMatchObject({
      name: "ConnectionError",
      code: "ETIMEOUT",
    });
  });

  test("a login with a wrong password is refused without a number, which only the connection tells", async () => {
    const bench = await benches.serve(rows);
    const told: unknown[] = [];
    const pool = bench.unconnectedPool({
      password: "wrong",
      beforeConnect: (connection) =>
        connection.on("errorMessage", (message: unknown) => told.push(message)),
    });
    const failure = await failureOf(pool.connect());
    expect(failure).toMatchObject({ name: "ConnectionError", code: "ELOGIN" });
    expect(failure["number"]).toBeUndefined();
    expect(told).toMatchObject([{ number: 18_456, class: 14 }]);
    expect(bench.server.connectionCount).toBe(1);
    expect(bench.server.log.join("\n")).not.toContain("wrong");
  });

  test("a login to a database that isn't there now is tried three times more by the driver", async () => {
    const bench = await benches.serve(rows, {
      fault: (point) =>
        point.place === "login"
          ? { kind: "error", error: serverErrors.databaseUnavailable }
          : undefined,
    });
    const pool = bench.unconnectedPool({ connectionTimeout: 10_000 });
    const failure = await failureOf(pool.connect());
    expect(failure).toMatchObject({ code: "ELOGIN" });
    expect(failure["number"]).toBeUndefined();
    expect(bench.server.connectionCount).toBe(4);
  });

  test("a login to a database that comes back meanwhile is noticed by no caller", async () => {
    const error = serverErrors.databaseUnavailable;
    const bench = await benches.serve(rows, {
      fault: once((point) => point.place === "login", { kind: "error", error }),
    });
    const pool = await bench.pool();
    await pool.request().query("next");
    expect(bench.server.connectionCount).toBe(3);
  });
});

describe("an error of the server itself", () => {
  test("a deadlock ends the transaction and tells of it", async () => {
    const error = serverErrors.deadlock;
    const bench = await benches.serve(rows, { fault: once(atHit, { kind: "error", error }) });
    const pool = await bench.pool(short);
    const transaction = pool.transaction();
    await transaction.begin();
    expect(await failureOf(transaction.request().query("hit"))).toMatchObject({
      number: 1_205,
      class: 13,
    });
    expect(runs(bench)).toBe(0);
    expect(bench.engine.sessions.at(-1)?.transactionId).toBe(0n);
    expect(await failureOf(transaction.commit())).toMatchObject({ code: "EABORT" });
    await pool.request().query("next");
  });

  test("a lock time-out may leave the transaction as it is", async () => {
    const error = { ...serverErrors.lockTimeout, endsTransaction: false };
    const bench = await benches.serve(rows, { fault: once(atHit, { kind: "error", error }) });
    const pool = await bench.pool(short);
    const transaction = pool.transaction();
    await transaction.begin();
    expect(await failureOf(transaction.request().query("hit"))).toMatchObject({ number: 1_222 });
    await transaction.commit();
  });

  test.each(["databaseUnavailable", "busy"] as const)("%s ends the connection", async (name) => {
    const error = serverErrors[name];
    const bench = await benches.serve(rows, { fault: once(atHit, { kind: "error", error }) });
    const pool = await bench.pool(short);
    expect(await failureOf(pool.request().query("hit"))).toMatchObject({
      code: "EREQUEST",
      number: error.message.number,
      class: error.message.class,
    });
    await until(() => bench.server.openConnections === 0);
    await pool.request().query("next");
    expect(bench.server.connectionCount).toBe(3);
  });
});

describe("a commit that the server answers with a rollback", () => {
  test("a commit that the server answers with a rollback makes the driver throw where no code can catch it", async () => {
    const program = join(__dirname, "driver-commit-process.ts");
    const swc = join(__dirname, "../support/register-swc.cjs");
    const ended = await promisify(execFile)(process.execPath, ["-r", swc, program]);
    expect(ended.stdout).toBe(
      "uncaught: Cannot read properties of null (reading 'removeListener')",
    );
  });
});

describe("faults by chance", () => {
  const points = Array.from({ length: 1_000 }, (_, index): FaultPoint =>
    index % 4 === 0
      ? { place: "login", connection: index }
      : {
          place: "request",
          connection: index,
          request: { kind: "batch", sql: "" },
          isInTransaction: false,
        },
  );
  const faults = [
    { kind: "cut", at: "executed", manner: "rst" },
    { kind: "cut", at: "before", manner: "fin" },
    { kind: "error", error: serverErrors.deadlock },
  ] as const satisfies Fault[];

  const draw = (seed: number, rate = 0.2): (Fault | undefined)[] => {
    const source = seeded({ seed, rate, faults });
    return points.map((point) => source(point));
  };

  test("the faults by chance are the same for one seed, and others for another", () => {
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  test("the faults by chance come about as often as asked, each of them, and only where they fit", () => {
    const drawn = draw(7);
    const count = drawn.filter((fault) => fault !== undefined).length;
    expect(count).toBeGreaterThan(120);
    expect(count).toBeLessThan(260);
    for (const fault of faults) expect(drawn).toContain(fault);
    const atLogin = drawn.filter((_, index) => points[index]?.place === "login");
    expect(atLogin).not.toContain(faults[0]);
    expect(draw(7, 0).every((fault) => fault === undefined)).toBe(true);
  });

  test("the faults by chance spare what they are told to spare", () => {
    const source = seeded({ seed: 1, rate: 1, faults, spares: ({ place }) => place === "request" });
    const drawn = points.filter((point) => source(point) !== undefined);
    expect(drawn.length).toBeGreaterThan(0);
    expect(drawn.every((point) => point.place === "login")).toBe(true);
  });

  test("the faults by chance leave no session open, after any statements", async () => {
    const bench = await benches.serve(rows);
    const pool = await bench.pool({ ...short, pool: { max: 4 } });
    bench.server.setFault(seeded({ seed: 3, rate: 0.3, faults }));
    const work = Array.from({ length: 60 }, () =>
      pool
        .request()
        .query("SELECT 2")
        .then(
          () => "done",
          () => "failed",
        ),
    );
    const outcomes = await Promise.all(work);
    expect(new Set(outcomes)).toEqual(new Set(["done", "failed"]));
    bench.server.setFault(undefined);
    await pool.request().query("next");
    bench.server.cutAll();
    await until(() => bench.server.openConnections === 0);
    expect(bench.engine.sessions.every((session) => session.isClosed)).toBe(true);
  });
});
