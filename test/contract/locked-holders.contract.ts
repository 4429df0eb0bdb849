import { describe, expect } from "@jest/globals";
import {
  define,
  done,
  enqueue,
  setLimit,
  startInput,
  startWorker,
  tryStart,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { within } from "../support/gate";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { openAsOwner, openTransaction } from "./open-transactions";
import type { OpenTransaction } from "./open-transactions";

/** Askers skip locked rows: an execution that is busy at this moment is alive, with any lease. */
export function describeLockedHolders(setup: StoreSetup): void {
  describe("a holder whose lease is over, while its row is locked", () => {
    describeLocked(setup);
  });
  describe("a holder that is declared dead while it waits to give tokens back", () => {
    describeDeclared(setup);
  });
}

function describeDeclared(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const what of ["releaseTokens", "releaseSurplus"] as const) {
    testWith(
      setup,
      "row locks",
      "raw sql",
    )(`a holder that is declared dead meanwhile is told so by ${what}`, async () => {
      const opened = open();
      opened.expectDamage(); // no call takes its tokens here
      const { store } = opened;
      const name = await define(store, { limit: 2 });
      const { executionId } = await startWorker(store, name, { want: 2 });
      await setLimit(store, name, 1);
      const isMssql = setup.dialect === "mssql";
      const lock = isMssql
        ? "UPDATE Taskgate.TaskDefinition SET HoldLockTaskExecutionId = 0;"
        : "update taskgate.task_definition set name = name";
      const declare = isMssql
        ? "UPDATE Taskgate.TaskExecution SET State = 3, EndedAt = SYSUTCDATETIME(), TokenCount = 0;"
        : "update taskgate.task_execution set state = 3, ended_at = taskgate._now(), token_count = 0";
      const giving = await opened.asOwner(async (transaction) => {
        await transaction.query(lock);
        const answer = store[what]({ executionId, keep: 0 });
        // Time to come to the row; a later caller finds it dead at once.
        for (let round = 0; round < 5; round += 1) await transaction.query("SELECT 1 AS one");
        await transaction.query(declare);
        return [answer];
      });
      const [answer] = await Promise.all(giving);
      expect(answer).toMatchObject({ status: "fenced" });
    });
  }
}

function describeLocked(setup: StoreSetup): void {
  const open = useStore(setup);

  /** A limit of three: one held by a late worker, two by a living one, and an execution with none. */
  async function prepare(opened: TestStore) {
    const { store } = opened;
    const name = await define(store, { limit: 3, leaseMs: 10_000 });
    await enqueue(store, name, 1);
    const late = await startWorker(store, name);
    const task = await late.claimOne();
    const empty = await startWorker(store, name);
    await store.releaseTokens({ executionId: empty.executionId, keep: 0 });
    await opened.advance(5_000);
    await startWorker(store, name, { want: 2 });
    await empty.beat();
    await opened.advance(5_001);
    return { name, late, task, empty };
  }

  /** What `call` is answered while a transaction is open. */
  async function beside<Answer>(
    pending: OpenTransaction<unknown>,
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await within(1_500, call());
    } finally {
      await pending.finish();
    }
  }

  /** Asks while a transaction is open. */
  async function askBeside(
    { store }: TestStore,
    { name, empty }: Awaited<ReturnType<typeof prepare>>,
    pending: OpenTransaction<unknown>,
  ): Promise<void> {
    const { executionId } = empty;
    const answers = await beside(pending, () =>
      Promise.all([
        store.startExecution(startInput(name)),
        store.acquireTokens({ executionId, want: 1 }),
      ]),
    );
    const denied = { status: "limited", tokens: 0, retryInMs: 5_000 };
    expect(answers).toMatchObject([
      { ...denied, executionId: null },
      { ...denied, granted: 0 },
    ]);
    const { executions } = await store.listExecutions({ name, isOpen: false, max: 10 });
    expect(executions).toHaveLength(3);
    expect(await tryStart(store, name)).toBe("started");
  }

  testWith(
    setup,
    "row locks",
    "exact clock",
  )(
    "a holder whose row is locked isn't robbed while it completes a task: the asker is denied, and no execution is left of it",
    async () => {
      const opened = open();
      const scene = await prepare(opened);
      const call = { executionId: scene.late.executionId, ...done(scene.task) };
      const completing = await openTransaction(opened, (transaction) =>
        opened.store.completeTask(call, transaction),
      );
      await askBeside(opened, scene, completing);
    },
  );

  testWith(
    setup,
    "row locks",
    "exact clock",
    "raw sql",
  )("a holder isn't robbed while its row is being written", async () => {
    const opened = open();
    const scene = await prepare(opened);
    const write = writeOf(scene.late);
    const writing = await openAsOwner(opened, (transaction) => transaction.query(write));
    await askBeside(opened, scene, writing);
  });

  testWith(
    setup,
    "row locks",
    "exact clock",
    "raw sql",
  )("an asker denied for it uses no permit of the rate, and is noted", async () => {
    const opened = open();
    const { store } = opened;
    const rate = { count: 9, periodMs: 86_400_000, burst: 3 };
    const name = await define(store, { limit: 3, leaseMs: 10_000, rate });
    const late = await startWorker(store, name, { worker: "late" });
    await opened.advance(5_000);
    await startWorker(store, name, { worker: "rich", want: 2 });
    await opened.advance(5_001);
    const ask = () => store.startExecution(startInput(name, { worker: "poor" }));
    const writing = await openAsOwner(opened, (transaction) => transaction.query(writeOf(late)));
    const denied = await beside(writing, ask);
    expect(denied).toMatchObject({ status: "limited", retryInMs: 5_000, demand: "noted" });
    expect(await ask()).toMatchObject({ status: "started", tokens: 1 });
  });

  function writeOf({ number }: Worker): string {
    return setup.dialect === "mssql"
      ? `UPDATE Taskgate.TaskExecution SET Worker = Worker WHERE TaskExecutionId = ${number};`
      : `update taskgate.task_execution set worker = worker where task_execution_id = ${number}`;
  }
}
