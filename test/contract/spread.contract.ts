import { describe, expect, test } from "@jest/globals";
import { parseTokens } from "../../shared/core/token";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  define,
  enqueue,
  enqueueOne,
  operationId,
  setLimit,
  startInput,
  startWorker,
  statusOf,
  uniqueName,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { countWantedBack } from "../../shared/worker/run/held-tokens";
import { ask, freeTokensOf, give, hold, wantedBackOf } from "../support/token-parties";

/** Tokens move from processes that hold many to those that were denied. */
export function describeSpread(setup: StoreSetup): void {
  describe("a denial", () => {
    describeDenial(setup);
  });
  describe("giving tokens for a denied execution", () => {
    describeGiving(setup);
  });
  describe("the given tokens", () => {
    describeReserved(setup);
  });
  describe("a lease", () => {
    describeLease(setup);
  });
  describe("a worker that is asked while it works", () => {
    describeAsked(setup);
  });
  describe("the tokens that a process gives", () => {
    describeParts(setup);
  });
  describe("the part of the given tokens that a process gets", () => {
    describeTaking(setup);
  });
  describe("a shared limit above a definition that has none", () => {
    describeShared(setup);
  });
}

function describeDenial(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a denial of a start is noted, and a holder of more than one token hears of it in its next answer", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const holder = await hold(store, name, "first");
    expect(await wantedBackOf(holder)).toBe(0);
    expect(await ask(store, name, "second")).toMatchObject({ status: "limited", demand: "noted" });
    expect(await wantedBackOf(holder)).toBe(1);
    expect(await holder.beat()).toMatchObject({ overLimit: 0, releaseRequested: true });
  });

  testWith(
    setup,
    "exact clock",
    "write detection",
  )("denials write at most once a second per definition; all others write nothing", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2 });
    await hold(store, name, "first");
    expect((await ask(store, name, "second")).demand).toBe("noted");
    const versions = await opened.readVersions();
    for (const passedMs of [0, 500, 499]) {
      await opened.advance(passedMs);
      expect(await ask(store, name, "third")).toMatchObject({ status: "limited", demand: null });
    }
    expect(await opened.readVersions()).toBe(versions);
    await opened.advance(1);
    expect((await ask(store, name, "third")).demand).toBe("noted");
  });

  test("a denial is not noted where no process could give: each holder has one", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    const holders = [
      await startWorker(store, name, { worker: "first", want: 1 }),
      await startWorker(store, name, { worker: "second", want: 1 }),
    ] as const;
    expect(await ask(store, name, "third")).toMatchObject({ status: "limited", demand: null });
    expect(await wantedBackOf(holders[0])).toBe(0);
  });

  test("a denial is not noted where the process itself holds the tokens", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const holder = await hold(store, name, "first");
    expect(await ask(store, name, "first")).toMatchObject({ status: "limited", demand: null });
    expect(await wantedBackOf(holder)).toBe(0);
  });

  test("a denial is not noted at limit 0, nor while paused", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const holder = await hold(store, name, "first");
    await setLimit(store, name, 0);
    expect(await ask(store, name, "second")).toMatchObject({ status: "limited", demand: null });
    await setLimit(store, name, 4);
    await store.pauseDefinition({ name, changedBy: "an operator" });
    expect(await ask(store, name, "second")).toMatchObject({ status: "paused", demand: null });
    expect(await wantedBackOf(holder)).toBe(0);
  });

  test("a denial of a holder that asks for more is noted only while a process holds two more than it", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    const rich = await startWorker(store, name, { worker: "first", want: 3 });
    const poor = await hold(store, name, "second");
    const more = { executionId: poor.executionId, want: 8 };
    expect(await store.acquireTokens(more)).toMatchObject({
      status: "granted",
      granted: 0,
      demand: "noted",
    });
    expect(await wantedBackOf(rich)).toBe(1);
    expect(await give(rich)).toMatchObject({ tokens: 2, given: 1 });
    expect(await store.acquireTokens(more)).toMatchObject({ tokens: 2, granted: 1, demand: null });
    await opened.advance(3_000);
    expect(await store.acquireTokens(more)).toMatchObject({ tokens: 2, granted: 0, demand: null });
    expect(await wantedBackOf(rich)).toBe(0);
  });

  test("a denial is told only of tokens within the limit: above it, all that is too much goes back", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    const holder = await hold(store, name, "first");
    await ask(store, name, "second");
    await setLimit(store, name, 3);
    expect(await wantedBackOf(holder)).toBe(2);
    expect(await holder.beat()).toMatchObject({ overLimit: 2, releaseRequested: false });
    await enqueueOne(store, name);
    const answer = await holder.work({ want: 1 });
    expect(answer).toMatchObject({ overLimit: 2, releaseRequested: false });
  });

  test("an ask of a holder for what it holds already is no denial", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const rich = await startWorker(store, name, { worker: "first", want: 3 });
    const { executionId } = await startWorker(store, name, { worker: "second", want: 1 });
    const same = await store.acquireTokens({ executionId, want: 1 });
    expect(same).toMatchObject({ status: "granted", tokens: 1, granted: 0 });
    expect(await wantedBackOf(rich)).toBe(0);
  });

  test("a denial of an execution is not noted while paused, nor once it has ended", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const some = await startWorker(store, name, { worker: "second", want: 1 });
    const none = await startWorker(store, name, { worker: "third", want: 1 });
    await store.releaseTokens({ executionId: none.executionId, keep: 0 });
    const rich = await hold(store, name, "first");
    const more = (asker: Worker) =>
      store.acquireTokens({ executionId: asker.executionId, want: 8 });
    await store.pauseDefinition({ name, changedBy: "an operator" });
    expect(await more(some)).toMatchObject({ status: "granted", tokens: 1, granted: 0 });
    expect(await wantedBackOf(rich)).toBe(0);
    expect(await more(none)).toMatchObject({ status: "paused", tokens: 0 });
    expect(await wantedBackOf(rich)).toBe(0);
    await store.resumeDefinition({ name, changedBy: "an operator" });
    await none.finish();
    expect(await more(none)).toMatchObject({ status: "fenced", tokens: 0 });
    expect(await wantedBackOf(rich)).toBe(0);
    expect(await more(some)).toMatchObject({ status: "granted", granted: 0 });
    expect(await wantedBackOf(rich)).toBe(1);
  });

  test("a denial is told to those executions of a process that hold several", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const small = await startWorker(store, name, { worker: "first", want: 1 });
    const large = await startWorker(store, name, { worker: "first", want: 3 });
    await ask(store, name, "second");
    expect(await small.beat()).toMatchObject({ overLimit: 0, releaseRequested: false });
    expect(await large.beat()).toMatchObject({ overLimit: 0, releaseRequested: true });
  });

  test("a denial is forgotten when the lease's time has passed", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4, leaseMs: 10_000 });
    const holder = await hold(store, name, "first");
    await ask(store, name, "second");
    await opened.advance(9_000);
    expect((await holder.beat()).releaseRequested).toBe(true);
    await opened.advance(2_000);
    expect((await holder.beat()).releaseRequested).toBe(false);
    expect(await give(holder)).toMatchObject({ status: "released", tokens: 4, given: 0 });
  });
}

