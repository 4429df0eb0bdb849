import { describe, expect, test } from "@jest/globals";
import type {
  Limit,
  SetSharedLimitAnswer,
  SharedLimitReading,
  SharedLimitUse,
  TaskStore,
} from "../../shared/ports/task-store";
import {
  define,
  enqueue,
  enqueueOne,
  factsOf,
  operationId,
  registration,
  setLimit,
  startInput,
  startWorker,
  statusOf,
  tryStart,
  uniqueName,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Limits that several definitions draw from: the same tokens, decided in one call with the definition's own. */
export function describeSharedLimits(setup: StoreSetup): void {
  describe("a shared limit", () => {
    describeGrants(setup);
  });
  describe("tokens of a shared limit", () => {
    describeReturns(setup);
  });
  describe("set_shared_limit", () => {
    describeSetting(setup);
  });
  describe("a definition's shared limits", () => {
    describeLinks(setup);
  });
  describe("list_shared_limits", () => {
    describeList(setup);
  });
  describe("the input of shared limits", () => {
    describeInput(setup);
  });
}

function setShared(
  store: TaskStore,
  name: string,
  limit: Limit | "code",
): Promise<SetSharedLimitAnswer> {
  return store.setSharedLimit({
    name,
    limit,
    operationId: operationId(),
    changedBy: "an operator",
  });
}

/** Two definitions with room of their own that share one limit. */
async function twoOn(
  store: TaskStore,
  limit: Limit,
  leaseMs = 60_000,
): Promise<{ shared: string; a: string; b: string }> {
  const shared = uniqueName("shared");
  const settings = { limit: 10, leaseMs, sharedLimits: [{ name: shared, limit }] };
  return { shared, a: await define(store, settings), b: await define(store, settings) };
}

/** Tokens of the shared limit that are held, as people see them. */
async function heldOf(store: TaskStore, definition: string, shared: string): Promise<number> {
  const { sharedLimits } = await statusOf(store, definition);
  const held = sharedLimits.find((row) => row.name === shared)?.held;
  if (held === undefined) throw new Error(`${definition} doesn't draw from ${shared}`);
  return held;
}

function describeGrants(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a shared limit is one for all definitions that draw from it", async () => {
    const { store } = open();
    const { shared, a, b } = await twoOn(store, 1);
    const holder = await startWorker(store, a);
    expect(await store.startExecution(startInput(b))).toMatchObject({
      status: "limited",
      executionId: null,
      tokens: 0,
    });
    expect(await statusOf(store, b)).toMatchObject({ held: 0, executions: 0 });
    expect(await heldOf(store, b, shared)).toBe(1);
    await holder.finish();
    expect(await tryStart(store, b)).toBe("started");
  });

  test("a grant is the least that any of the shared limits allows", async () => {
    const { store } = open();
    const [wide, narrow] = [uniqueName("wide"), uniqueName("narrow")];
    const sharedLimits = [
      { name: wide, limit: 5 },
      { name: narrow, limit: 3 },
    ];
    const name = await define(store, { limit: 4, sharedLimits });
    const worker = await startWorker(store, name, { want: 10 });
    expect(worker.answer.tokens).toBe(3);
    expect(await heldOf(store, name, wide)).toBe(3);
    expect(await heldOf(store, name, narrow)).toBe(3);
    await setShared(store, narrow, 10);
    const { executionId } = worker;
    expect(await store.acquireTokens({ executionId, want: 10 })).toMatchObject({
      status: "granted",
      tokens: 4,
      granted: 1,
    });
    expect(await heldOf(store, name, wide)).toBe(4);
  });

  test("a start takes nothing anywhere when one of its shared limits has nothing left", async () => {
    const { store } = open();
    const { shared, a, b } = await twoOn(store, 2);
    const worker = await startWorker(store, a);
    const other = await startWorker(store, b);
    const { executionId } = worker;
    expect(await store.acquireTokens({ executionId, want: 5 })).toMatchObject({
      status: "granted",
      tokens: 1,
      granted: 0,
    });
    expect(await statusOf(store, a)).toMatchObject({ held: 1 });
    expect(await heldOf(store, a, shared)).toBe(2);
    await other.finish();
    expect(await store.acquireTokens({ executionId, want: 5 })).toMatchObject({ tokens: 2 });
  });

  test("a shared limit counts definitions without a limit of their own, too", async () => {
    const { store } = open();
    const shared = uniqueName("shared");
    const name = await define(store, { limit: null, sharedLimits: [{ name: shared, limit: 2 }] });
    const worker = await startWorker(store, name, { want: 5 });
    expect(worker.answer.tokens).toBe(2);
    expect(await tryStart(store, name)).toBe("limited");
    await worker.finish();
    expect(await heldOf(store, name, shared)).toBe(0);
  });

  test("a shared limit of 0 lets nothing start; one without a limit everything", async () => {
    const { store } = open();
    const { shared, a, b } = await twoOn(store, 0);
    expect(await tryStart(store, a)).toBe("limited");
    await setShared(store, shared, null);
    expect((await startWorker(store, a, { want: 9 })).answer.tokens).toBe(9);
    expect((await startWorker(store, b, { want: 9 })).answer.tokens).toBe(9);
    expect(await heldOf(store, a, shared)).toBe(18);
  });

  test("a worker asks as it did: a repeated start has the same tokens", async () => {
    const { store } = open();
    const { shared, a } = await twoOn(store, 3);
    const input = startInput(a, { want: 2 });
    const first = await store.startExecution(input);
    const again = await store.startExecution(input);
    expect(again).toMatchObject({ executionId: first.executionId, tokens: 2 });
    expect(await heldOf(store, a, shared)).toBe(2);
  });

  testWith(setup, "exact clock")(
    "a shared limit denies with the time until the first lease ends",
    async () => {
      const opened = open();
      const { store } = opened;
      const { a, b } = await twoOn(store, 1);
      await startWorker(store, a);
      await opened.advance(10_000);
      expect(await store.startExecution(startInput(b))).toMatchObject({
        status: "limited",
        retryInMs: 50_001,
      });
    },
  );

  test("sweep counts what it lets be granted", async () => {
    const { store } = open();
    const { a, b } = await twoOn(store, 3);
    await enqueue(store, b, 1);
    await startWorker(store, a, { want: 2 });
    const { definitions } = await store.sweep({ max: 10 });
    expect(definitions).toEqual([
      { name: b, ready: 1, free: 1, crowdedOut: false, due: false, paused: false },
    ]);
  });

  describe("sweep tells which definition is crowded out of one", () => {
    const toldOf = async (store: TaskStore, name: string): Promise<unknown> => {
      const { definitions } = await store.sweep({ max: 10 });
      const found = definitions.find((definition) => definition.name === name);
      return found && { free: found.free, crowdedOut: found.crowdedOut };
    };

    test("a definition is crowded out of a shared limit as long as it holds no token and others hold all", async () => {
      const { store } = open();
      const { a, b } = await twoOn(store, 2);
      await enqueue(store, b, 1);
      await enqueue(store, a, 1);
      const first = await startWorker(store, a, { want: 2 });
      expect(await toldOf(store, b)).toEqual({ free: 0, crowdedOut: true });
      expect(await toldOf(store, a)).toEqual({ free: 0, crowdedOut: false });
      await store.releaseTokens({ executionId: first.executionId, keep: 1 });
      expect(await toldOf(store, b)).toEqual({ free: 1, crowdedOut: false });
      await startWorker(store, b, { want: 1 });
      expect(await toldOf(store, b)).toEqual({ free: 0, crowdedOut: false });
    });

    testWith(setup, "exact clock")(
      "a definition is crowded out not by executions whose leases are over, and not while one of its own is live",
      async () => {
        const opened = open();
        const { store } = opened;
        const { a, b } = await twoOn(store, 2);
        await enqueue(store, b, 1);
        await startWorker(store, b, { want: 1 });
        await opened.advance(30_000);
        await startWorker(store, a, { want: 1 });
        expect(await toldOf(store, b)).toEqual({ free: 0, crowdedOut: false });
        await opened.advance(30_001);
        expect(await toldOf(store, b)).toEqual({ free: 1, crowdedOut: false });
      },
    );

    test("a definition isn't crowded out where no token may be had: a shared limit or its own is 0", async () => {
      const { store } = open();
      const { shared, a, b } = await twoOn(store, 1);
      await enqueue(store, b, 1);
      await startWorker(store, a);
      await setLimit(store, b, 0);
      expect(await toldOf(store, b)).toEqual({ free: 0, crowdedOut: false });
      await setLimit(store, b, 5);
      expect(await toldOf(store, b)).toEqual({ free: 0, crowdedOut: true });
      await setLimit(store, b, null);
      expect(await toldOf(store, b)).toEqual({ free: 0, crowdedOut: true });
      await setShared(store, shared, 0);
      expect(await toldOf(store, b)).toEqual({ free: 0, crowdedOut: false });
    });
  });

  test("explain tells which ones a task draws from, and how full they are", async () => {
    const { store } = open();
    const { shared, a, b } = await twoOn(store, 1);
    const id = await enqueueOne(store, b);
    await startWorker(store, a);
    expect((await factsOf(store, id)).sharedLimits).toEqual([
      { name: shared, limit: 1, limitSource: "code", held: 1 },
    ]);
  });
}

