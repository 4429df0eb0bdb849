import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  define,
  enqueueOne,
  operationId,
  startInput,
  startWorker,
  uniqueName,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** How much is given, by whom and to whom, at the limits of each rule (design 10.13). */
export function describeSpreadEdges(setup: StoreSetup): void {
  describe("who is asked while it works", () => {
    describeAsked(setup);
  });
  describe("who gives how much", () => {
    describeGiving(setup);
  });
  describe("who gets how much of what was given", () => {
    describeTaking(setup);
  });
  describe("a shared limit above a definition that has none", () => {
    describeShared(setup);
  });
}

/** One process for each count, holding so many. */
async function holders(
  store: TaskStore,
  name: string,
  counts: readonly number[],
): Promise<Worker[]> {
  const list: Worker[] = [];
  for (const [index, want] of counts.entries()) {
    list.push(await startWorker(store, name, { worker: `process ${String(index)}`, want }));
  }
  return list;
}

async function give({ store, executionId }: Worker, keep = 0): Promise<number> {
  return (await store.releaseSurplus({ executionId, keep })).given;
}

async function more({ store, executionId }: Worker, want: number) {
  return store.acquireTokens({ executionId, want });
}

/** The only worker at a place. */
function at(list: readonly Worker[], place: number): Worker {
  const worker = list[place];
  if (worker === undefined) throw new Error(`There is no worker ${String(place)}`);
  return worker;
}

/** Notes that a process without tokens was denied one. */
async function deny(store: TaskStore, name: string): Promise<void> {
  const answer = await store.startExecution(startInput(name, { worker: "denied" }));
  expect(answer).toMatchObject({ status: "limited", demand: "noted" });
}

function describeAsked(setup: StoreSetup): void {
  const open = useStore(setup);

  /** What each of them is answered when it says that it still works. */
  async function surplusOf(list: readonly Worker[]): Promise<number[]> {
    const answers: number[] = [];
    for (const worker of list) answers.push((await worker.work()).surplus);
    return answers;
  }

  test("who holds one token only isn't, whatever the others hold", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    const list = await holders(store, name, [2, 1]);
    expect(await surplusOf(list)).toEqual([0, 0]);
    await deny(store, name);
    expect(await surplusOf(list)).toEqual([1, 0]);
  });

  testWith(setup, "exact clock")(
    "for two seconds the richest and who holds one less; then everybody who holds several",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10 });
      const list = await holders(store, name, [4, 3, 2, 1]);
      await deny(store, name);
      expect(await surplusOf(list)).toEqual([1, 1, 0, 0]);
      await opened.advance(1_999);
      expect(await surplusOf(list)).toEqual([1, 1, 0, 0]);
      await opened.advance(1);
      expect(await surplusOf(list)).toEqual([1, 1, 1, 0]);
    },
  );
}

function describeGiving(setup: StoreSetup): void {
  const open = useStore(setup);

  test("who holds two more than the poorest gives one: then both hold as many", async () => {
    const { store } = open();
    const name = await define(store, { limit: 6 });
    const list = await holders(store, name, [4, 2]);
    expect(await more(at(list, 1), 6)).toMatchObject({ granted: 0 });
    expect(await give(at(list, 0))).toBe(1);
    expect(await more(at(list, 1), 6)).toMatchObject({ tokens: 3 });
  });

  test("not more than the poorest one's part of the limit is given, however much there is", async () => {
    const { store } = open();
    const name = await define(store, { limit: 12 });
    const list = await holders(store, name, [9, 1, 1, 1]);
    expect(await more(at(list, 1), 12)).toMatchObject({ granted: 0 });
    expect(await give(at(list, 0))).toBe(2);
  });

  testWith(setup, "exact clock")(
    "for two seconds only the richest gives, or one that holds one less; then others as well",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 9 });
      const list = await holders(store, name, [5, 3, 1]);
      expect(await more(at(list, 2), 9)).toMatchObject({ granted: 0 });
      await opened.advance(1_999);
      expect(await give(at(list, 1))).toBe(0);
      await opened.advance(1);
      expect(await give(at(list, 1))).toBe(1);
    },
  );

  test("one that holds one less than the richest needn't wait", async () => {
    const { store } = open();
    const name = await define(store, { limit: 9 });
    const list = await holders(store, name, [4, 4, 1]);
    await store.releaseTokens({ executionId: at(list, 1).executionId, keep: 3 });
    await startWorker(store, name, { worker: "another", want: 1 });
    expect(await more(at(list, 2), 9)).toMatchObject({ granted: 0 });
    expect(await give(at(list, 1))).toBe(1);
  });
}

