import { describe, expect, test } from "@jest/globals";
import type { Failure, TaskStore } from "../../shared/ports/task-store";
import {
  define,
  enqueue,
  enqueueOne,
  factsOf,
  failure,
  only,
  startWorker,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** What a task that comes back uncounted is told, once per return. */
async function comeBack(
  store: TaskStore,
  returns: readonly Partial<Failure>[],
): Promise<{
  outcomes: string[];
  pauses: (number | null)[];
  taskId: Awaited<ReturnType<typeof enqueueOne>>;
}> {
  const name = await define(store, { retryAttempts: 3 });
  const taskId = await enqueueOne(store, name);
  const worker = await startWorker(store, name);
  const outcomes: string[] = [];
  const pauses: (number | null)[] = [];
  for (const one of returns) {
    const task = await worker.claimOne();
    const answer = await worker.fail([task], {
      as: "continued",
      error: null,
      retryInMs: 0,
      ...one,
    });
    const { outcome, retryInMs } = only(answer.results);
    outcomes.push(outcome);
    pauses.push(retryInMs);
  }
  return { outcomes, pauses, taskId };
}

/** Every uncounted return takes a share of what a task has. */
export function describeReturns(setup: StoreSetup): void {
  describe("fail_tasks: how often a task may come back uncounted", () => {
    const open = useStore(setup);

    test("fail_tasks adds up how often a task comes back uncounted; the return beyond 1,000 ends it dead, with the reason", async () => {
      const { store } = open();
      const share = { share: 400, error: "the deadline came" };
      const { outcomes, taskId } = await comeBack(store, [share, share, { share: 200 }, share]);
      expect(outcomes).toEqual(["continued", "continued", "continued", "dead"]);
      const facts = await factsOf(store, taskId);
      expect(facts).toMatchObject({
        state: "dead",
        failedCount: 0,
        error: "came back uncounted too often, the last time: the deadline came",
      });
      expect(facts.attempts.toReversed().map(({ outcome, error }) => ({ outcome, error }))).toEqual(
        [
          { outcome: "continued", error: "the deadline came" },
          { outcome: "continued", error: "the deadline came" },
          { outcome: "continued", error: null },
          {
            outcome: "failed",
            error: "came back uncounted too often, the last time: the deadline came",
          },
        ],
      );
    });

    test("a checkpoint that differs from the one before starts anew; the same one takes 1", async () => {
      const { store } = open();
      const { outcomes, taskId } = await comeBack(store, [
        { share: 1_000 },
        { checkpoint: "[1]" },
        { share: 998 },
        { checkpoint: "[1]" },
        { checkpoint: "[1]" },
      ]);
      expect(outcomes).toEqual(["continued", "continued", "continued", "continued", "dead"]);
      expect((await factsOf(store, taskId)).error).toBe(
        "came back uncounted too often, the last time: its checkpoint was the one before",
      );
    });

    test("a return with a share takes it, with any checkpoint", async () => {
      const { store } = open();
      const { outcomes } = await comeBack(store, [
        { share: 1_000, checkpoint: "[1]" },
        { share: 1, checkpoint: "[2]" },
      ]);
      expect(outcomes).toEqual(["continued", "dead"]);
    });

    test("the one of several tasks in a call that is beyond the bound alone gets that reason", async () => {
      const { store } = open();
      const name = await define(store, { limit: 3, retryAttempts: 3 });
      const ids = await enqueue(store, name, 3);
      const worker = await startWorker(store, name, { want: 3 });
      const tell = async (changes: readonly Partial<Failure>[]) => {
        const claimed = await worker.claim(3);
        const failures = ids.flatMap((id, index) =>
          claimed
            .filter(({ taskId }) => taskId === id)
            .map((task) => failure(task, { error: null, retryInMs: 0, ...changes[index] })),
        );
        return (await store.failTasks({ executionId: worker.executionId, failures })).results;
      };
      const once = { as: "failed", error: "once" } as const;
      await tell([{ as: "continued", share: 1_000 }, once, once]);
      const results = await tell([
        { as: "continued", share: 1 },
        { as: "dead" },
        { as: "continued", share: 1, retryInMs: null },
      ]);
      expect(results.map(({ outcome }) => outcome)).toEqual(["dead", "dead", "continued"]);
      expect(results[2]?.retryInMs).toBeGreaterThanOrEqual(2_500);
      const facts = await Promise.all(ids.map((id) => factsOf(store, id)));
      expect(facts.map(({ error }) => error)).toEqual([
        "came back uncounted too often, the last time: its checkpoint was the one before",
        "once",
        "once",
      ]);
    });

    test("the reason is cut to 4,000 characters", async () => {
      const { store } = open();
      const error = "x".repeat(4_000);
      const { taskId } = await comeBack(store, [{ share: 1_000 }, { share: 1, error }]);
      expect((await factsOf(store, taskId)).error).toBe(
        `came back uncounted too often, the last time: ${error}`.slice(0, 4_000),
      );
    });

    test("a return without a share and without a checkpoint takes 1", async () => {
      const { store } = open();
      const { outcomes } = await comeBack(store, [{ share: 999 }, {}, {}]);
      expect(outcomes).toEqual(["continued", "continued", "dead"]);
    });

    test("checkpoints are compared as texts: capitals and blanks at the end are another one", async () => {
      const { store } = open();
      const { outcomes } = await comeBack(store, [
        { checkpoint: '["a"]' },
        { share: 999 },
        { checkpoint: '["A"]' },
        { share: 999 },
        { checkpoint: '["A"] ' },
        { share: 999 },
      ]);
      expect(outcomes).toEqual(Array.from({ length: 6 }, () => "continued"));
    });

    test("a share without an instant waits 5 s, doubled with each return, half of it random", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueueOne(store, name);
      for (const maxMs of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
        const worker = await startWorker(store, name);
        const task = await worker.claimOne();
        const answer = await worker.fail([task], { as: "continued", retryInMs: null, share: 50 });
        const { retryInMs } = only(answer.results);
        expect(retryInMs).toBeGreaterThanOrEqual(maxMs / 2);
        expect(retryInMs).toBeLessThanOrEqual(maxMs);
        await worker.finish();
        await opened.advance(maxMs);
      }
    });

    testWith(setup, "cancel requests")(
      "a cancel that was requested meanwhile wins over the return beyond the bound",
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store);
        const taskId = await enqueueOne(store, name);
        const worker = await startWorker(store, name);
        await worker.fail([await worker.claimOne()], {
          as: "continued",
          retryInMs: 0,
          share: 1_000,
        });
        const task = await worker.claimOne();
        await opened.requestCancel(taskId);
        const answer = await worker.fail([task], { as: "continued", share: 1 });
        expect(only(answer.results).outcome).toBe("cancelled");
      },
    );

    test("a counted failure takes nothing of it, and a redriven task has all of it again", async () => {
      const { store } = open();
      const { outcomes, taskId } = await comeBack(store, [
        { share: 1_000 },
        { as: "failed", error: "once" },
        { share: 1 },
      ]);
      expect(outcomes).toEqual(["continued", "retry", "dead"]);
      await store.redriveTasks({ taskIds: [taskId] });
      expect(await factsOf(store, taskId)).toMatchObject({ state: "ready", continuedCount: 0 });
    });

    for (const share of [0, -1, 1_001]) {
      test(`a share of ${String(share)} is refused, and nothing happens`, async () => {
        const { store } = open();
        const name = await define(store);
        const taskId = await enqueueOne(store, name);
        const worker = await startWorker(store, name);
        const task = await worker.claimOne();
        await expectError(worker.fail([task], { as: "continued", share }), {
          code: "TASKGATE_ARG_INVALID",
          field: "failures.share",
          value: `(${String(share)})`,
        });
        expect((await factsOf(store, taskId)).state).toBe("claimed");
      });
    }
  });
}
