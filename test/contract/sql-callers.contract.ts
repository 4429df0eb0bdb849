import { describe, expect, test } from "@jest/globals";
import type { ExecutionNumber } from "../../shared/core/ids";
import { operations } from "../../shared/store/operations";
import { toPascalCase } from "../../shared/store/operations/operation";
import { define, enqueueOne, setLimit, startWorker } from "../support/builders";
import type { Worker } from "../support/builders";
import { badOperatorCalls, longOperatorCalls } from "./bad-operator-calls";
import { badCalls, badSettings, longCalls, someId } from "./bad-sql-calls";
import type { BadCall } from "./bad-sql-calls";
import { ask, give, hold } from "../support/token-parties";
import { useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/**
 * People also call the procedures in plain T-SQL, past the checks of TypeScript: T-SQL checks everything again, says the
 * same, and changes nothing. Each row is one call and the error that it must raise. What PostgreSQL says to such callers
 * is in sql-callers.postgres.test.ts.
 */
export function describeSqlCallers(setup: StoreSetup): void {
  describe("a call in plain T-SQL", () => {
    describeBadCalls(setup);
  });
  describe("an answer in plain T-SQL", () => {
    describeAnswers(setup);
  });
  describe("a call inside a transaction in plain T-SQL", () => {
    describeInside(setup);
  });
}

/** What an own transaction would break: these end with the answer of the store, or not at all. */
const joining: ReadonlySet<string> = new Set(["enqueueTasks", "completeTask", "advanceWatermark"]);

/** Runs a call outside the transaction in which statements of tests run; its row, or the error and what it left open. */
async function answerOf(opened: TestStore, call: string, value = "NULL"): Promise<unknown> {
  const [row] = await opened.call(`
    DECLARE @v nvarchar(max) = ${value};
    COMMIT TRANSACTION;
    BEGIN TRY
      EXEC Taskgate.${call};
    END TRY
    BEGIN CATCH
      SELECT ERROR_NUMBER() AS [number], ERROR_MESSAGE() AS [message], @@TRANCOUNT AS [open];
    END CATCH;
    BEGIN TRANSACTION;`);
  return row;
}

function describeBadCalls(setup: StoreSetup): void {
  const open = useStore(setup);

  function expected({ number, says }: BadCall): unknown {
    return {
      number,
      message: typeof says === "string" ? says : expect.stringMatching(says),
      open: 0,
    };
  }

  for (const bad of [...badSettings, ...badCalls, ...badOperatorCalls]) {
    test(`${bad.title ?? bad.call} raises ${String(bad.number)}, naming field and value`, async () => {
      const opened = open();
      await define(opened.store, {}, "demo");
      expect(await answerOf(opened, bad.call)).toEqual(expected(bad));
      expect(await counts(opened)).toEqual({ definitions: 1, tasks: 0, operations: 0 });
    });
  }

  for (const bad of [...longCalls, ...longOperatorCalls]) {
    test(`the call ${bad.title ?? bad.call} raises ${String(bad.number)}, naming field and value`, async () => {
      const opened = open();
      await define(opened.store, {}, "demo");
      expect(await answerOf(opened, bad.call, bad.value)).toEqual(expected(bad));
      expect(await counts(opened)).toEqual({ definitions: 1, tasks: 0, operations: 0 });
    });
  }
}

function describeAnswers(setup: StoreSetup): void {
  const open = useStore(setup);

  test("an execution that has ended gets no fence of the call that it repeats", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    expect(await worker.claim(1)).toHaveLength(1);
    await worker.finish();
    const call = `Work ${worker.number}, ${String(worker.calls)}, @Want = 1`;
    expect(await answerOf(opened, call)).toMatchObject({ Status: "ended", Fence: null });
  });

  test("a name that ends in a blank matches no row", async () => {
    const opened = open();
    await define(opened.store, {}, "demo");
    const call = `StartExecution N'demo ', ${someId}, N'w', 1, NULL, 1, 0`;
    expect(await answerOf(opened, call)).toMatchObject({ Status: "unknown" });
    expect(await answerOf(opened, "ListDefinitions N'demo '")).toMatchObject({ Definitions: "[]" });
    expect(await answerOf(opened, "ListExecutions N'demo ', 0, 1")).toMatchObject({
      Executions: "[]",
    });
  });

  test("a kind that ends in a blank is another kind", async () => {
    const opened = open();
    await define(opened.store, {}, "demo");
    const taskId = await enqueueOne(opened.store, "demo", { kind: "a" });
    await opened.store.cancelTasks({ taskIds: [taskId] });
    const found = (kind: string) =>
      answerOf(opened, `RedriveTasks NULL, N'demo', N'${kind}', N'cancelled', 10`);
    expect(await found("a ")).toMatchObject({ Results: "[]" });
    expect(await found("a")).toMatchObject({ Results: expect.stringContaining("redriven") });
  });

  test("a name that is longer than any, or ends in a blank, isn't taken for the one that it begins with", async () => {
    const opened = open();
    const { store } = opened;
    const longest = "n".repeat(200);
    for (const name of ["demo", longest]) {
      await define(store, {}, name);
      await enqueueOne(store, name);
      await startWorker(store, name);
    }
    for (const value of ["N'demo '", `N'${longest}n'`]) {
      const lists = await Promise.all([
        answerOf(opened, "ListDefinitions @v", value),
        answerOf(opened, "ListExecutions @v, 0, 10", value),
        answerOf(opened, "ListExecutions @v, 1, 10", value),
      ]);
      expect(lists).toMatchObject([
        { Definitions: "[]" },
        { Executions: "[]" },
        { Executions: "[]" },
      ]);
      const start = `StartExecution @v, ${someId}, N'w', 1, NULL, 1, 0`;
      expect(await answerOf(opened, start, value)).toMatchObject({ Status: "unknown" });
      const read = await answerOf(opened, "ReadFreeTokens @v", value);
      expect(read).toMatchObject({ Status: "unknown", Free: null });
      for (const call of [
        `SetLimit @v, 1, ${someId}, N'me'`,
        "PauseDefinition @v, N'me'",
        "ResumeDefinition @v, N'me'",
        "ListTasks @v, N'ready', 1",
        "PromoteScheduled @v, 1",
        "EnqueueTasks @v, 1, N'[{}]'",
        "RedriveTasks NULL, @v, NULL, NULL, 1",
        "SetGroup @v, N'g', NULL, 1, NULL, NULL, N'me'",
        "SetDefinitionOwner @v, N'a', N'me'",
        "SetRate @v, -1, NULL, NULL, N'me'",
        "SetSchedules @v, 1, N'[]', N'me'",
        "SetSchedulePaused @v, N's', 1, NULL, N'me'",
        `SetWatermark @v, N'w', N'[]', NULL, ${someId}, N'me'`,
        "AdvanceWatermark @v, N'w', 0, N'[]', 1, N'[]'",
        "ListGroups @v, NULL, 1",
        "ListSchedules @v, 1",
        "ListWatermarks @v, NULL, 1",
      ]) {
        expect(await answerOf(opened, call, value)).toMatchObject({ number: 50404 });
      }
    }
    // The longest one is known to them, too.
    for (const call of [
      "ListTasks @v, N'ready', 1",
      "PromoteScheduled @v, 1",
      "PauseDefinition @v, N'me'",
      "SetDefinitionOwner @v, N'a', N'me'",
    ]) {
      const answer = await answerOf(opened, call, `N'${longest}'`);
      expect(answer).toHaveProperty("Status");
    }
  });

  test.each([
    {
      what: "an execution that has ended since it was read",
      granted: 0,
      between: (worker: Worker) => worker.finish(),
    },
    {
      what: "an execution, of tokens that were written by hand since",
      granted: 1,
      between: (_: Worker, opened: TestStore) =>
        opened.raw(
          `UPDATE Taskgate.TaskDefinition SET ConcurrencyLimitOverride = 1,
             ExecutionTokens = N'I:6f1c2f6e-3f0d-4d6b-9a51-0d0f6b2f3c11,S:1,G:0';`,
        ),
    },
  ])("_SettleTokens grants $granted under the lock to $what", async ({ granted, between }) => {
    const opened = open();
    const { store } = opened;
    const worker = await startWorker(store, await define(store, { limit: 2 }));
    await store.releaseTokens({ executionId: worker.executionId, keep: 0 });
    await between(worker, opened);
    expect(await settle(opened, worker.number)).toEqual([{ granted }]);
  });

  test("_SettleTokens grants none of the tokens that were reserved for others since", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3 });
    const rich = await hold(store, name, "first");
    await ask(store, name, "second");
    await setLimit(store, name, 4);
    expect(await give(rich)).toMatchObject({ tokens: 3 });
    expect(await settle(opened, rich.number)).toEqual([{ granted: 0 }]);
  });

  test.each([
    { afterMs: 0, granted: 0 },
    { afterMs: 10_001, granted: 1 },
  ])(
    "where no token is free, the lock grants $granted after $afterMs ms of a lease of 10 seconds",
    async ({ afterMs, granted }) => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 2, leaseMs: 10_000 });
      const asker = await startWorker(store, name);
      await startWorker(store, name, { worker: "another" });
      await opened.advance(afterMs);
      expect(await settle(opened, asker.number)).toEqual([{ granted }]);
    },
  );

  test("tokens of a definition that isn't there: a named error", async () => {
    const names = ["Own", "Granted", "Freed", "Held", "Limit", "Dead"].map(
      (name) => `@o${name} = @n OUTPUT`,
    );
    const others = "@oTokenFence = @b OUTPUT, @oPaused = @p OUTPUT, @oIsLive = @p OUTPUT";
    const call = `
      DECLARE @n int, @b bigint, @p bit;
      EXEC Taskgate._SettleTokens @TaskDefinitionId = 999, @TaskExecutionId = 0, @Want = NULL, @Keep = NULL,
        @OverLimitKeep = NULL, @Shared = N'', ${names.join(", ")}, ${others};`;
    await expect(open().raw(call)).rejects.toMatchObject({
      number: 50404,
      message: "task_definition_id: unknown (999)",
    });
  });
}

