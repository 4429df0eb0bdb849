import { describe, expect, test } from "@jest/globals";
import { at, define, setLimit, startInput, startWorker, statusOf } from "../support/builders";
import type { Worker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/**
 * T-SQL alone: a call decides by a definition's list of tokens before it locks the row, and writes pieces of the list. What somebody
 * has changed by hand is no ground for that: it is decided, and told, under the lock.
 */
export function describeTokenList(setup: StoreSetup): void {
  describe("a list of tokens that was changed by hand", () => {
    describeChanged(setup);
  });
  describe("a long list of tokens", () => {
    describeLong(setup);
  });
  describe("the tokens of before the list", () => {
    describeBefore(setup);
  });
}

/** Statements on the only definition. */
async function change(opened: TestStore, values: string): Promise<void> {
  await opened.raw(`UPDATE Taskgate.TaskDefinition SET ${values};`);
}

async function listOf(opened: TestStore): Promise<string> {
  const [row] = await opened.raw("SELECT TokenList FROM Taskgate.TaskDefinition;");
  return String(row?.["TokenList"]);
}

function describeChanged(setup: StoreSetup): void {
  const open = useStore(setup);

  /** A limit of three, of which one token is held. */
  async function oneOfThree(opened: TestStore) {
    const name = await define(opened.store, { limit: 3 });
    await startWorker(opened.store, name);
    return { name, list: await listOf(opened) };
  }

  test.each([0, 2])("a count of %d held ones is put right by the next start", async (count) => {
    const opened = open();
    const { name } = await oneOfThree(opened);
    await change(opened, `HeldCount = ${String(count)}`);
    expect((await startWorker(opened.store, name)).answer.tokens).toBe(1);
    expect((await statusOf(opened.store, name)).held).toBe(2);
    expect(await opened.raw("SELECT HeldCount FROM Taskgate.TaskDefinition;")).toEqual([
      { HeldCount: 2 },
    ]);
  });

  /** Nothing is granted by this list, which the error shows, and nothing of it is changed; the good one works again. */
  async function expectRefused(opened: TestStore, name: string, bad: string): Promise<void> {
    const good = await listOf(opened);
    expect(bad).not.toBe(good);
    await change(opened, `TokenList = '${bad}'`);
    const refused = { code: "TASKGATE_STORE_CONTRACT", value: '" ,"' } as const;
    await expectError(opened.store.startExecution(startInput(name)), refused);
    expect(await listOf(opened)).toBe(bad);
    await change(opened, `TokenList = '${good}'`);
    await startWorker(opened.store, name);
  }

  test("a list of tokens with blanks between the entries is refused by name", async () => {
    const opened = open();
    const { name, list } = await oneOfThree(opened);
    await expectRefused(opened, name, list.replaceAll('","', '" ,"'));
  });

  test("a digit less in an entry is refused, also where a blank behind it keeps the length", async () => {
    const opened = open();
    const { name, list } = await oneOfThree(opened);
    await expectRefused(opened, name, list.replace('0","', '" ,"'));
  });
}

function describeLong(setup: StoreSetup): void {
  const open = useStore(setup);

  async function entriesOf(opened: TestStore): Promise<string[]> {
    return JSON.parse(await listOf(opened)) as string[];
  }

  test.each([
    { what: "piece by piece where they lie more than 40 entries apart", step: 50, count: 5 },
    { what: "in one piece where they lie closer", step: 10, count: 20 },
    { what: "in one piece where there would be more than eight", step: 45, count: 11 },
  ])("tokens are taken and given back $what", async ({ step, count }) => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: step * count });
    const singles: Worker[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      singles.push(await startWorker(store, name));
      await startWorker(store, name, { want: step - 1, worker: "another" });
    }
    const taker = at(singles, 0);
    for (const single of singles.slice(1)) await single.finish();
    const before = await entriesOf(opened);
    const own = at(before, 0).slice(39);
    const withOwn = (places: number): string[] =>
      before.map((entry, place) =>
        place % step === 0 && place < step * places ? entry.slice(0, 39) + own : entry,
      );
    const { executionId } = taker;

    expect(await store.acquireTokens({ executionId, want: count })).toMatchObject({
      tokens: count,
      granted: count - 1,
    });
    expect(await entriesOf(opened)).toEqual(withOwn(count));
    expect(await store.releaseTokens({ executionId, keep: 1 })).toMatchObject({
      tokens: 1,
      freed: count - 1,
    });
    const freed = own.replace("S:0", "S:1");
    expect(await entriesOf(opened)).toEqual(
      withOwn(count).map((entry, place) =>
        place > 0 && entry.endsWith(own) ? entry.slice(0, 39) + freed : entry,
      ),
    );
  });
}

function describeBefore(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the tokens of before the list tell how many are held above a lowered limit", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    const worker = await startWorker(store, name, { want: 4 });
    await setLimit(store, name, 2);
    const text = await opened.readTokens(name);
    await change(opened, `ExecutionTokens = N'${text}', TokenList = '', HeldCount = 0`);
    expect(await worker.beat()).toMatchObject({ status: "renewed", overLimit: 2 });
    expect(await worker.work()).toMatchObject({ overLimit: 2 });
  });
}
