import { afterEach, describe, expect, test } from "@jest/globals";
import type { OperationId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import { at, define, enqueueOne, operationId, startInput, statusOf } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import {
  openTransaction,
  rollBackLeftOpen,
  untilSomebodyWaits,
  waitingSql,
} from "./open-transactions";

/** Calls that keep their answer under an operation's id, by their outcome. */
const changes: readonly {
  name: string;
  change: (store: TaskStore, name: string, id: OperationId) => Promise<{ status: string }>;
  becomes: string;
  isLimit?: true;
}[] = [
  {
    name: "a limit",
    change: (store, name, id) =>
      store.setLimit({ name, limit: 7, operationId: id, changedBy: "an operator" }),
    becomes: "set",
    isLimit: true,
  },
  {
    name: "a shared limit",
    change: (store, _name, id) =>
      store.setSharedLimit({ name: "s", limit: 7, operationId: id, changedBy: "an operator" }),
    becomes: "set",
    isLimit: true,
  },
  {
    name: "an operator's watermark",
    change: (store, name, id) =>
      store.setWatermark({
        ...{ name, watermark: "w", value: "[]" },
        ...{ operationId: id, changedBy: "an operator" },
      }),
    becomes: "set",
  },
  {
    name: "a maker's watermark",
    change: (store, name, id) =>
      store.advanceWatermark({
        ...{ name, watermark: "w", value: "[]", expectedVersion: "0" },
        ...{ build: 1, tasks: [], operationId: id },
      }),
    becomes: "advanced",
  },
];

/** One id for two operations at the same time: the second is refused with its own error, and told nothing of keys. */
export function describeOperationIds(setup: StoreSetup): void {
  describe("an operation's id that a user's open transaction has enqueued with", () => {
    describeTaken(setup);
  });
  describe("an operation's id that the caller has made", () => {
    describeForm(setup);
  });
  describe("an operation's id of two executions", () => {
    describeStarts(setup);
  });
  describe("an operation's id that a call for another name has used", () => {
    describeTargets(setup);
  });
}

const conflict = { code: "TASKGATE_ARG_CONFLICT", field: "operationId" } as const;

function describeTaken(setup: StoreSetup): void {
  const open = useStore(setup);
  const testWaiting = testWith(setup, "row locks", "raw sql", "sure calls");
  const waiting = waitingSql[setup.dialect === "mssql" ? "mssql" : "postgres"];
  afterEach(() => {
    rollBackLeftOpen();
  });

  /** A definition that shares a limit, and the transaction; `plain` repeats nothing that failed. */
  async function takeId() {
    const opened = open();
    const name = await define(opened.store, { sharedLimits: [{ name: "s", limit: 4 }] });
    await enqueueOne(opened.store, name);
    const id = operationId();
    const tasks = [{ payload: null }];
    const pending = await openTransaction(opened, (transaction) =>
      opened.store.enqueueTasks({ name, build: 1, operationId: id, tasks }, transaction),
    );
    return { opened, plain: opened.plain, name, id, pending };
  }

  testWaiting(
    "a repeat of the enqueue waits for the commit, and has its whole answer",
    async () => {
      const opened = open();
      const { store, plain } = opened;
      const name = await define(store);
      await enqueueOne(store, name, { dedupeKey: "k" });
      const input = {
        ...{ name, build: 1, operationId: operationId() },
        tasks: [
          { payload: null, dedupeKey: "k" },
          { payload: null, runInMs: 60_000 },
        ],
      };
      const pending = await openTransaction(opened, (transaction) =>
        store.enqueueTasks(input, transaction),
      );
      const again = plain.enqueueTasks(input);
      again.catch(() => undefined);
      await untilSomebodyWaits(opened, waiting);
      await pending.finish();
      expect(await again).toEqual(pending.result);
      expect(pending.result).toMatchObject({
        outcomes: ["duplicate", "enqueued"],
        nextDueMs: 60_000,
      });
      expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 1 });
    },
  );

  for (const { name: what, change, becomes, isLimit } of changes) {
    testWaiting(`${what} with it waits for the commit, and is refused`, async () => {
      const { opened, plain, name, id, pending } = await takeId();
      const refused = expectError(change(plain, name, id), conflict);
      await untilSomebodyWaits(opened, waiting);
      await pending.finish();
      await refused;
      expect((await statusOf(opened.store, name)).ready).toBe(2);
      expect((await opened.store.listWatermarks({ max: 10 })).watermarks).toEqual([]);
    });

    testWaiting(`${what} with it waits for the end, and is made after a rollback`, async () => {
      const { opened, plain, name, id, pending } = await takeId();
      const changed = change(plain, name, id);
      changed.catch(() => undefined);
      await untilSomebodyWaits(opened, waiting);
      await pending.abandon();
      expect((await changed).status).toBe(becomes);
      expect((await statusOf(opened.store, name)).ready).toBe(1);
    });

    if (isLimit !== true) continue;
    testWaiting(`${what} that waits for it keeps no grant waiting`, async () => {
      const { opened, plain, name, id, pending } = await takeId();
      let isOver = false;
      const refused = expectError(change(plain, name, id), conflict).finally(() => {
        isOver = true;
      });
      await untilSomebodyWaits(opened, waiting);
      expect((await plain.startExecution(startInput(name))).status).toBe("started");
      expect(isOver).toBe(false);
      await pending.finish();
      await refused;
    });
  }
}

