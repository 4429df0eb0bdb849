import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  define,
  enqueue,
  operationId,
  startWorker,
  statusOf,
  uniqueName,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { ask, give, hold, wantedBackOf } from "../support/token-parties";
import { inDialect } from "./two-dialects";

/** Tokens of limits that several definitions share move as a definition's own do. */
export function describeSharedSpread(setup: StoreSetup): void {
  describe("a denial by a shared limit", () => {
    describeDenial(setup);
  });
  describe("giving tokens of a shared limit", () => {
    describeGiving(setup);
  });
  describe("the tokens given of a shared limit", () => {
    describeReserved(setup);
  });
  describe("a denial by one of several limits", () => {
    describeSeveral(setup);
  });
  describe("how much is given of a shared limit", () => {
    describeParts(setup);
  });
  describe("who may take tokens that were given of a shared limit", () => {
    describeRooms(setup);
  });
}

interface Two {
  readonly a: string;
  readonly b: string;
  readonly shared: string;
}

/** Two definitions that share a limit, with room of their own. */
async function two(store: TaskStore, limit: number, own: number | null = 20): Promise<Two> {
  const shared = uniqueName("shared");
  const sharedLimits = [{ name: shared, limit }];
  const a = await define(store, { limit: own, sharedLimits });
  const b = await define(store, { limit: own, sharedLimits });
  return { a, b, shared };
}

async function heldOf(store: TaskStore, name: string): Promise<number | undefined> {
  const { sharedLimits } = await store.listSharedLimits({ name, max: 1 });
  return sharedLimits[0]?.held;
}

const own = [20, null] as const;