function describeGiving(setup: StoreSetup): void {
  const open = useStore(setup);

  test("no token is given without a denial", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const holder = await hold(store, name, "first");
    expect(await give(holder)).toEqual({
      status: "released",
      tokens: 4,
      freed: 0,
      overLimit: 0,
      given: 0,
      woken: [],
    });
  });

  for (const [limit, tokens] of [
    [2, 1],
    [3, 2],
    [4, 2],
    [9, 5],
  ] as const)
    test(`the only holder of ${String(limit)} keeps ${String(tokens)}: half is given`, async () => {
      const { store } = open();
      const name = await define(store, { limit });
      const holder = await startWorker(store, name, { worker: "first", want: 9 });
      await ask(store, name, "second");
      const given = limit - tokens;
      expect(await give(holder)).toMatchObject({ tokens, freed: given, overLimit: 0, given });
      expect((await ask(store, name, "second")).tokens).toBe(given);
      expect((await statusOf(store, name)).held).toBe(limit);
    });

  test("tokens in use stay, and a process that gave nothing is asked again", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const holder = await hold(store, name, "first");
    await ask(store, name, "second");
    expect(await give(holder, 4)).toMatchObject({ tokens: 4, given: 0 });
    expect(await wantedBackOf(holder)).toBe(1);
    expect(await give(holder, 3)).toMatchObject({ tokens: 3, given: 1 });
    expect(await wantedBackOf(holder)).toBe(0);
  });

  test("a give that is said again, as after a lost answer, gives nothing more", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const holder = await hold(store, name, "first");
    await ask(store, name, "second");
    expect(await give(holder)).toMatchObject({ tokens: 2, given: 2 });
    expect(await give(holder)).toMatchObject({ tokens: 2, freed: 0, given: 0 });
  });

  test("one of two holders gives: the second one finds it done", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const first = await startWorker(store, name, { worker: "first", want: 2 });
    const second = await startWorker(store, name, { worker: "second", want: 2 });
    await ask(store, name, "third");
    expect(await give(first)).toMatchObject({ tokens: 1, given: 1 });
    expect(await give(second)).toMatchObject({ tokens: 2, given: 0 });
    expect((await ask(store, name, "third")).tokens).toBe(1);
    expect(await give(second)).toMatchObject({ tokens: 2, given: 0 });
  });

  test("three processes that come one after the other share a limit of 4, and none falls below one", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    const holders = [await hold(store, name, "first")];
    for (const worker of ["second", "third"]) {
      await opened.advance(3_000);
      expect((await ask(store, name, worker)).demand).toBe("noted");
      for (const holder of holders) await give(holder);
      holders.push(await hold(store, name, worker));
    }
    const tokens = await Promise.all(holders.map(async (holder) => (await give(holder)).tokens));
    expect([...tokens].sort()).toEqual([1, 1, 2]);
    await opened.advance(3_000);
    expect((await ask(store, name, "fourth")).demand).toBe("noted");
    for (const holder of holders) await give(holder);
    expect((await hold(store, name, "fourth")).answer.tokens).toBe(1);
    await opened.advance(3_000);
    expect((await ask(store, name, "fifth")).demand).toBeNull();
    for (const holder of holders) expect((await give(holder)).tokens).toBe(1);
  });

  test("the tokens above a lowered limit go back, and nothing more", async () => {
    const { store } = open();
    const name = await define(store, { limit: 8 });
    const holder = await hold(store, name, "first");
    await ask(store, name, "second");
    await setLimit(store, name, 6);
    expect(await give(holder)).toMatchObject({ tokens: 6, freed: 2, given: 0 });
    expect(await give(holder)).toMatchObject({ tokens: 3, freed: 3, given: 3 });
  });

  testWith(setup, "token text")(
    "the tokens that were granted last go back above a lowered limit",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 3 });
      const holder = await hold(store, name, "first");
      const [first] = parseTokens(await opened.readTokens(name));
      await setLimit(store, name, 1);
      expect(await give(holder)).toMatchObject({ tokens: 1 });
      expect(parseTokens(await opened.readTokens(name))).toEqual([first]);
    },
  );

  test("a holder that finds nothing to do isn't asked", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const holder = await hold(store, name, "first");
    await ask(store, name, "second");
    expect(await holder.work({ want: 4 })).toMatchObject({
      status: "none",
      overLimit: 0,
      releaseRequested: false,
    });
    await enqueue(store, name, 1);
    expect(await holder.work({ want: 4 })).toMatchObject({
      status: "claimed",
      overLimit: 0,
      releaseRequested: true,
    });
  });
}