function describeReturns(setup: StoreSetup): void {
  const open = useStore(setup);

  test("tokens of a shared limit come back with the definition's", async () => {
    const { store } = open();
    const { shared, a } = await twoOn(store, 5);
    const worker = await startWorker(store, a, { want: 4 });
    const { executionId } = worker;
    expect(await store.releaseTokens({ executionId, keep: 3 })).toMatchObject({ freed: 1 });
    expect(await heldOf(store, a, shared)).toBe(3);
    expect(await store.releaseTokens({ executionId, keep: 3 })).toMatchObject({ freed: 0 });
    expect(await worker.finish()).toMatchObject({ tokensFreed: 3 });
    expect(await heldOf(store, a, shared)).toBe(0);
  });

  test("tokens of a shared limit that go back name a definition whose tasks wait for them", async () => {
    const { store } = open();
    const { a, b } = await twoOn(store, 2);
    const worker = await startWorker(store, a, { want: 2 });
    const { executionId } = worker;
    const giveBack = async (keep: number): Promise<string[]> =>
      (await store.releaseTokens({ executionId, keep })).woken;
    expect(await giveBack(1)).toEqual([]);
    await enqueueOne(store, b);
    await store.acquireTokens({ executionId, want: 2 });
    expect(await giveBack(1)).toEqual([b]);
    // Nothing was freed.
    expect(await giveBack(1)).toEqual([]);
    expect((await worker.finish()).woken).toEqual([b]);
    expect((await worker.finish()).woken).toEqual([]);
  });

  test("tokens of a shared limit that go back name no definition that is paused, or whose execution finds its tasks", async () => {
    const { store } = open();
    const { a, b } = await twoOn(store, 3);
    await enqueueOne(store, b);
    const finish = async (): Promise<string[]> => {
      const worker = await startWorker(store, a);
      return (await worker.finish()).woken;
    };
    expect(await finish()).toEqual([b]);
    const other = await startWorker(store, b);
    expect(await finish()).toEqual([]);
    await other.finish();
    await store.pauseDefinition({ name: b, changedBy: "an operator" });
    expect(await finish()).toEqual([]);
    // Another limit's tokens are none of its.
    const elsewhere = await twoOn(store, 1);
    await enqueueOne(store, elsewhere.b);
    expect(await finish()).toEqual([]);
  });

  test("tokens of a shared limit that go back name as many definitions as tokens, each in its turn", async () => {
    const { store } = open();
    const { shared, a, b } = await twoOn(store, 2);
    const settings = { limit: 10, sharedLimits: [{ name: shared, limit: 2 }] };
    const c = await define(store, settings);
    for (const name of [a, b, c]) await enqueueOne(store, name);
    const endOf = async (name: string, want: number): Promise<string[]> => {
      const worker = await startWorker(store, name, { want });
      return (await worker.finish()).woken;
    };
    expect(await endOf(a, 1)).toEqual([b]);
    expect(await endOf(b, 1)).toEqual([c]);
    expect(await endOf(c, 1)).toEqual([a]);
    expect(await endOf(b, 2)).toEqual([a, c].sort());
  });

  test("tokens of two shared limits that go back name definitions by age, whichever limit they draw from", async () => {
    const { store } = open();
    const limits = [uniqueName("shared"), uniqueName("shared")].sort();
    const on = (...names: (string | undefined)[]): Promise<string> =>
      define(store, { sharedLimits: names.map((name) => ({ name: name ?? "", limit: 1 })) });
    const a = await on(...limits);
    const [b, c] = [await on(limits[1]), await on(limits[0])];
    for (const name of [b, c]) await enqueueOne(store, name);
    const worker = await startWorker(store, a);
    expect((await worker.finish()).woken).toEqual([b]);
  });

  testWith(setup, "exact clock")(
    "tokens of a shared limit that go back name a definition whose execution has died",
    async () => {
      const opened = open();
      const { store } = opened;
      const { a, b } = await twoOn(store, 2, 10_000);
      await enqueueOne(store, b);
      await startWorker(store, b, { want: 2 });
      await opened.advance(10_001);
      const worker = await startWorker(store, a, { want: 2 });
      expect(worker.answer).toMatchObject({ tokens: 2, deadHolders: 1 });
      expect((await worker.finish()).woken).toEqual([b]);
    },
  );

  testWith(setup, "exact clock")(
    "tokens of a dead worker go to the next asker, of another definition, too",
    async () => {
      const opened = open();
      const { store } = opened;
      const { shared, a, b } = await twoOn(store, 2, 10_000);
      const dead = await startWorker(store, a, { want: 2 });
      await opened.advance(10_000);
      expect(await tryStart(store, b)).toBe("limited");
      await opened.advance(1);
      const next = await startWorker(store, b, { want: 2 });
      expect(next.answer).toMatchObject({ tokens: 2, deadHolders: 1 });
      expect(await heldOf(store, b, shared)).toBe(2);
      expect(await dead.beat()).toMatchObject({ status: "fenced" });
      expect(await store.reclaimExpired({ max: 5 })).toMatchObject({ executions: 1 });
      // The dead one's definition has its own tokens back, too.
      await next.finish();
      expect((await startWorker(store, a, { want: 10 })).answer.tokens).toBe(2);
    },
  );

  testWith(setup, "exact clock")(
    "tokens of a reclaimed worker go to the next asker of another definition, too",
    async () => {
      const opened = open();
      const { store } = opened;
      const { a, b } = await twoOn(store, 1, 10_000);
      await startWorker(store, a);
      await opened.advance(10_001);
      await store.reclaimExpired({ max: 5 });
      expect(await tryStart(store, b)).toBe("started");
    },
  );

  testWith(setup, "exact clock")(
    "a late worker that asks itself isn't taken for a dead one",
    async () => {
      const opened = open();
      const { store } = opened;
      const { shared, a } = await twoOn(store, 1, 10_000);
      const { executionId } = await startWorker(store, a);
      await opened.advance(20_000);
      expect(await store.acquireTokens({ executionId, want: 3 })).toMatchObject({
        status: "granted",
        tokens: 1,
      });
      expect(await heldOf(store, a, shared)).toBe(1);
    },
  );

  test("tokens held above a lowered shared limit are told by work and heartbeat, and given back once", async () => {
    const { store } = open();
    const { shared, a, b } = await twoOn(store, 6);
    await enqueue(store, a, 3);
    const worker = await startWorker(store, a, { want: 3 });
    const other = await startWorker(store, b, { want: 3 });
    expect(await setShared(store, shared, 2)).toMatchObject({ held: 6, overLimit: 4 });
    expect(await worker.work({ want: 1 })).toMatchObject({ overLimit: 4 });
    expect(await other.beat()).toMatchObject({ overLimit: 4 });
    const release = (executionId: typeof worker.executionId, keep: number) =>
      store.releaseSurplus({ executionId, keep });
    expect(await release(worker.executionId, 1)).toMatchObject({
      tokens: 1,
      freed: 2,
      overLimit: 2,
    });
    expect(await release(other.executionId, 0)).toMatchObject({
      tokens: 1,
      freed: 2,
      overLimit: 0,
    });
    expect(await release(other.executionId, 0)).toMatchObject({
      tokens: 1,
      freed: 0,
      overLimit: 0,
    });
    expect(await tryStart(store, a)).toBe("limited");
    expect(await other.beat()).toMatchObject({ overLimit: 0 });
  });
}

