import { describe, expect, test } from "@jest/globals";
import { at, define, only, setLimit, startInput, startWorker, statusOf } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** The holders that count when tokens change hands: former ones don't, the dead only when they stand in another's way. */
export function describeTokenCounts(setup: StoreSetup): void {
  describe("tokens that were given back", () => {
    describeGivenBack(setup);
  });
  describe("the dead among the holders", () => {
    describeDead(setup);
  });
  describe("the text of free tokens", () => {
    describeFree(setup);
  });
}

const leaseMs = 10_000;

/** Whether each token is held, in the order of the text. */
async function heldOf(opened: TestStore, name: string): Promise<string> {
  const statuses = (await opened.readTokens(name)).toLowerCase().match(/s:[01]/g) ?? [];
  return statuses.map((status) => (status === "s:0" ? "held" : "free")).join(" ");
}

async function idsIn(opened: TestStore, name: string): Promise<string[]> {
  const ids = (await opened.readTokens(name)).toLowerCase().match(/i:[0-9a-f-]+/g) ?? [];
  return [...ids];
}

function describeGivenBack(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "token text")(
    "tokens that are given back one after the other go once each",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 4 });
      const { executionId } = await startWorker(store, name, { want: 4 });
      for (const [keep, held] of [
        [3, "held held held free"],
        [2, "held held free free"],
        [1, "held free free free"],
      ] as const) {
        expect(await store.releaseTokens({ executionId, keep })).toMatchObject({ freed: 1 });
        expect(await heldOf(opened, name)).toBe(held);
      }
    },
  );

  test("tokens above a limit that was lowered go back as many as are told, and not only those above it", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    const { executionId } = await startWorker(store, name, { want: 4 });
    await setLimit(store, name, 3);
    expect(await store.releaseTokens({ executionId, keep: 1 })).toMatchObject({
      tokens: 1,
      freed: 3,
    });
    expect((await statusOf(store, name)).held).toBe(1);
  });

  test("a denied wish leaves the token fence as it is", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    const { executionId } = await startWorker(store, name);
    const other = await startWorker(store, name);
    for (const limit of [2, 1]) {
      await setLimit(store, name, limit);
      expect(await store.acquireTokens({ executionId, want: 2 })).toMatchObject({
        status: "granted",
        granted: 0,
        tokenFence: other.answer.tokenFence,
      });
    }
  });

  test("an execution that gave all tokens back isn't declared dead by those that ask for more", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2, leaseMs });
    const idle = await startWorker(store, name);
    await store.releaseTokens({ executionId: idle.executionId, keep: 0 });
    await opened.advance(leaseMs + 1);
    expect(await store.startExecution(startInput(name, { want: 5 }))).toMatchObject({
      tokens: 2,
      deadHolders: 0,
    });
    expect((await idle.beat()).status).toBe("renewed");
  });
}

function describeDead(setup: StoreSetup): void {
  const open = useStore(setup);

  test("dead holders aren't looked for while enough tokens are free", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3, leaseMs });
    const late = await startWorker(store, name);
    await opened.advance(leaseMs + 1);
    expect(await store.startExecution(startInput(name, { want: 2 }))).toMatchObject({
      tokens: 2,
      deadHolders: 0,
    });
    expect((await late.beat()).status).toBe("renewed");
  });

  test("dead holders are counted out when a limit is lowered below the held number, and only then", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, leaseMs });
    const dead = await startWorker(store, name, { want: 3 });
    await store.releaseTokens({ executionId: dead.executionId, keep: 2 });
    await opened.advance(leaseMs + 1);
    const live = await startWorker(store, name);
    expect(await setLimit(store, name, 3)).toMatchObject({ held: 3, overLimit: 0 });
    expect(await setLimit(store, name, 2)).toMatchObject({ held: 1, overLimit: 0 });
    expect((await dead.beat()).status).toBe("fenced");
    expect((await live.beat()).status).toBe("renewed");
    expect((await startWorker(store, name, { want: 5 })).answer.tokens).toBe(1);
    const { executions } = await store.listExecutions({ name, isOpen: false, max: 10 });
    const { endedAt, ...entry } = only(executions.filter((row) => row.state !== "live"));
    expect(entry).toMatchObject({ state: "dead", tokens: 0 });
    expect(endedAt).not.toBeNull();
  });
}

function describeFree(setup: StoreSetup): void {
  const open = useStore(setup);
  const textTest = testWith(setup, "token text");

  textTest("a lower limit drops the last free ones and leaves the others as they are", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    await startWorker(store, name);
    const before = await idsIn(opened, name);
    await setLimit(store, name, 3);
    expect(await idsIn(opened, name)).toEqual(before.slice(0, 3));
    await setLimit(store, name, 4);
    const after = await idsIn(opened, name);
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
    expect(before).not.toContain(at(after, 3));
  });

  textTest("the tokens that are taken from the dead alone get new ids", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3, leaseMs });
    const dead = await startWorker(store, name, { want: 3 });
    await store.releaseTokens({ executionId: dead.executionId, keep: 1 });
    const before = await idsIn(opened, name);
    await opened.advance(leaseMs + 1);
    expect((await startWorker(store, name, { want: 3 })).answer.tokens).toBe(3);
    const after = await idsIn(opened, name);
    expect(after.slice(1)).toEqual(before.slice(1));
    expect(after[0]).not.toBe(before[0]);
  });
}
