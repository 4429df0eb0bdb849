import { describe, expect, test } from "@jest/globals";
import { asExecutionId, executionIdOf } from "../../shared/core/ids";
import type { ExecutionId, TaskId } from "../../shared/core/ids";
import type { ClaimedTask, TaskStore } from "../../shared/ports/task-store";
import {
  define,
  done,
  enqueue,
  factsOf,
  failure,
  operationId,
  setLimit,
  startWorker,
  statusOf,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** A worker with two tokens and a claimed task, two tasks that wait, and a stranger whose execution had the same number. */
interface Scene {
  readonly store: TaskStore;
  readonly name: string;
  readonly worker: Worker;
  readonly claimed: ClaimedTask;
  readonly stranger: ExecutionId;
}

/** Is this claim still one that its worker hasn't started? */
async function isPrefetched(store: TaskStore, taskId: TaskId): Promise<boolean | undefined> {
  return (await factsOf(store, taskId)).claim?.isPrefetched;
}

/** A database that lost its last commits gives numbers of executions again: the start tells whose one is. */
export function describeSameNumber(setup: StoreSetup): void {
  describe("an execution is its number and its start", () => {
    describeStarts(setup);
  });
}

function describeStarts(setup: StoreSetup): void {
  const open = useStore(setup);

  async function build(): Promise<Scene> {
    const { store } = open();
    const name = await define(store, { limit: 4, prefetchMax: 3 });
    await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 2 });
    const claimed = await worker.claimOne();
    const stranger = executionIdOf(worker.number, operationId());
    return { store, name, worker, claimed, stranger };
  }

  /** All is as `build` left it. */
  async function expectUntouched({ store, name, worker, claimed }: Scene): Promise<void> {
    expect(await statusOf(store, name)).toMatchObject({ held: 2, ready: 2, claimed: 1 });
    expect(await worker.beat()).toMatchObject({ status: "renewed" });
    expect((await worker.complete([claimed])).refused).toEqual([]);
    expect((await worker.finish()).status).toBe("ended");
  }

  const callsOfStrangers: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
    "claims nothing": ({ store, stranger: executionId }) =>
      store.work({ executionId, callNumber: 7, done: [], started: [], want: 2 }),
    "completes nothing": ({ store, stranger: executionId, claimed }) =>
      store.work({ executionId, callNumber: 7, done: [done(claimed)], started: [], want: 0 }),
    "completes nothing in a transaction": ({ store, stranger: executionId, claimed }) =>
      store.transaction((within) => store.completeTask({ executionId, ...done(claimed) }, within)),
    "fails nothing": ({ store, stranger: executionId, claimed }) =>
      store.failTasks({ executionId, failures: [failure(claimed)] }),
    "tells no progress": ({ store, stranger: executionId, claimed }) => {
      const { taskId, fence } = claimed;
      return store.reportProgress({ executionId, taskId, fence, done: 1, total: 2, text: null });
    },
    "is granted no token": ({ store, stranger: executionId }) =>
      store.acquireTokens({ executionId, want: 4 }),
    "gives no token back": ({ store, stranger: executionId }) =>
      store.releaseTokens({ executionId, keep: 0 }),
    "ends nothing": ({ store, stranger: executionId }) => store.finishExecution({ executionId }),
  };

  describe("a call for an execution whose number is another start's by now", () => {
    for (const [title, call] of Object.entries(callsOfStrangers)) {
      test(`a fenced call ${title}, and the execution of that number goes on`, async () => {
        const scene = await build();
        expect(await call(scene)).toMatchObject({ status: "fenced" });
        await expectUntouched(scene);
      });
    }

    test("a call for another start's execution gives back no token that is above the limit", async () => {
      const scene = await build();
      const { store, name, stranger } = scene;
      await setLimit(store, name, 1);
      const given = await store.releaseSurplus({ executionId: stranger, keep: 0 });
      expect(given).toMatchObject({ status: "fenced", freed: 0 });
      await expectUntouched(scene);
    });

    test("a call for another start's execution hears that it is fenced where nothing is ready, too", async () => {
      const { store } = open();
      const worker = await startWorker(store, await define(store));
      const call = { callNumber: 1, done: [], started: [], want: 1 };
      const executionId = executionIdOf(worker.number, operationId());
      expect((await store.work({ executionId, ...call })).status).toBe("fenced");
      expect((await worker.work({ want: 1 })).status).toBe("none");
    });

    test("a call for another start's execution hears that it is fenced behind the end of that execution, which isn't its own", async () => {
      const { store, worker, stranger, claimed } = await build();
      const completion = { executionId: worker.executionId, ...done(claimed) };
      expect((await store.completeTask(completion)).status).toBe("done");
      await worker.finish();
      const others = { ...completion, executionId: stranger };
      expect((await store.completeTask(completion)).status).toBe("again");
      expect((await store.completeTask(others)).status).toBe("fenced");
      expect((await worker.finish()).status).toBe("ended");
      expect((await store.finishExecution({ executionId: stranger })).status).toBe("fenced");
      const beat = { executionId: stranger, started: [] };
      const { executions } = await store.heartbeat({ executions: [beat] });
      expect(executions).toMatchObject([{ executionId: stranger, status: "fenced" }]);
    });

    test("a call for another start's execution renews no lease, and starts no task, beside the heartbeat of that execution itself", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1, prefetchMax: 1, leaseMs: 30_000 });
      await enqueue(store, name, 2);
      const worker = await startWorker(store, name);
      const [, prefetched] = await worker.claim(2);
      if (prefetched === undefined) throw new Error("two are claimed");
      const stranger = executionIdOf(worker.number, operationId());
      const told = [
        { executionId: stranger, started: [prefetched.taskId] },
        { executionId: worker.executionId, started: [] },
      ];
      const { executions } = await store.heartbeat({ executions: told });
      expect(executions).toMatchObject([
        { executionId: stranger, status: "fenced", leaseMs: null },
        { executionId: worker.executionId, status: "renewed", leaseMs: 30_000 },
      ]);
      const turned = await store.heartbeat({ executions: [...told].reverse() });
      expect(turned.executions.map(({ executionId }) => executionId)).toEqual([
        worker.executionId,
        stranger,
      ]);
      expect(await isPrefetched(store, prefetched.taskId)).toBe(true);
      await opened.advance(20_000);
      await store.heartbeat({ executions: [{ executionId: stranger, started: [] }] });
      const [late] = (await store.listExecutions({ name, isOpen: true, max: 1 })).executions;
      expect(late?.leaseLeftMs).toBeLessThanOrEqual(10_000);
    });
  });

  testWith(setup, "row removal")(
    "a completion that is told again is known by its archive when the row of its execution is gone",
    async () => {
      const { store, worker, claimed } = await build();
      const completion = { executionId: worker.executionId, ...done(claimed) };
      expect((await store.completeTask(completion)).status).toBe("done");
      await worker.finish();
      await open().removeExecution(worker.executionId);
      expect((await store.completeTask(completion)).status).toBe("again");
    },
  );

  test("a number alone is an execution of any start, as older packages name it", async () => {
    const { store, name, worker, claimed } = await build();
    const executionId = asExecutionId(worker.number);
    const { taskId, fence } = claimed;
    const report = { executionId, taskId, fence, done: 1, total: 2, text: null };
    expect((await store.reportProgress(report)).status).toBe("done");
    expect((await store.acquireTokens({ executionId, want: 3 })).tokens).toBe(3);
    expect((await store.releaseTokens({ executionId, keep: 2 })).freed).toBe(1);
    await setLimit(store, name, 1);
    expect((await store.releaseSurplus({ executionId, keep: 1 })).freed).toBe(1);
    const call = { executionId, callNumber: 2, done: [], started: [], want: 2 };
    const { claimed: more } = await store.work(call);
    expect(more).toHaveLength(2);
    const [first, second] = more;
    if (first === undefined || second === undefined) throw new Error("two were claimed");
    expect((await store.failTasks({ executionId, failures: [failure(first)] })).status).toBe(
      "done",
    );
    expect((await store.completeTask({ executionId, ...done(second) })).status).toBe("done");
    const beat = await store.heartbeat({ executions: [{ executionId, started: [] }] });
    expect(beat.executions).toMatchObject([{ executionId, status: "renewed" }]);
    expect((await store.finishExecution({ executionId })).status).toBe("ended");
    const late = await store.heartbeat({ executions: [{ executionId, started: [] }] });
    expect(late.executions).toMatchObject([{ executionId, status: "ended" }]);
  });

  test("an execution that a heartbeat names twice is renewed once, and told twice", async () => {
    const { store, worker } = await build();
    const [, second] = await worker.claim(2);
    if (second === undefined) throw new Error("two more are claimed");
    const { executionId } = worker;
    const beats = [[], [second.taskId]].map((started) => ({ executionId, started }));
    const { executions } = await store.heartbeat({ executions: beats });
    expect(executions.map(({ status }) => status)).toEqual(["renewed", "renewed"]);
    expect(await isPrefetched(store, second.taskId)).toBe(false);
  });

  test("a heartbeat whose start is no UUID is refused, naming its entry", async () => {
    const { store } = open();
    const executionId = executionIdOf("1", "not-one");
    await expectError(store.heartbeat({ executions: [{ executionId, started: [] }] }), {
      code: "TASKGATE_ARG_INVALID",
      field: "executions\\[0\\]\\.start",
      value: "not-one",
    });
  });
}
