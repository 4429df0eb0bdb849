import { describe, expect, test } from "@jest/globals";
import { acquire, enqueue, plainTasks, register, release, start } from "../cases/calls";
import { requestOf } from "../cases/requests";
import { prepareWorld } from "../cases/scenario";
import { engineNames } from "../cases/variants";
import { plantedText } from "../../source-texts/planted-text";
import { loadScript } from "../../tsql-server/engine/load";
import { engines } from "../shipped/engines";
import type { EngineName } from "../../tsql-server/engine/options";
import type { World } from "../../tsql-server/engine/world";
import { explore, exploreAll } from "../../tsql-server/schedule/explore";
import { exploreReduced } from "../../tsql-server/schedule/reduction";
import type { Run } from "../../tsql-server/schedule/run";
import { startRequest, step } from "../../tsql-server/schedule/step";
import { answersIn, playScene, waitsIn } from "./played";
import { errorsOf, textScenario, valuesOf } from "./text-scenarios";
import { edited, textSql } from "./texts";

/*
 * Source text 000 says that taking a token must be write, read, write, by primary key, with the lock held to the end. Each
 * of its reasons is played here; the procedures as the text gives them, and the shipped ones.
 */
const script = textSql("text-000");

const tokensOf = (first: number | "free", second: number | "free"): string => {
  const part = (id: string, holder: number | "free"): string =>
    holder === "free" ? `I:${id},S:1,G:0` : `I:${id},S:0,G:${String(holder)}`;
  return `${part("ccc7b851-2404-4b2b-84e3-6898399a976d", first)},${part("747ebc4e-add4-4d95-9022-0d7a544af813", second)}`;
};

describe.each(engineNames)("the text's procedures, %s", (engine) => {
  test("the second execution of write, read, write waits for the row and gets the other token", () => {
    const played = playScene("text-000", 0, engine);

    expect(waitsIn(played)).toEqual([
      "execution 153533: U KEY dbo.TaskDefinition.PK_TaskDefinition(1)",
    ]);
    expect(answersIn(played, "execution 153532").at(-1)).toEqual([
      { ExecutionTokens: tokensOf(153532, 153533) },
    ]);
    expect(answersIn(played, "execution 153534")).toEqual([[{ Granted: 1 }]]);
  });

  test("one of two grants that read first is written over by the other", () => {
    expect(answersIn(playScene("text-000", 1, engine), "execution 1").at(-1)).toEqual([
      { ExecutionTokens: tokensOf(2, "free") },
    ]);
  });

  test("two readers at SERIALIZABLE that read first make a deadlock", () => {
    const played = playScene("text-000", 2, engine);

    expect(played.events.filter(({ kind }) => kind === "deadlock")).toHaveLength(1);
    expect(answersIn(played, "execution 2")).toContain(1205);
  });

  test("by another index than the primary key, another job waits for a range", () => {
    expect(waitsIn(playScene("text-000", 3, engine))).toEqual([
      "resize: RangeS-U KEY dbo.TaskDefinition.IX_TaskDefinition_Name('resize',2)",
    ]);
  });
});

// ---- every order

const take = (execution: number): string =>
  `EXEC dbo.AcquireToken @TaskDefinitionId = 1, @TaskExecutionId = ${String(execution)};`;
const giveBack = (execution: number): string =>
  `EXEC dbo.ReturnToken @TaskDefinitionId = 1, @TaskExecutionId = ${String(execution)};`;

function grantsAre(expected: number): (run: Run) => string | undefined {
  return (run) => {
    const [error] = errorsOf(run);
    if (error !== undefined) return `error ${String(error)}`;
    const granted = valuesOf(run, "Granted").filter((value) => value === 1).length;
    return granted === expected
      ? undefined
      : `${String(granted)} tokens granted of ${String(expected)}`;
  };
}