function describeSetting(setup: StoreSetup): void {
  const open = useStore(setup);

  test("an operator's limit wins over the code's, and can be taken away", async () => {
    const { store } = open();
    const { shared, a } = await twoOn(store, 3);
    expect(await setShared(store, shared, 5)).toEqual({
      status: "set",
      oldLimit: 3,
      newLimit: 5,
      held: 0,
      overLimit: 0,
      definitions: [],
    });
    expect((await statusOf(store, a)).sharedLimits).toEqual([
      { name: shared, limit: 5, limitSource: "operator", held: 0 },
    ]);
    expect(await setShared(store, shared, "code")).toMatchObject({ oldLimit: 5, newLimit: 3 });
    expect((await statusOf(store, a)).sharedLimits).toMatchObject([{ limitSource: "code" }]);
  });

  test("set_shared_limit makes one before any definition draws from it; the code's word comes second", async () => {
    const { store } = open();
    const shared = uniqueName("shared");
    expect(await setShared(store, shared, 2)).toMatchObject({
      status: "created",
      oldLimit: undefined,
      newLimit: 2,
    });
    const name = await define(store, { limit: 9, sharedLimits: [{ name: shared, limit: 7 }] });
    expect((await startWorker(store, name, { want: 9 })).answer.tokens).toBe(2);
    expect(await setShared(store, shared, "code")).toMatchObject({ newLimit: 7 });
  });

  test("set_shared_limit raises a limit under load: the next asker gets more, and those that wait are named", async () => {
    const { store } = open();
    const { shared, a, b } = await twoOn(store, 1);
    const worker = await startWorker(store, a);
    await enqueue(store, b, 1);
    expect(await setShared(store, shared, 2)).toMatchObject({ held: 1, definitions: [b] });
    expect(await tryStart(store, b)).toBe("started");
    await worker.finish();
  });

  test("set_shared_limit in place of none counts running executions", async () => {
    const { store } = open();
    const { shared, a, b } = await twoOn(store, null);
    const worker = await startWorker(store, a, { want: 3 });
    await startWorker(store, b, { want: 2 });
    expect(await setShared(store, shared, 4)).toMatchObject({
      oldLimit: null,
      newLimit: 4,
      held: 5,
      overLimit: 1,
    });
    expect(await tryStart(store, b)).toBe("limited");
    await worker.finish();
    expect((await startWorker(store, a, { want: 5 })).answer.tokens).toBe(2);
    expect(await setShared(store, shared, null)).toMatchObject({ held: 4, overLimit: 0 });
  });

  test("a repeat answers what the first call did", async () => {
    const { store } = open();
    const { shared } = await twoOn(store, 3);
    const input = { name: shared, limit: 5, operationId: operationId(), changedBy: "me" };
    const first = await store.setSharedLimit(input);
    await setShared(store, shared, 8);
    expect(await store.setSharedLimit(input)).toEqual(first);
    expect(await setShared(store, shared, 9)).toMatchObject({ oldLimit: 8 });
    await expectError(store.setLimit({ ...input, name: await define(store) }), {
      code: "TASKGATE_ARG_CONFLICT",
      field: "operation_id",
    });
  });

  test("the definition's own limit changes as before", async () => {
    const { store } = open();
    const { shared, a } = await twoOn(store, 5);
    const worker = await startWorker(store, a, { want: 5 });
    await setLimit(store, a, 2);
    const { executionId } = worker;
    expect(await store.releaseSurplus({ executionId, keep: 0 })).toMatchObject({ tokens: 2 });
    expect(await heldOf(store, a, shared)).toBe(2);
    await setLimit(store, a, null);
    expect(await store.acquireTokens({ executionId, want: 9 })).toMatchObject({ tokens: 5 });
    await setLimit(store, a, 3);
    expect(await heldOf(store, a, shared)).toBe(5);
  });
}