function describeReserved(setup: StoreSetup): void {
  const open = useStore(setup);

  /** One process holds 4 of 4, a second one is denied, and so much later the first one gives two. */
  async function given(opened: TestStore, afterMs: number) {
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    const holder = await hold(store, name, "first");
    expect(await ask(store, name, "second")).toMatchObject({ demand: "noted" });
    await opened.advance(afterMs);
    expect(await give(holder)).toMatchObject({ tokens: 2, given: 2 });
    return { store, name, holder };
  }

  for (const [afterMs, forMs] of [
    [0, 100],
    [500, 350],
    [3_799, 1_999],
    [3_800, 2_000],
    [9_000, 2_000],
  ] as const)
    testWith(setup, "exact clock")(
      `the tokens given ${String(afterMs)} ms after the denial are for others for ${String(forMs)} ms, the time until the next ask`,
      async () => {
        const opened = open();
        const { store, name, holder } = await given(opened, afterMs);
        const more = { executionId: holder.executionId, want: 4 };
        await opened.advance(forMs - 1);
        expect(await ask(store, name, "first")).toMatchObject({ demand: "others", retryInMs: 1 });
        expect(await store.acquireTokens(more)).toMatchObject({ tokens: 2, granted: 0 });
        expect(await freeTokensOf(holder)).toBe(0);
        await opened.advance(1);
        expect(await freeTokensOf(holder)).toBe(2);
        expect(await ask(store, name, "first")).toMatchObject({ status: "started", tokens: 2 });
      },
    );

  test("the given tokens are reserved no more after a later denial: then they were fetched", async () => {
    const opened = open();
    const { store, name } = await given(opened, 9_000);
    const second = await hold(store, name, "second");
    await opened.advance(1);
    expect(await ask(store, name, "third")).toMatchObject({ demand: "noted" });
    await second.finish();
    expect(await ask(store, name, "first")).toMatchObject({ status: "started", tokens: 2 });
  });

  test("the given tokens are told to no worker where a shared limit decides, too", async () => {
    const { store } = open();
    const shared = uniqueName("shared");
    const name = await define(store, { limit: 4, sharedLimits: [{ name: shared, limit: 4 }] });
    const holder = await startWorker(store, name, { want: 1 });
    expect(await freeTokensOf(holder)).toBe(0);
  });

  test("the given tokens are told as none where there is no limit", async () => {
    const { store } = open();
    const holder = await startWorker(store, await define(store, { limit: null }), { want: 1 });
    expect(await freeTokensOf(holder)).toBe(0);
  });

  test("the given tokens are for a while not for another execution of a process that holds some", async () => {
    const opened = open();
    const { store, name } = await given(opened, 9_000);
    const refused = await ask(store, name, "first");
    expect(refused).toMatchObject({ status: "limited", demand: "others" });
    expect(refused.retryInMs).toBeGreaterThan(0);
    expect(refused.retryInMs).toBeLessThanOrEqual(2_000);
    await opened.advance(2_000);
    expect(await ask(store, name, "first")).toMatchObject({ status: "started", tokens: 2 });
  });

  test("the given tokens are not taken back by a process that holds as many as the richest other one; later they are", async () => {
    const opened = open();
    const { store, name, holder } = await given(opened, 9_000);
    const more = { executionId: holder.executionId, want: 4 };
    expect(await store.acquireTokens(more)).toMatchObject({ tokens: 2, granted: 0 });
    expect((await statusOf(store, name)).held).toBe(2);
    await opened.advance(2_000);
    expect(await store.acquireTokens(more)).toMatchObject({ tokens: 4, granted: 2 });
  });

  test("the given tokens may be taken by a holder that has fewer than another, up to as many", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 7 });
    const rich = await startWorker(store, name, { worker: "first", want: 6 });
    const poor = await startWorker(store, name, { worker: "second", want: 1 });
    await ask(store, name, "third");
    await opened.advance(9_000);
    // Half of the five that it holds more.
    expect(await give(rich)).toMatchObject({ tokens: 4, given: 2 });
    const answer = await store.acquireTokens({ executionId: poor.executionId, want: 8 });
    expect(answer).toMatchObject({ tokens: 3, granted: 2 });
  });
}