describe.each(engineNames)("every order of the text's procedures, %s", (engine) => {
  test("two of three executions that ask for two tokens get one", () => {
    const result = exploreAll(
      textScenario({
        script,
        engine,
        callers: [1, 2, 3].map((id) => [take(id)]),
        atEnd: grantsAre(2),
      }),
    );

    expect(result.deadlocks).toEqual([]);
    expect(result.interleavings).toBeGreaterThan(50n);
  });

  test("a third token is granted without the first write", () => {
    const readFirst = edited(script, {
      from: "UPDATE dbo.TaskDefinition SET HoldLockTaskExecutionId = @TaskExecutionId WHERE TaskDefinitionId = @TaskDefinitionId; -- lock\n  SELECT @Tokens = d.ExecutionTokens FROM dbo.TaskDefinition AS d",
      to: "SELECT @Tokens = d.ExecutionTokens FROM dbo.TaskDefinition AS d WITH (READCOMMITTED)",
    });
    const { finding } = explore(
      textScenario({
        script: readFirst,
        engine,
        callers: [1, 2, 3].map((id) => [take(id)]),
        atEnd: grantsAre(2),
      }),
    );

    expect(finding?.problem).toBe("3 tokens granted of 2");
  });

  test("a commit after the first write loses the lock before the read, and a third token is granted", () => {
    const early = edited(script, {
      from: "WHERE TaskDefinitionId = @TaskDefinitionId; -- lock",
      to: "WHERE TaskDefinitionId = @TaskDefinitionId; COMMIT; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRANSACTION;",
    });
    const { finding } = explore(
      textScenario({
        script: early,
        engine,
        callers: [1, 2, 3].map((id) => [take(id)]),
        atEnd: grantsAre(2),
      }),
    );

    expect(finding?.problem).toBe("3 tokens granted of 2");
  });
});

describe("every order with tokens that are given back, azure", () => {
  test("the search over three executions that also give back is complete, and all tokens are free at the end", () => {
    const result = exploreAll(
      textScenario({
        script,
        engine: "azure",
        callers: [1, 2, 3].map((id) => [take(id), giveBack(id)]),
        atEnd: (run) =>
          tokensAtEnd(run) === tokensOf("free", "free") ? undefined : tokensAtEnd(run),
      }),
    );

    expect(result.isComplete).toBe(true);
    expect(result.deadlocks).toEqual([]);
    expect(result.interleavings).toBeGreaterThan(10_000n);
  });
});

function tokensAtEnd(run: Run): string {
  const data = run.world.data(
    run.world.catalog.table({ schema: "dbo", name: "TaskDefinition", line: 0 }),
  );
  const [row] = [...data.liveRows()];
  return String(row?.image?.at(-1));
}

// ---- the shipped procedures

/** With edits of the procedure that grants and returns. */
function prepared(engine: EngineName, ...edits: readonly { from: string; to: string }[]): World {
  const setup = [register({ limit: 3 }), enqueue(plainTasks(1)), start(1, 1), start(2, 1)];
  const { world } = prepareWorld(
    { name: "tokens", setup },
    { engine, options: engines[engine], checksWaits: true },
  );
  if (edits.length > 0) loadScript(world, plantedText({ file: settle, edits }), settle);
  return world;
}

const settle = "mssql/sql/procedures/_SettleTokens.sql";

/** Runs a call alone; gives the trace, and after each step whether the definition's key is held. */
function watch(
  world: World,
  call: Parameters<typeof requestOf>[0],
): { trace: string[]; held: boolean[] } {
  const connection = world.connect();
  const trace: string[] = [];
  const held: boolean[] = [];
  world.trace = trace;
  startRequest(connection, requestOf(call));
  while (connection.state === "ready") {
    step(connection);
    held.push(
      /\b[UX] KEY Taskgate\.TaskDefinition\.PK_TaskDefinition\(1\)/.test(
        world.locks.describe().join("\n"),
      ),
    );
  }
  return { trace, held };
}

const calls = { acquire: acquire(1, 2), release: release(2, 0) };