function describeLinks(setup: StoreSetup): void {
  const open = useStore(setup);

  /** Registers once more, with these shared limits. */
  async function change(
    store: TaskStore,
    input: ReturnType<typeof registration>,
    to: { build: number; sharedLimits: readonly SharedLimitUse[] | null },
  ): Promise<void> {
    const { build, sharedLimits } = to;
    const settings = { ...input.settings, sharedLimits };
    const answer = await store.registerDefinition({ ...input, build, settings });
    expect(answer.status).toBe("updated");
  }

  test("a definition's shared limits come and go with its registrations, and running executions are counted at once", async () => {
    const { store } = open();
    const [one, two] = [uniqueName("one"), uniqueName("two")];
    const input = registration({ settings: { limit: 10 } });
    const { name } = input;
    await store.registerDefinition(input);
    const worker = await startWorker(store, name, { want: 3 });
    await change(store, input, { build: 2, sharedLimits: [{ name: one, limit: 2 }] });
    expect(await heldOf(store, name, one)).toBe(3);
    expect(await worker.beat()).toMatchObject({ overLimit: 1 });
    expect(await tryStart(store, name)).toBe("limited");
    await change(store, input, { build: 3, sharedLimits: [{ name: two, limit: 5 }] });
    expect((await statusOf(store, name)).sharedLimits).toMatchObject([{ name: two, held: 3 }]);
    const other = await define(store, { sharedLimits: [{ name: one }] });
    expect((await startWorker(store, other, { want: 3 })).answer.tokens).toBe(2);
    expect((await startWorker(store, name, { want: 5 })).answer.tokens).toBe(2);
    await change(store, input, { build: 4, sharedLimits: null });
    expect((await statusOf(store, name)).sharedLimits).toEqual([]);
    expect((await startWorker(store, name, { want: 5 })).answer.tokens).toBe(5);
  });

  test("a definition's shared limits are 1 until another number is set, and keep it when the code says none", async () => {
    const { store } = open();
    const shared = uniqueName("shared");
    const input = registration({ settings: { limit: 9, sharedLimits: [{ name: shared }] } });
    await store.registerDefinition(input);
    expect((await statusOf(store, input.name)).sharedLimits).toMatchObject([{ limit: 1 }]);
    await change(store, input, { build: 2, sharedLimits: [{ name: shared, limit: 6 }] });
    await change(store, input, { build: 3, sharedLimits: [{ name: shared }] });
    expect((await statusOf(store, input.name)).sharedLimits).toMatchObject([{ limit: 6 }]);
  });

  testWith(setup, "audit")(
    "a change of a shared limit is audited with the old and the new number, and the actor",
    async () => {
      const opened = open();
      const { store } = opened;
      const shared = uniqueName("shared");
      const input = registration();
      await store.registerDefinition(input);
      await change(store, input, { build: 2, sharedLimits: [{ name: shared, limit: 4 }] });
      await change(store, input, { build: 3, sharedLimits: [] });
      const entries = await opened.readAudit(input.name);
      const own = entries.filter((entry) => entry.setting.startsWith("shared"));
      expect(own.map(({ setting, oldValue, newValue }) => [setting, oldValue, newValue])).toEqual([
        ["shared_limit", `1 of ${shared}`, `4 of ${shared}`],
        ["shared_limits", "none", `["${shared}"]`],
        ["shared_limits", `["${shared}"]`, "none"],
      ]);
    },
  );

  testWith(setup, "audit")(
    "changes of shared limits are audited in one text on all stores; names in another case are others",
    async () => {
      const opened = open();
      const { store } = opened;
      const lower = uniqueName("shared");
      const [upper, escaped] = [lower.toUpperCase(), `${lower}/"\\`];
      const input = registration({ settings: { sharedLimits: [{ name: lower }] } });
      await store.registerDefinition(input);
      await change(store, input, { build: 2, sharedLimits: [{ name: upper }] });
      await change(store, input, { build: 3, sharedLimits: [{ name: escaped }, { name: upper }] });
      const entries = await opened.readAudit(input.name);
      const own = entries.filter((entry) => entry.setting === "shared_limits");
      expect(own.map(({ oldValue, newValue }) => [oldValue, newValue])).toEqual([
        [`["${lower}"]`, `["${upper}"]`],
        [`["${upper}"]`, JSON.stringify([upper, escaped].sort())],
      ]);
    },
  );
}

