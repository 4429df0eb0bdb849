import { describe, expect, test } from "@jest/globals";
import type { ClaimedTask, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  done,
  enqueue,
  factsOf,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/**
 * S0.9, S2.9: an execution that is ended, declared dead or reclaimed can't change anything any more, and is told so.
 * Every call of a worker, after every kind of end, while a successor holds the same token and the same task.
 */
export function describeFencing(setup: StoreSetup): void {
  for (const end of ["ended", "declared dead", "reclaimed"] as const) {
    describe(`an execution that was ${end}`, () => {
      describeLateCalls(setup, end);
    });
  }
}

type End = "ended" | "declared dead" | "reclaimed";

interface Scene {
  late: Worker;
  /** Its claims from before. */
  tasks: ClaimedTask[];
  name: string;
}

const leaseMs = 10_000;

/** A worker with two claims, one of them prefetched, that comes to its end without knowing it. */
async function endWorker(opened: TestStore, end: End): Promise<Scene> {
  const { store } = opened;
  const name = await define(store, { limit: 1, prefetchMax: 1, leaseMs, lostMax: 50 });
  await enqueue(store, name, 2);
  const late = await startWorker(store, name, { worker: "late" });
  const tasks = await late.claim(2);
  if (end === "ended") {
    await late.finish();
  } else {
    await opened.advance(leaseMs + 1);
    if (end === "reclaimed") await store.reclaimExpired({ max: 10 });
  }
  return { late, tasks, name };
}

/** Every call a worker can make; the word it must hear after `end`. */
const lateCalls: {
  title: string;
  call: (store: TaskStore, scene: Scene) => Promise<string>;
  hears: Record<End, string>;
}[] = [
  {
    title: "work that completes",
    call: async (_store, { late, tasks }) =>
      (await late.work({ done: tasks.map((task) => done(task, { result: '{"late":1}' })) })).status,
    hears: { ended: "ended", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "work that claims",
    call: async (_store, { late }) => (await late.work({ want: 1 })).status,
    hears: { ended: "ended", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "work repeated with the last call number",
    call: async (_store, { late }) => (await late.again({ want: 2 })).status,
    hears: { ended: "ended", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "complete_task",
    call: async (store, { late, tasks }) =>
      (await store.completeTask({ executionId: late.executionId, ...done(at(tasks, 0)) })).status,
    hears: { ended: "fenced", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "complete_task in a transaction",
    call: async (store, { late, tasks }) => {
      const input = { executionId: late.executionId, ...done(at(tasks, 0)) };
      return store.transaction(
        async (transaction) => (await store.completeTask(input, transaction)).status,
      );
    },
    hears: { ended: "fenced", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "fail_tasks",
    call: async (_store, { late, tasks }) => (await late.fail(tasks, { as: "dead" })).status,
    hears: { ended: "fenced", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "heartbeat",
    call: async (_store, { late, tasks }) => (await late.beat([at(tasks, 1).taskId])).status,
    hears: { ended: "ended", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "report_progress",
    call: async (store, { late, tasks }) => {
      const { taskId, fence } = at(tasks, 0);
      const report = {
        executionId: late.executionId,
        taskId,
        fence,
        done: 9,
        total: 9,
        text: "late",
      };
      return (await store.reportProgress(report)).status;
    },
    hears: { ended: "fenced", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "acquire_tokens",
    call: async (store, { late }) =>
      (await store.acquireTokens({ executionId: late.executionId, want: 1 })).status,
    hears: { ended: "fenced", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "release_tokens",
    call: async (store, { late }) =>
      (await store.releaseTokens({ executionId: late.executionId, keep: 0 })).status,
    hears: { ended: "fenced", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "release_surplus",
    call: async (store, { late }) =>
      (await store.releaseSurplus({ executionId: late.executionId, keep: 0 })).status,
    hears: { ended: "fenced", "declared dead": "fenced", reclaimed: "fenced" },
  },
  {
    title: "finish_execution",
    call: async (_store, { late }) => (await late.finish()).status,
    hears: { ended: "ended", "declared dead": "fenced", reclaimed: "fenced" },
  },
];

function describeLateCalls(setup: StoreSetup, end: End): void {
  const open = useStore(setup);

  for (const { title, call, hears } of lateCalls) {
    test(`an execution that was ${end} hears ${hears[end]} from ${title}, which changes nothing of its successor's`, async () => {
      const opened = open();
      const { store } = opened;
      const scene = await endWorker(opened, end);
      const successor = await startWorker(store, scene.name, { worker: "successor" });
      await store.reclaimExpired({ max: 10 });
      const claimed = await successor.claim(2);
      const before = await statusOf(store, scene.name);
      expect(await call(store, scene)).toBe(hears[end]);
      expect(await statusOf(store, scene.name)).toEqual(before);
      expect((await successor.complete(claimed)).refused).toEqual([]);
      for (const { taskId } of claimed) {
        expect(await factsOf(store, taskId)).toMatchObject({
          state: "done",
          worker: "successor",
          result: null,
          failedCount: 0,
        });
      }
    });
  }

  if (end !== "declared dead") return;
  for (const { title, call, hears } of lateCalls) {
    test(`an execution that was ${end} hears ${hears[end]} from ${title} also before its tasks were reclaimed`, async () => {
      const opened = open();
      const { store } = opened;
      const scene = await endWorker(opened, end);
      await startWorker(store, scene.name, { worker: "successor" });
      expect(await call(store, scene)).toBe("fenced");
      for (const { taskId } of scene.tasks) expect(await stateOf(store, taskId)).toBe("claimed");
      expect(await statusOf(store, scene.name)).toMatchObject({ held: 1, done: 0, dead: 0 });
      expect(await store.reclaimExpired({ max: 10 })).toMatchObject({
        tasksBack: 2,
        tasksLost: 1,
      });
    });
  }
}
