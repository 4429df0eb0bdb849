import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { define, setLimit, startInput, startWorker, statusOf, tryStart } from "../support/builders";
import { expectError } from "../support/expect-error";
import { useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/**
 * T-SQL alone: a definition's tokens are rows, with a count of those that are held beside them. Databases of before have a list or a
 * string, which is moved into rows under the lock of the next change.
 */
export function describeTokenRows(setup: StoreSetup): void {
  describe("rows of tokens that were changed by hand", () => {
    describeChanged(setup);
  });
  describe("rows of many tokens", () => {
    describeMany(setup);
  });
  describe("the tokens of before the rows", () => {
    describeBefore(setup);
  });
}

/** Statements on the only definition. */
async function change(opened: TestStore, values: string): Promise<void> {
  await opened.raw(`UPDATE Taskgate.TaskDefinition SET ${values};`);
}

async function countOf(opened: TestStore): Promise<unknown> {
  const [row] = await opened.raw("SELECT HeldCount FROM Taskgate.TaskDefinition;");
  return row?.["HeldCount"];
}

/** The form of the only definition's tokens, and their count. */
async function formOf(opened: TestStore): Promise<unknown> {
  const [row] = await opened.raw(
    "SELECT ExecutionTokens AS form, TokenList AS list, HeldCount AS held FROM Taskgate.TaskDefinition;",
  );
  return row;
}

/** Which places the execution holds; 0: which are free. */
async function placesOf(opened: TestStore, execution: string): Promise<number[]> {
  const rows = await opened.raw(
    `SELECT t.Ord AS ord FROM Taskgate.Token AS t WHERE t.HeldBy = ${execution} ORDER BY t.Ord;`,
  );
  return rows.map((row) => Number(row["ord"]));
}

function describeChanged(setup: StoreSetup): void {
  const open = useStore(setup);

  /** A limit of three, of which one token is held. */
  async function oneOfThree(opened: TestStore) {
    const name = await define(opened.store, { limit: 3 });
    const worker = await startWorker(opened.store, name);
    return { name, worker };
  }

  test.each([
    { count: 0, want: 3, granted: 2 },
    { count: 3, want: 1, granted: 1 },
    { count: 1_000, want: 3, granted: 2 },
  ])(
    "a count of $count held tokens, where one is, is put right by a start that wants $want",
    async ({ count, want, granted }) => {
      const opened = open();
      const { name } = await oneOfThree(opened);
      await change(opened, `HeldCount = ${String(count)}`);
      expect((await startWorker(opened.store, name, { want })).answer.tokens).toBe(granted);
      expect((await statusOf(opened.store, name)).held).toBe(1 + granted);
      expect(await countOf(opened)).toBe(1 + granted);
    },
  );

  test("free tokens that were deleted are made again by the start that misses them", async () => {
    const opened = open();
    const { name } = await oneOfThree(opened);
    await opened.raw("DELETE FROM Taskgate.Token WHERE HeldBy = 0;");
    const { tokenFence } = await statusOf(opened.store, name);
    expect(await tryStart(opened.store, name)).toBe("limited");
    expect(await statusOf(opened.store, name)).toMatchObject({ tokenFence, held: 1 });
    expect(await placesOf(opened, "0")).toEqual([1, 2]);
    expect(await tryStart(opened.store, name)).toBe("started");
  });

  test("free tokens that were added beyond the limit are granted to nobody, and go when none is free", async () => {
    const opened = open();
    const { store } = opened;
    const { name } = await oneOfThree(opened);
    await opened.raw(
      `INSERT INTO Taskgate.Token (TaskDefinitionId, HeldBy, Ord, TokenId, LastHeldBy)
       SELECT d.TaskDefinitionId, 0, 10 + n.N, NEWID(), 0 FROM Taskgate.TaskDefinition AS d CROSS JOIN Taskgate.Number AS n WHERE n.N <= 5;`,
    );
    expect((await startWorker(store, name, { want: 9 })).answer.tokens).toBe(2);
    expect(await placesOf(opened, "0")).toEqual([]);
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("a string of tokens that can't be read is no matter to a definition without a limit", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: null });
    opened.expectDamage();
    await change(opened, "ExecutionTokens = N'text'");
    const { executionId } = await startWorker(store, name, { want: 2 });
    expect(await store.releaseTokens({ executionId, keep: 0 })).toMatchObject({ freed: 2 });
  });

  test("a second row for the place of a dead holder's token is a named error, and nothing is granted", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    await startWorker(store, name);
    opened.expectDamage();
    await opened.raw(
      `INSERT INTO Taskgate.Token (TaskDefinitionId, HeldBy, Ord, TokenId, LastHeldBy)
       SELECT t.TaskDefinitionId, 0, t.Ord, NEWID(), 0 FROM Taskgate.Token AS t;`,
    );
    const other = await define(store, { limit: 3 });
    await startWorker(store, other, { want: 3 });
    await opened.advance(10_001);
    await expectError(store.startExecution(startInput(name)), {
      code: "TASKGATE_STORE_CONTRACT",
      value: "2 rows of Taskgate.Token stand at 1 places",
    });
    const { executions } = await store.listExecutions({ name, isOpen: true, max: 10 });
    expect(executions).toHaveLength(1);
  });
}

