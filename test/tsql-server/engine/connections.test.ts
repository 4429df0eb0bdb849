import { describe, expect, test } from "@jest/globals";
import { fingerprint } from "../schedule/fingerprint";
import { readyConnections, startRequest, step, timeIsUp } from "../schedule/step";
import { CollectedAnswer } from "./answer";
import { Bench } from "./bench";
import type { Connection } from "./connection";
import { engines } from "./options";
import type { World } from "./world";

/* What connections do to each other, apart from the rules that litmus/ states: victims, time-outs, copies, states, costs. */

const setup = `
CREATE TABLE dbo.T (Id int NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED, A int NOT NULL);
INSERT INTO dbo.T (Id, A) VALUES (1, 0), (2, 0), (3, 0);`;

/** Starts a batch and lets this connection run until it waits or ends. */
function run(connection: Connection, sql: string): CollectedAnswer {
  const answer = new CollectedAnswer();
  startRequest(connection, { kind: "batch", sql }, answer);
  while (connection.state === "ready") step(connection);
  return answer;
}

function finish(bench: Bench): void {
  for (
    let ready = readyConnections(bench.world);
    ready.length > 0;
    ready = readyConnections(bench.world)
  ) {
    const [first] = ready;
    if (first !== undefined) step(first);
  }
}

describe("a deadlock's victim", () => {
  const cross = (first: number, then: string): string =>
    `BEGIN TRANSACTION; UPDATE dbo.T SET A = 1 WHERE Id = ${first}; ${then}`;

  test("a deadlock's victim finds itself doomed in CATCH, with its locks gone, while the other goes on", () => {
    const bench = new Bench(setup, engines.locking);
    const [one, two] = [bench.connection, bench.world.connect()];
    run(one, cross(1, ""));
    run(one, "UPDATE dbo.T SET A = 5 WHERE Id = 3;");
    run(two, cross(2, ""));
    const waits = run(one, "UPDATE dbo.T SET A = 2 WHERE Id = 2; COMMIT;");
    const dies = run(
      two,
      "BEGIN TRY UPDATE dbo.T SET A = 2 WHERE Id = 1; END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE(), @@TRANCOUNT; ROLLBACK; END CATCH;",
    );
    finish(bench);
    expect(dies.rowSets[0]?.rows).toEqual([[1205, -1, 1]]);
    expect([waits.errors, one.state, bench.world.deadlocks]).toEqual([[], "idle", 1]);
    expect(bench.rows("SELECT A FROM dbo.T ORDER BY Id;")).toEqual([[1], [2], [5]]);
  });

  test("a deadlock's victim is the one of the lowest priority, then the cheapest", () => {
    const bench = new Bench(setup, engines.locking);
    const [one, two] = [bench.connection, bench.world.connect()];
    run(one, `SET DEADLOCK_PRIORITY LOW; ${cross(1, "UPDATE dbo.T SET A = 9 WHERE Id = 3;")}`);
    run(two, cross(2, ""));
    const first = run(one, "UPDATE dbo.T SET A = 2 WHERE Id = 2;");
    run(two, "UPDATE dbo.T SET A = 2 WHERE Id = 1;");
    finish(bench);
    expect(first.errors.map((error) => error.number)).toEqual([1205]);
    expect(one.transactionCount).toBe(0);
  });

  test("a deadlock's victim at an application lock is told by a status, and keeps its transaction", () => {
    const bench = new Bench(setup, engines.locking);
    const [one, two] = [bench.connection, bench.world.connect()];
    const take = (name: string): string =>
      `DECLARE @r int; EXEC @r = sp_getapplock @Resource = N'${name}', @LockMode = 'Exclusive'; SELECT @r, @@TRANCOUNT;`;
    run(one, `BEGIN TRANSACTION; ${take("a")}`);
    run(two, `BEGIN TRANSACTION; ${take("b")}`);
    const first = run(one, take("b"));
    const second = run(two, take("a"));
    finish(bench);
    expect(second.rowSets[0]?.rows).toEqual([[-3, 1]]);
    expect(first.rowSets).toEqual([]); // b is still held
    run(two, "COMMIT;");
    finish(bench);
    expect(first.rowSets[0]?.rows).toEqual([[1, 1]]);
  });
});

