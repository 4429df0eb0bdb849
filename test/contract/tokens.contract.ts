import { describe, expect, test } from "@jest/globals";
import { asExecutionId } from "../../shared/core/ids";
import {
  at,
  define,
  enqueue,
  only,
  registration,
  setLimit,
  startInput,
  startWorker,
  statusOf,
  tryStart,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import type { TaskStore } from "../../shared/ports/task-store";

/** Tokens on a definition's row: source text 000 and the errors of its first implementation. */
export function describeTokens(setup: StoreSetup): void {
  describe("tokens and the limit", () => {
    describeCap(setup);
  });
  describe("a limit that changes", () => {
    describeChanges(setup);
  });
  describe("no limit", () => {
    describeUnlimited(setup);
  });
  describe("tokens of the dead", () => {
    describeDead(setup);
  });
  describe("acquire_tokens", () => {
    describeAcquire(setup);
  });
  describe("release_tokens", () => {
    describeRelease(setup);
  });
  describe("release_surplus", () => {
    describeSurplus(setup);
  });
  describe("the token text", () => {
    describeText(setup);
  });
}

/** Starts `count` executions of one token each. */
async function startMany(store: TaskStore, name: string, count: number): Promise<Worker[]> {
  const workers: Worker[] = [];
  for (let index = 0; index < count; index += 1) workers.push(await startWorker(store, name));
  return workers;
}

function describeCap(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const limit of [1, 2, 5, 50]) {
    test(`a limit of ${String(limit)} lets ${String(limit)} run and not one more (S0.1, S0.2)`, async () => {
      const { store } = open();
      const name = await define(store, { limit });
      const workers = await startMany(store, name, limit);
      expect(await tryStart(store, name)).toBe("limited");
      expect((await statusOf(store, name)).held).toBe(limit);
      await at(workers, 0).finish();
      expect(await tryStart(store, name)).toBe("started");
      expect(await tryStart(store, name)).toBe("limited");
    });
  }

  test("a singleton's token is granted again and again, one after the other (S0.2)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1 });
    for (let round = 0; round < 5; round += 1) {
      const worker = await startWorker(store, name);
      expect(await tryStart(store, name)).toBe("limited");
      expect((await worker.finish()).tokensFreed).toBe(1);
    }
  });

  test("several tokens per execution count by their sum (S0.1)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    expect((await startWorker(store, name, { want: 3 })).answer.tokens).toBe(3);
    expect((await startWorker(store, name, { want: 3 })).answer.tokens).toBe(2);
    expect(await tryStart(store, name, { want: 3 })).toBe("limited");
    expect((await statusOf(store, name)).held).toBe(5);
  });

  test("a full definition doesn't keep another one from starting (S0.14)", async () => {
    const { store } = open();
    const full = await define(store, { limit: 1 });
    const other = await define(store, { limit: 1 });
    await startWorker(store, full);
    expect(await tryStart(store, full)).toBe("limited");
    expect(await tryStart(store, other)).toBe("started");
  });

  test("the token fence grows with every grant, and only then", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    const fence = async () => BigInt((await statusOf(store, name)).tokenFence);
    const start = await fence();
    const first = await startWorker(store, name, { want: 2 });
    expect(await fence()).toBe(start + 1n);
    expect(BigInt(first.answer.tokenFence ?? "0")).toBe(start + 1n);
    await store.acquireTokens({ executionId: first.executionId, want: 2 });
    await store.releaseTokens({ executionId: first.executionId, keep: 1 });
    await setLimit(store, name, 2);
    expect(await fence()).toBe(start + 1n);
    const second = await startWorker(store, name);
    expect(await fence()).toBe(start + 2n);
    expect(await tryStart(store, name)).toBe("limited");
    expect(await fence()).toBe(start + 2n);
    await second.finish();
    expect(await fence()).toBe(start + 2n);
  });
}

/** Every order of these indexes. */
function permutations(indexes: readonly number[]): number[][] {
  if (indexes.length === 0) return [[]];
  return indexes.flatMap((first) =>
    permutations(indexes.filter((index) => index !== first)).map((rest) => [first, ...rest]),
  );
}