function describeMany(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a thousand tokens are granted from the first free place on, and the last granted go back first", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1_000 });
    const first = await startWorker(store, name, { want: 10 });
    const rest = await startWorker(store, name, { want: 990, worker: "another" });
    expect(await placesOf(opened, rest.number)).toHaveLength(990);
    await store.releaseTokens({ executionId: first.executionId, keep: 7 });
    expect(await placesOf(opened, "0")).toEqual([7, 8, 9]);
    await store.releaseTokens({ executionId: rest.executionId, keep: 988 });
    expect(await placesOf(opened, "0")).toEqual([7, 8, 9, 998, 999]);
    await store.acquireTokens({ executionId: first.executionId, want: 11 });
    expect(await placesOf(opened, first.number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 998]);
  });

  test("the places of the tokens may grow beyond the limit while the last one is held", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3 });
    const first = await startWorker(store, name, { want: 2 });
    const last = await startWorker(store, name);
    await first.finish();
    for (const limit of [1, 3, 1, 3]) await setLimit(store, name, limit);
    expect(await placesOf(opened, last.number)).toEqual([2]);
    expect(await placesOf(opened, "0")).toEqual([3, 4]);
    expect((await startWorker(store, name, { want: 3 })).answer.tokens).toBe(2);
    expect(await tryStart(store, name)).toBe("limited");
  });
}

/** An entry of a string of tokens. */
function tokenText(n: number, holder: string): string {
  return `I:00000000-0000-4000-8000-00000000000${String(n)},${holder}`;
}

/** Puts the tokens of the only definition into the list that they were in before they became rows. */
async function backToList(opened: TestStore, name: string): Promise<string> {
  const entries = (await opened.readTokens(name))
    .split(/,(?=I:)/)
    .map((entry) => entry.replace(/\d+$/, (grantee) => grantee.padStart(18, "0")));
  const list = JSON.stringify(entries);
  await change(opened, `ExecutionTokens = N'', TokenList = '${list}'`);
  await opened.raw("DELETE FROM Taskgate.Token;");
  return list;
}

