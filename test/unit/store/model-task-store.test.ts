import { beforeEach, describe, expect, test } from "@jest/globals";
import { StoreConflictError, StoreContractError } from "../../../shared/core/errors";
import { asExecutionId, asTaskId } from "../../../shared/core/ids";
import { parseTokens } from "../../../shared/core/token";
import { ModelTaskStore } from "../../../shared/store/model/model-task-store";
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
  operationId,
  registration,
  setLimit,
  startInput,
  startWorker,
  stateOf,
  statusOf,
  tryStart,
} from "../../support/builders";
import { expectError } from "../../support/expect-error";

/*
 * The subtle rules of the model on their own, where its state can be looked at. That it equals SQL
 * is for the contract suite to show; here the clock and chance are in hand, and every token string
 * can be read.
 */

let nowMs: number;
let uuids: number;
let fraction: number;
let store: ModelTaskStore;

beforeEach(() => {
  nowMs = Date.UTC(2026, 10, 21);
  uuids = 0;
  fraction = 0;
  store = new ModelTaskStore({
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
    await store.reclaimExpired({ most: 10 });
  }
}

describe("Tokens", () => {
  test("S0.17: grants stand in the string, in list order, and the grantee stays after the return", async () => {
    const name = await define(store, { limit: 3 });
    const first = await startWorker(store, name, { want: 2 });
    await startWorker(store, name);
    expect(tokens(name)).toEqual(["1:held by 1", "2:held by 1", "3:held by 2"]);
    await store.releaseTokens({ executionId: first.executionId, keep: 1 });
    expect(tokens(name)).toEqual(["1:held by 1", "2:free 1", "3:held by 2"]);
  });

  test("S0.7: at the end of the lease a holder lives, a millisecond later its token goes to the asker under a new id", async () => {
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

  test("K4: dead holders are freed before the comparison with a limit that was lowered below their number", async () => {
    const name = await define(store, { limit: 3, leaseMs: 1_000 });
    await startWorker(store, name, { want: 3 });
    expect(await setLimit(store, name, 1)).toMatchObject({ held: 3, surplus: 2 });
    nowMs += 1_001;
    await startWorker(store, name);
    expect(tokens(name)).toEqual(["4:held by 2"]);
    await expectSound();
  });

  test("S0.4: a lowered limit takes free tokens first and stops nobody", async () => {
    const name = await define(store, { limit: 4 });
    await startWorker(store, name, { want: 2 });
    await setLimit(store, name, 1);
    expect(tokens(name)).toEqual(["1:held by 1", "2:held by 1"]);
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("S0.5: lowered, then raised while old runners remain: the new limit counts them", async () => {
    const name = await define(store, { limit: 4 });
    await startWorker(store, name, { want: 4 });
    await setLimit(store, name, 1);
    await setLimit(store, name, 5);
    await startWorker(store, name, { want: 5 });
    expect(await statusOf(store, name)).toMatchObject({ held: 5 });
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("release_surplus gives back no more than is held above the limit, whoever asks twice", async () => {
    const name = await define(store, { limit: 4 });
    const one = await startWorker(store, name, { want: 2 });
    const two = await startWorker(store, name, { want: 2 });
    await setLimit(store, name, 3);
    const most = { most: 2 };
    expect(await store.releaseSurplus({ executionId: one.executionId, ...most })).toMatchObject({
      tokens: 1,
      freed: 1,
      surplus: 0,
    });
    expect(await store.releaseSurplus({ executionId: two.executionId, ...most })).toMatchObject({
      tokens: 2,
      freed: 0,
    });
  });

  test("S0.6: without a limit there is no string; back to one, runners of that time count", async () => {
    const name = await define(store, { limit: null });
    const worker = await startWorker(store, name, { want: 3 });
    expect(tokens(name)).toEqual([]);
    expect(await setLimit(store, name, 2)).toMatchObject({ oldLimit: null, held: 3, surplus: 1 });
    expect(tokens(name)).toEqual(["1:held by 1", "2:held by 1", "3:held by 1"]);
    expect(await tryStart(store, name)).toBe("limited");
    await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
    expect(await tryStart(store, name)).toBe("started");
    await expectSound();
  });

  test("S0.6: a limit taken away keeps the counts: tokens of the limited time come back by number", async () => {
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

  test("K9: a damaged string grants nothing and changes nothing", async () => {
    const name = await define(store, { limit: 1 });
    store.damageTokens(name, "I:1");
    const before = store.inspect().state;
    await expect(tryStart(store, name)).rejects.toThrow(StoreContractError);
    await expect(setLimit(store, name, 5)).rejects.toThrow("execution_tokens: not a list");
    expect(store.inspect().state).toEqual(before);
    expect(only((await store.checkInvariants()).findings)).toEqual({
      rule: "P1 the token string can be read",
      key: name,
      detail: "I:1",
    });
    await setLimit(store, name, null);
    await expectSound();
  });
});

describe("Work", () => {
  test("P6: a repeat with the last call number gets its claims again, less those that left meanwhile", async () => {
    const name = await define(store, { limit: 2, spareMax: 0 });
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

  test("P6: an older call number is refused, a call that found nothing left no number", async () => {
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

  test("P2: a completion under an old fence is refused and changes nothing", async () => {
    const name = await define(store, { limit: 1, leaseMs: 1_000 });
    const taskId = await enqueueOne(store, name);
    const late = await startWorker(store, name);
    const task = await late.claimOne();
    nowMs += 1_001;
    await store.reclaimExpired({ most: 1 });
    const heir = await startWorker(store, name);
    await heir.claimOne();
    expect((await late.complete([task])).status).toBe("fenced");
    expect((await heir.complete([task])).refused).toEqual([taskId]);
    expect(await stateOf(store, taskId)).toBe("claimed");
  });

  test("design 10.8: claims fill the tokens first, the rest is spare up to tokens * (1 + spareMax)", async () => {
    const name = await define(store, { limit: 2, spareMax: 1 });
    await enqueue(store, name, 9);
    const worker = await startWorker(store, name, { want: 2 });
    const claimed = await worker.claim(9);
    expect(claimed.map((task) => task.isSpare)).toEqual([false, false, true, true]);
    expect((await worker.work({ want: 1 })).status).toBe("limited");
    // One is done, and a spare one took its token: what is claimed now is spare.
    const next = await worker.work({
      done: [done(at(claimed, 0))],
      started: [at(claimed, 2).taskId],
      want: 1,
    });
    expect(next.claimed.map((task) => task.isSpare)).toEqual([true]);
  });

  test("design 10.10: a task lost twice is claimed alone, by an execution that holds nothing else", async () => {
    const name = await define(store, { limit: 8, maxLost: 9 });
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

  test("P7: reclaim counts what was started as lost, and gives the spare back uncounted", async () => {
    const name = await define(store, { limit: 1, spareMax: 2, maxLost: 0 });
    const ids = await enqueue(store, name, 3);
    const worker = await startWorker(store, name);
    await worker.claim(3);
    await worker.beat([at(ids, 1)]);
    nowMs += 60_001;
    expect(await store.reclaimExpired({ most: 1 })).toEqual({
      status: "reclaimed",
      executions: 1,
      tasksBack: 1,
      tasksLost: 2,
      tasksDead: 2,
      definitions: [name],
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

  test("design 10.17: a cancel request ends a task that would go on, but not one that gave up", async () => {
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
    }).toThrow("task: unknown or finished (99)");
  });

  test("back-off doubles up to its cap, half of it fixed and half by chance", async () => {
    const name = await define(store, { retryBaseMs: 1_000, retryCapMs: 3_000, maxAttempts: 9 });
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

  test("P6: retention 0 leaves no trace of a done task, so a repeated completion can't be told from a stranger's", async () => {
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

describe("Groups", () => {
  test("S1.3, S1.4: one slot: one is ready, the rest waits, and the end of one opens the next", async () => {
    const name = await define(store, { limit: 4 });
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }, { group: "g" }]);
    const worker = await startWorker(store, name, { want: 4 });
    const [task] = await worker.claim(4);
    expect(task?.taskId).toBe(ids[0]);
    expect((await worker.complete(task === undefined ? [] : [task], 4)).claimed).toHaveLength(1);
    expect(await statusOf(store, name)).toMatchObject({ waiting: 1, claimed: 1, ready: 0 });
    await expectSound();
  });

  test("S1.3: three slots: freed slot numbers are filled again, lowest first", async () => {
    const name = await define(store, { limit: 4, groupSlots: 3 });
    const ids = await enqueue(
      store,
      name,
      Array.from({ length: 5 }, () => ({ group: "g" })),
    );
    const worker = await startWorker(store, name, { want: 4 });
    const claimed = await worker.claim(4);
    await worker.complete([at(claimed, 0), at(claimed, 2)]);
    expect(store.inspect().state.groupSlots).toEqual([
      { groupId: 1, slot: 1, taskId: ids[3] },
      { groupId: 1, slot: 2, taskId: ids[1] },
      { groupId: 1, slot: 3, taskId: ids[4] },
    ]);
  });

  test("P4: a strict group's retry keeps its slot, so nobody overtakes it", async () => {
    const name = await define(store, { limit: 4, groupStrict: true });
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    const worker = await startWorker(store, name, { want: 4 });
    await worker.fail([await worker.claimOne()], { retryInMs: 1_000 });
    expect((await worker.work({ want: 1 })).status).toBe("none");
    nowMs += 1_000;
    expect(idsOf(await worker.claim(4))).toEqual([ids[0]]);
    await expectSound();
  });

  test("S1.4: otherwise the retry leaves its slot to the next and queues again by its old id", async () => {
    const name = await define(store, { limit: 4 });
    const [first, second, third] = await enqueue(
      store,
      name,
      Array.from({ length: 3 }, () => ({ group: "g" })),
    );
    const worker = await startWorker(store, name, { want: 4 });
    await worker.fail([await worker.claimOne()], { retryInMs: 1_000 });
    const next = await worker.claimOne();
    expect(next.taskId).toBe(second);
    nowMs += 1_000;
    await store.promoteScheduled({ name, most: 10 });
    expect(store.inspect().places).toEqual({
      1: ["group_waiting"],
      2: ["claimed"],
      3: ["group_waiting"],
    });
    expect(idsOf((await worker.complete([next], 4)).claimed)).toEqual([first]);
    expect(await stateOf(store, asTaskId(String(third)))).toBe("waiting");
  });

  test("design 10.5: a global group excludes tasks of several definitions and tells whom it woke", async () => {
    const one = await define(store);
    const two = await define(store);
    await enqueue(store, one, [{ group: "g", groupScope: "global" }]);
    await enqueue(store, two, [{ group: "g", groupScope: "global" }, { group: "g" }]);
    expect(await statusOf(store, two)).toMatchObject({ ready: 1, waiting: 1 });
    const worker = await startWorker(store, one);
    expect((await worker.complete([await worker.claimOne()])).woken).toEqual([two]);
    expect(await statusOf(store, two)).toMatchObject({ ready: 2, waiting: 0 });
  });

  test("S1.10: a reclaimed task keeps its slot, a dead one hands it over", async () => {
    const name = await define(store, { maxLost: 1 });
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    await lose(name, 1);
    expect(store.inspect().places).toMatchObject({ 1: ["ready"], 2: ["group_waiting"] });
    await lose(name, 1);
    expect(await stateOf(store, at(ids, 0))).toBe("dead");
    expect(await stateOf(store, at(ids, 1))).toBe("ready");
    await expectSound();
  });
});

describe("Enqueue", () => {
  test("Q1: a key is held until its task ends, or for its window and not a millisecond less", async () => {
    const name = await define(store);
    const [first, again, other] = await enqueue(store, name, [
      { dedupeKey: "k" },
      { dedupeKey: "k" },
      { dedupeKey: "w", dedupeMs: 1_000 },
    ]);
    expect(again).toBe(first);
    const worker = await startWorker(store, name);
    await worker.complete(await worker.claim(2));
    expect(await enqueueOne(store, name, { dedupeKey: "k" })).not.toBe(first);
    nowMs += 1_000;
    expect(await enqueueOne(store, name, { dedupeKey: "w" })).toBe(other);
    nowMs += 1;
    expect(await enqueueOne(store, name, { dedupeKey: "w" })).not.toBe(other);
    await expectSound();
  });

  test("Q1: a task whose window has passed doesn't free the key of its successor", async () => {
    const name = await define(store, { limit: 4 });
    await enqueueOne(store, name, { dedupeKey: "w", dedupeMs: 1 });
    nowMs += 2;
    const heir = await enqueueOne(store, name, { dedupeKey: "w" });
    const worker = await startWorker(store, name);
    await worker.complete([await worker.claimOne()]);
    expect(await enqueueOne(store, name, { dedupeKey: "w" })).toBe(heir);
  });

  test("P6: the same operation id answers the first call's ids and adds nothing", async () => {
    const name = await define(store);
    const input = { name, build: 1, operationId: operationId(), tasks: [{ payload: "{}" }] };
    expect(await store.enqueueTasks(input)).toEqual(await store.enqueueTasks(input));
    expect(await statusOf(store, name)).toMatchObject({ ready: 1 });
  });
});

describe("Transactions", () => {
  test("Q2: tasks exist when the transaction commits, and never when its body throws", async () => {
    const name = await define(store);
    const input = { name, build: 1, operationId: null, tasks: [{ payload: null }] };
    await store.transaction(async (within) => {
      await store.enqueueTasks(input, within);
      expect(await statusOf(store, name)).toMatchObject({ ready: 0 });
    });
    const failed = store.transaction(async (within) => {
      await store.enqueueTasks(input, within);
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    expect(await statusOf(store, name)).toMatchObject({ ready: 1 });
    // Ids of the one that was undone are a gap, as after a rollback in SQL.
    expect(await enqueueOne(store, name)).toBe("3");
  });

  test("design 10.16: grouped tasks enter as due now; promotion makes the group and admits in order", async () => {
    const name = await define(store, { limit: 4 });
    await store.transaction((within) =>
      store.enqueueTasks(
        {
          name,
          build: 1,
          operationId: null,
          tasks: [
            { payload: null, group: "g" },
            { payload: null, group: "g", priority: 1 },
            { payload: null },
          ],
        },
        within,
      ),
    );
    expect(store.inspect().state.groups.size).toBe(0);
    expect(store.inspect().places).toEqual({ 1: ["scheduled"], 2: ["scheduled"], 3: ["ready"] });
    expect(await store.promoteScheduled({ name, most: 10 })).toMatchObject({ promoted: 2 });
    expect(store.inspect().places).toEqual({ 1: ["group_waiting"], 2: ["ready"], 3: ["ready"] });
    await expectSound();
  });

  test("design 10.15: a completion takes effect with the commit, and others go on meanwhile", async () => {
    const name = await define(store, { limit: 2 });
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const task = await worker.claimOne();
    const input = { ...done(task), executionId: worker.executionId };
    await store.transaction(async (within) => {
      expect(await store.completeTask(input, within)).toEqual({ status: "done", woken: [] });
      expect(await worker.claim(1)).toHaveLength(1);
      expect(await stateOf(store, task.taskId)).toBe("claimed");
      nowMs += 5;
    });
    expect(await factsOf(store, task.taskId)).toMatchObject({ state: "done", durationMs: 5 });
    expect((await store.completeTask(input)).status).toBe("again");
    await expectSound();
  });

  test("a transaction whose answers have become wrong loses, and nothing of it happens", async () => {
    const name = await define(store);
    const tasks = [{ payload: null, dedupeKey: "k" }];
    const lost = store.transaction(async (within) => {
      await store.enqueueTasks({ name, build: 1, operationId: null, tasks }, within);
      await enqueueOne(store, name, { dedupeKey: "k" });
    });
    await expect(lost).rejects.toThrow(StoreConflictError);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1 });
  });

  test("a call that threw dooms the transaction, and an ended one takes no calls", async () => {
    const name = await define(store);
    const good = { name, build: 1, operationId: null, tasks: [{ payload: null }] };
    let kept: Parameters<Parameters<typeof store.transaction>[0]>[0] | undefined;
    const doomed = store.transaction(async (within) => {
      kept = within;
      await store.enqueueTasks(good, within);
      await store.enqueueTasks({ ...good, name: "nobody" }, within).catch(() => undefined);
    });
    await expectError(doomed, { code: "TASKGATE_ARG_UNKNOWN", field: "name", value: "nobody" });
    await expectError(store.enqueueTasks(good, kept), { code: "TASKGATE_STORE_CONTEXT" });
    expect(await statusOf(store, name)).toMatchObject({ ready: 0 });
  });

  test("a foreign transaction and SQL are refused", async () => {
    const name = await define(store);
    const input = { name, build: 1, operationId: null, tasks: [{ payload: null }] };
    const foreign = { dialect: "postgres", query: () => Promise.resolve([]) } as const;
    await expectError(store.enqueueTasks(input, foreign), { code: "TASKGATE_ARG_INVALID" });
    const asked = store.transaction((within) => within.query("select 1"));
    await expect(asked).rejects.toThrow("the model store has no SQL");
  });
});

describe("Registration and invariants", () => {
  test("design 10.3: an older build changes nothing, the operator's limit outlives a release", async () => {
    const name = await define(store, { limit: 1 });
    await setLimit(store, name, 3);
    const newer = registration({ name, build: 2, settingsHash: "hash-2", settings: { limit: 2 } });
    expect((await store.registerDefinition(newer)).status).toBe("updated");
    expect((await store.registerDefinition({ ...newer, build: 1 })).status).toBe("outdated");
    expect(await statusOf(store, name)).toMatchObject({ limit: 3, codeLimit: 2, build: 2 });
    expect(tokens(name)).toHaveLength(3);
    expect(await tryStart(store, name)).toBe("started");
    const asks = startInput(name, { build: 3 });
    expect((await store.startExecution(asks)).status).toBe("outdated");
  });

  test("V4: planted faults are found under the names of the SQL's rules", async () => {
    const name = await define(store, { limit: 1, spareMax: 0 });
    const [first, second] = await enqueue(store, name, [{ group: "g", dedupeKey: "k" }, {}]);
    const worker = await startWorker(store, name);
    await worker.claimOne();
    store.damage((state) => {
      state.ready = [];
      state.groupSlots = [];
      state.dedupe.set("9/x", {
        definitionId: 9,
        dedupeKey: "x",
        taskId: asTaskId("99"),
        expiresAtMs: null,
      });
      const execution = state.executions.get(asExecutionId("1"));
      if (execution !== undefined) execution.tokenCount = 0;
    });
    expect((await store.checkInvariants()).findings).toEqual([
      {
        rule: "P3 each unfinished task stands in exactly one place",
        key: second,
        detail: "nowhere",
      },
      {
        rule: "P1 tokens held equal tokens counted",
        key: "1",
        detail: "1 in the string, 0 counted",
      },
      {
        rule: "P1 a grouped task in ready or claimed holds one slot",
        key: first,
        detail: "claimed, 0 slots",
      },
      {
        rule: "P6 a key without a window belongs to an unfinished task",
        key: "9/x",
        detail: "99",
      },
    ]);
  });
});

function workInput(executionId: ReturnType<typeof asExecutionId>) {
  return { executionId, callNumber: 1, done: [], started: [], want: 0 };
}