function describeLease(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")(
    "a lease is never moved back by a call that read the clock before another one renewed it",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1, leaseMs: 10_000 });
      const worker = await startWorker(store, name);
      await opened.advance(5_000);
      await worker.beat();
      await opened.advance(-3_000);
      await worker.work();
      await worker.again();
      await worker.beat();
      await opened.advance(12_999);
      expect((await ask(store, name, "other")).status).toBe("limited");
      await opened.advance(2);
      expect((await ask(store, name, "other")).status).toBe("started");
    },
  );
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

async function givenBy({ store, executionId }: Worker, keep = 0): Promise<number> {
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
  async function wantedBackOf(list: readonly Worker[]): Promise<number[]> {
    const answers: number[] = [];
    for (const worker of list) answers.push(countWantedBack(await worker.work()));
    return answers;
  }

  test("a holder of one token isn't, with any number held by the others", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    const list = await holders(store, name, [2, 1]);
    expect(await wantedBackOf(list)).toEqual([0, 0]);
    await deny(store, name);
    expect(await wantedBackOf(list)).toEqual([1, 0]);
  });

  testWith(setup, "exact clock")(
    "the richest workers and holders of one less are asked for two seconds; then each holder of several",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10 });
      const list = await holders(store, name, [4, 3, 2, 1]);
      await deny(store, name);
      expect(await wantedBackOf(list)).toEqual([1, 1, 0, 0]);
      await opened.advance(1_999);
      expect(await wantedBackOf(list)).toEqual([1, 1, 0, 0]);
      await opened.advance(1);
      expect(await wantedBackOf(list)).toEqual([1, 1, 1, 0]);
    },
  );
}