function describeChanges(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a limit that is raised at the cap grants the next start, and runners notice nothing (S0.3, S0.20)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    const workers = await startMany(store, name, 2);
    expect(await tryStart(store, name)).toBe("limited");
    expect(await setLimit(store, name, 5)).toMatchObject({ held: 2, overLimit: 0 });
    await startMany(store, name, 3);
    expect(await tryStart(store, name)).toBe("limited");
    for (const worker of workers) {
      expect(await worker.beat()).toMatchObject({ status: "renewed", overLimit: 0 });
    }
  });

  for (const order of permutations([0, 1, 2])) {
    test(`a limit that is lowered from 3 to 1, ends in the order ${order.join("")}, grants nothing before fewer are held (S0.4)`, async () => {
      const { store } = open();
      const name = await define(store, { limit: 3 });
      const workers = await startMany(store, name, 3);
      expect(await setLimit(store, name, 1)).toMatchObject({ held: 3, overLimit: 2 });
      for (const [ended, index] of order.entries()) {
        expect(await tryStart(store, name)).toBe("limited");
        expect((await statusOf(store, name)).held).toBe(3 - ended);
        await at(workers, index).finish();
      }
      expect(await tryStart(store, name)).toBe("started");
      expect(await tryStart(store, name)).toBe("limited");
    });
  }

  test("a lowered limit takes free tokens first, and stops no execution (S0.4)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    const workers = await startMany(store, name, 2);
    expect(await setLimit(store, name, 2)).toMatchObject({ held: 2, overLimit: 0 });
    expect(await tryStart(store, name)).toBe("limited");
    for (const worker of workers) expect((await worker.beat()).status).toBe("renewed");
  });

  test("a limit that is lowered, then raised while old runners remain, never lets more than the new limit run (S0.5)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const workers = await startMany(store, name, 4);
    await setLimit(store, name, 1);
    await at(workers, 0).finish();
    await setLimit(store, name, 3);
    expect((await statusOf(store, name)).held).toBe(3);
    expect(await tryStart(store, name)).toBe("limited");
    await at(workers, 1).finish();
    expect(await tryStart(store, name)).toBe("started");
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("a limit of 0 stops every start and no running execution; raised again, starts go on (S0.6)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    const worker = await startWorker(store, name);
    expect(await setLimit(store, name, 0)).toMatchObject({ newLimit: 0, held: 1, overLimit: 1 });
    expect(await tryStart(store, name)).toBe("limited");
    expect((await worker.beat()).status).toBe("renewed");
    await worker.finish();
    expect(await tryStart(store, name)).toBe("limited");
    await setLimit(store, name, 1);
    expect(await tryStart(store, name)).toBe("started");
  });
}

function describeUnlimited(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a definition without a limit runs any number, which is counted (S0.6)", async () => {
    const { store } = open();
    const name = await define(store, { limit: null });
    await startMany(store, name, 30);
    await startWorker(store, name, { want: 1_000 });
    expect(await statusOf(store, name)).toMatchObject({ limit: null, held: 1_030, executions: 31 });
  });

  test("a limit that is set again counts runners of the unlimited time (S0.6)", async () => {
    const { store } = open();
    const name = await define(store, { limit: null });
    const workers = await startMany(store, name, 3);
    expect(await setLimit(store, name, 2)).toMatchObject({
      oldLimit: null,
      newLimit: 2,
      held: 3,
      overLimit: 1,
    });
    expect(await tryStart(store, name)).toBe("limited");
    await at(workers, 0).finish();
    expect(await tryStart(store, name)).toBe("limited");
    await at(workers, 1).finish();
    expect(await tryStart(store, name)).toBe("started");
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("a limit that goes and comes back forgets no execution (S0.6)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    const early = await startMany(store, name, 2);
    expect(await setLimit(store, name, null)).toMatchObject({ held: 2, overLimit: 0 });
    const late = await startWorker(store, name, { want: 2 });
    expect(await setLimit(store, name, 3)).toMatchObject({ held: 4, overLimit: 1 });
    await at(early, 0).finish();
    expect(await tryStart(store, name)).toBe("limited");
    expect((await late.finish()).tokensFreed).toBe(2);
    expect((await startWorker(store, name, { want: 5 })).answer.tokens).toBe(2);
  });

  test("the code's limit may be none, too; acquire, release and the fence work without one", async () => {
    const { store } = open();
    const name = await define(store, { limit: null });
    const worker = await startWorker(store, name);
    const { executionId } = worker;
    const grown = await store.acquireTokens({ executionId, want: 7 });
    expect(grown).toMatchObject({ status: "granted", tokens: 7, granted: 6 });
    expect(BigInt(grown.tokenFence ?? "0")).toBeGreaterThan(
      BigInt(worker.answer.tokenFence ?? "0"),
    );
    expect(await store.releaseTokens({ executionId, keep: 2 })).toMatchObject({
      status: "released",
      tokens: 2,
      freed: 5,
    });
    expect(await store.releaseSurplus({ executionId, keep: 0 })).toMatchObject({
      tokens: 2,
      freed: 0,
      overLimit: 0,
    });
    expect((await statusOf(store, name)).held).toBe(2);
  });

  test("a dead one of the unlimited time gives its place to the next asker", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: null, leaseMs: 10_000 });
    await startWorker(store, name);
    await opened.advance(10_001);
    await setLimit(store, name, 1);
    expect(await store.startExecution(startInput(name))).toMatchObject({
      status: "started",
      deadHolders: 1,
    });
  });
}

