import { beforeEach, describe, expect, test } from "@jest/globals";
import type { StoreTransaction, TaskStore } from "../../shared/ports/task-store";
import { define, done, enqueue, startWorker } from "../support/builders";
import { useContention } from "../support/use-contention";

/* What a user's statements change in their session ends with their transaction: the next task finds the connection as it was. */

const scene = useContention();
let store: TaskStore;

beforeEach(() => {
  // Every transaction has the same connection.
  store = scene.openStore(1);
});

/** Each would trouble the next task on the connection. */
async function litter(transaction: StoreTransaction): Promise<void> {
  await transaction.query("set statement_timeout = '60s'");
  await transaction.query("set search_path = pg_catalog");
  await transaction.query("select set_config('timezone', 'Asia/Tokyo', false)");
  await transaction.query("create temp table parts (id int)");
  await transaction.query("select pg_advisory_lock(7)");
  await transaction.query("declare rest cursor with hold for select 1");
  await transaction.query("listen news");
  await transaction.query("set role taskgate_worker");
}

/** What is left of it. */
async function leftovers(): Promise<Record<string, unknown> | undefined> {
  const [row] = await store.transaction((transaction) =>
    transaction.query(`
      select current_setting('statement_timeout') as statement_timeout, current_setting('search_path') as search_path,
             current_setting('timezone') as zone, to_regclass('pg_temp.parts') as parts, current_user = session_user as is_login,
             (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
             (select count(*)::int from pg_cursors) as cursors, (select count(*)::int from pg_listening_channels()) as channels`),
  );
  return row;
}

/** A completion that ends its transaction, behind statements of the user's own; `isFenced`: another worker has the task. */
async function complete(isFenced: boolean): Promise<void> {
  const name = await define(store, { limit: 2 });
  await enqueue(store, name, 1);
  const worker = await startWorker(store, name);
  const task = await worker.claimOne();
  const { executionId } = isFenced ? await startWorker(store, name) : worker;
  const call = { executionId, ...done(task), endsTransaction: true };
  const status = await store.transaction(async (transaction) => {
    await litter(transaction);
    // The operation itself runs as the login.
    await transaction.query("reset role");
    return (await store.completeTask(call, transaction)).status;
  });
  expect(status).toBe(isFenced ? "fenced" : "done");
}

test("a call behind a failed statement, whose error was caught, says that an earlier statement failed", async () => {
  const ended = store.transaction(async (transaction) => {
    await transaction.query("select 1 / 0").catch(() => undefined);
    await store.enqueueTasks(
      { name: "nobody", build: 1, operationId: null, tasks: [{ payload: null }] },
      transaction,
    );
  });
  await expect(ended).rejects.toMatchObject({
    code: "TASKGATE_STORE_CONTEXT",
    message: expect.stringMatching(/^An earlier statement of this transaction failed/),
  });
});

describe("a session is as it was behind a user's transaction", () => {
  test.each<readonly [end: string, run: () => Promise<unknown>]>([
    ["is committed", () => store.transaction(litter)],
    [
      "is rolled back, since its body threw",
      async () => {
        const reason = new Error("enough");
        const ended = store.transaction(async (transaction) => {
          await litter(transaction);
          throw reason;
        });
        await expect(ended).rejects.toBe(reason);
      },
    ],
    [
      "failed, with an error that its body swallowed",
      async () => {
        const ended = store.transaction(async (transaction) => {
          await litter(transaction);
          await transaction.query("select 1 / 0").catch(() => undefined);
        });
        await expect(ended).rejects.toThrow("rolled back");
      },
    ],
    [
      "was refused at its commit, by a constraint that waits for it",
      async () => {
        const ended = store.transaction(async (transaction) => {
          await litter(transaction);
          await transaction.query("reset role");
          await transaction.query("set local search_path = public");
          await transaction.query("create temp table once (id int unique initially deferred)");
          await transaction.query("insert into once values (1), (1)");
        });
        await expect(ended).rejects.toThrow("once_id_key");
      },
    ],
    ["ended with a completion", () => complete(false)],
    ["ended with a completion that was fenced", () => complete(true)],
  ])("a session is as it was behind a user's transaction that %s", async (_, run) => {
    const before = await leftovers();
    await run();
    expect(await leftovers()).toEqual(before);
    expect(before).toMatchObject({
      parts: null,
      is_login: true,
      locks: 0,
      cursors: 0,
      channels: 0,
    });
  });
});