function describeBefore(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a list of before becomes rows with the next call, with its ids, holders and places", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    const worker = await startWorker(store, name, { want: 2 });
    const other = await startWorker(store, name);
    await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
    const text = await opened.readTokens(name);
    await backToList(opened, name);
    expect(await opened.store.checkInvariants()).toEqual({ status: "sound", findings: [] });
    expect(await opened.readTokens(name)).toBe(text);

    expect(await store.acquireTokens({ executionId: other.executionId, want: 9 })).toMatchObject({
      tokens: 3,
    });
    expect(await placesOf(opened, other.number)).toEqual([1, 2, 3]);
    expect(await placesOf(opened, worker.number)).toEqual([0]);
    expect((await opened.readTokens(name)).match(/I:[0-9a-f-]+/g)).toEqual(
      text.match(/I:[0-9a-f-]+/g),
    );
    expect(
      await opened.raw("SELECT ExecutionTokens, TokenList FROM Taskgate.TaskDefinition;"),
    ).toEqual([{ ExecutionTokens: "rows", TokenList: null }]);
  });

  test.each(["[broken", "[]"])(
    "a string that was written by hand wins over a list of before, %s",
    async (list) => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 2 });
      await opened.writeTokens(name, [1, 2].map((n) => tokenText(n, "S:1,G:0")).join(","));
      await change(opened, `TokenList = '${list}'`);
      expect((await startWorker(store, name, { want: 3 })).answer.tokens).toBe(2);
      expect(await placesOf(opened, "0")).toEqual([]);
    },
  );

  test("a list of before that becomes rows leaves those of other definitions", async () => {
    const opened = open();
    const { store } = opened;
    const other = await define(store, { limit: 2 });
    const held = await startWorker(store, other);
    const name = await define(store, { limit: 2 });
    await opened.writeTokens(name, [3, 4].map((n) => tokenText(n, "S:1,G:0")).join(","));
    await startWorker(store, name);
    expect(await placesOf(opened, held.number)).toEqual([0]);
    expect(await statusOf(store, other)).toMatchObject({ held: 1 });
    expect(await tryStart(store, other)).toBe("started");
    expect(await tryStart(store, other)).toBe("limited");
  });

  test("tokens of before that are free are counted as such, also those that were held", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3 });
    const { executionId, number } = await startWorker(store, name, { want: 2 });
    const holders = [`S:0,G:${number}`, `S:0,G:${number}`, `S:1,G:${number}`];
    await opened.writeTokens(name, holders.map((text, n) => tokenText(n, text)).join(","));
    await change(opened, "HeldCount = 0");
    await store.releaseTokens({ executionId, keep: 1 });
    expect(await countOf(opened)).toBe(1);
  });

  test("a limit that goes takes its list of before with it, and one that comes counts what runs then", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    const worker = await startWorker(store, name, { want: 2 });
    await backToList(opened, name);
    await setLimit(store, name, null);
    expect(await formOf(opened)).toEqual({ form: "rows", list: null, held: 0 });
    expect(await placesOf(opened, worker.number)).toEqual([]);

    await setLimit(store, name, 3);
    expect(await formOf(opened)).toEqual({ form: "rows", list: null, held: 2 });
    expect(await placesOf(opened, worker.number)).toEqual([0, 1]);
    expect(await placesOf(opened, "0")).toEqual([2]);
  });

  test.each([
    { what: "an empty list", tokens: "", list: "''" },
    { what: "no list", tokens: "", list: "NULL" },
  ])("a limit that comes makes rows where $what of before is", async ({ tokens, list }) => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: null });
    const worker = await startWorker(store, name, { want: 2 });
    await change(opened, `ExecutionTokens = N'${tokens}', TokenList = ${list}`);
    await setLimit(store, name, 2);
    expect(await formOf(opened)).toEqual({ form: "rows", list: null, held: 2 });
    expect(await placesOf(opened, worker.number)).toEqual([0, 1]);
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("a limit that changes keeps who holds the tokens of a list of before", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3 });
    const worker = await startWorker(store, name, { want: 2 });
    await backToList(opened, name);
    await setLimit(store, name, 5);
    expect(await formOf(opened)).toEqual({ form: "rows", list: null, held: 2 });
    expect(await placesOf(opened, worker.number)).toEqual([0, 1]);
    expect(await placesOf(opened, "0")).toEqual([2, 3, 4]);
  });

  test("held tokens of before are counted also where nothing is granted", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2 });
    const { number } = await startWorker(store, name, { want: 2 });
    const entries = [1, 2].map((n) => tokenText(n, `S:0,G:${number}`));
    await opened.writeTokens(name, entries.join(","));
    await change(opened, "HeldCount = 1");
    expect(await tryStart(store, name)).toBe("limited");
    expect(await countOf(opened)).toBe(2);
  });

  test("an empty list of before, as a limit that went had left it, becomes rows of the limit", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2 });
    await change(opened, "ExecutionTokens = N'', TokenList = ''");
    expect((await startWorker(store, name, { want: 3 })).answer.tokens).toBe(2);
  });

  test("a token of a string of before that is held by nobody is free as a row", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2 });
    await opened.writeTokens(name, `${tokenText(1, "S:0,G:0")},${tokenText(2, "S:1,G:77")}`);
    const { number } = await startWorker(store, name);
    expect(await placesOf(opened, number)).toEqual([0]);
    expect(await countOf(opened)).toBe(1);
  });

  test("the word that stands for rows is no token to a procedure of before: it grants nothing by it", async () => {
    const tokens = await open().raw(
      "SELECT TokenId, IsHeld, Grantee FROM Taskgate._ReadTokens(N'rows');",
    );
    expect(tokens).toEqual([{ TokenId: null, IsHeld: null, Grantee: null }]);
  });

  test.each([
    { how: "blanks between the entries", from: '","', to: '" ,"' },
    { how: "a digit less, and a blank behind the entry", from: '0","', to: '" ,"' },
    { how: "no end", from: '"]', to: '"' },
  ])("a list of before with $how is refused by name", async ({ from, to }) => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3 });
    await startWorker(store, name);
    const good = await backToList(opened, name);
    const bad = good.replace(from, to);
    expect(bad).not.toBe(good);
    await change(opened, `TokenList = '${bad}'`);
    await expectError(store.startExecution(startInput(name)), {
      code: "TASKGATE_STORE_CONTRACT",
      value: bad.slice(0, 100),
    });
    expect(await opened.raw("SELECT TokenList FROM Taskgate.TaskDefinition;")).toEqual([
      { TokenList: bad },
    ]);
    await change(opened, `TokenList = '${good}'`);
    expect((await startWorker(store, name, { want: 3 })).answer.tokens).toBe(2);
  });

  test("the migration counts what a string of before says is held, so that a lowered limit is told at once", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    const worker = await startWorker(store, name, { want: 4 });
    await setLimit(store, name, 2);
    const text = await opened.readTokens(name);
    await opened.raw("DELETE FROM Taskgate.Token;");
    await change(opened, `ExecutionTokens = N'${text}', HeldCount = 0`);
    const file = "../../shared/store/mssql/sql/migrations/0015_token_rows.sql";
    const counting = readFileSync(join(__dirname, file), "utf8")
      .split(/^GO$/m)
      .find((batch) => batch.includes("UPDATE d"));
    await opened.raw(counting ?? "");
    expect(await countOf(opened)).toBe(4);
    expect(await worker.beat()).toMatchObject({ status: "renewed", overLimit: 2 });
    expect(await worker.work()).toMatchObject({ overLimit: 2 });
  });
}