function describeTaking(setup: StoreSetup): void {
  const open = useStore(setup);

  /** One process held 4 of 4, and has given two and released one since. */
  async function given(opened: TestStore): Promise<{ name: string; holder: Worker }> {
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    const [holder] = await holders(store, name, [4]);
    if (holder === undefined) throw new Error("a holder is expected");
    await store.startExecution(startInput(name, { worker: "denied" }));
    // So late that what is given is reserved for two seconds.
    await opened.advance(9_000);
    expect(await give(holder)).toBe(2);
    await store.releaseTokens({ executionId: holder.executionId, keep: 1 });
    return { name, holder };
  }

  test("who gets a part of what it wants isn't noted, who gets none of it is", async () => {
    const { store } = open();
    const name = await define(store, { limit: 8 });
    const second = at(await holders(store, name, [5, 1]), 1);
    expect(await more(second, 5)).toMatchObject({ granted: 2, tokens: 3, demand: null });
    expect(await more(second, 5)).toMatchObject({ granted: 0, tokens: 3, demand: "noted" });
  });

  test("who has none gets its part of the limit, also where all others hold less", async () => {
    const opened = open();
    const { store } = opened;
    const { name } = await given(opened);
    const newcomer = await startWorker(store, name, { worker: "denied", want: 8 });
    expect(newcomer.answer.tokens).toBe(2);
  });

  test("who holds some gets its part of the limit, not as much as the richest one holds", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 11 });
    const list = await holders(store, name, [9, 1, 1]);
    await store.startExecution(startInput(name, { worker: "denied" }));
    await opened.advance(9_000);
    expect(await give(at(list, 0))).toBe(3);
    await store.releaseTokens({ executionId: at(list, 0).executionId, keep: 5 });
    expect(await more(at(list, 1), 11)).toMatchObject({ tokens: 4, granted: 3 });
  });

  test("nobody gets more than it asks for", async () => {
    const opened = open();
    const { store } = opened;
    const { name } = await given(opened);
    const newcomer = await startWorker(store, name, { worker: "denied", want: 1 });
    expect(newcomer.answer.tokens).toBe(1);
  });

  test("who asks for what it has keeps it", async () => {
    const { holder } = await given(open());
    expect(await more(holder, 1)).toMatchObject({ tokens: 1, granted: 0 });
  });
}

function describeShared(setup: StoreSetup): void {
  const open = useStore(setup);

  /** A definition without a limit holds all 4 of a shared limit, which is lowered to 2 then. */
  async function lowered(store: TaskStore) {
    const shared = uniqueName("shared");
    const name = await define(store, { limit: null, sharedLimits: [{ name: shared, limit: 4 }] });
    const worker = await startWorker(store, name, { want: 8 });
    expect(worker.answer.tokens).toBe(4);
    const change = { operationId: operationId(), changedBy: "an operator" };
    await store.setSharedLimit({ name: shared, limit: 2, ...change });
    return { name, worker };
  }

  test("what is held above it goes back, and no more", async () => {
    const { store } = open();
    const { worker } = await lowered(store);
    const release = (keep: number) =>
      store.releaseSurplus({ executionId: worker.executionId, keep });
    expect(await release(3)).toMatchObject({ tokens: 3, freed: 1 });
    expect(await release(0)).toMatchObject({ tokens: 2, freed: 1 });
    expect(await release(0)).toMatchObject({ tokens: 2, freed: 0 });
  });

  test("tokens are released as asked, whatever is held above it", async () => {
    const { store } = open();
    const { worker } = await lowered(store);
    const { executionId } = worker;
    expect(await store.releaseTokens({ executionId, keep: 3 })).toMatchObject({ tokens: 3 });
    expect(await store.releaseTokens({ executionId, keep: 1 })).toMatchObject({ tokens: 1 });
  });

  test("explain names those of a task's definition in the order of their names", async () => {
    const { store } = open();
    const prefix = uniqueName("shared");
    const names = ["b", "c", "a"].map((letter) => `${prefix} ${letter}`);
    const name = await define(store, { sharedLimits: names.map((one) => ({ name: one })) });
    const { facts } = await store.explainTask({ taskId: await enqueueOne(store, name) });
    expect(facts?.sharedLimits?.map((limit) => limit.name)).toEqual([...names].sort());
  });

  test("asking for fewer than are held takes nothing away", async () => {
    const { store } = open();
    const { worker, name } = await lowered(store);
    expect(await more(worker, 1)).toMatchObject({ tokens: 4, granted: 0 });
    await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
    expect(await more(worker, 1)).toMatchObject({ tokens: 1, granted: 0 });
    const other = await startWorker(store, name, { worker: "another", want: 8 });
    expect(other.answer.tokens).toBe(1);
  });
}
