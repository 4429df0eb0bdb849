import { describe, expect, test } from "@jest/globals";
import type { CompleteTaskInput, StoreTransaction, TaskStore } from "../../shared/ports/task-store";
import {
  define,
  done,
  enqueue,
  operationId,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** A definition with one claimed task. */
async function claimOne(store: TaskStore): Promise<{ name: string; call: CompleteTaskInput }> {
  const name = await define(store, { limit: 2 });
  await enqueue(store, name, 1);
  const worker = await startWorker(store, name);
  const task = await worker.claimOne();
  const call = { executionId: worker.executionId, ...done(task), endsTransaction: true };
  return { name, call };
}

/** A completion that commits its own transaction. */
export function describeEndedTransactions(setup: StoreSetup): void {
  const addChild = (store: TaskStore, name: string, transaction: StoreTransaction) =>
    store.enqueueTasks(
      { name, build: 1, operationId: operationId(), tasks: [{ payload: null }] },
      transaction,
    );

  describe("a completion that ends its transaction", () => {
    const open = useStore(setup);

    test("a completion that ends its transaction has committed everything when it answers: a later error of the body undoes nothing", async () => {
      const { store } = open();
      const { name, call } = await claimOne(store);
      const result = String.raw`{"a":"it's \\ \"quoted\" $1 @p1 -- \u0000 \n; commit","b":"ü€😀"}`;
      const reason = new Error("too late");
      const ended = store.transaction(async (transaction) => {
        await addChild(store, name, transaction);
        const answer = await store.completeTask({ ...call, result }, transaction);
        expect(answer).toMatchObject({ status: "done" });
        expect(await statusOf(store, name)).toMatchObject({ ready: 1, claimed: 0, done: 1 });
        throw reason;
      });
      await expect(ended).rejects.toBe(reason);
      expect(await statusOf(store, name)).toMatchObject({ ready: 1, claimed: 0, done: 1 });
      const again = { ...call, endsTransaction: false };
      expect((await store.completeTask(again)).status).toBe("again");
    });

    test("a completion that ends its transaction says fenced and has rolled everything back, also when the body goes on", async () => {
      const { store } = open();
      const { name, call } = await claimOne(store);
      const { executionId } = await startWorker(store, name);
      const status = await store.transaction(async (transaction) => {
        await addChild(store, name, transaction);
        return (await store.completeTask({ ...call, executionId }, transaction)).status;
      });
      expect(status).toBe("fenced");
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, claimed: 1, done: 0 });
      expect(await stateOf(store, call.taskId)).toBe("claimed");
    });

    test("a completion that ends its transaction says again of a claim that was completed before, and commits nothing a second time", async () => {
      const { store } = open();
      const { name, call } = await claimOne(store);
      const complete = () =>
        store.transaction(async (transaction) => {
          await addChild(store, name, transaction);
          return (await store.completeTask(call, transaction)).status;
        });
      expect(await complete()).toBe("done");
      expect(await complete()).toBe("again");
      expect(await statusOf(store, name)).toMatchObject({ ready: 1, claimed: 0, done: 1 });
      expect(await stateOf(store, call.taskId)).toBe("done");
    });

    test("a completion that ends its transaction commits nothing when the store refuses its result", async () => {
      const { store } = open();
      const { name, call } = await claimOne(store);
      const result = JSON.stringify([" ".repeat(70_000)]);
      const refused = store.transaction(async (transaction) => {
        await addChild(store, name, transaction);
        await store.completeTask({ ...call, result }, transaction);
      });
      await expectError(refused, { code: "TASKGATE_ARG_TOO_LARGE", field: "result" });
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, claimed: 1, done: 0 });
    });

    test("a completion that ends its transaction commits nothing when an earlier call had failed and its error was swallowed", async () => {
      const { store } = open();
      const { name, call } = await claimOne(store);
      const refused = store.transaction(async (transaction) => {
        await addChild(store, name, transaction);
        await addChild(store, "nobody", transaction).catch(() => undefined);
        await store.completeTask(call, transaction);
      });
      await expect(refused).rejects.toMatchObject({ isRetryable: false });
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, claimed: 1, done: 0 });
    });

    test("a completion that ends its transaction lets no further call into the transaction that it has ended", async () => {
      const { store } = open();
      const { name, call } = await claimOne(store);
      await store.transaction(async (transaction) => {
        await store.completeTask(call, transaction);
        const late = { code: "TASKGATE_STORE_CONTEXT" } as const;
        await expectError(addChild(store, name, transaction), late);
        await expectError(store.completeTask(call, transaction), late);
      });
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, done: 1 });
    });

    for (const statement of ["commit", "rollback"])
      testWith(setup, "raw sql")(
        `a completion is refused when the user's own ${statement} has ended the transaction, and so is its end`,
        async () => {
          const { store } = open();
          const { name, call } = await claimOne(store);
          const over = "The transaction is over: ";
          const ended = store.transaction(async (transaction) => {
            // SQL Server refuses it as well, once it has run.
            await transaction.query(statement).catch(() => undefined);
            await store.completeTask(call, transaction);
          });
          await expect(ended).rejects.toThrow(over);
          const left = store.transaction(async (transaction) => {
            await transaction.query(statement).catch(() => undefined);
          });
          await expect(left).rejects.toThrow(over);
          expect(await statusOf(store, name)).toMatchObject({ claimed: 1, done: 0 });
        },
      );

    test.each(["returned", "thrown"])(
      "a completion is refused in a transaction whose body has %s, like any call, and changes nothing",
      async (how) => {
        const { store } = open();
        const { name, call } = await claimOne(store);
        const kept: StoreTransaction[] = [];
        await store
          .transaction((transaction) => {
            kept.push(transaction);
            return how === "thrown" ? Promise.reject(new Error("mine")) : Promise.resolve();
          })
          .catch(() => undefined);
        const [transaction] = kept;
        if (transaction === undefined) throw new Error("There was no transaction");
        const late = { code: "TASKGATE_STORE_CONTEXT" } as const;
        await expectError(addChild(store, name, transaction), late);
        await expectError(store.completeTask(call, transaction), late);
        await expectError(transaction.query("select 1"), late);
        expect(await statusOf(store, name)).toMatchObject({ ready: 0, claimed: 1, done: 0 });
      },
    );

    test("a completion that ends its transaction is refused outside of one, and nothing happens", async () => {
      const { store } = open();
      const { call } = await claimOne(store);
      const expected = { code: "TASKGATE_ARG_INVALID", field: "endsTransaction" } as const;
      await expectError(store.completeTask(call), expected);
      expect(await stateOf(store, call.taskId)).toBe("claimed");
    });
  });
}