function describeDenial(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const limit of own)
    test(`a denial by a shared limit is noted, and a holder of either definition hears of it; own limit ${String(limit)}`, async () => {
      const { store } = open();
      const { a, b } = await two(store, 4, limit);
      const holder = await hold(store, a, "first");
      expect(await wantedBackOf(holder)).toBe(0);
      expect(await holder.beat()).toMatchObject({ overLimit: 0, releaseRequested: false });
      expect(await ask(store, b, "second")).toMatchObject({ status: "limited", demand: "noted" });
      expect(await wantedBackOf(holder)).toBe(1);
      expect(await holder.beat()).toMatchObject({ overLimit: 0, releaseRequested: true });
    });

  testWith(
    setup,
    "exact clock",
    "write detection",
  )(
    "denials by a shared limit write at most once a second per limit; all others write nothing",
    async () => {
      const opened = open();
      const { store } = opened;
      const { a, b } = await two(store, 2);
      await hold(store, a, "first");
      expect((await ask(store, b, "second")).demand).toBe("noted");
      const versions = await opened.readVersions();
      for (const passedMs of [0, 500, 499]) {
        await opened.advance(passedMs);
        expect(await ask(store, a, "third")).toMatchObject({ status: "limited", demand: null });
      }
      expect(await opened.readVersions()).toBe(versions);
      await opened.advance(1);
      expect((await ask(store, a, "third")).demand).toBe("noted");
    },
  );

  testWith(setup, "write detection")(
    "a denial by both limits is noted at both, and then for a second at none",
    async () => {
      const opened = open();
      const { store } = opened;
      const { a } = await two(store, 4, 4);
      await hold(store, a, "first");
      expect((await ask(store, a, "second")).demand).toBe("noted");
      const versions = await opened.readVersions();
      expect(await ask(store, a, "third")).toMatchObject({ status: "limited", demand: null });
      expect(await opened.readVersions()).toBe(versions);
    },
  );

  test("a denial by a shared limit is noted though the definition's own limit has noted one just now", async () => {
    const { store } = open();
    const { a, b } = await two(store, 5, 3);
    await hold(store, a, "first");
    expect((await ask(store, a, "second")).demand).toBe("noted");
    const other = await hold(store, b, "third");
    expect(await other.beat()).toMatchObject({ overLimit: 0, releaseRequested: false });
    expect((await ask(store, a, "fourth")).demand).toBe("noted");
    expect(await other.beat()).toMatchObject({ overLimit: 0, releaseRequested: true });
  });

  test("a denial by a shared limit is not noted where no process could give, nor at limit 0", async () => {
    const { store } = open();
    const { a, b, shared } = await two(store, 2);
    const holder = await startWorker(store, a, { worker: "first", want: 1 });
    await startWorker(store, b, { worker: "second", want: 1 });
    expect(await ask(store, b, "third")).toMatchObject({ status: "limited", demand: null });
    await holder.finish();
    const rich = await startWorker(store, b, { worker: "second", want: 1 });
    const change = { name: shared, operationId: operationId(), changedBy: "me" };
    await store.setSharedLimit({ ...change, limit: 0 });
    expect(await ask(store, a, "third")).toMatchObject({ status: "limited", demand: null });
    expect(await rich.beat()).toMatchObject({ overLimit: 2, releaseRequested: false });
  });

  test("a denial by a shared limit that an operator made first is noted, too", async () => {
    const { store } = open();
    const shared = uniqueName("shared");
    await store.setSharedLimit({
      name: shared,
      limit: 4,
      operationId: operationId(),
      changedBy: "me",
    });
    const name = await define(store, { limit: 20, sharedLimits: [{ name: shared, limit: 1 }] });
    const holder = await hold(store, name, "first");
    expect(await ask(store, name, "second")).toMatchObject({ demand: "noted" });
    expect(await give(holder)).toMatchObject({ tokens: 2, given: 2 });
  });

  test("a denial of a process that holds all of it for another definition is noted: of one it waits for the other", async () => {
    const { store } = open();
    const { a, b } = await two(store, 4);
    const holder = await hold(store, a, "first");
    expect(await ask(store, b, "first")).toMatchObject({ status: "limited", demand: "noted" });
    expect(await give(holder)).toMatchObject({ tokens: 2, given: 2, woken: [b] });
    expect(await ask(store, b, "first")).toMatchObject({ status: "started", tokens: 2 });
  });

  test("an ask of the process that holds all of it for this definition is no denial", async () => {
    const { store } = open();
    const { a } = await two(store, 4);
    const holder = await hold(store, a, "first");
    expect(await ask(store, a, "first")).toMatchObject({ status: "limited", demand: null });
    expect(await wantedBackOf(holder)).toBe(0);
  });

  test("a denial by a shared limit is not noted where another limit of the denied one can't be helped", async () => {
    const { store } = open();
    const { a, shared } = await two(store, 4);
    const holder = await startWorker(store, a, { worker: "first", want: 4 });
    const other = uniqueName("other");
    const c = await define(store, {
      sharedLimits: [
        { name: shared, limit: 4 },
        { name: other, limit: 1 },
      ],
    });
    const blocker = await hold(
      store,
      await define(store, { sharedLimits: [{ name: other, limit: 1 }] }),
      "second",
    );
    expect(await ask(store, c, "third")).toMatchObject({ status: "limited", demand: null });
    expect(await wantedBackOf(holder)).toBe(0);
    await blocker.finish();
    expect(await ask(store, c, "third")).toMatchObject({ status: "limited", demand: "noted" });
    expect(await wantedBackOf(holder)).toBe(1);
  });

  test("a denial of a holder that asks for more is noted only while a process holds two more than it", async () => {
    const opened = open();
    const { store } = opened;
    const { a, b } = await two(store, 4);
    const rich = await startWorker(store, a, { worker: "first", want: 3 });
    const poor = await hold(store, b, "second");
    const more = { executionId: poor.executionId, want: 8 };
    expect(await store.acquireTokens(more)).toMatchObject({ granted: 0, demand: "noted" });
    expect(await give(rich)).toMatchObject({ tokens: 2, given: 1 });
    expect(await store.acquireTokens(more)).toMatchObject({ tokens: 2, granted: 1, demand: null });
    await opened.advance(3_000);
    expect(await store.acquireTokens(more)).toMatchObject({ tokens: 2, granted: 0, demand: null });
    expect(await wantedBackOf(rich)).toBe(0);
  });

  testWith(setup, "exact clock")(
    "a denial by a shared limit is forgotten when the lease's time has passed",
    async () => {
      const opened = open();
      const { store } = opened;
      const sharedLimits = [{ name: uniqueName("shared"), limit: 4 }];
      const name = await define(store, { limit: 8, leaseMs: 10_000, sharedLimits });
      const holder = await hold(store, name, "first");
      await ask(store, name, "second");
      await opened.advance(9_999);
      expect((await holder.beat()).releaseRequested).toBe(true);
      await opened.advance(1);
      expect((await holder.beat()).releaseRequested).toBe(false);
      expect(await give(holder)).toMatchObject({ status: "released", tokens: 4, given: 0 });
    },
  );
}