/** How many tokens the execution gets that wants all of its definition. */
function settle(opened: TestStore, execution: ExecutionNumber): Promise<unknown> {
  return opened.raw(`
    DECLARE @d int, @w int, @g int;
    SELECT @d = d.TaskDefinitionId, @w = COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit)
    FROM Taskgate.TaskExecution AS e INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = e.TaskDefinitionId
    WHERE e.TaskExecutionId = ${execution};
    EXEC Taskgate._SettleTokens @TaskDefinitionId = @d, @TaskExecutionId = ${execution}, @Want = @w, @Shared = N'', @oGranted = @g OUTPUT;
    SELECT @g AS granted;`);
}

async function counts(opened: TestStore): Promise<unknown> {
  const [row] = await opened.raw(
    `SELECT (SELECT COUNT(*) FROM Taskgate.TaskDefinition) AS definitions,
            (SELECT COUNT(*) FROM Taskgate.Task) AS tasks, (SELECT COUNT(*) FROM Taskgate.Operation) AS operations;`,
  );
  return row;
}

function describeInside(setup: StoreSetup): void {
  const open = useStore(setup);
  const alone = Object.values(operations).filter(({ name }) => !joining.has(name));

  for (const { name: operation, parameters } of alone) {
    test(`${toPascalCase(operation)} is refused: its answer would be of a transaction that may be rolled back`, async () => {
      const opened = open();
      const nulls = parameters.map(([name]) => `@${toPascalCase(name)} = NULL`);
      const call = `EXEC Taskgate.${toPascalCase(operation)} ${nulls.join(", ")};`;
      await expect(opened.call(call)).rejects.toMatchObject({
        number: 50490,
        message: "transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off",
      });
    });
  }
}
