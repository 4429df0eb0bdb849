import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { engines } from "../tsql/shipped/engines";
import { litmusCases } from "../tsql/litmus/cases/all-cases";
import { expectedResults, runInModel } from "../tsql/litmus/run-in-model";
import type { EngineName } from "../tsql-server/engine/options";
import type { LitmusCase } from "../tsql/litmus/litmus-case";
import { answerRows, ScriptedEngine } from "../tsql-server/tds/scripted-engine";
import { TdsServer } from "../tsql-server/tds/server";
import { canonicalText } from "../tsql/histories/same";
import { BatchConnection } from "./batch-connection";
import { playLitmus } from "./litmus-play";
import type { Stage } from "./litmus-play";
import { LockView } from "./lock-view";
import { openQuestions } from "./open-questions";
import { readOptions } from "./options";
import { makeOwnDatabase } from "./own-database";
import { suiteTables, takeOwnSchemas } from "./own-schemas";
import { findScans, isIntended } from "./plan-scans";
import { playRace } from "./race-play";
import { printResult, verdictOf } from "./result";
import type { ResultRow, RowStatus, VerifyResult } from "./result";
import type { ServerFacts } from "./server-facts";
import { startSimulatedPlace } from "./simulated-place";
import { unverifiedRules } from "./unverified-rules";
import type { Workplace } from "./workplace";

/*
 * The acceptance pack is for a server of the user's own, which isn't here: it is run against our own endpoint, shortened,
 * and its parts are tested one by one. What only a server can do (a database of its own, plans, graphs) isn't shown here.
 */
const engineNames = Object.keys(engines) as EngineName[];
const scripts = [...Object.values(litmusCases).flat(), ...openQuestions];

describe("the program", () => {
  const folder = mkdtempSync(join(tmpdir(), "taskgate-verify-"));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  interface Ended {
    readonly code: number | null;
    readonly output: string;
  }

  /** Runs it as `npm run verify` does; `onProgress` sees what it says meanwhile. */
  function run(args: readonly string[], onProgress?: (text: string, stop: () => void) => void) {
    const environment = { ...process.env, TASKGATE_TEST_MSSQL_URL: undefined };
    const child = spawn(
      process.execPath,
      [
        "-r",
        join(__dirname, "../support/register-swc.cjs"),
        join(__dirname, "verify-process.ts"),
        ...args,
      ],
      { env: environment },
    );
    let output = "";
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
    });
    child.stderr.on("data", (data: Buffer) => {
      output += data.toString();
      onProgress?.(data.toString(), () => child.kill("SIGINT"));
    });
    return new Promise<Ended>((resolve) => {
      child.once("close", (code) => {
        resolve({ code, output });
      });
    });
  }

  test("the program runs against our own endpoint, says that it isn't SQL Server, and leaves nothing", async () => {
    const json = join(folder, "result.json");
    const { output } = await run(["--simulated", "--minutes", "0.15", "--json", json]);
    expect(output).toContain("This was NOT SQL Server");
    const result = JSON.parse(readFileSync(json, "utf8")) as VerifyResult;
    const byStep = (step: string): RowStatus[] =>
      result.rows.filter((row) => row.step === step).map((row) => row.status);
    expect(new Set(result.rows.map((row) => row.step))).toEqual(
      new Set("place litmus schema assumptions contract bench plans deadlocks clean-up".split(" ")),
    );
    expect(byStep("litmus")).toHaveLength(9);
    expect(byStep("litmus")).not.toContain("failed");
    expect(byStep("schema")).toEqual(["passed"]);
    expect(byStep("assumptions")).not.toContain("failed");
    expect(byStep("plans")).toEqual(["skipped"]);
    expect(byStep("clean-up")).toEqual(["passed"]);
    const silent = result.rows.filter((row) => row.meansNothingHere).map((row) => row.step);
    expect(new Set(silent)).toEqual(new Set(["litmus", "bench", "plans", "deadlocks"]));
  }, 60_000);

  test("Ctrl-C stops it, and its database is removed", async () => {
    let isStopped = false;
    const { code, output } = await run(["--simulated", "--minutes", "5"], (_, stop) => {
      if (!isStopped) stop();
      isStopped = true;
    });
    expect(output).toContain("stopped on request");
    expect(output).toMatch(/clean-up +a database in this process +passed +removed/);
    expect(code).toBe(3);
  }, 60_000);

  test("the program says what it needs", async () => {
    const { code, output } = await run([]);
    expect(code).toBe(2);
    expect(output).toContain("Expected --mssql URL, --simulated or the variable");
    expect(output).toContain("npm run verify -- --mssql URL");
  }, 30_000);
});

