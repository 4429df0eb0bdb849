import { describe, expect } from "@jest/globals";
import { StoreConflictError } from "../../shared/core/errors";
import type { CreateBatchInput } from "../../shared/ports/task-store";
import type { StoreDialect, TaskStore } from "../../shared/ports/task-store";
import {
  define,
  done,
  enqueue,
  failure,
  idsOf,
  operationId,
  setLimit,
  startInput,
  startWorker,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** No call waits for ever behind a forgotten lock: after two seconds a call gives up and has done nothing. */
export function describeLockTimeouts(setup: StoreSetup): void {
  describe("a lock that stays taken", () => {
    describeTimeouts(setup);
  });
}

/** What a user's transaction writes without changing anything, so that others find it locked. */
const lockAll: Record<Exclude<StoreDialect, "memory">, string[]> = {
  postgres: [
    "update taskgate.task_definition set name = name where name in ('locked', 'paused', 'crowded')",
    "update taskgate.task_execution set worker = worker where worker = 'locked'",
    "update taskgate.task set kind = kind",
    "update taskgate.task_group set slots = slots",
    "update taskgate.batch set operation_id = operation_id",
  ],
  mssql: [
    "UPDATE Taskgate.TaskDefinition SET Name = Name WHERE Name IN (N'locked', N'paused', N'crowded');",
    "UPDATE Taskgate.TaskExecution SET Worker = Worker WHERE Worker = N'locked';",
    "UPDATE Taskgate.Task SET Kind = Kind;",
    "UPDATE Taskgate.TaskGroup SET Slots = Slots;",
    "UPDATE Taskgate.Claim SET IsPrefetched = IsPrefetched;",
  ],
};

/** The caller that is about to act when everything gets locked. */
interface Scene {
  readonly store: TaskStore;
  readonly worker: Worker;
  readonly beating: Worker;
  /** It holds more than its limit allows: without that nothing is given back, and nothing locked. */
  readonly crowded: Worker;
  /** A task of `worker`, and a prefetched one of `beating`. */
  readonly claimed: Awaited<ReturnType<Worker["claimOne"]>>;
  readonly prefetched: Awaited<ReturnType<Worker["claim"]>>;
  /** A batch that there is. */
  readonly made: CreateBatchInput;
}

type Call = (scene: Scene) => Promise<unknown>;

const calls: Record<string, Call> = {
  work: ({ store, worker, claimed }) =>
    store.work({
      executionId: worker.executionId,
      callNumber: worker.calls + 1,
      done: [done(claimed)],
      started: [],
      want: 1,
    }),
  fail_tasks: ({ store, worker, claimed }) =>
    store.failTasks({ executionId: worker.executionId, failures: [failure(claimed)] }),
  report_progress: ({ store, worker, claimed }) => {
    const { taskId, fence } = claimed;
    const { executionId } = worker;
    return store.reportProgress({ executionId, taskId, fence, done: 1, total: 2, text: null });
  },
  complete_task: ({ store, worker, claimed }) =>
    store.completeTask({ executionId: worker.executionId, ...done(claimed) }),
  finish_execution: ({ store, worker }) =>
    store.finishExecution({ executionId: worker.executionId }),
  enqueue_tasks: ({ store }) => enqueue(store, "locked", [{ group: "g" }]),
  acquire_tokens: ({ store, worker }) =>
    store.acquireTokens({ executionId: worker.executionId, want: 1 }),
  release_surplus: ({ store, crowded }) =>
    store.releaseSurplus({ executionId: crowded.executionId, keep: 1 }),
  release_tokens: ({ store, worker }) =>
    store.releaseTokens({ executionId: worker.executionId, keep: 1 }),
  start_execution: ({ store }) => store.startExecution(startInput("locked")),
  create_batch: ({ store, made }) => store.createBatch(made),
  pause_definition: ({ store }) => store.pauseDefinition({ name: "locked", changedBy: "me" }),
  resume_definition: ({ store }) => store.resumeDefinition({ name: "paused", changedBy: "me" }),
  set_limit: ({ store }) => setLimit(store, "locked", 1),
  reclaim_expired: ({ store }) => store.reclaimExpired({ max: 10 }),
  promote_scheduled: ({ store }) => store.promoteScheduled({ name: "later", max: 10 }),
  heartbeat: ({ store, beating, prefetched }) => {
    const { executionId } = beating;
    return store.heartbeat({ executions: [{ executionId, started: idsOf(prefetched) }] });
  },
};

/** It steps over locked rows: there is nothing to wait for. */
const skipping = "report_progress";

/**
 * Claims have rows of their own on SQL Server; on PostgreSQL they are part of the execution's row, which isn't locked here. A batch
 * that is made again is looked up by an entry of its own on SQL Server, which no update of the row takes.
 */
function isMeant(dialect: StoreDialect, call: string): boolean {
  return call !== (dialect === "mssql" ? "create_batch" : "heartbeat");
}

function describeTimeouts(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(
    setup,
    "row locks",
    "raw sql",
    "sure calls",
  )("each call gives up after two seconds and has done nothing; later it works", async () => {
    const opened = open();
    const scene = await prepare(opened);
    const all = Object.entries(calls).filter(([name]) => isMeant(setup.dialect, name));
    const before = await factsOf(opened);
    await opened.asOwner(async (transaction) => {
      for (const sql of lockAll[setup.dialect === "mssql" ? "mssql" : "postgres"]) {
        await transaction.query(sql);
      }
      const ends = all.map(([name, call]) =>
        call(scene)
          .then(verdictOn, reasonOf)
          .then((end) => `${name} ${end}`),
      );
      expect(await Promise.all(ends)).toEqual(
        all.map(([name]) => `${name} ${name === skipping ? "done" : "gave up"}`),
      );
    });
    expect(await factsOf(opened)).toEqual(before);
    for (const [, call] of all) expect(await call(scene).then(verdictOn, reasonOf)).toBe("done");
  });

  testWith(
    setup,
    "row locks",
    "raw sql",
    "sure calls",
  )("an enqueue tells that another transaction holds its dedupe key", async () => {
    const { store, plain } = open();
    const name = await define(store);
    const tasks = [{ payload: null, dedupeKey: "k" }];
    const input = { name, build: 1, operationId: null, tasks };
    await store.transaction(async (transaction) => {
      await store.enqueueTasks(input, transaction);
      await expect(plain.enqueueTasks(input)).rejects.toMatchObject({
        code: "TASKGATE_STORE_CONFLICT",
        message: expect.stringMatching(
          /^\S+( \S+)? gave up waiting for a dedupe key that another transaction holds: /,
        ) as unknown,
        details: { isLockTimeout: true },
      });
    });
  });
}

/** `work` answers busy in place of an error. */
function verdictOn(answer: unknown): string {
  const isBusy = typeof answer === "object" && answer !== null && "status" in answer;
  return isBusy && answer.status === "busy" ? "gave up" : "done";
}

function reasonOf(error: unknown): string {
  const isTimeout = error instanceof StoreConflictError && error.details["isLockTimeout"] === true;
  return isTimeout ? "gave up" : String(error);
}

/** A dead worker with a claim, one that holds a grouped task, one of another definition with a prefetched claim, one above its limit, and a task that is due. */
async function prepare(opened: TestStore): Promise<Scene> {
  const { store, plain } = opened;
  const settings = { limit: null, prefetchMax: 5, groupSlots: 5 };
  const mine = { worker: "locked" };
  await define(store, { ...settings, leaseMs: 10_000 }, "locked");
  await define(store, settings, "other");
  await define(store, settings, "paused");
  await define(store, settings, "later");
  await define(store, { ...settings, limit: 2 }, "crowded");
  await store.pauseDefinition({ name: "paused", changedBy: "me" });
  await enqueue(store, "locked", [{ group: "g" }, {}, {}]);
  await enqueue(store, "other", 2);
  const runAt = new Date((await opened.now()).getTime() + 1_000);
  // Its group isn't there yet: promotion makes it, and writes that into the task.
  await enqueue(store, "later", [{ group: "new", runAt }]);
  await (await startWorker(store, "locked")).claim(1);
  await opened.advance(10_001);
  const worker = await startWorker(store, "locked", mine);
  const claimed = await worker.claimOne();
  const beating = await startWorker(store, "other");
  const prefetched = (await beating.claim(2)).filter(({ isPrefetched }) => isPrefetched);
  const plan = { name: "a batch", failurePolicy: "halt", waves: 1 } as const;
  const made = { ...plan, operationId: operationId() };
  await store.createBatch(made);
  const crowded = await startWorker(store, "crowded", { want: 2 });
  await setLimit(store, "crowded", 1);
  return { store: plain, worker, beating, crowded, claimed, prefetched, made };
}

/** What any of the calls would have changed. */
async function factsOf({ store }: TestStore): Promise<unknown> {
  const { definitions } = await store.listDefinitions({});
  const { executions } = await store.listExecutions({ isOpen: false, max: 10 });
  return { definitions, executions };
}
