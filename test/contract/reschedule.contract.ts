import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../shared/core/ids";
import type { TaskId } from "../../shared/core/ids";
import type { RescheduleTasksAnswer, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** An operator moves tasks in time. */
export function describeReschedule(setup: StoreSetup): void {
  describe("reschedule_tasks", () => {
    describeMoves(setup);
  });
  describe("reschedule_tasks' answer", () => {
    describeAnswer(setup);
  });
}

function putOff(
  store: TaskStore,
  runInMs: number,
  ...taskIds: readonly TaskId[]
): Promise<RescheduleTasksAnswer> {
  return store.rescheduleTasks({ taskIds, to: { runInMs } });
}

function outcomes(answer: RescheduleTasksAnswer): string[] {
  return answer.results.map(({ outcome, state }) => state ?? outcome);
}

function describeMoves(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a scheduled task gets another instant, earlier or later", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const [sooner, farther] = await enqueue(store, name, [
      { runInMs: 3_600_000 },
      { runInMs: 1_000 },
    ]);
    const answer = await putOff(store, 60_000, sooner ?? asTaskId("0"));
    expect(answer).toMatchObject({
      results: [{ taskId: sooner, outcome: "rescheduled", state: null }],
      definitions: [name],
      woken: [],
    });
    await putOff(store, 7_200_000, farther ?? asTaskId("0"));
    await opened.advance(61_000);
    const worker = await startWorker(store, name, { want: 2 });
    expect(idsOf(await worker.claim(2))).toEqual([sooner]);
  });

  test("a ready task isn't claimed before its new instant", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const [first, second] = await enqueue(store, name, 2);
    await putOff(store, 60_000, first ?? asTaskId("0"));
    const worker = await startWorker(store, name, { want: 2 });
    expect(idsOf(await worker.claim(2))).toEqual([second]);
    await opened.advance(60_001);
    await worker.beat();
    expect(idsOf(await worker.claim(2))).toEqual([first]);
  });

  testWith(setup, "exact clock")("an instant in the past is now; nextDueMs tells", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const ids = await enqueue(store, name, 2);
    const now = await opened.now();
    const past = { runAt: new Date(now.getTime() - 1_000) };
    expect((await store.rescheduleTasks({ taskIds: ids, to: past })).nextDueMs).toBe(0);
    const later = { runAt: new Date(now.getTime() + 5_000) };
    expect((await store.rescheduleTasks({ taskIds: ids, to: later })).nextDueMs).toBe(5_000);
    expect((await factsOf(store, at(ids, 0))).dueInMs).toBe(5_000);
  });

  test("a ready task's slot goes to the next in line; back again it queues up", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }, { group: "g" }]);
    expect((await putOff(store, 0, at(ids, 0))).woken).toEqual([name]);
    expect(await stateOf(store, at(ids, 1))).toBe("ready");
    await store.promoteScheduled({ name, max: 10 });
    expect(await stateOf(store, at(ids, 0))).toBe("waiting");
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, waiting: 2 });
  });

  test("a waiting task leaves the line; the others keep their order", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }, { group: "g" }]);
    expect(await putOff(store, 60_000, at(ids, 1))).toMatchObject({ woken: [] });
    const worker = await startWorker(store, name);
    const next = await worker.complete([await worker.claimOne()], 1);
    expect(idsOf(next.claimed)).toEqual([at(ids, 2)]);
  });

  test("a rescheduled task of a strict group keeps its slot: no other task overtakes it", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupStrict: true });
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    expect((await putOff(store, 30_000, at(ids, 0))).woken).toEqual([]);
    expect(await stateOf(store, at(ids, 1))).toBe("waiting");
    await opened.advance(30_001);
    const worker = await startWorker(store, name);
    const first = await worker.claimOne();
    const next = await worker.complete([first], 1);
    expect([first.taskId, ...idsOf(next.claimed)]).toEqual(ids);
  });

  test("a retry keeps the slot that it has, also where its group isn't strict any more", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupStrict: true });
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 10_000 });
    const group = { name, groupKey: "g", groupScope: "definition", strict: false } as const;
    await store.setGroup({ ...group, changedBy: "operator" });
    expect((await putOff(store, 30_000, at(ids, 0))).woken).toEqual([]);
    expect(await Promise.all(ids.map((id) => stateOf(store, id)))).toEqual([
      "scheduled",
      "waiting",
    ]);
    expect((await store.checkInvariants()).findings).toEqual([]);
    await opened.advance(30_001);
    await store.promoteScheduled({ name, max: 10 });
    const next = await worker.complete([await worker.claimOne()], 1);
    expect(idsOf(next.claimed)).toEqual(ids.slice(1));
  });
}

function describeAnswer(setup: StoreSetup): void {
  const open = useStore(setup);

  test("running and gone tasks are told, each task once, in the order of the call", async () => {
    const { store } = open();
    const name = await define(store);
    const [done, running, ready] = await enqueue(store, name, 3);
    const worker = await startWorker(store, name);
    await worker.complete([await worker.claimOne()]);
    await worker.claimOne();
    const unknown = asTaskId("999999999");
    const ids = [unknown, ready, running, done, ready].flatMap((id) => id ?? []);
    const answer = await putOff(store, 60_000, ...ids);
    expect(idsOf(answer.results)).toEqual([unknown, ready, running, done]);
    expect(outcomes(answer)).toEqual(["unknown", "rescheduled", "running", "done"]);
    expect(await stateOf(store, running ?? asTaskId("0"))).toBe("claimed");
  });

  test("an answer of nothing rescheduled has no instant and no definitions", async () => {
    const { store } = open();
    expect(await putOff(store, 60_000, asTaskId("999999999"))).toMatchObject({
      nextDueMs: null,
      definitions: [],
      woken: [],
    });
  });

  test("bad ids and instants are refused", async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name);
    const invalid = { code: "TASKGATE_ARG_INVALID" } as const;
    await expectError(putOff(store, 1), { ...invalid, field: "task_ids" });
    for (const runInMs of [-1, 3_153_600_000_001, 0.5]) {
      await expectError(putOff(store, runInMs, id), { ...invalid, field: "run_in_ms" });
    }
    const never = { taskIds: [id], to: { runAt: new Date(Number.NaN) } };
    await expectError(store.rescheduleTasks(never), { ...invalid, field: "run_at" });
  });
}