function describeGiving(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const limit of own)
    for (const [max, tokens] of [
      [2, 1],
      [3, 2],
      [4, 2],
      [7, 4],
    ] as const)
      test(`the only holder of ${String(max)} keeps ${String(tokens)}; own limit ${String(limit)}`, async () => {
        const { store } = open();
        const { a, b, shared } = await two(store, max, limit);
        const holder = await hold(store, a, "first");
        await ask(store, b, "second");
        const given = max - tokens;
        const woken = [b];
        expect(await give(holder)).toEqual({
          status: "released",
          tokens,
          freed: given,
          overLimit: 0,
          given,
          woken,
        });
        expect((await ask(store, b, "second")).tokens).toBe(given);
        expect(await heldOf(store, shared)).toBe(max);
        expect(await wantedBackOf(holder)).toBe(0);
      });

  test("two hosts of one definition share, and the hint is the giver's own", async () => {
    const { store } = open();
    const { a } = await two(store, 4);
    const holder = await hold(store, a, "first");
    expect((await ask(store, a, "second")).demand).toBe("noted");
    expect(await give(holder)).toMatchObject({ tokens: 2, given: 2, woken: [] });
    expect((await ask(store, a, "second")).tokens).toBe(2);
  });

  test("tokens in use stay, and a process that gave nothing is asked again", async () => {
    const { store } = open();
    const { a, b } = await two(store, 4);
    const holder = await hold(store, a, "first");
    await ask(store, b, "second");
    expect(await give(holder, 4)).toMatchObject({ tokens: 4, given: 0, woken: [] });
    expect(await wantedBackOf(holder)).toBe(1);
    expect(await give(holder, 3)).toMatchObject({ tokens: 3, given: 1, woken: [b] });
    expect(await wantedBackOf(holder)).toBe(0);
  });

  test("a give of shared tokens that is said again, as after a lost answer, gives nothing more", async () => {
    const { store } = open();
    const { a, b } = await two(store, 4);
    const holder = await hold(store, a, "first");
    await ask(store, b, "second");
    expect(await give(holder)).toMatchObject({ tokens: 2, given: 2 });
    expect(await give(holder)).toMatchObject({ tokens: 2, freed: 0, given: 0, woken: [] });
  });

  test("the richest gives first; after two seconds any that holds several", async () => {
    const opened = open();
    const { store } = opened;
    const { a, b } = await two(store, 8);
    const rich = await startWorker(store, a, { worker: "first", want: 6 });
    const poor = await startWorker(store, b, { worker: "second", want: 2 });
    await ask(store, b, "third");
    expect(await wantedBackOf(poor)).toBe(0);
    expect(await give(poor)).toMatchObject({ tokens: 2, given: 0 });
    expect(await wantedBackOf(rich)).toBe(1);
    await opened.advance(2_000);
    expect(await wantedBackOf(poor)).toBe(1);
    expect(await give(poor)).toMatchObject({ tokens: 1, given: 1, woken: [] });
    expect(await give(rich)).toMatchObject({ tokens: 6, given: 0 });
  });

  test("a holder of one token isn't asked, nor one with two less than the richest", async () => {
    const { store } = open();
    const { a, b } = await two(store, 7);
    const rich = await startWorker(store, a, { worker: "first", want: 4 });
    const poorer = await startWorker(store, b, { worker: "second", want: 2 });
    const poorest = await startWorker(store, b, { worker: "third", want: 1 });
    await ask(store, b, "fourth");
    expect(await wantedBackOf(rich)).toBe(1);
    expect(await wantedBackOf(poorer)).toBe(0);
    expect(await wantedBackOf(poorest)).toBe(0);
    const few = await two(store, 3);
    const more = await startWorker(store, few.a, { worker: "first", want: 2 });
    const one = await startWorker(store, few.b, { worker: "second", want: 1 });
    await ask(store, few.b, "third");
    expect(await wantedBackOf(one)).toBe(0);
    expect(await wantedBackOf(more)).toBe(1);
  });

  test("the richest holder of another shared limit isn't asked for this one", async () => {
    const { store } = open();
    const { a, shared } = await two(store, 8);
    const sharedLimits = [
      { name: uniqueName("wide"), limit: 20 },
      { name: shared, limit: 8 },
    ];
    const both = await define(store, { limit: 20, sharedLimits });
    const few = await startWorker(store, both, { worker: "first", want: 2 });
    const many = await startWorker(store, a, { worker: "second", want: 6 });
    await ask(store, a, "third");
    expect(await wantedBackOf(few)).toBe(0);
    expect(await give(few)).toMatchObject({ tokens: 2, given: 0 });
    expect(await wantedBackOf(many)).toBe(1);
  });

  test("an execution denied by two shared limits gets of both; of the narrower one more is given", async () => {
    const { store } = open();
    const [wide, narrow] = [uniqueName("wide"), uniqueName("narrow")];
    const on = (...limits: (readonly [string, number])[]) =>
      define(store, {
        limit: 20,
        sharedLimits: limits.map(([name, limit]) => ({ name, limit })),
      });
    const both = await on([wide, 6], [narrow, 4]);
    const first = await startWorker(store, await on([wide, 6]), { worker: "first", want: 6 });
    const second = await startWorker(store, await on([narrow, 4]), { worker: "second", want: 4 });
    expect(await ask(store, both, "third")).toMatchObject({ status: "limited", demand: "noted" });
    expect(await give(first)).toMatchObject({ tokens: 3, given: 3, woken: [both] });
    expect(await ask(store, both, "third")).toMatchObject({ status: "limited" });
    expect(await give(second)).toMatchObject({ tokens: 2, given: 2, woken: [both] });
    expect(await ask(store, both, "third")).toMatchObject({ status: "started", tokens: 2 });
  });

  test("a denial by the definition's limit and a shared one is answered once", async () => {
    const { store } = open();
    const { a, shared } = await two(store, 4, 4);
    const holder = await hold(store, a, "first");
    expect((await ask(store, a, "second")).demand).toBe("noted");
    expect(await give(holder)).toMatchObject({ tokens: 2, given: 2, woken: [] });
    expect(await wantedBackOf(holder)).toBe(0);
    expect(await give(holder)).toMatchObject({ tokens: 2, given: 0 });
    expect((await ask(store, a, "second")).tokens).toBe(2);
    expect((await statusOf(store, a)).held).toBe(4);
    expect(await heldOf(store, shared)).toBe(4);
  });

  test("the tokens above a lowered shared limit go back first, and nothing more", async () => {
    const { store } = open();
    const { a, b, shared } = await two(store, 8);
    const holder = await hold(store, a, "first");
    await ask(store, b, "second");
    const change = { name: shared, operationId: operationId(), changedBy: "me" };
    await store.setSharedLimit({ ...change, limit: 6 });
    expect(await give(holder)).toMatchObject({ tokens: 6, freed: 2, given: 0, woken: [] });
    expect(await give(holder)).toMatchObject({ tokens: 3, freed: 3, given: 3, woken: [b] });
  });

  test("a holder that finds nothing to do isn't asked", async () => {
    const { store } = open();
    const { a, b } = await two(store, 4);
    const holder = await hold(store, a, "first");
    await ask(store, b, "second");
    expect(await holder.work({ want: 4 })).toMatchObject({
      status: "none",
      overLimit: 0,
      releaseRequested: false,
    });
    await enqueue(store, a, 1);
    expect(await holder.work({ want: 4 })).toMatchObject({
      status: "claimed",
      overLimit: 0,
      releaseRequested: true,
    });
  });
}

