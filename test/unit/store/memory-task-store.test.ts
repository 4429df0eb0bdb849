import { beforeEach, describe, expect, test } from "@jest/globals";
import { StoreConflictError } from "../../../shared/core/errors";
import { asExecutionNumber, asTaskId } from "../../../shared/core/ids";
import { parseTokens } from "../../../shared/core/token";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
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
 * The memory store's groups, enqueues, transactions and registration, where its state can be looked at.
 * That it equals SQL is for the contract suite to show; here the clock and chance are in hand.
 */

let nowMs: number;
let uuids: number;
let store: MemoryTaskStore;

beforeEach(() => {
  nowMs = Date.UTC(2026, 10, 21);
  uuids = 0;
  store = new MemoryTaskStore({
    clock: { now: () => nowMs },
    random: {
      uuid: () => {
        uuids += 1;
        return `00000000-0000-4000-8000-${String(uuids).padStart(12, "0")}`;
      },
      fraction: () => 0,
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

describe("Groups", () => {
  test("a group of one slot has one ready task, the rest waits, and the end of one opens the next (S1.3, S1.4)", async () => {
    const name = await define(store, { limit: 4 });
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }, { group: "g" }]);
    const worker = await startWorker(store, name, { want: 4 });
    const [task] = await worker.claim(4);
    expect(task?.taskId).toBe(ids[0]);
    expect((await worker.complete(task === undefined ? [] : [task], 4)).claimed).toHaveLength(1);
    expect(await statusOf(store, name)).toMatchObject({ waiting: 1, claimed: 1, ready: 0 });
    await expectSound();
  });

  test("freed slot numbers of a group of three are filled again, lowest first (S1.3)", async () => {
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

  test("a strict group's retry keeps its slot, so no other task overtakes it", async () => {
    const name = await define(store, { limit: 4, groupStrict: true });
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    const worker = await startWorker(store, name, { want: 4 });
    await worker.fail([await worker.claimOne()], { retryInMs: 1_000 });
    expect((await worker.work({ want: 1 })).status).toBe("none");
    nowMs += 1_000;
    expect(idsOf(await worker.claim(4))).toEqual([ids[0]]);
    await expectSound();
  });

  test("a retry of a group that isn't strict leaves its slot to the next and queues again by its old id (S1.4)", async () => {
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
    await store.promoteScheduled({ name, max: 10 });
    expect(store.inspect().places).toEqual({
      1: ["group_waiting"],
      2: ["claimed"],
      3: ["group_waiting"],
    });
    expect(idsOf((await worker.complete([next], 4)).claimed)).toEqual([first]);
    expect(await stateOf(store, asTaskId(String(third)))).toBe("waiting");
  });

  test("a global group excludes tasks of several definitions and tells whom it woke", async () => {
    const one = await define(store);
    const two = await define(store);
    await enqueue(store, one, [{ group: "g", groupScope: "global" }]);
    await enqueue(store, two, [{ group: "g", groupScope: "global" }, { group: "g" }]);
    expect(await statusOf(store, two)).toMatchObject({ ready: 1, waiting: 1 });
    const worker = await startWorker(store, one);
    expect((await worker.complete([await worker.claimOne()])).woken).toEqual([two]);
    expect(await statusOf(store, two)).toMatchObject({ ready: 2, waiting: 0 });
  });

  test("a reclaimed task keeps its slot, a dead one hands it over (S1.10)", async () => {
    const name = await define(store, { lostMax: 1 });
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
  test("a key is held until its task ends, or for its window and not a millisecond less", async () => {
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

  test("a task whose window has passed doesn't free the key of its successor", async () => {
    const name = await define(store, { limit: 4 });
    await enqueueOne(store, name, { dedupeKey: "w", dedupeMs: 1 });
    nowMs += 2;
    const heir = await enqueueOne(store, name, { dedupeKey: "w" });
    const worker = await startWorker(store, name);
    await worker.complete([await worker.claimOne()]);
    expect(await enqueueOne(store, name, { dedupeKey: "w" })).toBe(heir);
  });

  test("the same operation id answers the first call's ids and adds nothing", async () => {
    const name = await define(store);
    const input = { name, build: 1, operationId: operationId(), tasks: [{ payload: "{}" }] };
    expect(await store.enqueueTasks(input)).toEqual(await store.enqueueTasks(input));
    expect(await statusOf(store, name)).toMatchObject({ ready: 1 });
  });
});

describe("Transactions", () => {
  test("tasks exist when the transaction commits, and never when its body throws", async () => {
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

  test("grouped tasks enter as due now; promotion makes the group and admits in order", async () => {
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
    expect(await store.promoteScheduled({ name, max: 10 })).toMatchObject({ promoted: 2 });
    expect(store.inspect().places).toEqual({ 1: ["group_waiting"], 2: ["ready"], 3: ["ready"] });
    await expectSound();
  });

  test("a completion takes effect with the commit, and others go on meanwhile", async () => {
    const name = await define(store, { limit: 2 });
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const task = await worker.claimOne();
    const input = { ...done(task), executionId: worker.executionId };
    await store.transaction(async (within) => {
      expect(await store.completeTask(input, within)).toEqual({
        status: "done",
        woken: [],
        opening: [],
      });
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
    await expect(asked).rejects.toThrow("the memory store has no SQL");
  });
});

describe("Registration and invariants", () => {
  test("an older build changes nothing, the operator's limit outlives a release", async () => {
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

  test("planted faults are found under the names of the SQL's rules", async () => {
    const name = await define(store, { limit: 1, prefetchMax: 0 });
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
      const execution = state.executions.get(asExecutionNumber("1"));
      if (execution !== undefined) execution.tokenCount = 0;
    });
    expect((await store.checkInvariants()).findings).toEqual([
      {
        rule: "each unfinished task stands in exactly one place",
        key: second,
        detail: "nowhere",
      },
      {
        rule: "tokens held equal tokens counted",
        key: "1",
        detail: "1 in the string, 0 counted",
      },
      {
        rule: "a grouped task in ready or claimed holds one slot",
        key: first,
        detail: "claimed, 0 slots",
      },
      {
        rule: "a key without a window belongs to an unfinished task",
        key: "9/x",
        detail: "99",
      },
    ]);
  });
});