function describeList(setup: StoreSetup): void {
  const open = useStore(setup);

  async function listed(store: TaskStore, name: string): Promise<SharedLimitReading | undefined> {
    const { sharedLimits } = await store.listSharedLimits({ name, max: 2 });
    expect(sharedLimits.length).toBeLessThan(2);
    return sharedLimits[0];
  }

  test("list_shared_limits tells how much each definition holds of a limit, by name", async () => {
    const { store } = open();
    const { shared, a, b } = await twoOn(store, 6);
    const idle = await define(store, { sharedLimits: [{ name: shared }] });
    const first = await startWorker(store, a, { want: 2 });
    await startWorker(store, a, { want: 1 });
    await startWorker(store, b, { want: 1 });
    const reading = {
      name: shared,
      limit: 6,
      limitSource: "code",
      codeLimit: 6,
      held: 4,
      definitions: [
        { name: a, held: 3 },
        { name: b, held: 1 },
        { name: idle, held: 0 },
      ].sort((one, other) => (one.name < other.name ? -1 : 1)),
    };
    expect(await listed(store, shared)).toEqual(reading);
    await setShared(store, shared, 2);
    expect(await listed(store, shared)).toEqual({ ...reading, limit: 2, limitSource: "operator" });
    await first.finish();
    expect(await listed(store, shared)).toMatchObject({
      held: 2,
      definitions: expect.arrayContaining([{ name: a, held: 1 }]),
    });
  });

  test("list_shared_limits counts executions that run without a limit, too, and says it once there is one", async () => {
    const { store } = open();
    const { shared, a, b } = await twoOn(store, null);
    const other = await define(store, { limit: null });
    await startWorker(store, a, { want: 2 });
    await startWorker(store, b, { want: 3 });
    await startWorker(store, other, { want: 4 });
    const held = {
      held: 5,
      definitions: [a, b].sort().map((name) => ({ name, held: name === a ? 2 : 3 })),
    };
    expect(await listed(store, shared)).toMatchObject({ limit: null, codeLimit: null, ...held });
    await setShared(store, shared, 4);
    expect(await listed(store, shared)).toMatchObject({ limit: 4, codeLimit: null, ...held });
    await setShared(store, shared, null);
    expect(await listed(store, shared)).toMatchObject({
      limit: null,
      limitSource: "operator",
      ...held,
    });
  });

  test("list_shared_limits leaves out a definition that draws from it no longer; one without any stays", async () => {
    const { store } = open();
    const [shared, other] = [uniqueName("shared"), uniqueName("other")];
    const input = registration({ settings: { sharedLimits: [{ name: shared, limit: 3 }] } });
    await store.registerDefinition(input);
    await startWorker(store, input.name, { want: 1 });
    const settings = { ...input.settings, sharedLimits: [{ name: other, limit: 3 }] };
    await store.registerDefinition({ ...input, build: 2, settings });
    expect(await listed(store, shared)).toMatchObject({ limit: 3, held: 0, definitions: [] });
    expect(await listed(store, other)).toMatchObject({
      held: 1,
      definitions: [{ name: input.name, held: 1 }],
    });
  });

  testWith(setup, "exact clock")(
    "list_shared_limits counts the dead until the next call that asks for a token",
    async () => {
      const opened = open();
      const { store } = opened;
      const { shared, a, b } = await twoOn(store, 2, 10_000);
      await startWorker(store, a, { want: 2 });
      await opened.advance(10_001);
      await store.reclaimExpired({ max: 5 });
      expect(await listed(store, shared)).toMatchObject({
        held: 2,
        definitions: expect.arrayContaining([{ name: a, held: 2 }]),
      });
      await startWorker(store, b, { want: 1 });
      expect(await listed(store, shared)).toMatchObject({
        held: 1,
        definitions: expect.arrayContaining([{ name: a, held: 0 }]),
      });
    },
  );

  test("list_shared_limits lists by name, at most so many, and none of another name", async () => {
    const { store } = open();
    const names = [uniqueName("m"), uniqueName("M"), uniqueName("é"), uniqueName('"')];
    for (const name of names) await setShared(store, name, 0);
    const { sharedLimits } = await store.listSharedLimits({ max: 1_000 });
    const own = sharedLimits.map(({ name }) => name).filter((name) => names.includes(name));
    expect(own).toEqual([...names].sort());
    expect((await store.listSharedLimits({ max: 2 })).sharedLimits).toEqual(
      sharedLimits.slice(0, 2),
    );
    for (const name of ["nobody", `${String(names[0])} `, String(names[0]).toUpperCase()])
      expect(await listed(store, name)).toBeUndefined();
  });

  test.each([0, 1_001])("list_shared_limits refuses to list %d", async (max) => {
    const { store } = open();
    await expectError(store.listSharedLimits({ max }), {
      code: "TASKGATE_ARG_INVALID",
      field: "max",
      value: max,
    });
  });
}