function describeReserved(setup: StoreSetup): void {
  const open = useStore(setup);

  /** One process holds 4 of 4, one of another definition is denied, and so much later the first one gives two. */
  async function given(opened: TestStore, afterMs: number, limit: number | null = 20) {
    const { store } = opened;
    const names = await two(store, 4, limit);
    const holder = await hold(store, names.a, "first");
    expect(await ask(store, names.b, "second")).toMatchObject({ demand: "noted" });
    await opened.advance(afterMs);
    expect(await give(holder)).toMatchObject({ tokens: 2, given: 2 });
    return { store, ...names, holder };
  }

  for (const limit of own)
    for (const [afterMs, forMs] of [
      [0, 100],
      [500, 350],
      [3_800, 2_000],
      [9_000, 2_000],
    ] as const)
      testWith(setup, "exact clock")(
        `the tokens given ${String(afterMs)} ms after the denial are for others for ${String(forMs)} ms; own limit ${String(limit)}`,
        async () => {
          const opened = open();
          const { store, a, holder } = await given(opened, afterMs, limit);
          const more = { executionId: holder.executionId, want: 4 };
          await opened.advance(forMs - 1);
          expect(await ask(store, a, "first")).toMatchObject({ demand: "others", retryInMs: 1 });
          expect(await store.acquireTokens(more)).toMatchObject({ tokens: 2, granted: 0 });
          await opened.advance(1);
          expect(await store.acquireTokens(more)).toMatchObject({ tokens: 4, granted: 2 });
        },
      );

  test("the given tokens are for a newcomer of any definition, up to its part", async () => {
    const opened = open();
    const { store, a } = await given(opened, 9_000);
    expect(await ask(store, a, "third")).toMatchObject({ status: "started", tokens: 2 });
  });

  test("the given tokens are for a while not for a process that holds as many as the richest other one", async () => {
    const opened = open();
    const { store } = opened;
    const { a, b } = await two(store, 7);
    const rich = await startWorker(store, a, { worker: "first", want: 6 });
    const poor = await startWorker(store, b, { worker: "second", want: 1 });
    await ask(store, b, "third");
    await opened.advance(9_000);
    expect(await give(rich)).toMatchObject({ tokens: 4, given: 2 });
    const more = await store.acquireTokens({ executionId: rich.executionId, want: 8 });
    expect(more).toMatchObject({ tokens: 4, granted: 0 });
    const answer = await store.acquireTokens({ executionId: poor.executionId, want: 8 });
    expect(answer).toMatchObject({ tokens: 3, granted: 2 });
  });

  test("the given tokens are reserved no more after a later denial: then they were fetched", async () => {
    const opened = open();
    const { store, a, b } = await given(opened, 9_000);
    const second = await hold(store, b, "second");
    await opened.advance(1);
    expect(await ask(store, b, "third")).toMatchObject({ demand: "noted" });
    await second.finish();
    expect(await ask(store, a, "first")).toMatchObject({ status: "started", tokens: 2 });
  });
}