/** Locks that are no keys of primary keys, or ranges. */
function otherLocks(trace: readonly string[]): string[] {
  const taken = trace.filter((line) => line.includes(" takes "));
  expect(taken.length).toBeGreaterThan(0);
  return taken.filter((line) => /Range/.test(line) || !/KEY Taskgate\.\w+\.PK_\w+\(/.test(line));
}

/** Is the definition's key held without a gap from its first lock on, until the one commit? */
function isHeldToTheEnd({ trace, held }: ReturnType<typeof watch>): boolean {
  const [first, last] = [held.indexOf(true), held.lastIndexOf(true)];
  const commits = trace.filter((line) => line.endsWith("commit")).length;
  return (
    first >= 0 &&
    !held.slice(first, last + 1).includes(false) &&
    held.at(-1) === false &&
    commits === 1
  );
}

/** The modes in which the definition's key is locked, each once, in the order of their first lock. */
const modesOf = (trace: readonly string[]): string[] => [
  ...new Set(
    trace
      .map(
        (line) => /takes ([SUX]) KEY Taskgate\.TaskDefinition\.PK_TaskDefinition/.exec(line)?.[1],
      )
      .filter((mode) => mode !== undefined),
  ),
];

describe.each(engineNames)("the shipped procedures, %s", (engine) => {
  test.each(["acquire", "release"] as const)(
    "%s locks keys of primary keys only, and no range, in the model (S0.13)",
    (name) => {
      expect(otherLocks(watch(prepared(engine), calls[name]).trace)).toEqual([]);
    },
  );

  test.each(["acquire", "release"] as const)(
    "%s holds the definition's key from its lock to its commit, and not afterwards, in the model (S0.16)",
    (name) => {
      expect(isHeldToTheEnd(watch(prepared(engine), calls[name]))).toBe(true);
    },
  );

  test("two askers never deadlock in the model, and every change of tokens begins with the exclusive lock (S0.15)", () => {
    const world = prepared(engine);
    const result = exploreReduced({
      world: () => world.fork(),
      callers: [1, 2].map((id) => ({
        name: `asker ${String(id)}`,
        next: (answers) => (answers.length === 0 ? requestOf(acquire(id, 2)) : undefined),
      })),
    });

    expect(result.isComplete).toBe(true);
    expect(result.deadlocks).toEqual([]);
    expect(result.waits).toBeGreaterThan(0);
    // Without row versions the first look takes S, and lets it go before the transaction begins. No weaker lock is converted.
    expect(modesOf(watch(world, calls.acquire).trace)).toEqual(
      engine === "locking" ? ["S", "X"] : ["X"],
    );
  });
});

describe.each(engineNames)("faults in the shipped procedures, %s", (engine) => {
  const write = `  SELECT @vName = d.Name
  FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, XLOCK, HOLDLOCK) -- one key, kept to the end; waiters in order of arrival
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  IF @vName IS NULL`;

  test("a planted fault of a row that is found by its name at SERIALIZABLE shows ranges (S0.13)", () => {
    const byName = {
      from: write,
      to: write
        .replace(
          "WHERE d.TaskDefinitionId = @TaskDefinitionId",
          "WHERE d.Name >= (SELECT x.Name FROM Taskgate.TaskDefinition AS x WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE x.TaskDefinitionId = @TaskDefinitionId)",
        )
        .replace("HOLDLOCK) -- one", "HOLDLOCK, INDEX (UQ_TaskDefinition_Name)) -- one"),
    };

    expect(otherLocks(watch(prepared(engine, byName), calls.acquire).trace)).not.toEqual([]);
  });

  test("a planted fault of a row that is read before it is locked is found (S0.15)", () => {
    const readFirst = {
      from: write,
      to: `  SELECT @vName = d.Name FROM Taskgate.TaskDefinition AS d WITH (REPEATABLEREAD, ROWLOCK) WHERE d.TaskDefinitionId = @TaskDefinitionId;
  IF @vName IS NULL`,
    };

    expect(modesOf(watch(prepared(engine, readFirst), calls.acquire).trace)).toEqual([
      "S",
      "U",
      "X",
    ]);
  });

  test("a planted fault of a commit behind the lock is found (S0.16)", () => {
    const early = {
      from: write,
      to: write.replace(
        "  IF @vName IS NULL",
        "  COMMIT TRANSACTION;\n  BEGIN TRANSACTION;\n  IF @vName IS NULL",
      ),
    };

    expect(isHeldToTheEnd(watch(prepared(engine, early), calls.acquire))).toBe(false);
  });
});