describe("the command line", () => {
  test("the command line names the server, or takes it from the environment", () => {
    const fromEnvironment = { kind: "mssql", url: "mssql://e" };
    expect(readOptions([], "mssql://e")?.server).toEqual(fromEnvironment);
    const named = readOptions(
      ["--mssql", "mssql://x", "--minutes", "2.5", "--json", "f"],
      "mssql://e",
    );
    expect(named).toEqual({
      server: { kind: "mssql", url: "mssql://x" },
      jsonFile: "f",
      minutes: 2.5,
    });
    expect(readOptions(["--simulated"], "mssql://e")?.server).toEqual({ kind: "simulated" });
    expect(readOptions(["--help"], undefined)).toBeUndefined();
  });

  test.each([
    [["--simulated", "--mssql", "mssql://x"], "got both"],
    [["--simulated", "--minutes", "0"], "above 0 and at most 1440, got `0`"],
    [["--simulated", "--minutes", "soon"], "got `soon`"],
    [["--server", "x"], "Unknown option '--server'"],
  ])("%j is refused", (args, message) => {
    expect(() => readOptions(args, undefined)).toThrow(message);
  });
});

describe("over connections of their own", () => {
  let place: Workplace;
  let view: LockView | undefined;
  const stage = (): Stage => ({ url: place.url, schema: place.litmusSchema, view });
  const titled = (title: string): LitmusCase => {
    const found = scripts.find((litmus) => litmus.title === title);
    if (found === undefined) throw new Error(`There is no script \`${title}\``);
    return found;
  };

  beforeAll(async () => {
    place = await startSimulatedPlace();
    view = await LockView.open(place.url, place.lockView);
  });
  afterAll(async () => {
    await view?.close();
    await place.remove();
  });

  test.each([
    "a reader that comes after a waiting writer waits behind it",
    "two transactions that write two rows in opposite order deadlock; the other one goes on",
    "the victim of a deadlock may catch it: its transaction is doomed",
    "optimised locking keeps one lock of the transaction, however many rows it changes",
    "a procedure that leaves a transaction open is told so: 266",
    "an exclusive application lock is waited for: 0 at once, 1 after a wait",
    "READPAST waits for a table lock",
  ])("a script does what it does in the model: %s", async (title) => {
    const litmus = titled(title);
    expect(await playLitmus(stage(), litmus, "azure")).toEqual(expectedResults(litmus, "azure"));
  });

  test("a script that does something else is seen: rows, waits and locks", async () => {
    const litmus = titled("UPDLOCK lets readers pass and keeps others with UPDLOCK waiting");
    const wrong: LitmusCase = {
      ...litmus,
      steps: litmus.steps.map((step) => ({
        ...step,
        then: { rows: [[99]] },
        locks: { "PK_T X": 7 },
      })),
    };
    const seen = await playLitmus(stage(), { ...wrong, steps: wrong.steps.slice(0, 2) }, "azure");
    const wanted = expectedResults(wrong, "azure").slice(0, 2);
    for (const [index, one] of seen.entries()) {
      expect(one.then).not.toEqual(wanted[index]?.then);
      expect(one.locks).not.toEqual(wanted[index]?.locks);
    }
  }, 30_000);

  test("a wait over connections without a view of the locks is told by silence", async () => {
    const litmus = titled("READPAST waits for a table lock");
    const blind = { ...stage(), view: undefined };
    expect(await playLitmus(blind, litmus, "azure")).toEqual(expectedResults(litmus, "azure"));
  });

  test("a race that ends as it must not is seen", async () => {
    const race = {
      title: "two add one",
      rules: [],
      source: "none",
      setup:
        "CREATE TABLE dbo.T (Id int NOT NULL PRIMARY KEY, V int NOT NULL); INSERT INTO dbo.T (Id, V) VALUES (1, 0);".replace(
          "; INSERT",
          ";\nGO\nINSERT",
        ),
      callers: {
        A: ["UPDATE dbo.T SET V = V + 1 WHERE Id = 1;"],
        B: ["UPDATE dbo.T SET V = V + 1 WHERE Id = 1;", "SELECT 1 / 0 AS n;"],
      },
      deadlock: "never",
      end: { sql: "SELECT V FROM dbo.T WHERE Id = 1;", rows: [[[3]]] },
    } as const;
    const { faults, deadlocks } = await playRace(stage(), race, { engine: "azure", rounds: 2 });
    expect(deadlocks).toBe(0);
    expect(faults).toEqual(["error 8134", "ended with [[2]], not one of [[3]]"]);
  });

  test("a database that has something of ours, or no versions, is refused before anything is made", async () => {
    const facts: ServerFacts = {
      title: "a server",
      majorVersion: 16,
      isAzureDatabase: false,
      mayCreateDatabase: false,
      mayMakeLogins: true,
      database: "Shop",
      engine: "versioned",
    };
    await expect(takeOwnSchemas(place.url, facts)).rejects.toThrow(
      /Shop has TaskgateLitmus already, and nothing that was there is touched\. Give the login the right/,
    );
    const connection = await BatchConnection.open(place.url, "test");
    try {
      await connection.must("DROP SCHEMA TaskgateLitmus;");
      await expect(takeOwnSchemas(place.url, { ...facts, engine: "locking" })).rejects.toThrow(
        /Shop has READ_COMMITTED_SNAPSHOT off, which Taskgate would turn on and leave on/,
      );
      const taken = await takeOwnSchemas(place.url, facts);
      expect(taken.what).toBe(
        "schemas Taskgate and TaskgateLitmus of database Shop, removed at the end",
      );
      await taken.remove();
      const { rows } = await connection.must("SELECT SCHEMA_ID(N'TaskgateLitmus') AS id;");
      expect(rows).toEqual([[null]]);
    } finally {
      await connection.must("CREATE SCHEMA TaskgateLitmus;");
      await connection.close();
    }
  });

  test("the tables that the contract suite makes are known, so that no others are touched", () => {
    const source = readFileSync(join(__dirname, "../contract/transactions.contract.ts"), "utf8");
    const made = [...source.matchAll(/CREATE TABLE (\w+\.\w+)/g)].map((match) => match[1]);
    expect(new Set(made)).toEqual(new Set(suiteTables));
  });
});