function describeDead(setup: StoreSetup): void {
  const open = useStore(setup);
  const exactTest = testWith(setup, "exact clock");

  exactTest(
    "a silent holder lives exactly as long as its lease, and is dead one millisecond later (S0.7)",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1, leaseMs: 10_000 });
      await startWorker(store, name);
      await opened.advance(10_000);
      expect(await tryStart(store, name)).toBe("limited");
      await opened.advance(1);
      expect(await store.startExecution(startInput(name))).toMatchObject({
        status: "started",
        tokens: 1,
        deadHolders: 1,
      });
    },
  );

  exactTest(
    "a silent holder's token goes to an asker that holds a token already, one millisecond after the lease (S0.7)",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 2, leaseMs: 10_000 });
      const { executionId } = await startWorker(store, name);
      await startWorker(store, name);
      await opened.advance(10_000);
      expect(await store.acquireTokens({ executionId, want: 2 })).toMatchObject({
        tokens: 1,
        granted: 0,
        deadHolders: 0,
      });
      await opened.advance(1);
      expect(await store.acquireTokens({ executionId, want: 2 })).toMatchObject({
        tokens: 2,
        granted: 1,
        deadHolders: 1,
      });
    },
  );

  test("a holder that renews in time keeps its token (S0.7)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    const worker = await startWorker(store, name);
    for (let beat = 0; beat < 5; beat += 1) {
      await opened.advance(9_000);
      expect(await tryStart(store, name)).toBe("limited");
      expect((await worker.beat()).status).toBe("renewed");
    }
  });

  test("a late holder may still renew while no execution asked meanwhile, and is alive again (S0.7)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    const worker = await startWorker(store, name);
    await opened.advance(50_000);
    expect((await worker.beat()).status).toBe("renewed");
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("a zombie's return doesn't free its successor's token (S0.9)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    const zombie = await startWorker(store, name);
    await opened.advance(10_001);
    await startWorker(store, name);
    expect(await store.releaseTokens({ executionId: zombie.executionId, keep: 0 })).toMatchObject({
      status: "fenced",
      freed: 0,
    });
    expect(await zombie.finish()).toMatchObject({ status: "fenced", tokensFreed: 0 });
    expect((await zombie.beat()).status).toBe("fenced");
    expect(await tryStart(store, name)).toBe("limited");
    expect((await statusOf(store, name)).held).toBe(1);
  });

  test("four dead holders and a limit lowered to two let the next asker be granted", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4, leaseMs: 10_000 });
    await startMany(store, name, 4);
    await setLimit(store, name, 2);
    await opened.advance(10_001);
    expect(await store.startExecution(startInput(name, { want: 3 }))).toMatchObject({
      status: "started",
      tokens: 2,
      deadHolders: 4,
    });
  });

  test("only the dead are robbed: a live neighbour keeps its tokens", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3, leaseMs: 10_000 });
    const live = await startWorker(store, name, { want: 2 });
    await startWorker(store, name);
    await opened.advance(6_000);
    await live.beat();
    await opened.advance(6_000);
    expect(await store.startExecution(startInput(name, { want: 3 }))).toMatchObject({
      status: "started",
      tokens: 1,
      deadHolders: 1,
    });
    expect((await live.beat()).status).toBe("renewed");
    expect((await statusOf(store, name)).held).toBe(3);
  });

  testWith(setup, "row removal")(
    "a holder whose row is gone doesn't keep its token for ever (S0.8)",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1 });
      const worker = await startWorker(store, name);
      await opened.removeExecution(worker.executionId);
      expect(await tryStart(store, name)).toBe("started");
      expect(await tryStart(store, name)).toBe("limited");
    },
  );

  testWith(setup, "token text")(
    "an ended holder's token that was never returned is taken at once (S0.8)",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1 });
      const worker = await startWorker(store, name);
      const held = await opened.readTokens(name);
      await worker.finish();
      await opened.writeTokens(name, held);
      expect(await tryStart(store, name)).toBe("started");
      expect(await tryStart(store, name)).toBe("limited");
    },
  );

  testWith(setup, "token text")("a token taken from the dead gets a new id", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    await startWorker(store, name);
    const before = only(parseTokens(await opened.readTokens(name)));
    await opened.advance(10_001);
    const next = await startWorker(store, name);
    const after = only(parseTokens(await opened.readTokens(name)));
    expect(after).toMatchObject({ status: "0", grantee: next.number });
    expect(after.id).not.toBe(before.id);
  });
}

