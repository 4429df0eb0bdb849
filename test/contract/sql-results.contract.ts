import { describe, expect, test } from "@jest/globals";
import { at, define, enqueue, setLimit, startWorker, statusOf } from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { answerOf, errorOf } from "./sql-answers";

/**
 * What callers in plain T-SQL get and may leave out, where the worker's code always says everything: lists without
 * durations, answers without extras, lists with nulls.
 */
export function describeSqlResults(setup: StoreSetup): void {
  describe("Work in plain T-SQL", () => {
    describeWork(setup);
  });
  describe("CompleteTask, Heartbeat, FailTasks and tokens in plain T-SQL", () => {
    describeLists(setup);
  });
}

function describeWork(setup: StoreSetup): void {
  const open = useStore(setup);

  test("durations and results may be left out; what wasn't asked for is null", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    const ids = await enqueue(store, name, 2);
    const { number: execution } = await startWorker(store, name, { want: 4 });
    const claimed = await answerOf(opened, `Work ${execution}, 1, @Want = 1`);
    expect(claimed).toMatchObject({
      Status: "claimed",
      TaskIds: at(ids, 0),
      Started: 1,
      Extras: null,
      RefusedTaskIds: null,
      Woken: null,
      NextDueMs: null,
    });
    const list = `N'[${at(ids, 0)}]', N'[${String(claimed["Fence"])}]'`;
    expect(await answerOf(opened, `Work ${execution}, 2, ${list}`)).toMatchObject({
      Status: "done",
      Fence: null,
      TaskIds: null,
      Started: 0,
      RefusedTaskIds: null,
    });
    expect(await statusOf(store, name)).toMatchObject({ done: 1, ready: 1 });
  });

  test("the column Started is never more than the claimed number, and never negative", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3, prefetchMax: 3 });
    await enqueue(store, name, 5);
    const { executionId, number: execution } = await startWorker(store, name, { want: 3 });
    const claim = (call: number, want: number) =>
      answerOf(opened, `Work ${execution}, ${String(call)}, @Want = ${String(want)}`);
    expect((await claim(1, 3))["Started"]).toBe(3);
    await store.releaseTokens({ executionId, keep: 2 });
    expect((await claim(2, 1))["Started"]).toBe(0);
    await store.acquireTokens({ executionId, want: 3 });
    await setLimit(store, name, 9);
    await store.acquireTokens({ executionId, want: 9 });
    expect((await claim(3, 9))["Started"]).toBe(1);
  });

  test("the columns Fence and Started beside a task that was lost twice are those of what is claimed", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 9, lostMax: 9, leaseMs: 10_000 });
    const [first] = await enqueue(store, name, 1);
    for (let round = 0; round < 2; round += 1) {
      await (await startWorker(store, name)).claimOne();
      await opened.advance(10_001);
      await store.reclaimExpired({ max: 10 });
    }
    const [urgent] = await enqueue(store, name, [{ priority: 1 }, {}, {}]);
    const { number: other } = await startWorker(store, name, { want: 3 });
    const claim = (call: number) => `Work ${other}, ${String(call)}, @Want = 3`;
    expect(await answerOf(opened, claim(1))).toMatchObject({ TaskIds: urgent, Started: 1 });
    const none = { Status: "none", Fence: null, TaskIds: null, Started: 0 };
    expect(await answerOf(opened, claim(2))).toMatchObject(none);
    const { number: alone } = await startWorker(store, name, { want: 3 });
    const answer = await answerOf(opened, `Work ${alone}, 1, @Want = 3`);
    expect(answer).toMatchObject({ TaskIds: first, Started: 1 });
  });

  for (const { result, says } of [
    { result: '"text"', says: 'result: expected the text of a JSON object or array ("text")' },
    { result: '"5%"', says: 'result: expected the text of a JSON object or array ("5%")' },
    { result: '"{"', says: "result: expected the text of a JSON object or array ({)" },
    { result: "7", says: "result: expected the text of a JSON object or array (7)" },
  ]) {
    test(`a result of ${result} is refused, naming it, and nothing is completed`, async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const [taskId] = await enqueue(store, name, 1);
      const worker = await startWorker(store, name);
      const { fence } = await worker.claimOne();
      const results = result === '"{"' ? '["{"]' : `[${JSON.stringify(result)}]`;
      const lists = `N'[${String(taskId)}]', N'[${fence}]', NULL, N'${results}'`;
      const call = `Work ${worker.number}, ${String(worker.calls + 1)}, ${lists}`;
      expect(await errorOf(opened, call)).toEqual({ number: 50422, message: says });
      expect(await statusOf(store, name)).toMatchObject({ claimed: 1, done: 0 });
    });
  }

  test("the lowest task of several bad results is named", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const ids = await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const fence = at(await worker.claim(2), 0).fence;
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const tasks = order.map((index) => at(ids, index)).join(",");
      const results = order.map((index) => `"${String(index)}"`).join(",");
      const lists = `N'[${tasks}]', N'[${fence},${fence}]', NULL, N'[${results}]'`;
      expect(await errorOf(opened, `Work ${worker.number}, 2, ${lists}`)).toEqual({
        number: 50422,
        message: "result: expected the text of a JSON object or array (0)",
      });
    }
  });

  test("65,536 bytes that are no JSON aren't too large, but no JSON", async () => {
    const opened = open();
    const name = await define(opened.store);
    const [taskId] = await enqueue(opened.store, name, 1);
    const worker = await startWorker(opened.store, name);
    const { fence } = await worker.claimOne();
    const value = `N'["' + REPLICATE(CONVERT(nvarchar(max), N'x'), 65536) + N'"]'`;
    const lists = `N'[${String(taskId)}]', N'[${fence}]', NULL, @v`;
    const { number, message } = await errorOf(opened, `Work ${worker.number}, 2, ${lists}`, value);
    expect(number).toBe(50422);
    expect(message).toBe(
      `result: expected the text of a JSON object or array (${"x".repeat(100)})`,
    );
  });

  test("a result of more than 65,536 bytes is refused, naming how many it has", async () => {
    const opened = open();
    const name = await define(opened.store);
    const [taskId] = await enqueue(opened.store, name, 1);
    const worker = await startWorker(opened.store, name);
    const { fence } = await worker.claimOne();
    const value = `N'["[\\"' + REPLICATE(CONVERT(nvarchar(max), N'x'), 65533) + N'\\"]"]'`;
    const lists = `N'[${String(taskId)}]', N'[${fence}]', NULL, @v`;
    expect(await errorOf(opened, `Work ${worker.number}, 2, ${lists}`, value)).toEqual({
      number: 50413,
      message: "result: expected at most 65536 bytes (65537)",
    });
  });

  test("a bad result is refused also beside a task without one", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const ids = await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const { fence } = at(await worker.claim(2), 0);
    const lists = `N'[${ids.join(",")}]', N'[${fence},${fence}]', NULL, N'[null,"7"]'`;
    expect(await errorOf(opened, `Work ${worker.number}, 2, ${lists}`)).toEqual({
      number: 50422,
      message: "result: expected the text of a JSON object or array (7)",
    });
    expect(await statusOf(store, name)).toMatchObject({ claimed: 2, done: 0 });
  });

  test("a task that is named twice is refused: all are named, in the order of the call", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const { number: execution } = await startWorker(store, name);
    const call = `Work ${execution}, 1, N'[8,7,8,9]', N'[1,2,3,4]'`;
    expect(await errorOf(opened, call)).toEqual({
      number: 50422,
      message: "done_task_ids: expected each task once (8,7,8,9)",
    });
  });
}