describe("waiting", () => {
  test("a wait ends with 1222 when the time is up, and not at all without a limit", () => {
    const bench = new Bench(setup, engines.locking);
    const [one, two, three] = [bench.connection, bench.world.connect(), bench.world.connect()];
    run(one, "BEGIN TRANSACTION; UPDATE dbo.T SET A = 1 WHERE Id = 1;");
    const limited = run(two, "SET LOCK_TIMEOUT 50; SELECT A FROM dbo.T WHERE Id = 1;");
    run(three, "SELECT A FROM dbo.T WHERE Id = 1;");
    expect(() => {
      timeIsUp(three);
    }).toThrow("doesn't wait for a limited time");
    timeIsUp(two);
    finish(bench);
    expect(limited.errors.map((error) => error.number)).toEqual([1222]);
    expect(three.state).toBe("waiting");
    expect(
      bench.errors("SET LOCK_TIMEOUT 0; SELECT A FROM dbo.T WHERE Id = 1;", bench.world.connect()),
    ).toEqual([1222]);
  });

  test("shared locks of a statement that fails don't stay", () => {
    const bench = new Bench(setup, engines.locking);
    const sql = "BEGIN TRANSACTION; SELECT 1 / t.A FROM dbo.T AS t WITH (INDEX (PK_T));";
    expect(bench.errors(sql)).toEqual([8134]);
    expect(bench.world.locks.describe()).toEqual(["2 IS OBJECT dbo.T"]);
  });
});

describe("a write that finds its row through an index with all columns", () => {
  const table = `
CREATE TABLE dbo.U (Id int NOT NULL CONSTRAINT PK_U PRIMARY KEY CLUSTERED, Name int NOT NULL, A int NOT NULL, B int NOT NULL);
CREATE UNIQUE INDEX UQ_U ON dbo.U (Name);
CREATE INDEX IX_U ON dbo.U (A);
INSERT INTO dbo.U (Id, Name, A, B) VALUES (1, 7, 0, 0);`;
  const byName = "FROM dbo.U AS u WITH (UPDLOCK, INDEX (UQ_U)) WHERE u.Name = 7;";

  /** One changes A, and commits while the other has found the row and waits for it. */
  function meet(bench: Bench, sql: string): void {
    const [one, two] = [bench.connection, bench.world.connect()];
    run(one, "BEGIN TRANSACTION; UPDATE dbo.U SET A = 1 WHERE Id = 1;");
    run(two, sql);
    expect(bench.world.locks.waitOf(two.id)).toMatchObject({ mode: "X" });
    run(one, "COMMIT;");
    finish(bench);
  }

  test("a write by an index with all columns sets its own columns only: changes in between stay", () => {
    const bench = new Bench(table, engines.locking);
    meet(bench, `UPDATE u SET B = 2 ${byName}`);
    expect(bench.rows("SELECT A, B FROM dbo.U WITH (INDEX (IX_U)) WHERE A = 1;")).toEqual([[1, 2]]);
  });

  test("a write by an index with all columns deletes the row as it is by then, from all indexes", () => {
    const bench = new Bench(table, engines.locking);
    meet(bench, `DELETE u ${byName}`);
    for (const index of ["PK_U", "UQ_U", "IX_U"]) {
      expect(bench.rows(`SELECT Id FROM dbo.U WITH (INDEX (${index}));`)).toEqual([]);
    }
  });
});

