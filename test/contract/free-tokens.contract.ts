import { describe, expect, test } from "@jest/globals";
import type { ReadFreeTokensAnswer, TaskStore } from "../../shared/ports/task-store";
import {
  define,
  defaultSettings,
  enqueue,
  enqueueOne,
  operationId,
  setLimit,
  startInput,
  startWorker,
  uniqueName,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { openAsOwner } from "./open-transactions";

const operator = { changedBy: "an operator" } as const;

/** A caller that has added tasks asks before it wakes a worker. */
export function describeFreeTokens(setup: StoreSetup): void {
  describe("read_free_tokens of a definition with a limit", () => {
    describeOwn(setup);
  });
  describe("read_free_tokens of a definition with a shared limit", () => {
    describeShared(setup);
  });
  describe("read_free_tokens beside a call that changes tokens", () => {
    describeBeside(setup);
  });
}

function read(store: TaskStore, name: string): Promise<ReadFreeTokensAnswer> {
  return store.readFreeTokens({ name, sinceFence: null });
}

function describeOwn(setup: StoreSetup): void {
  const open = useStore(setup);

  test("read_free_tokens counts tokens that no execution holds, and tasks that wait for them", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    expect(await read(store, name)).toMatchObject({ status: "read", free: 3, ready: 0 });
    await enqueue(store, name, 4);
    expect(await read(store, name)).toMatchObject({ free: 3, ready: 4, crowdedOut: false });
    const worker = await startWorker(store, name, { want: 2 });
    await worker.claim(1);
    expect(await read(store, name)).toMatchObject({ free: 1, ready: 3 });
    await startWorker(store, name, { want: 1 });
    expect(await read(store, name)).toMatchObject({ free: 0, ready: 0 });
    await worker.finish();
    expect(await read(store, name)).toMatchObject({ free: 2, ready: 4 });
  });

  test("read_free_tokens knows no number without a limit, and no definition of an unknown name", async () => {
    const { store } = open();
    const name = await define(store, { limit: null });
    await enqueue(store, name, 1);
    expect(await read(store, name)).toMatchObject({ status: "read", free: null, ready: 0 });
    expect(await read(store, uniqueName())).toEqual({
      status: "unknown",
      free: null,
      ready: 0,
      crowdedOut: false,
      grants: 0,
      tokenFence: null,
    });
  });

  test("read_free_tokens knows a name of two hundred characters", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1 }, uniqueName().padEnd(200, "x"));
    expect(await read(store, name)).toMatchObject({ status: "read", free: 1 });
  });

  test("read_free_tokens counts by the operator's limit, and none above it", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    await startWorker(store, name, { want: 2 });
    await setLimit(store, name, 5);
    expect(await read(store, name)).toMatchObject({ free: 3 });
    await setLimit(store, name, 1);
    expect(await read(store, name)).toMatchObject({ free: 0 });
    await setLimit(store, name, 0);
    expect(await read(store, name)).toMatchObject({ free: 0 });
    await setLimit(store, name, null);
    expect(await read(store, name)).toMatchObject({ free: null });
  });

  test("read_free_tokens tells none while the definition is paused", async () => {
    const { store } = open();
    for (const limit of [2, null]) {
      const name = await define(store, { limit });
      await enqueue(store, name, 1);
      await store.pauseDefinition({ ...operator, name });
      expect(await read(store, name)).toMatchObject({ free: 0, ready: 0 });
      await store.resumeDefinition({ ...operator, name });
      expect((await read(store, name)).free).toBe(limit);
    }
  });

  test("read_free_tokens tells how many calls granted tokens since an earlier answer", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    const { tokenFence: sinceFence, grants } = await read(store, name);
    expect(grants).toBe(0);
    const worker = await startWorker(store, name, { want: 2 });
    await startWorker(store, name, { want: 1 });
    await worker.finish();
    expect(await store.readFreeTokens({ name, sinceFence })).toMatchObject({ grants: 2, free: 4 });
    const { tokenFence } = await read(store, name);
    expect(await store.readFreeTokens({ name, sinceFence: tokenFence })).toMatchObject({
      grants: 0,
    });
  });

  test("read_free_tokens counts ready tasks up to 100", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1 });
    await enqueue(store, name, 101);
    expect(await read(store, name)).toMatchObject({ free: 1, ready: 100 });
  });

  testWith(setup, "exact clock")(
    "read_free_tokens tells of due tasks, and of none that is scheduled for later",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1 });
      await enqueueOne(store, name, { runInMs: 5_000 });
      await enqueueOne(store, name, { runInMs: 5_000 });
      expect(await read(store, name)).toMatchObject({ free: 1, ready: 0 });
      await opened.advance(5_000);
      expect(await read(store, name)).toMatchObject({ free: 1, ready: 1 });
    },
  );

  testWith(setup, "exact clock")(
    "read_free_tokens counts the tokens of a holder whose lease is over",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 3 });
      await enqueue(store, name, 1);
      await startWorker(store, name, { want: 2 });
      await opened.advance(1_000);
      await startWorker(store, name, { want: 1 });
      expect(await read(store, name)).toMatchObject({ free: 0, ready: 0 });
      await opened.advance(defaultSettings.leaseMs - 1_000);
      expect(await read(store, name)).toMatchObject({ free: 0, ready: 0 });
      await opened.advance(1);
      expect(await read(store, name)).toMatchObject({ free: 2, ready: 1 });
    },
  );

  testWith(setup, "exact clock")(
    "read_free_tokens tells none while more are held above the limit than holders' leases are over",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 3 });
      await startWorker(store, name, { want: 2 });
      await opened.advance(1_000);
      await startWorker(store, name, { want: 1 });
      await setLimit(store, name, 0);
      await opened.advance(defaultSettings.leaseMs - 500);
      expect(await read(store, name)).toMatchObject({ free: 0, ready: 0 });
    },
  );
}