describe("a database of its own", () => {
  const facts: ServerFacts = {
    title: "a server",
    majorVersion: 17,
    isAzureDatabase: false,
    mayCreateDatabase: true,
    mayMakeLogins: true,
    database: "master",
    engine: "locking",
  };

  /** Answers as a server whose new database is switched; `said` is what it was told. */
  async function withScriptedServer(
    body: (url: string, said: () => string[]) => Promise<void>,
  ): Promise<void> {
    const said: string[] = [];
    const int = { type: { name: "int" }, isNullable: true } as const;
    const engine = new ScriptedEngine(({ text, events }) => {
      if (text.includes("@@SPID")) answerRows(events, [{ ...int, name: "id" }], [[55]]);
      else if (text.includes("IsOptimizedLockingOn")) {
        const isOn = (option: string): number => (said.join().includes(`SET ${option}`) ? 1 : 0);
        const columns = ["IsVersioned", "IsOptimized"].map((name) => ({ ...int, name }));
        const versions = isOn("READ_COMMITTED_SNAPSHOT ON");
        answerRows(events, columns, [[versions, isOn("OPTIMIZED_LOCKING = ON")]]);
      } else said.push(text);
      return undefined;
    });
    const server = await TdsServer.start({ engine });
    try {
      await body(server.url(), () => said.splice(0));
    } finally {
      await server.close();
    }
  }

  test("the pack's own database is made under a new name, switched through its ways of locking, and dropped", async () => {
    await withScriptedServer(async (url, said) => {
      const place = await makeOwnDatabase(url, facts);
      const name = new URL(place.url).pathname.slice(1);
      expect(name).toMatch(/^TaskgateVerify_[0-9a-f]{12}$/);
      expect(said()).toEqual([
        expect.stringContaining("FROM sys.server_principals"),
        `CREATE DATABASE [${name}];`,
      ]);
      expect(place.engines).toEqual(["locking", "versioned", "azure"]);
      await place.remove();
      expect(said()).toEqual([
        `IF DB_ID(N'${name}') IS NOT NULL ALTER DATABASE [${name}] SET SINGLE_USER WITH ROLLBACK IMMEDIATE;`,
        `DROP DATABASE IF EXISTS [${name}];`,
        ...["worker", "operator"].map(
          (role) =>
            `IF SUSER_ID(N'taskgate_test_${role}') IS NOT NULL DROP LOGIN [taskgate_test_${role}];`,
        ),
      ]);
    });
  });

  test("a database that doesn't become what it was switched to isn't used", async () => {
    await withScriptedServer(async (url) => {
      const place = await makeOwnDatabase(url, { ...facts, majorVersion: 16 });
      expect(place.engines).toEqual(["locking", "versioned"]);
      await place.switchTo("locking");
      await place.switchTo("versioned");
      await expect(place.switchTo("locking")).rejects.toThrow(
        "Expected the database to lock as `locking`, it is versioned",
      );
    });
  });
});