describe("level SNAPSHOT", () => {
  test("a transaction at level SNAPSHOT reads as of its first read, and can't write rows changed since: 3960", () => {
    const bench = new Bench(setup, engines.locking);
    const [one, two] = [bench.connection, bench.world.connect()];
    run(one, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION; SELECT A FROM dbo.T;");
    run(two, "UPDATE dbo.T SET A = 7 WHERE Id = 1; DELETE FROM dbo.T WHERE Id = 2;");
    expect(bench.rows("SELECT A FROM dbo.T;", one)).toEqual([[0], [0], [0]]);
    expect(bench.errors("UPDATE dbo.T SET A = 8 WHERE Id = 1;", one)).toEqual([3960]);
    expect(bench.rows("SELECT A FROM dbo.T;", two)).toEqual([[7], [0]]);
  });
});

describe("a transaction starts with the first statement that touches a table", () => {
  const late = 3951;

  test("a transaction starts with the first statement that touches a table, and is never at SNAPSHOT if it starts otherwise", () => {
    const bench = new Bench(setup, engines.locking);
    const begin = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION;";
    const away = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SELECT A FROM dbo.T;";
    const back = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT;";
    expect(bench.errors(`${begin} ${away} ${back}`)).toEqual([late]);
    bench.errors("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;");
    expect(bench.errors(`${begin} SELECT A FROM dbo.T; ${away} ${back}`)).toEqual([]);
    bench.errors("ROLLBACK TRANSACTION;");
    bench.errors(
      "CREATE PROCEDURE dbo.P AS SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SELECT A FROM dbo.T;",
    );
    expect(bench.errors(`${begin} EXEC dbo.P;`)).toEqual([]);
    expect(bench.errors("SELECT A FROM dbo.T;")).toEqual([late]);
  });

  test("a statement that touches a table begins a transaction with IMPLICIT_TRANSACTIONS, and one of a variable's table doesn't", () => {
    const bench = new Bench(setup);
    const count = (sql: string): unknown =>
      bench.rows(
        `IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; ${sql} SELECT @@TRANCOUNT, @@OPTIONS & 2;`,
      );
    bench.rows("SET IMPLICIT_TRANSACTIONS ON; SELECT 1;");
    expect(
      count("DECLARE @t TABLE (A int); INSERT INTO @t (A) VALUES (1); SELECT A FROM @t;"),
    ).toEqual([[0, 2]]);
    expect(count("SELECT A FROM dbo.T;")).toEqual([[1, 2]]);
    expect(count("UPDATE dbo.T SET A = 1; COMMIT TRANSACTION;")).toEqual([[0, 2]]);
    expect(count("BEGIN TRANSACTION;")).toEqual([[2, 2]]);
    expect(count("SET IMPLICIT_TRANSACTIONS OFF; SELECT A FROM dbo.T;")).toEqual([[0, 0]]);
  });
});

describe("copies of a world", () => {
  test("the copies of a world go their own ways, and can't be made during a statement", () => {
    const bench = new Bench(setup);
    const copy = bench.world.fork();
    bench.rows("UPDATE dbo.T SET A = 1; SELECT 1;");
    const other = copy.connect();
    expect(
      run(other, "DELETE FROM dbo.T WHERE Id > 1; SELECT A FROM dbo.T;").rowSets[0]?.rows,
    ).toEqual([[0]]);
    expect(bench.rows("SELECT A FROM dbo.T;")).toEqual([[1], [1], [1]]);
    run(other, "BEGIN TRANSACTION; UPDATE dbo.T SET A = 3;");
    expect(() => copy.fork()).toThrow("isn't done");
  });

  test("the copies of a world keep what ALTER DATABASE has set, unless an engine of the other kind is asked for", () => {
    const { world } = new Bench(
      "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON;",
      engines.locking,
    );

    expect(world.fork().fork().isVersioned).toBe(true);
    expect(world.fork({ ...engines.locking, victim: "last" }).isVersioned).toBe(true);
    expect(world.fork(engines.azure).fork(engines.locking).isVersioned).toBe(false);
  });

  test("the copies of a world have catalogues of their own", () => {
    const bench = new Bench(setup);
    const copy = bench.world.fork();
    run(copy.connect(), "CREATE TABLE dbo.Later (Id int NOT NULL PRIMARY KEY);");
    bench.rows("DROP TABLE dbo.T; SELECT 1;");

    const names = ({ catalog }: World): string[] =>
      [...catalog.objects].map(({ name }) => name).sort();
    expect(names(copy.fork())).toEqual(["Later", "T"]);
    expect(names(bench.world)).toEqual([]);
  });

  test("the copies of a world share rows that no session may write any more", () => {
    const bench = new Bench(setup);
    const data = bench.world.data(bench.world.catalog.table({ schema: "dbo", name: "T", line: 0 }));
    data.isConstant = true;
    const copy = bench.world.fork();
    const one = copy.connect();

    expect(run(one, "SELECT A FROM dbo.T WITH (UPDLOCK, HOLDLOCK);").rowSets[0]?.rows).toHaveLength(
      3,
    );
    expect(copy.data(data.schema).clustered).toBe(data.clustered);
    expect(() => run(one, "UPDATE dbo.T SET A = 1;")).toThrow("dbo.T is said never to be written");
  });
});

describe("the fingerprint of a world", () => {
  const start = (bench: Bench): Connection[] => {
    bench.world.isObserved = true;
    return [1, 2].map((id) => {
      const connection = bench.world.connect();
      startRequest(connection, {
        kind: "batch",
        sql: `BEGIN TRANSACTION; UPDATE dbo.T SET A = ${id} WHERE Id = ${id};`,
      });
      return connection;
    });
  };

  test("the fingerprint of a world is the same in both orders of two independent steps, and differs in between", () => {
    const texts = [
      [0, 1],
      [1, 0],
    ].map((order) => {
      const bench = new Bench(setup, engines.locking);
      const connections = start(bench);
      const seen = [fingerprint(bench.world)];
      for (const at of order) {
        const connection = connections[at];
        while (connection?.state === "ready") {
          step(connection);
          seen.push(fingerprint(bench.world));
        }
      }
      return seen;
    });
    const [left, right] = texts;
    expect(left?.at(-1)).toBe(right?.at(-1));
    expect(new Set(left).size).toBe(left?.length);
    expect(left?.[1]).not.toBe(right?.[1]);
  });
});

describe("what a request costs", () => {
  test("the cost of a request is counted: locks by mode, rows, waits", () => {
    const bench = new Bench(setup, engines.locking);
    bench.ask("UPDATE t SET A = 1 FROM dbo.T AS t WITH (INDEX (PK_T)) WHERE t.Id <= 2;");
    const { locks, rowsRead, rowsWritten, waits } = bench.connection.metrics;
    expect(Object.fromEntries(locks)).toEqual({ IX: 1, U: 2, X: 2 });
    expect([rowsRead, rowsWritten, waits]).toEqual([2, 2, 0]);
  });

  test("ghosts are passed until the clean-up", () => {
    const bench = new Bench(setup, { ...engines.azure, keepsGhosts: true });
    bench.ask("DELETE FROM dbo.T WHERE Id <= 2;");
    const first =
      "SELECT TOP (1) t.Id FROM dbo.T AS t WITH (UPDLOCK, READPAST, INDEX (PK_T)) ORDER BY t.Id;";
    expect(bench.rows(first)).toEqual([[3]]);
    expect(bench.connection.metrics.ghostsPassed).toBe(2);
    bench.rows("SELECT TOP (1) t.Id FROM dbo.T AS t WITH (INDEX (PK_T)) ORDER BY t.Id;");
    expect(bench.connection.metrics.ghostsPassed).toBe(2);
    bench.world.cleanGhosts();
    bench.rows(first);
    expect(bench.connection.metrics.ghostsPassed).toBe(0);
  });

  test("a test may bound the statements of a loop that never ends", () => {
    const bench = new Bench();
    bench.world.statementsLeft = 1000;
    const sql =
      "BEGIN TRY DECLARE @i int = 0; WHILE @i = 0 SET @i = 0; END TRY BEGIN CATCH END CATCH;";
    expect(() => bench.ask(sql)).toThrow("more statements than the test allows");
  });
});