function describeAcquire(setup: StoreSetup): void {
  const open = useStore(setup);

  test("acquire_tokens counts held tokens into the wish, and a repeat grants nothing more", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    const { executionId } = await startWorker(store, name, { want: 1 });
    expect(await store.acquireTokens({ executionId, want: 3 })).toMatchObject({
      status: "granted",
      tokens: 3,
      granted: 2,
      deadHolders: 0,
    });
    expect(await store.acquireTokens({ executionId, want: 3 })).toMatchObject({
      status: "granted",
      tokens: 3,
      granted: 0,
    });
    expect(await store.acquireTokens({ executionId, want: 1 })).toMatchObject({
      tokens: 3,
      granted: 0,
    });
  });

  test("a partial grant is granted; none left with some held grants 0", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    await startWorker(store, name);
    const { executionId } = await startWorker(store, name);
    expect(await store.acquireTokens({ executionId, want: 10 })).toMatchObject({
      status: "granted",
      tokens: 2,
      granted: 1,
    });
    expect(await store.acquireTokens({ executionId, want: 10 })).toMatchObject({
      tokens: 2,
      granted: 0,
    });
  });

  test("acquire_tokens with nothing held and nothing free tells the longest wait that makes sense", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1, leaseMs: 60_000 });
    const { executionId } = await startWorker(store, name);
    await store.releaseTokens({ executionId, keep: 0 });
    await startWorker(store, name);
    const answer = await store.acquireTokens({ executionId, want: 1 });
    expect(answer).toMatchObject({ status: "limited", tokens: 0, granted: 0 });
    expect(answer.retryInMs).toBeGreaterThan(59_000);
    expect(answer.retryInMs).toBeLessThanOrEqual(60_001);
  });

  test("acquire_tokens grants nothing while paused; a holder keeps its tokens and gets no more", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    const empty = await startWorker(store, name);
    await store.releaseTokens({ executionId: empty.executionId, keep: 0 });
    const holder = await startWorker(store, name);
    await store.pauseDefinition({ name, changedBy: "an operator" });
    expect(await store.acquireTokens({ executionId: empty.executionId, want: 1 })).toMatchObject({
      status: "paused",
      tokens: 0,
      granted: 0,
    });
    expect(await store.acquireTokens({ executionId: holder.executionId, want: 3 })).toMatchObject({
      tokens: 1,
      granted: 0,
    });
  });

  test("the dead are found for an acquire, too", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2, leaseMs: 10_000 });
    await startWorker(store, name);
    const live = await startWorker(store, name);
    await opened.advance(6_000);
    await live.beat();
    await opened.advance(6_000);
    const { executionId } = live;
    expect(await store.acquireTokens({ executionId, want: 2 })).toMatchObject({
      status: "granted",
      tokens: 2,
      granted: 1,
      deadHolders: 1,
    });
  });

  test("acquire_tokens takes wishes of 1 to 1000; 0 and 1001 are refused, naming field and value", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1_000 });
    const { executionId } = await startWorker(store, name);
    for (const want of [0, -1, 1_001]) {
      await expectError(store.acquireTokens({ executionId, want }), {
        code: "TASKGATE_ARG_INVALID",
        field: "want",
        value: want,
      });
    }
    expect((await store.acquireTokens({ executionId, want: 1_000 })).tokens).toBe(1_000);
  });

  test("an unknown execution is fenced", async () => {
    const { store } = open();
    const executionId = asExecutionId("999999999");
    expect(await store.acquireTokens({ executionId, want: 1 })).toMatchObject({
      status: "fenced",
      tokens: 0,
      granted: 0,
    });
  });
}

