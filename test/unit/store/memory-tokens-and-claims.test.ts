import { beforeEach, describe, expect, test } from "@jest/globals";
import { StoreContractError } from "../../../shared/core/errors";
import { asTaskId } from "../../../shared/core/ids";
import type { ExecutionId } from "../../../shared/core/ids";
import { parseTokens } from "../../../shared/core/token";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  factsOf,
  failure,
  idsOf,
  only,
  setLimit,
  startWorker,
  stateOf,
  statusOf,
  tryStart,
} from "../../support/builders";
import { expectError } from "../../support/expect-error";

/*
 * The memory store's tokens and claims, where every token string can be read. That it equals SQL is for
 * the contract suite to show; here the clock and chance are in hand.
 */

let nowMs: number;
let uuids: number;
let fraction: number;
let store: MemoryTaskStore;

beforeEach(() => {
  nowMs = Date.UTC(2026, 10, 21);
  uuids = 0;
  fraction = 0;
  store = new MemoryTaskStore({
    clock: { now: () => nowMs },
    random: {
      uuid: () => {
        uuids += 1;
        return `00000000-0000-4000-8000-${String(uuids).padStart(12, "0")}`;
      },
      fraction: () => fraction,
    },
  });
});

/** Token ids, states and grantees in short: `1:held by 2`. */
function tokens(name: string): string[] {
  return parseTokens(store.inspect().tokens[name] ?? "").map(
    ({ id, isHeld, grantee }) =>
      `${String(Number(id.slice(-12)))}:${isHeld ? "held by" : "free"} ${grantee}`,
  );
}

async function expectSound(): Promise<void> {
  expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
}

/** Claims and loses every ready task, `times` times, by executions that die. */
async function lose(name: string, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const worker = await startWorker(store, name, { want: 4 });
    await worker.claim(4);
    nowMs += 60_001;
    await store.reclaimExpired({ max: 10 });
  }
}