describe("rules that weren't seen on a server yet", () => {
  test("each rule that wasn't seen on a server yet is listed, with a script or with what would tell otherwise", () => {
    const titles = new Set(scripts.map(({ title }) => title));
    for (const { scripts: named, otherwise, question, model } of unverifiedRules) {
      expect(named.filter((title) => !titles.has(title))).toEqual([]);
      expect(named.length > 0 || otherwise !== undefined).toBe(true);
      expect(question.endsWith("?") && model.length > 0).toBe(true);
    }
  });

  test("every script of a rule that wasn't seen yet belongs to a question", () => {
    const asked = new Set(unverifiedRules.flatMap((rule) => rule.scripts));
    const marked = scripts.filter(({ unverified }) => unverified !== undefined);
    expect(marked.filter(({ title }) => !asked.has(title)).map(({ title }) => title)).toEqual([]);
  });

  test.each(openQuestions.map((litmus) => [litmus.title, litmus] as const))(
    "the model says: %s",
    (_, litmus) => {
      for (const engine of engineNames.filter((name) => litmus.engines?.includes(name) ?? true)) {
        const seen = canonicalText(runInModel(litmus, engine));
        expect(seen).toBe(canonicalText(expectedResults(litmus, engine)));
      }
    },
  );

  test("a switch that a rule names is one of the engine's", () => {
    const named = unverifiedRules.flatMap((rule) => rule.switch ?? []);
    expect(named.filter((name) => !(name in engines.azure))).toEqual([]);
  });
});