function describeRelease(setup: StoreSetup): void {
  const open = useStore(setup);

  test("release_tokens that is called twice counts once (S0.10)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    const { executionId } = await startWorker(store, name, { want: 3 });
    expect(await store.releaseTokens({ executionId, keep: 1 })).toMatchObject({
      status: "released",
      tokens: 1,
      freed: 2,
    });
    expect(await store.releaseTokens({ executionId, keep: 1 })).toMatchObject({
      tokens: 1,
      freed: 0,
    });
    expect((await statusOf(store, name)).held).toBe(1);
    expect((await startWorker(store, name, { want: 5 })).answer.tokens).toBe(2);
  });

  test("a keep of more than is held frees nothing", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    const { executionId } = await startWorker(store, name, { want: 2 });
    expect(await store.releaseTokens({ executionId, keep: 1_000 })).toMatchObject({
      tokens: 2,
      freed: 0,
      ready: false,
    });
  });

  test("a stranger's return changes nothing (S0.10)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1 });
    await startWorker(store, name);
    const executionId = asExecutionId("999999999");
    expect(await store.releaseTokens({ executionId, keep: 0 })).toEqual({
      status: "fenced",
      tokens: 0,
      freed: 0,
      ready: false,
      woken: [],
    });
    expect((await statusOf(store, name)).held).toBe(1);
  });

  test("a token that was removed by a lower limit never comes back (S0.10)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    const { executionId } = await startWorker(store, name, { want: 2 });
    await setLimit(store, name, 1);
    await store.releaseTokens({ executionId, keep: 1 });
    expect(await tryStart(store, name)).toBe("limited");
    await store.releaseTokens({ executionId, keep: 0 });
    await store.releaseTokens({ executionId, keep: 0 });
    expect(await tryStart(store, name)).toBe("started");
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("release_tokens tells when tasks wait for the freed tokens", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    const { executionId } = await startWorker(store, name, { want: 2 });
    await enqueue(store, name, 1);
    expect((await store.releaseTokens({ executionId, keep: 1 })).ready).toBe(true);
    expect((await store.releaseTokens({ executionId, keep: 1 })).ready).toBe(false);
  });

  test("release_tokens takes a keep of 0 to 1000; -1 and 1001 are refused, naming field and value", async () => {
    const { store } = open();
    const name = await define(store);
    const { executionId } = await startWorker(store, name);
    for (const keep of [-1, 1_001]) {
      await expectError(store.releaseTokens({ executionId, keep }), {
        code: "TASKGATE_ARG_INVALID",
        field: "keep",
        value: keep,
      });
    }
  });
}