describe("Tokens", () => {
  test("a grant stands in the string, in list order, and the grantee stays after the return (S0.17)", async () => {
    const name = await define(store, { limit: 3 });
    const first = await startWorker(store, name, { want: 2 });
    await startWorker(store, name);
    expect(tokens(name)).toEqual(["1:held by 1", "2:held by 1", "3:held by 2"]);
    await store.releaseTokens({ executionId: first.executionId, keep: 1 });
    expect(tokens(name)).toEqual(["1:held by 1", "2:free 1", "3:held by 2"]);
  });

  test("a holder lives at the end of the lease, and a millisecond later its token goes to the asker under a new id (S0.7)", async () => {
    const name = await define(store, { limit: 1, leaseMs: 1_000 });
    const holder = await startWorker(store, name);
    nowMs += 1_000;
    expect(await tryStart(store, name)).toBe("limited");
    nowMs += 1;
    const heir = await startWorker(store, name);
    expect(heir.answer.deadHolders).toBe(1);
    expect(tokens(name)).toEqual(["2:held by 2"]);
    expect((await holder.beat()).status).toBe("fenced");
  });

  test("dead holders are freed before the comparison with a limit that was lowered below their number", async () => {
    const name = await define(store, { limit: 3, leaseMs: 1_000 });
    await startWorker(store, name, { want: 3 });
    expect(await setLimit(store, name, 1)).toMatchObject({ held: 3, overLimit: 2 });
    nowMs += 1_001;
    await startWorker(store, name);
    expect(tokens(name)).toEqual(["4:held by 2"]);
    await expectSound();
  });

  test("a lowered limit takes free tokens first and stops no execution (S0.4)", async () => {
    const name = await define(store, { limit: 4 });
    await startWorker(store, name, { want: 2 });
    await setLimit(store, name, 1);
    expect(tokens(name)).toEqual(["1:held by 1", "2:held by 1"]);
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("a limit that is lowered, then raised while old runners remain, counts them (S0.5)", async () => {
    const name = await define(store, { limit: 4 });
    await startWorker(store, name, { want: 4 });
    await setLimit(store, name, 1);
    await setLimit(store, name, 5);
    await startWorker(store, name, { want: 5 });
    expect(await statusOf(store, name)).toMatchObject({ held: 5 });
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("release_surplus gives back no more than is held above the limit, also when asked twice", async () => {
    const name = await define(store, { limit: 4 });
    const one = await startWorker(store, name, { want: 2 });
    const two = await startWorker(store, name, { want: 2 });
    await setLimit(store, name, 3);
    const keep = 0;
    expect(await store.releaseSurplus({ executionId: one.executionId, keep })).toMatchObject({
      tokens: 1,
      freed: 1,
      overLimit: 0,
    });
    expect(await store.releaseSurplus({ executionId: two.executionId, keep })).toMatchObject({
      tokens: 2,
      freed: 0,
    });
  });

  test("a definition without a limit has no string; back to one, runners of that time count (S0.6)", async () => {
    const name = await define(store, { limit: null });
    const worker = await startWorker(store, name, { want: 3 });
    expect(tokens(name)).toEqual([]);
    expect(await setLimit(store, name, 2)).toMatchObject({ oldLimit: null, held: 3, overLimit: 1 });
    expect(tokens(name)).toEqual(["1:held by 1", "2:held by 1", "3:held by 1"]);
    expect(await tryStart(store, name)).toBe("limited");
    await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
    expect(await tryStart(store, name)).toBe("started");
    await expectSound();
  });

  test("a limit taken away keeps the counts: tokens of the limited time come back by number (S0.6)", async () => {
    const name = await define(store, { limit: 2 });
    const worker = await startWorker(store, name, { want: 2 });
    await setLimit(store, name, null);
    expect(await store.releaseTokens({ executionId: worker.executionId, keep: 0 })).toMatchObject({
      freed: 2,
      tokens: 0,
    });
    expect(await setLimit(store, name, "code")).toMatchObject({ held: 0, newLimit: 2 });
    expect(tokens(name)).toHaveLength(2);
  });

  test("a damaged string grants nothing and changes nothing", async () => {
    const name = await define(store, { limit: 1 });
    store.damageTokens(name, "I:1");
    const before = store.inspect().state;
    await expect(tryStart(store, name)).rejects.toThrow(StoreContractError);
    await expect(setLimit(store, name, 5)).rejects.toThrow("execution_tokens: not a list");
    expect(store.inspect().state).toEqual(before);
    expect(only((await store.checkInvariants()).findings)).toEqual({
      rule: "the token string can be read",
      key: name,
      detail: "I:1",
    });
    await setLimit(store, name, null);
    await expectSound();
  });
});

describe("Work", () => {
  test("a repeat with the last call number gets its claims again, less those that left meanwhile", async () => {
    const name = await define(store, { limit: 2, prefetchMax: 0 });
    await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 2 });
    const first = await worker.work({ want: 2 });
    await worker.fail([at(first.claimed, 0)]);
    expect(await worker.again({ want: 2 })).toEqual({
      ...first,
      status: "again",
      claimed: [at(first.claimed, 1)],
    });
    await expectError(worker.store.work({ ...workInput(worker.executionId), callNumber: 0 }), {
      code: "TASKGATE_ARG_INVALID",
    });
  });

  test("an older call number is refused, a call that found nothing left no number", async () => {
    const name = await define(store);
    const worker = await startWorker(store, name);
    const { executionId } = worker;
    expect(await store.work({ ...workInput(executionId), callNumber: 9, want: 1 })).toMatchObject({
      status: "none",
    });
    await store.work({ ...workInput(executionId), callNumber: 5 });
    await expectError(store.work({ ...workInput(executionId), callNumber: 4 }), {
      code: "TASKGATE_ARG_CONFLICT",
      value: 4,
    });
  });

  test("a completion under an old fence is refused and changes nothing", async () => {
    const name = await define(store, { limit: 1, leaseMs: 1_000 });
    const taskId = await enqueueOne(store, name);
    const late = await startWorker(store, name);
    const task = await late.claimOne();
    nowMs += 1_001;
    await store.reclaimExpired({ max: 1 });
    const heir = await startWorker(store, name);
    await heir.claimOne();
    expect((await late.complete([task])).status).toBe("fenced");
    expect((await heir.complete([task])).refused).toEqual([taskId]);
    expect(await stateOf(store, taskId)).toBe("claimed");
  });

  test("claims fill the tokens first, the rest is prefetched up to tokens * (1 + prefetchMax)", async () => {
    const name = await define(store, { limit: 2, prefetchMax: 1 });
    await enqueue(store, name, 9);
    const worker = await startWorker(store, name, { want: 2 });
    const claimed = await worker.claim(9);
    expect(claimed.map((task) => task.isPrefetched)).toEqual([false, false, true, true]);
    expect((await worker.work({ want: 1 })).status).toBe("limited");
    // One is done, and a prefetched one took its token: new claims are prefetched.
    const next = await worker.work({
      done: [done(at(claimed, 0))],
      started: [at(claimed, 2).taskId],
      want: 1,
    });
    expect(next.claimed.map((task) => task.isPrefetched)).toEqual([true]);
  });

  test("a task lost twice is claimed alone, by an execution that holds nothing else", async () => {
    const name = await define(store, { limit: 8, lostMax: 9 });
    const [poison] = await enqueue(store, name, 1);
    await lose(name, 2);
    await enqueue(store, name, [{}, { priority: 1 }]);
    const busy = await startWorker(store, name, { want: 4 });
    const before = await busy.claim(4);
    expect(before).toHaveLength(1);
    expect((await busy.work({ want: 4 })).status).toBe("none");
    const idle = await startWorker(store, name, { want: 4 });
    const alone = await idle.claim(4);
    expect(idsOf(alone)).toEqual([poison]);
    expect(await idle.work({ want: 4 })).toMatchObject({ status: "none", nextDueMs: null });
    // Done: the next may be claimed in company again.
    expect((await idle.complete(alone, 4)).claimed).toHaveLength(1);
    await expectSound();
  });

  test("reclaim counts started tasks as lost, and gives prefetched ones back uncounted", async () => {
    const name = await define(store, { limit: 1, prefetchMax: 2, lostMax: 0 });
    const ids = await enqueue(store, name, 3);
    const worker = await startWorker(store, name);
    await worker.claim(3);
    await worker.beat([at(ids, 1)]);
    nowMs += 60_001;
    expect(await store.reclaimExpired({ max: 1 })).toEqual({
      status: "reclaimed",
      executions: 1,
      tasksBack: 1,
      tasksLost: 2,
      tasksDead: 2,
      definitions: [name],
      opening: [],
      more: true,
    });
    expect(await Promise.all(ids.map((taskId) => stateOf(store, taskId)))).toEqual([
      "dead",
      "dead",
      "ready",
    ]);
    expect(await factsOf(store, at(ids, 2))).toMatchObject({ lostCount: 0, attempts: [] });
    expect(await factsOf(store, at(ids, 0))).toMatchObject({
      worker: "worker-1",
      attempts: [{ outcome: "lost" }],
    });
  });

  test("a cancel request ends a task that would go on, but not one that gave up", async () => {
    const name = await define(store, { limit: 4 });
    const worker = await startWorker(store, name, { want: 4 });
    const ids = await enqueue(store, name, 3);
    const claimed = await worker.claim(3);
    for (const taskId of ids) store.requestCancel(taskId);
    const kinds = ["failed", "continued", "dead"] as const;
    const failures = claimed.map((task, index) => failure(task, { as: at(kinds, index) }));
    const answer = await store.failTasks({ executionId: worker.executionId, failures });
    expect(answer.results.map((result) => result.outcome)).toEqual([
      "cancelled",
      "cancelled",
      "dead",
    ]);
    expect(() => {
      store.requestCancel(asTaskId("99"));
    }).toThrow("task: unknown or ended (99)");
  });

  test("back-off doubles up to its cap, half of it fixed and half by chance", async () => {
    const name = await define(store, { retryBaseMs: 1_000, retryCapMs: 3_000, retryAttempts: 9 });
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const delays: (number | null)[] = [];
    for (const chance of [0, 0.999, 0.5]) {
      fraction = chance;
      const answer = await worker.fail([await worker.claimOne()]);
      delays.push(answer.nextDueMs);
      nowMs += answer.nextDueMs ?? 0;
    }
    expect(delays).toEqual([500, 1_999, 2_250]);
  });

  test("retention 0 leaves no trace of a done task, so a repeated completion can't be told from a stranger's", async () => {
    const name = await define(store, { retainDoneMs: 0 });
    const taskId = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const { executionId } = worker;
    const task = { ...done(await worker.claimOne()), executionId };
    expect((await store.completeTask(task)).status).toBe("done");
    expect((await store.completeTask(task)).status).toBe("fenced");
    expect(await store.explainTask({ taskId })).toEqual({ status: "unknown", facts: null });
    expect(store.inspect().places).toEqual({});
  });
});

function workInput(executionId: ExecutionId) {
  return { executionId, callNumber: 1, done: [], started: [], want: 0 };
}
