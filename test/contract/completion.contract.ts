import { describe, expect, test } from "@jest/globals";
import { asFence, asTaskId } from "../../shared/core/ids";
import type { ClaimedTask, DoneTask } from "../../shared/ports/task-store";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  only,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import type { TaskStore } from "../../shared/ports/task-store";

/** The hot path's first half, and the completion inside a user's transaction. */
export function describeCompletion(setup: StoreSetup): void {
  describe("work completes", () => {
    describeShapes(setup);
  });
  describe("work refuses a completion", () => {
    describeRefusals(setup);
  });
  describe("a result", () => {
    describeResults(setup);
  });
  describe("complete_task", () => {
    describeCompleteTask(setup);
  });
}

/** Which of eight claims (two calls of four) are reported, in which order. */
const shapes: { title: string; picks: number[] }[] = [
  { title: "all that is held", picks: [0, 1, 2, 3, 4, 5, 6, 7] },
  { title: "the oldest part of it", picks: [0, 1, 2] },
  { title: "a part across two claim calls", picks: [2, 3, 4, 5] },
  { title: "scattered ones", picks: [1, 4, 6] },
  { title: "all in reverse", picks: [7, 6, 5, 4, 3, 2, 1, 0] },
  { title: "the newest only", picks: [7] },
  { title: "a mixed order", picks: [5, 0, 6, 2] },
];

/** A worker with eight claims. */
async function eight(
  store: TaskStore,
  name: string,
): Promise<{ worker: Worker; tasks: ClaimedTask[] }> {
  await enqueue(store, name, 8);
  const worker = await startWorker(store, name, { want: 8 });
  return { worker, tasks: [...(await worker.claim(4)), ...(await worker.claim(4))] };
}

/** A completion whose duration and result tell which task it was meant for. */
function marked(task: ClaimedTask): DoneTask {
  return {
    ...done(task),
    durationMs: Number(task.taskId) % 1_000_000,
    result: `{"of":"${task.taskId}"}`,
  };
}

function describeShapes(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const { title, picks } of shapes) {
    for (const withRefused of [false, true]) {
      const suffix = withRefused ? ", one refused among them" : "";
      test(`work ends each task with its own duration and result, and the rest stays claimed: ${title}${suffix}`, async () => {
        const { store } = open();
        const name = await define(store, { limit: 8 });
        const { worker, tasks } = await eight(store, name);
        const chosen = picks.map((index) => at(tasks, index));
        const reports = chosen.map(marked);
        const foreign = asTaskId("999999999");
        if (withRefused) {
          const wrong = {
            taskId: foreign,
            fence: at(tasks, 0).fence,
            durationMs: 77,
            result: '{"of":"nobody"}',
          };
          reports.splice(1, 0, wrong);
        }
        const answer = await worker.work({ done: reports });
        expect(answer).toMatchObject({ status: "done", refused: withRefused ? [foreign] : [] });
        for (const task of tasks) {
          const facts = await factsOf(store, task.taskId);
          if (chosen.includes(task)) {
            expect(facts).toMatchObject({
              state: "done",
              durationMs: marked(task).durationMs,
              result: marked(task).result,
              worker: "worker-1",
            });
          } else expect(facts.state).toBe("claimed");
        }
      });
    }
  }

  test("a task twice in one call is refused, naming it, and nothing is completed", async () => {
    const { store } = open();
    const name = await define(store, { limit: 8 });
    const { worker, tasks } = await eight(store, name);
    const first = at(tasks, 0);
    const wrong = { ...marked(first), fence: asFence("999999999") };
    for (const other of [marked(first), wrong]) {
      await expectError(worker.work({ done: [other, marked(at(tasks, 1)), marked(first)] }), {
        code: "TASKGATE_ARG_INVALID",
        field: "done",
        value: first.taskId,
      });
    }
    expect((await statusOf(store, name)).claimed).toBe(8);
  });

  test("a completion makes room: the next claim comes in the same call (S3.3)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2, prefetchMax: 0 });
    const ids = await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 2 });
    const claimed = await worker.claim(2);
    const next = await worker.complete(claimed, 2);
    expect(next).toMatchObject({ status: "claimed", refused: [] });
    expect(idsOf(next.claimed)).toEqual(ids.slice(2));
  });

  test("a prefetched claim may be completed without having been reported started", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1, prefetchMax: 3 });
    await enqueue(store, name, 4);
    const worker = await startWorker(store, name);
    const claimed = await worker.claim(4);
    expect(await worker.complete(claimed)).toMatchObject({ status: "done", refused: [] });
    expect((await statusOf(store, name)).done).toBe(4);
  });

  test("a done task is kept by default; with retainDoneMs 0 it leaves no trace (S3.8)", async () => {
    const { store } = open();
    const kept = await define(store);
    const gone = await define(store, { retainDoneMs: 0 });
    for (const name of [kept, gone]) {
      await enqueue(store, name, 2);
      const worker = await startWorker(store, name, { want: 2 });
      await worker.complete(await worker.claim(2));
    }
    expect(await statusOf(store, kept)).toMatchObject({ done: 2, claimed: 0 });
    expect(await statusOf(store, gone)).toMatchObject({ done: 0, claimed: 0, ready: 0 });
  });

  test("work takes 1000 completions in one call", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1_000, prefetchMax: 0 });
    await enqueue(store, name, 1_000);
    const worker = await startWorker(store, name, { want: 1_000 });
    const claimed = await worker.claim(1_000);
    expect(await worker.complete([...claimed].reverse())).toMatchObject({ refused: [] });
    expect((await statusOf(store, name)).done).toBe(1_000);
  });
}