function describeForm(setup: StoreSetup): void {
  const open = useStore(setup);
  const change = { limit: 7, changedBy: "an operator" };

  test.each(["7", "", "not a uuid", "{00000000-0000-4000-8000-000000000001}"])(
    "an operation id is refused where it is no UUID: %s",
    async (id) => {
      const { store } = open();
      const name = await define(store);
      const wrong = { code: "TASKGATE_ARG_INVALID", field: "operationId" } as const;
      await expectError(store.setLimit({ ...change, name, operationId: id }), {
        ...wrong,
        value: `expected a UUID made for this call and kept for its repeats (the text "${id}")`,
      });
      const batch = { name: "nightly", waves: 1, failurePolicy: "halt" } as const;
      await expectError(store.createBatch({ ...batch, operationId: id }), wrong);
      await expectError(store.startExecution({ ...startInput(name), operationId: id }), wrong);
      expect((await statusOf(store, name)).limitSource).toBe("code");
    },
  );

  test("an enqueue's operation id answers for its definition, and not for a name that none has", async () => {
    const { store } = open();
    const name = await define(store);
    const input = { build: 1, operationId: operationId(), tasks: [{ payload: null }] };
    const first = await store.enqueueTasks({ ...input, name });
    await expectError(store.enqueueTasks({ ...input, name: `${name}-x` }), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
    });
    expect(await store.enqueueTasks({ ...input, name })).toEqual(first);
  });

  test("an operation id is the same one in either case", async () => {
    const { store } = open();
    const id = operationId();
    const batch = { name: "nightly", waves: 1, failurePolicy: "halt" } as const;
    const first = await store.createBatch({ ...batch, operationId: id });
    const again = await store.createBatch({ ...batch, operationId: id.toUpperCase() });
    expect(again).toEqual(first);
  });
}

function describeStarts(setup: StoreSetup): void {
  const open = useStore(setup);

  test("one of two definitions that start with an operation id at the same time starts, and the other is refused without a token", async () => {
    const { store } = open();
    const names = [await define(store), await define(store)];
    for (const name of names) await enqueueOne(store, name);
    const id = operationId();
    const answers = await Promise.allSettled(
      names.map((name) => store.startExecution({ ...startInput(name), operationId: id })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = at(
      answers.filter((answer) => answer.status === "rejected"),
      0,
    );
    await expectError(Promise.reject(refused.reason as Error), conflict);
    const held = [];
    for (const name of names) held.push((await statusOf(store, name)).held);
    expect(held.sort()).toEqual([0, 1]);
  });
}

function describeTargets(setup: StoreSetup): void {
  const open = useStore(setup);
  const anotherName = { ...conflict, value: "for another name" };

  test("an enqueue refuses the operation id of a call for another name, and adds no task", async () => {
    const { store } = open();
    const [first, second] = [await define(store), await define(store)];
    const call = { build: 1, operationId: operationId(), tasks: [{ payload: null }] };
    const answer = await store.enqueueTasks({ ...call, name: first });
    await expectError(store.enqueueTasks({ ...call, name: second }), anotherName);
    expect((await statusOf(store, second)).ready).toBe(0);
    expect(await store.enqueueTasks({ ...call, name: first })).toEqual(answer);
  });

  test("an enqueue with keys, groups and times refuses the operation id of a call for another name", async () => {
    const { store } = open();
    const [first, second] = [await define(store), await define(store)];
    const tasks = [
      { payload: null, dedupeKey: "k", group: "g" },
      { payload: null, runInMs: 1 },
    ];
    const call = { build: 1, operationId: operationId(), tasks };
    await store.enqueueTasks({ ...call, name: first });
    await expectError(store.enqueueTasks({ ...call, name: second }), anotherName);
    expect(await statusOf(store, second)).toMatchObject({ ready: 0, scheduled: 0 });
  });

  test("the calls for a limit, a shared limit and watermarks refuse another name's operation id, and change none", async () => {
    const { store } = open();
    const [first, second] = [await define(store), await define(store)];
    const by = { changedBy: "an operator" };
    const moved = { value: "[]", expectedVersion: "0", build: 1, tasks: [] };
    const calls = [
      (name: string, id: OperationId) => store.setLimit({ ...by, name, limit: 7, operationId: id }),
      (name: string, id: OperationId) =>
        store.setSharedLimit({ ...by, name, limit: 7, operationId: id }),
      (name: string, id: OperationId) =>
        store.setWatermark({ ...by, name, watermark: "w", value: "[]", operationId: id }),
      (name: string, id: OperationId) =>
        store.setWatermark({ ...by, name: first, watermark: name, value: "[]", operationId: id }),
      (name: string, id: OperationId) =>
        store.advanceWatermark({ ...moved, name, watermark: "a", operationId: id }),
      (name: string, id: OperationId) =>
        store.advanceWatermark({
          ...moved,
          name: first,
          watermark: `a "${name}"`,
          operationId: id,
        }),
    ];
    for (const call of calls) {
      const id = operationId();
      const answer = await call(first, id);
      await expectError(call(second, id), anotherName);
      expect(await call(first, id)).toEqual(answer);
    }
    expect((await statusOf(store, second)).limitSource).toBe("code");
    const { sharedLimits } = await store.listSharedLimits({ max: 10 });
    expect(sharedLimits.map(({ name }) => name)).toEqual([first]);
    const { watermarks } = await store.listWatermarks({ max: 10 });
    expect(watermarks.map(({ name }) => name).sort()).toEqual(
      [`a "${first}"`, first, "a", "w"].sort(),
    );
    expect(watermarks.map(({ definition }) => definition)).not.toContain(second);
  });
}