/** A definition with room of its own that draws from these. */
function drawing(
  store: TaskStore,
  limits: readonly (readonly [name: string, limit: number | null])[],
  ownLimit: number | null = 20,
): Promise<string> {
  const sharedLimits = limits.map(([name, limit]) => ({ name, limit }));
  return define(store, { limit: ownLimit, sharedLimits });
}

async function setShared(store: TaskStore, name: string, limit: number | null): Promise<void> {
  await store.setSharedLimit({ name, limit, operationId: operationId(), changedBy: "me" });
}

function describeSeveral(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a denial is noted beside a shared limit without a number", async () => {
    const { store } = open();
    const [full, wide] = [uniqueName("full"), uniqueName("wide")];
    const holder = await hold(store, await drawing(store, [[full, 4]]), "first");
    const both = await drawing(store, [
      [full, 4],
      [wide, null],
    ]);
    expect(await ask(store, both, "second")).toMatchObject({ status: "limited", demand: "noted" });
    expect(await wantedBackOf(holder)).toBe(1);
  });

  test("a denial by one of several limits is not noted where the definition's own limit is 0", async () => {
    const { store } = open();
    const shared = uniqueName("shared");
    const holder = await hold(store, await drawing(store, [[shared, 4]]), "first");
    const none = await drawing(store, [[shared, 4]], 0);
    expect(await ask(store, none, "second")).toMatchObject({ status: "limited", demand: null });
    expect(await wantedBackOf(holder)).toBe(0);
  });

  for (const [limit, max] of [
    [4, 20],
    [null, 4],
    [4, 4],
  ] as const)
    testWith(setup, "exact clock")(
      `a denial of a holder is noted at most every other second; own limit ${String(limit)}, shared one ${String(max)}`,
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await drawing(store, [[uniqueName("shared"), max]], limit);
        await startWorker(store, name, { worker: "rich", want: 3 });
        const { executionId } = await startWorker(store, name, { worker: "poor", want: 1 });
        const more = () => store.acquireTokens({ executionId, want: 2 });
        expect(await more()).toMatchObject({ granted: 0, demand: "noted" });
        await opened.advance(1_999);
        expect(await more()).toMatchObject({ granted: 0, demand: null });
        await opened.advance(1);
        expect(await more()).toMatchObject({ granted: 0, demand: "noted" });
      },
    );

  testWith(setup, "exact clock")(
    "a denial by the own limit is noted by what the process holds of that, though the shared one still counts the dead",
    async () => {
      const opened = open();
      const { store } = opened;
      const shared = uniqueName("shared");
      const sharedLimits = [{ name: shared, limit: 9 }];
      const name = await define(store, { limit: 3, leaseMs: 10_000, sharedLimits });
      await startWorker(store, name, { worker: "first", want: 2 });
      await opened.advance(10_001);
      // There is room in the shared limit: only the definition's own tokens are looked through.
      await startWorker(store, name, { worker: "second", want: 3 });
      await startWorker(store, await drawing(store, [[shared, 9]]), { worker: "third", want: 4 });
      expect(await heldOf(store, shared)).toBe(9);
      expect(await ask(store, name, "first")).toMatchObject({ status: "limited", demand: "noted" });
    },
  );
}