function describeLists(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a number of tokens out of range changes nothing", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    const { number: execution } = await startWorker(store, name, { want: 3 });
    for (const call of ["AcquireTokens @id, 1001", "ReleaseTokens @id, -1"]) {
      const { number } = await errorOf(opened, call.replace("@id", execution));
      expect(number).toBe(50422);
      expect((await statusOf(store, name)).held).toBe(3);
    }
    await setLimit(store, name, 1);
    expect((await errorOf(opened, `ReleaseSurplus ${execution}, -1`))["number"]).toBe(50422);
    expect((await statusOf(store, name)).held).toBe(3);
  });

  for (const result of ["{", "[1,", " "]) {
    test(`CompleteTask refuses a result of ${JSON.stringify(result)}, naming it`, async () => {
      expect(await errorOf(open(), `CompleteTask 1, 1, 1, 1, N'${result}'`)).toEqual({
        number: 50422,
        message: `result: expected the text of a JSON object or array (${result})`,
      });
    });
  }

  test("entries without an execution are passed over, and so are started tasks that are null", async () => {
    const opened = open();
    const { number: execution } = await startWorker(opened.store, await define(opened.store));
    const entries = `[{"execution":${execution},"started":[null]},{"started":[5]},{}]`;
    const { Executions } = await answerOf(opened, `Heartbeat N'${entries}'`);
    expect(JSON.parse(String(Executions))).toEqual([
      expect.objectContaining({ execution, status: "renewed" }),
    ]);
  });

  for (const { list, says } of [
    {
      list: '[{},{"execution":"x"},{"execution":"y"}]',
      says: "executions[1].execution: expected an id (x)",
    },
    {
      list: '[{"execution":""},{"execution":"y"}]',
      says: "executions[0].execution: expected an id ()",
    },
    {
      list: '[{"execution":1,"started":["x"]},{"execution":"y"}]',
      says: "executions[0].started: expected ids (x)",
    },
    {
      list: '[{"execution":1,"started":[null,"x","y"]}]',
      says: "executions[0].started: expected ids (x)",
    },
    { list: '[{"execution":1,"started":[""]}]', says: "executions[0].started: expected ids ()" },
  ]) {
    test(`Heartbeat of ${list} is refused, naming the first bad entry`, async () => {
      expect(await errorOf(open(), `Heartbeat N'${list}'`)).toEqual({
        number: 50422,
        message: says,
      });
    });
  }

  for (const { entry, says } of [
    {
      entry: "{}",
      says: "failures.as: expected failed, dead, cancelled or continued (<NULL>)",
    },
    {
      entry: "7",
      says: "failures.as: expected failed, dead, cancelled or continued (<NULL>)",
    },
    {
      entry: '{"as":"Failed"}',
      says: "failures.as: expected failed, dead, cancelled or continued (Failed)",
    },
    {
      entry: '{"as":"5%"}',
      says: "failures.as: expected failed, dead, cancelled or continued (5%)",
    },
    {
      entry: '{"as":"continued","checkpoint":"1,2"}',
      says: "failures.checkpoint: expected JSON text (1,2)",
    },
  ]) {
    test(`a failure of ${entry} is refused, naming its value`, async () => {
      const opened = open();
      const { number: execution } = await startWorker(opened.store, await define(opened.store));
      expect(await errorOf(opened, `FailTasks ${execution}, N'[${entry}]'`)).toEqual({
        number: 50422,
        message: says,
      });
    });
  }

  for (const call of [
    "FailTasks 1, N'[5%'",
    "Heartbeat N'[5%'",
    `FailTasks 1, N'{"0":{"as":"dead"}}'`,
    `Heartbeat N'{"0":{"execution":1}}'`,
  ]) {
    test(`a text that isn't a JSON array is no list: ${call}`, async () => {
      const { message, number } = await errorOf(open(), call);
      expect(number).toBe(50422);
      expect(String(message)).toMatch(/: expected a JSON array of 1\.\.1000 entries$/);
    });
  }
}