function describeRefusals(setup: StoreSetup): void {
  const open = useStore(setup);

  test("work refuses a completion under a wrong fence", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const wrong = { ...done(task), fence: asFence(String(BigInt(task.fence) + 1n)) };
    expect((await worker.work({ done: [wrong] })).refused).toEqual([task.taskId]);
    expect(await stateOf(store, task.taskId)).toBe("claimed");
  });

  test("work refuses a completion of a task that another execution holds", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const holder = await startWorker(store, name);
    const task = await holder.claimOne();
    const stranger = await startWorker(store, name);
    expect((await stranger.complete([task])).refused).toEqual([task.taskId]);
    expect(await stateOf(store, task.taskId)).toBe("claimed");
    expect((await holder.complete([task])).refused).toEqual([]);
  });

  test("work refuses a completion of a task that was completed by an earlier call", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    await worker.complete([task]);
    expect((await worker.complete([task])).refused).toEqual([task.taskId]);
    expect((await statusOf(store, name)).done).toBe(1);
  });

  test("work refuses a completion of a task that failed meanwhile and was claimed again under a new fence (S2.9)", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const old = await worker.claimOne();
    await worker.fail([old], { retryInMs: 0 });
    const fresh = await worker.claimOne();
    expect(fresh.taskId).toBe(old.taskId);
    expect((await worker.work({ done: [done(old, { result: '{"old":1}' })] })).refused).toEqual([
      old.taskId,
    ]);
    expect(await stateOf(store, fresh.taskId)).toBe("claimed");
    await worker.work({ done: [done(fresh, { result: '{"new":1}' })] });
    expect((await factsOf(store, fresh.taskId)).result).toBe('{"new":1}');
  });
}

/** JSON text of exactly `bytes` bytes of UTF-8, filled with `filler`. */
export function jsonOfBytes(bytes: number, filler: string): string {
  const frame = '{"a":""}';
  const size = Buffer.byteLength(filler);
  const rest = bytes - frame.length;
  const text = filler.repeat(Math.floor(rest / size)) + "x".repeat(rest % size);
  return `{"a":"${text}"}`;
}