function describeParts(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a holder gives up to the part of the denied process, where half of the difference is more", async () => {
    const { store } = open();
    const { a, b } = await two(store, 9);
    const rich = await startWorker(store, a, { worker: "first", want: 7 });
    await startWorker(store, b, { worker: "second", want: 1 });
    await startWorker(store, b, { worker: "third", want: 1 });
    await ask(store, b, "fourth");
    expect(await give(rich)).toMatchObject({ tokens: 5, given: 2 });
  });

  test("a process with two less than the richest gives nothing for two seconds", async () => {
    const opened = open();
    const { store } = opened;
    const { a } = await two(store, 6);
    await startWorker(store, a, { worker: "first", want: 4 });
    const poorer = await startWorker(store, a, { worker: "second", want: 2 });
    await ask(store, a, "third");
    expect(await give(poorer)).toMatchObject({ tokens: 2, given: 0 });
    await opened.advance(2_000);
    expect(await give(poorer)).toMatchObject({ tokens: 1, given: 1 });
  });

  test("a holder gives half of a difference of two", async () => {
    const { store } = open();
    const { a, b } = await two(store, 6);
    const rich = await startWorker(store, a, { worker: "first", want: 4 });
    await startWorker(store, b, { worker: "second", want: 2 });
    await ask(store, b, "third");
    expect(await give(rich)).toMatchObject({ tokens: 3, given: 1 });
  });

  test("the most that one of the limits asks for, where the definition's own one asks for less", async () => {
    const { store } = open();
    const { a, b } = await two(store, 8, 7);
    const rich = await startWorker(store, a, { worker: "first", want: 5 });
    await startWorker(store, a, { worker: "second", want: 2 });
    await startWorker(store, b, { worker: "third", want: 1 });
    expect(await ask(store, a, "fourth")).toMatchObject({ demand: "noted" });
    expect(await give(rich)).toMatchObject({ tokens: 3, freed: 2, given: 2 });
  });

  testWith(setup, "raw sql")(
    "a holder gives nothing where the limit's text, changed by hand, counts the token that goes back as another's",
    async () => {
      const opened = open();
      const { store } = opened;
      const { a, b, shared } = await two(store, 4, null);
      const one = await startWorker(store, a, { worker: "first", want: 1 });
      const { number } = await startWorker(store, a, { worker: "first", want: 3 });
      await ask(store, b, "second");
      opened.expectDamage();
      const sql =
        "UPDATE taskgate.shared_limit SET execution_tokens = REPLACE(execution_tokens, 'G:{one}', 'G:{other}')";
      const ids = new Map([
        ["one", one.number],
        ["other", number],
      ]);
      const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
      await opened.raw(inDialect(dialect, sql, ids));
      expect(await give(one)).toMatchObject({ tokens: 0, freed: 1, given: 0, woken: [] });
      expect(await heldOf(store, shared)).toBe(4);
    },
  );

  testWith(setup, "exact clock")(
    "a holder gives none of the tokens above a limit that only dead executions hold",
    async () => {
      const opened = open();
      const { store } = opened;
      const shared = uniqueName("shared");
      const sharedLimits = [{ name: shared, limit: 4 }];
      const name = await define(store, { limit: 20, leaseMs: 10_000, sharedLimits });
      await startWorker(store, name, { worker: "dead", want: 2 });
      await opened.advance(5_000);
      const holder = await startWorker(store, name, { worker: "alive", want: 2 });
      await setShared(store, shared, 2);
      expect(await holder.beat()).toMatchObject({ overLimit: 2 });
      await opened.advance(5_001);
      expect(await give(holder)).toMatchObject({ tokens: 2, freed: 0, overLimit: 0 });
      expect(await heldOf(store, shared)).toBe(2);
    },
  );
}