function describeSurplus(setup: StoreSetup): void {
  const open = useStore(setup);

  test("release_surplus gives back only the tokens above the limit, in any order of askers", async () => {
    const { store } = open();
    const name = await define(store, { limit: 6 });
    const first = await startWorker(store, name, { want: 3 });
    const second = await startWorker(store, name, { want: 3 });
    await setLimit(store, name, 2);
    expect(await store.releaseSurplus({ executionId: first.executionId, keep: 0 })).toEqual({
      status: "released",
      tokens: 0,
      freed: 3,
      overLimit: 1,
      given: 0,
      woken: [],
    });
    expect(await store.releaseSurplus({ executionId: second.executionId, keep: 0 })).toEqual({
      status: "released",
      tokens: 2,
      freed: 1,
      overLimit: 0,
      given: 0,
      woken: [],
    });
    expect(await store.releaseSurplus({ executionId: second.executionId, keep: 0 })).toMatchObject({
      tokens: 2,
      freed: 0,
      overLimit: 0,
    });
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("release_surplus never gives back a token in use, however often it is said", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const { executionId } = await startWorker(store, name, { want: 4 });
    await setLimit(store, name, 1);
    const nothing = { status: "released", tokens: 3, freed: 0, overLimit: 2, given: 0, woken: [] };
    const kept = await store.releaseSurplus({ executionId, keep: 3 });
    expect(kept).toEqual({ ...nothing, freed: 1 });
    expect(await store.releaseSurplus({ executionId, keep: 3 })).toEqual(nothing);
    expect(await store.releaseSurplus({ executionId, keep: 4 })).toMatchObject({
      tokens: 3,
      freed: 0,
    });
  });

  test("tokens over the limit are told by the heartbeat and by work", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const worker = await startWorker(store, name, { want: 4 });
    expect((await worker.beat()).overLimit).toBe(0);
    await setLimit(store, name, 1);
    expect((await worker.beat()).overLimit).toBe(3);
    expect((await worker.work({ want: 1 })).overLimit).toBe(3);
    await enqueue(store, name, 1);
    expect((await worker.work({ want: 1 })).overLimit).toBe(3);
  });

  test("release_surplus of an unknown execution is fenced", async () => {
    const { store } = open();
    const executionId = asExecutionId("999999999");
    expect((await store.releaseSurplus({ executionId, keep: 1 })).status).toBe("fenced");
  });

  test("release_surplus takes a keep of 0 to 1000; -1 and 1001 are refused, naming field and value", async () => {
    const { store } = open();
    const name = await define(store);
    const { executionId } = await startWorker(store, name);
    for (const keep of [-1, 1_001]) {
      await expectError(store.releaseSurplus({ executionId, keep }), {
        code: "TASKGATE_ARG_INVALID",
        field: "keep",
        value: keep,
      });
    }
    for (const keep of [0, 1_000]) {
      expect((await store.releaseSurplus({ executionId, keep })).status).toBe("released");
    }
  });
}

interface Token {
  id: string;
  status: string;
  grantee: string;
}

/** The written form: I, S and G in this order, with commas. */
function parseTokens(text: string): Token[] {
  const parts = text === "" ? [] : text.toLowerCase().split(",");
  if (parts.length % 3 !== 0) throw new Error(`Not triples: ${text}`);
  return Array.from({ length: parts.length / 3 }, (_, index) => {
    const [id = "", status = "", grantee = ""] = parts.slice(index * 3, index * 3 + 3);
    expect([id.slice(0, 2), status.slice(0, 2), grantee.slice(0, 2)]).toEqual(["i:", "s:", "g:"]);
    return { id: id.slice(2), status: status.slice(2), grantee: grantee.slice(2) };
  });
}

const firstId = "ccc7b851-2404-4b2b-84e3-6898399a976d";
const secondId = "747ebc4e-add4-4d95-9022-0d7a544af813";
/** As source text 000 prints it: the first free, the second held by 153533. */
const sourceText = `I:${firstId},S:1,G:153532,I:${secondId},S:0,G:153533`;

const sameTexts: { how: string; text: string }[] = [
  { how: "as the source text prints it", text: sourceText },
  { how: "with | between the triples", text: sourceText.replace(",I:747", "|I:747") },
  {
    how: "with the parts in another order",
    text: `G:153532,I:${firstId},S:1,S:0,G:153533,I:${secondId}`,
  },
];

const damagedTexts: { how: string; text: string }[] = [
  { how: "a part is missing", text: `I:${firstId},S:1` },
  { how: "a part stands twice", text: `I:${firstId},S:1,S:1` },
  { how: "the status is neither 0 nor 1", text: `I:${firstId},S:2,G:0` },
  { how: "the id is no uuid", text: "I:ccc7b851,S:1,G:0" },
  { how: "the grantee is no number", text: `I:${firstId},S:1,G:x` },
  { how: "the grantee is negative", text: `I:${firstId},S:1,G:-5` },
  { how: "a comma hangs at the end", text: `I:${firstId},S:1,G:0,` },
  { how: "it is other text", text: "tokens" },
  { how: "it was cut in the middle", text: sourceText.slice(0, 70) },
  { how: "blanks stand in it", text: `I:${firstId}, S:1, G:0` },
];