function describeResults(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const { title, filler } of [
    { title: "of ASCII", filler: "a" },
    { title: "of two-byte characters", filler: "\u00e4" },
    { title: "of three-byte characters", filler: "\u6f22" },
    { title: "of emoji", filler: "\u{1f680}" },
  ]) {
    test(`65,536 bytes ${title} are kept, 65,537 are refused, naming field and size`, async () => {
      const { store } = open();
      const name = await define(store);
      await enqueue(store, name, 2);
      const worker = await startWorker(store, name, { want: 2 });
      const [first, second] = await worker.claim(2);
      if (!first || !second) throw new Error("two tasks expected");
      const fits = jsonOfBytes(65_536, filler);
      await worker.work({ done: [done(first, { result: fits })] });
      expect((await factsOf(store, first.taskId)).result).toBe(fits);
      const tooLarge = { code: "TASKGATE_ARG_TOO_LARGE", field: "result", value: 65_537 } as const;
      const result = jsonOfBytes(65_537, filler);
      await expectError(worker.work({ done: [done(second, { result })] }), tooLarge);
      const { executionId } = worker;
      await expectError(store.completeTask({ executionId, ...done(second), result }), tooLarge);
      expect(await stateOf(store, second.taskId)).toBe("claimed");
    });
  }

  test("a result must be the text of a JSON object or array", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const { executionId } = worker;
    for (const result of ["not json", '"text"', "7", "null", "{", ""]) {
      const expected = { code: "TASKGATE_ARG_INVALID", field: "result" } as const;
      await expectError(worker.work({ done: [done(task, { result })] }), expected);
      await expectError(store.completeTask({ executionId, ...done(task), result }), expected);
    }
    expect(await stateOf(store, task.taskId)).toBe("claimed");
  });

  test("a result is kept as given; a missing one is null", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 4 });
    const claimed = await worker.claim(4);
    const results = [
      '{ "a" : [ 1 ] }',
      null,
      "[]",
      '{"zero":"\\u0000","lone":"\\ud800","emoji":"\u{1f680}"}',
    ];
    await worker.work({
      done: claimed.map((task, index) => done(task, { result: results[index] ?? null })),
    });
    for (const [index, task] of claimed.entries()) {
      expect((await factsOf(store, task.taskId)).result).toBe(results[index]);
    }
  });
}

function describeCompleteTask(setup: StoreSetup): void {
  const open = useStore(setup);

  test("complete_task ends a task with duration and result; a repeat is `again` and changes nothing", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const [task, other] = await worker.claim(2);
    if (!task || !other) throw new Error("two tasks expected");
    const input = { executionId: worker.executionId, ...done(task), durationMs: 12, result: "[1]" };
    expect(await store.completeTask(input)).toEqual({ status: "done", woken: [], opening: [] });
    expect(await store.completeTask({ ...input, result: "[2]" })).toEqual({
      status: "again",
      woken: [],
      opening: [],
    });
    expect(await factsOf(store, task.taskId)).toMatchObject({
      state: "done",
      durationMs: 12,
      result: "[1]",
    });
    expect(await stateOf(store, other.taskId)).toBe("claimed");
    expect((await worker.complete([other])).refused).toEqual([]);
  });

  test("complete_task is fenced for another's task, a wrong fence and an unknown task", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const stranger = await startWorker(store, name);
    const task = await worker.claimOne();
    const calls = [
      { executionId: stranger.executionId, ...done(task) },
      { executionId: worker.executionId, ...done(task), fence: asFence("999999999") },
      { executionId: worker.executionId, ...done(task), taskId: asTaskId("999999999") },
    ];
    for (const call of calls) {
      expect(await store.completeTask(call)).toEqual({ status: "fenced", woken: [], opening: [] });
    }
    expect(await stateOf(store, task.taskId)).toBe("claimed");
  });

  test("complete_task makes room for the next claim, also of a task that runs alone", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1, prefetchMax: 0 });
    const [, second] = await enqueue(store, name, 2);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    await store.completeTask({ executionId: worker.executionId, ...done(task) });
    expect(only(await worker.claim(5)).taskId).toBe(second);
  });

  test("complete_task hands the group over", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, [{ group: "g" }]);
    const next = await enqueueOne(store, name, { group: "g" });
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    await store.completeTask({ executionId: worker.executionId, ...done(task) });
    expect(await stateOf(store, next)).toBe("ready");
  });
}