describe("plans", () => {
  const plan = `<ShowPlanXML><BatchSequence><Batch><Statements>
    <StmtSimple StatementText="SELECT r.TaskId FROM Taskgate.Ready AS r&#xa; WHERE r.Rank &lt; 5" StatementId="1">
      <RelOp NodeId="0" PhysicalOp="Nested Loops" LogicalOp="Inner Join">
        <NestedLoops>
          <RelOp NodeId="1" PhysicalOp="Clustered Index Scan" LogicalOp="Clustered Index Scan"><IndexScan Ordered="0">
            <Object Database="[Db]" Schema="[Taskgate]" Table="[Ready]" Index="[PK_Ready]" IndexKind="Clustered"/></IndexScan></RelOp>
          <RelOp NodeId="2" PhysicalOp="Clustered Index Seek" LogicalOp="Clustered Index Seek"><IndexScan>
            <Object Database="[Db]" Schema="[Taskgate]" Table="[Task]" Index="[PK_Task]"/></IndexScan></RelOp>
        </NestedLoops></RelOp></StmtSimple>
    <StmtSimple StatementText="SELECT 1 FROM @Done" StatementId="2">
      <RelOp PhysicalOp="Table Scan" LogicalOp="Table Scan"><TableScan><Object Table="[@Done]"/></TableScan></RelOp></StmtSimple>
    <StmtSimple StatementText="SELECT e.TaskExecutionId FROM Taskgate.TaskExecution AS e" StatementId="3">
      <RelOp PhysicalOp="Index Scan" LogicalOp="Index Scan"><IndexScan>
        <Object Database="[Db]" Schema="[Taskgate]" Table="[TaskExecution]" Index="[IX_TaskExecution_Open]"/></IndexScan></RelOp></StmtSimple>
    </Statements></Batch></BatchSequence></ShowPlanXML>`;

  test("the scans of the core's tables are found with their statement, seeks and table variables aren't", () => {
    expect(findScans(plan)).toEqual([
      {
        operator: "Clustered Index Scan",
        table: "Ready",
        index: "PK_Ready",
        statement: "SELECT r.TaskId FROM Taskgate.Ready AS r WHERE r.Rank < 5",
      },
      {
        operator: "Index Scan",
        table: "TaskExecution",
        index: "IX_TaskExecution_Open",
        statement: "SELECT e.TaskExecutionId FROM Taskgate.TaskExecution AS e",
      },
    ]);
  });

  test("the scans that a file intends are told apart", () => {
    const intended = findScans(plan).map((scan) => isIntended("Work", scan));
    expect(intended).toEqual([false, true]);
    expect(findScans(plan).every((scan) => isIntended("CheckInvariants", scan))).toBe(true);
  });
});

describe("the table at the end", () => {
  function resultOf(...statuses: RowStatus[]): VerifyResult {
    const rows = statuses.map((status, index): ResultRow => ({
      step: `step ${String(index)}`,
      what: "something",
      status,
      summary: "a summary",
      details: status === "failed" ? ["why it failed"] : [],
      meansNothingHere: index === 0,
    }));
    return { server: "SQL Server 16", isSimulated: false, rows, isStopped: false, seconds: 12.3 };
  }

  test("the table at the end says the worst", () => {
    expect(verdictOf(resultOf("passed", "skipped", "told"))).toBe("passed");
    expect(verdictOf(resultOf("passed", "incomplete"))).toBe("incomplete");
    expect(verdictOf(resultOf("incomplete", "failed"))).toBe("failed");
    expect(verdictOf({ ...resultOf("passed"), isStopped: true })).toBe("incomplete");
  });

  test("lines up its columns and tells why", () => {
    expect(printResult(resultOf("passed", "failed")).split("\n")).toEqual([
      "SQL Server 16",
      "",
      "step 0 *  something  passed  a summary",
      "step 1    something  failed  a summary",
      "",
      "step 1, something:",
      "  why it failed",
      "",
      "failed in 12 s",
    ]);
  });
});