function describeInput(setup: StoreSetup): void {
  const open = useStore(setup);

  test.each([
    ["a limit above 1000", [{ name: "s", limit: 1_001 }]],
    ["a limit below -1", [{ name: "s", limit: -2 }]],
    ["the same twice", [{ name: "s" }, { name: "s", limit: 1 }]],
    ["more than 8", Array.from({ length: 9 }, (_, index) => ({ name: `s${String(index)}` }))],
    ["a name with blanks", [{ name: " s" }]],
    ["an empty name", [{ name: "" }]],
  ])("a registration of %s is refused", async (_, sharedLimits) => {
    const { store } = open();
    await expectError(store.registerDefinition(registration({ settings: { sharedLimits } })), {
      code: "TASKGATE_ARG_INVALID",
      field: "shared_limits",
    });
  });

  test.each([-2, 1_001])("set_shared_limit refuses a limit of %d", async (limit) => {
    const { store } = open();
    await expectError(setShared(store, "any", limit), {
      code: "TASKGATE_ARG_INVALID",
      field: "limit",
      value: limit,
    });
  });

  test("set_shared_limit can't clear what isn't there", async () => {
    const { store } = open();
    await expectError(setShared(store, "nobody", "code"), {
      code: "TASKGATE_ARG_UNKNOWN",
      value: "unknown shared limit (nobody)",
    });
  });

  test("a definition takes eight shared limits", async () => {
    const { store } = open();
    const sharedLimits = Array.from({ length: 8 }, () => ({ name: uniqueName("s"), limit: 2 }));
    const name = await define(store, { limit: 5, sharedLimits });
    expect((await startWorker(store, name, { want: 5 })).answer.tokens).toBe(2);
    expect((await statusOf(store, name)).sharedLimits).toHaveLength(8);
  });
}