function describeRooms(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a newcomer takes its part, though the richest has less by now", async () => {
    const { store } = open();
    const { a, b } = await two(store, 8);
    const rich = await hold(store, a, "first");
    await ask(store, b, "second");
    expect(await give(rich)).toMatchObject({ tokens: 4, given: 4 });
    await store.releaseTokens({ executionId: rich.executionId, keep: 2 });
    expect(await ask(store, b, "third")).toMatchObject({ status: "started", tokens: 4 });
  });

  test("a holder takes no more than its part, though the richest has more", async () => {
    const { store } = open();
    const { a, b } = await two(store, 9);
    const rich = await startWorker(store, a, { worker: "first", want: 7 });
    const poor = await startWorker(store, b, { worker: "second", want: 1 });
    await startWorker(store, b, { worker: "third", want: 1 });
    await ask(store, b, "fourth");
    expect(await give(rich)).toMatchObject({ tokens: 5, given: 2 });
    await store.releaseTokens({ executionId: rich.executionId, keep: 4 });
    const more = { executionId: poor.executionId, want: 8 };
    expect(await store.acquireTokens(more)).toMatchObject({ tokens: 3, granted: 2 });
  });

  test("a newcomer takes its part of the limit of which some were given, though its part of another limit is smaller", async () => {
    const { store } = open();
    const [given, free] = [uniqueName("given"), uniqueName("free")];
    const both = await drawing(store, [
      [given, 9],
      [free, 4],
    ]);
    await startWorker(store, both, { worker: "first", want: 1 });
    const rich = await hold(store, await drawing(store, [[given, 9]]), "second");
    await ask(store, both, "third");
    expect(await give(rich)).toMatchObject({ tokens: 5, given: 3 });
    expect(await ask(store, both, "third")).toMatchObject({ status: "started", tokens: 3 });
  });

  test("any process takes some at once when the limit has been lifted", async () => {
    const { store } = open();
    const { a, b, shared } = await two(store, 4);
    const holder = await hold(store, a, "first");
    await ask(store, b, "second");
    expect(await give(holder)).toMatchObject({ tokens: 2, given: 2 });
    expect(await ask(store, a, "first")).toMatchObject({ status: "limited", demand: "others" });
    await setShared(store, shared, null);
    expect(await ask(store, a, "first")).toMatchObject({ status: "started", tokens: 8 });
  });

  testWith(setup, "exact clock")(
    "the process that gave some is told the longer wait, where the own limit was denied later than the shared one",
    async () => {
      const opened = open();
      const { store } = opened;
      const { a, b } = await two(store, 4, 4);
      const holder = await hold(store, a, "first");
      expect(await ask(store, b, "second")).toMatchObject({ demand: "noted" });
      await opened.advance(500);
      expect(await ask(store, a, "third")).toMatchObject({ demand: "noted" });
      await opened.advance(500);
      expect(await give(holder)).toMatchObject({ tokens: 2, given: 2 });
      expect(await ask(store, a, "first")).toMatchObject({ demand: "others", retryInMs: 600 });
    },
  );
}