function describeParts(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a process with two more than the poorest gives one: then both hold as many", async () => {
    const { store } = open();
    const name = await define(store, { limit: 6 });
    const list = await holders(store, name, [4, 2]);
    expect(await more(at(list, 1), 6)).toMatchObject({ granted: 0 });
    expect(await givenBy(at(list, 0))).toBe(1);
    expect(await more(at(list, 1), 6)).toMatchObject({ tokens: 3 });
  });

  test("a process gives no more than the poorest one's part of the limit, however much there is", async () => {
    const { store } = open();
    const name = await define(store, { limit: 12 });
    const list = await holders(store, name, [9, 1, 1, 1]);
    expect(await more(at(list, 1), 12)).toMatchObject({ granted: 0 });
    expect(await givenBy(at(list, 0))).toBe(2);
  });

  testWith(setup, "exact clock")(
    "the richest process, or one that holds one less, gives alone for two seconds; then others as well",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 9 });
      const list = await holders(store, name, [5, 3, 1]);
      expect(await more(at(list, 2), 9)).toMatchObject({ granted: 0 });
      await opened.advance(1_999);
      expect(await givenBy(at(list, 1))).toBe(0);
      await opened.advance(1);
      expect(await givenBy(at(list, 1))).toBe(1);
    },
  );

  test("a process that holds one less than the richest needn't wait", async () => {
    const { store } = open();
    const name = await define(store, { limit: 9 });
    const list = await holders(store, name, [4, 4, 1]);
    await store.releaseTokens({ executionId: at(list, 1).executionId, keep: 3 });
    await startWorker(store, name, { worker: "another", want: 1 });
    expect(await more(at(list, 2), 9)).toMatchObject({ granted: 0 });
    expect(await givenBy(at(list, 1))).toBe(1);
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
    // So late that given tokens are reserved for two seconds.
    await opened.advance(9_000);
    expect(await givenBy(holder)).toBe(2);
    await store.releaseTokens({ executionId: holder.executionId, keep: 1 });
    return { name, holder };
  }

  test("an asker that gets a part of its wish isn't noted, one that gets none is", async () => {
    const { store } = open();
    const name = await define(store, { limit: 8 });
    const second = at(await holders(store, name, [5, 1]), 1);
    expect(await more(second, 5)).toMatchObject({ granted: 2, tokens: 3, demand: null });
    expect(await more(second, 5)).toMatchObject({ granted: 0, tokens: 3, demand: "noted" });
  });

  test("a process without tokens gets its part of the limit, also where all others hold less", async () => {
    const opened = open();
    const { store } = opened;
    const { name } = await given(opened);
    const newcomer = await startWorker(store, name, { worker: "denied", want: 8 });
    expect(newcomer.answer.tokens).toBe(2);
  });

  test("a process with tokens gets its part of the limit, not as much as the richest one holds", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 11 });
    const list = await holders(store, name, [9, 1, 1]);
    await store.startExecution(startInput(name, { worker: "denied" }));
    await opened.advance(9_000);
    expect(await givenBy(at(list, 0))).toBe(3);
    await store.releaseTokens({ executionId: at(list, 0).executionId, keep: 5 });
    expect(await more(at(list, 1), 11)).toMatchObject({ tokens: 4, granted: 3 });
  });

  test("no process gets more than it asks for", async () => {
    const opened = open();
    const { store } = opened;
    const { name } = await given(opened);
    const newcomer = await startWorker(store, name, { worker: "denied", want: 1 });
    expect(newcomer.answer.tokens).toBe(1);
  });

  test("a process that asks for its own number keeps it", async () => {
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

  test("the tokens held above a shared limit go back, and no more", async () => {
    const { store } = open();
    const { worker } = await lowered(store);
    const release = (keep: number) =>
      store.releaseSurplus({ executionId: worker.executionId, keep });
    expect(await release(3)).toMatchObject({ tokens: 3, freed: 1 });
    expect(await release(0)).toMatchObject({ tokens: 2, freed: 1 });
    expect(await release(0)).toMatchObject({ tokens: 2, freed: 0 });
  });

  test("tokens are released as asked, with any number held above it", async () => {
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

  test("a request for fewer tokens than are held takes nothing away", async () => {
    const { store } = open();
    const { worker, name } = await lowered(store);
    expect(await more(worker, 1)).toMatchObject({ tokens: 4, granted: 0 });
    await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
    expect(await more(worker, 1)).toMatchObject({ tokens: 1, granted: 0 });
    const other = await startWorker(store, name, { worker: "another", want: 8 });
    expect(other.answer.tokens).toBe(1);
  });
}