function describeShared(setup: StoreSetup): void {
  const open = useStore(setup);

  /** Two definitions under one limit. */
  async function twoUnder(
    store: TaskStore,
    { limit, own }: { limit: number | null; own: number | null },
  ): Promise<[string, string]> {
    const sharedLimits = [{ name: uniqueName("partner"), limit }];
    const names = [
      await define(store, { limit: own, sharedLimits }),
      await define(store, { limit: null, sharedLimits }),
    ] as const;
    return [names[0], names[1]];
  }

  test("read_free_tokens tells the fewest of the definition's own tokens and the shared ones", async () => {
    const { store } = open();
    const [name, other] = await twoUnder(store, { limit: 4, own: 2 });
    await enqueue(store, name, 5);
    expect(await read(store, name)).toMatchObject({ free: 2, ready: 5 });
    await startWorker(store, other, { want: 3 });
    expect(await read(store, name)).toMatchObject({ free: 1, crowdedOut: false });
    expect(await read(store, other)).toMatchObject({ free: 1 });
  });

  test("read_free_tokens tells who is crowded out, and none where the definition holds a shared token", async () => {
    const { store } = open();
    const [name, other] = await twoUnder(store, { limit: 2, own: null });
    await enqueue(store, name, 1);
    await enqueue(store, other, 1);
    const holder = await startWorker(store, other, { want: 2 });
    expect(await read(store, name)).toMatchObject({ free: 1, ready: 1, crowdedOut: true });
    expect(await read(store, other)).toMatchObject({ free: 0, ready: 0, crowdedOut: false });
    await store.releaseTokens({ executionId: holder.executionId, keep: 1 });
    await startWorker(store, name, { want: 1 });
    expect(await read(store, name)).toMatchObject({ free: 0, crowdedOut: false });
  });

  testWith(setup, "exact clock")(
    "read_free_tokens tells who is crowded out beside executions of its own that hold none, or whose lease is over",
    async () => {
      const opened = open();
      const { store } = opened;
      const [name, other] = await twoUnder(store, { limit: 1, own: null });
      const own = await startWorker(store, name, { want: 1 });
      await store.releaseTokens({ executionId: own.executionId, keep: 0 });
      const holder = await startWorker(store, other, { want: 1 });
      expect(await read(store, name)).toMatchObject({ free: 1, crowdedOut: true });
      await holder.finish();
      await store.acquireTokens({ executionId: own.executionId, want: 1 });
      await opened.advance(defaultSettings.leaseMs);
      expect(await read(store, name)).toMatchObject({ free: 0, crowdedOut: false });
      await opened.advance(1);
      await startWorker(store, other, { want: 1 });
      expect(await read(store, name)).toMatchObject({ free: 1, crowdedOut: true });
    },
  );

  testWith(setup, "exact clock")(
    "read_free_tokens takes a definition for crowded out whose only holder's lease is over, while its token is still taken",
    async () => {
      const opened = open();
      const { store } = opened;
      const sharedLimits = [{ name: uniqueName("partner"), limit: 2 }];
      const name = await define(store, { limit: null, sharedLimits });
      const other = await define(store, { limit: null, sharedLimits });
      await startWorker(store, name, { want: 1 });
      await opened.advance(1_000);
      await startWorker(store, other, { want: 1 });
      const [shared] = sharedLimits;
      await store.setSharedLimit({
        ...operator,
        name: shared?.name ?? "",
        limit: 1,
        operationId: operationId(),
      });
      expect(await read(store, name)).toMatchObject({ free: 0, crowdedOut: false });
      await opened.advance(defaultSettings.leaseMs - 999);
      expect(await read(store, name)).toMatchObject({ free: 1, crowdedOut: true });
    },
  );

  test("read_free_tokens lets nobody be crowded out of a limit of 0, or behind a full limit of its own", async () => {
    const { store } = open();
    const [closed] = await twoUnder(store, { limit: 0, own: 3 });
    await enqueue(store, closed, 1);
    expect(await read(store, closed)).toMatchObject({ free: 0, crowdedOut: false });
    const [name, other] = await twoUnder(store, { limit: 1, own: 0 });
    await startWorker(store, other, { want: 1 });
    expect(await read(store, name)).toMatchObject({ free: 0, crowdedOut: false });
  });

  test("read_free_tokens takes a shared limit without a number for any number", async () => {
    const { store } = open();
    const [name] = await twoUnder(store, { limit: null, own: null });
    expect(await read(store, name)).toMatchObject({ free: 1_000, crowdedOut: false });
    const [bounded] = await twoUnder(store, { limit: null, own: 7 });
    expect(await read(store, bounded)).toMatchObject({ free: 7 });
  });
}

function describeBeside(setup: StoreSetup): void {
  const open = useStore(setup);
  const isPostgres = setup.dialect === "postgres";

  (isPostgres ? testWith(setup, "row locks", "raw sql") : test.skip)(
    "read_free_tokens tells no number while another call is changing the tokens, and waits for none",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1 });
      const before = await read(store, name);
      expect(before).toMatchObject({ free: 1 });
      const ending = await openAsOwner(opened, (transaction) =>
        transaction.query(
          `select pg_advisory_xact_lock(42, d.task_definition_id) from taskgate.task_definition d where d.name = '${name}'`,
        ),
      );
      try {
        expect(await read(store, name)).toMatchObject({ status: "read", free: null, ready: 0 });
      } finally {
        await ending.finish();
      }
      expect(await read(store, name)).toEqual(before);
    },
  );

  test("a start and its end go on beside reads of free tokens", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1 });
    await enqueue(store, name, 1);
    const reads = Array.from({ length: 20 }, () => read(store, name));
    const started = await store.startExecution(startInput(name));
    expect(started.status).toBe("started");
    for (const { status } of await Promise.all(reads)) expect(status).toBe("read");
  });
}