function describeText(setup: StoreSetup): void {
  const open = useStore(setup);
  const textTest = testWith(setup, "token text");

  for (const { how, text } of sameTexts) {
    textTest(
      `a token text read ${how} lets a free token be granted, and the other is left as it is (S0.17)`,
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store, { limit: 2 });
        await opened.writeTokens(name, text);
        const worker = await startWorker(store, name);
        expect(parseTokens(await opened.readTokens(name))).toEqual([
          { id: firstId, status: "0", grantee: worker.number },
          { id: secondId, status: "0", grantee: "153533" },
        ]);
        await worker.finish();
        expect(parseTokens(await opened.readTokens(name))[0]).toEqual({
          id: firstId,
          status: "1",
          grantee: worker.number,
        });
      },
    );
  }

  textTest("the token text is written back as it was read (S0.17)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2 });
    await startWorker(store, name, { want: 2 });
    const text = await opened.readTokens(name);
    await setLimit(store, name, 2);
    await setLimit(store, name, 2);
    expect(await opened.readTokens(name)).toBe(text);
  });

  textTest(
    "the token text has after each start as many tokens as the limit, 200 as well as 1000 (S0.2)",
    async () => {
      const opened = open();
      const { store } = opened;
      for (const limit of [1, 2, 5, 50, 200, 1_000]) {
        const name = await define(store, { limit });
        const worker = await startWorker(store, name);
        const tokens = parseTokens(await opened.readTokens(name));
        expect(tokens).toHaveLength(limit);
        expect(new Set(tokens.map((token) => token.id)).size).toBe(limit);
        expect(tokens.filter((token) => token.status === "0")).toEqual([
          { id: tokens[0]?.id, status: "0", grantee: worker.number },
        ]);
      }
    },
  );

  textTest(
    "the token text of a lowered limit keeps exactly the held tokens, and of a raised one it grows again (S0.4)",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5 });
      const worker = await startWorker(store, name, { want: 3 });
      await setLimit(store, name, 1);
      expect(parseTokens(await opened.readTokens(name))).toHaveLength(3);
      await worker.finish();
      expect(parseTokens(await opened.readTokens(name))).toHaveLength(1);
      await setLimit(store, name, 4);
      expect(parseTokens(await opened.readTokens(name))).toHaveLength(4);
      await setLimit(store, name, null);
      expect(await opened.readTokens(name)).toBe("");
    },
  );

  for (const { how, text } of damagedTexts) {
    textTest(
      `a damaged token text (${how}) is a named error: nothing is granted, nothing changed (S0.17)`,
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store, { limit: 2 });
        await opened.writeTokens(name, text);
        await expectError(store.startExecution(startInput(name)), {
          code: "TASKGATE_STORE_CONTRACT",
          value: text,
        });
        expect(await opened.readTokens(name)).toBe(text);
        const { executions } = await store.listExecutions({ name, isOpen: false, max: 10 });
        expect(executions).toEqual([]);
        await opened.writeTokens(name, "");
      },
    );
  }

  for (const { what, call } of tokenCalls) {
    textTest(
      `${what} finds the token text damaged: nothing is changed, and nothing stays locked (S0.17)`,
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store, { limit: 2 });
        const worker = await startWorker(store, name, { want: 2 });
        const good = await opened.readTokens(name);
        const damaged = `${good}, 5%`;
        await opened.writeTokens(name, damaged);
        await expectError(call(worker, name), { code: "TASKGATE_STORE_CONTRACT", value: "5%" });
        expect(await opened.readTokens(name)).toBe(damaged);
        expect((await worker.beat()).status).toBe("renewed");
        await opened.writeTokens(name, good);
        expect(await statusOf(store, name)).toMatchObject({ limit: 2, held: 2 });
        await call(worker, name);
      },
    );
  }
}

/** Calls of an execution that holds two tokens of two, which read the text before they change anything. */
const tokenCalls: { what: string; call: (worker: Worker, name: string) => Promise<unknown> }[] = [
  {
    what: "acquire_tokens",
    call: ({ store, executionId }) => store.acquireTokens({ executionId, want: 2 }),
  },
  {
    what: "release_tokens",
    call: ({ store, executionId }) => store.releaseTokens({ executionId, keep: 1 }),
  },
  {
    what: "release_surplus",
    call: ({ store, executionId }) => store.releaseSurplus({ executionId, keep: 0 }),
  },
  { what: "finish_execution", call: (worker) => worker.finish() },
  { what: "set_limit", call: ({ store }, name) => setLimit(store, name, 1) },
  {
    what: "register_definition",
    call: ({ store }, name) =>
      store.registerDefinition(
        registration({ name, build: 2, settingsHash: "hash-2", settings: { limit: 1 } }),
      ),
  },
];
