import { describe, expect, test } from "@jest/globals";
import type { Client } from "pg";
import type { EnqueueTasksAnswer, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  idsOf,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { plantFunction } from "../support/contention";
import { useContention } from "../support/use-contention";
import { within } from "../support/gate";

/**
 * Two calls that want each other's rows, in the one order of steps that would make a circle or lose a task. Connections
 * hold rows as gates, so each step is seen to wait before the next one is made. A deadlock fails the test: the stores
 * repeat nothing.
 */
const scene = useContention();

/** Enqueues on a connection of the test, inside its current transaction, if any. */
async function enqueueRaw(
  client: Client,
  name: string,
  call: { tasks: readonly object[]; joinsTransaction: boolean },
): Promise<void> {
  await client.query("select * from taskgate.enqueue_tasks($1, 1, $2, p_joins_transaction => $3)", [
    name,
    JSON.stringify(call.tasks),
    call.joinsTransaction,
  ]);
}

function enqueueKeys(
  store: TaskStore,
  name: string,
  keys: readonly string[],
): Promise<EnqueueTasksAnswer> {
  const tasks = keys.map((dedupeKey) => ({ payload: null, dedupeKey }));
  return store.enqueueTasks({ name, build: 1, operationId: null, tasks });
}

/** A definition with a claimed task of group `old`, and a due one whose group `new` is still to be made. */
async function setUpPendingGroup(store: TaskStore) {
  const name = await define(store, { limit: 5 });
  const [held, next] = await enqueue(store, name, [{ group: "old" }, { group: "old" }]);
  const worker = await startWorker(store, name);
  const claimed = await worker.claim(1);
  expect(idsOf(claimed)).toEqual([held]);
  const tasks = [{ payload: null, group: "new" }];
  const later = await store.transaction((transaction) =>
    store.enqueueTasks({ name, build: 1, operationId: null, tasks }, transaction),
  );
  const [pending] = later.taskIds;
  if (next === undefined || pending === undefined) throw new Error("two tasks expected");
  expect(await stateOf(store, pending)).toBe("scheduled");
  return { name, worker, claimed, next, pending };
}

describe("a group that is still to be made", () => {
  test("an enqueue that makes a group and waits for another one, whose task ends and then promotes, goes through with it (S1.8)", async () => {
    const store = scene.openStore(4);
    const { name, worker, claimed, next, pending } = await setUpPendingGroup(store);
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query("select 1 from taskgate.task_group where group_key = 'old' for update");
    const work = worker.complete(claimed, 1);
    work.catch(() => undefined);
    await scene.untilWaiting(1);
    const late = enqueue(store, name, [{ group: "new" }, { group: "old" }]);
    late.catch(() => undefined);
    await scene.untilWaiting(2);
    await gate.query("commit");

    const { claimed: taken } = await work;
    const [first, second] = await late;

    expect(idsOf(taken)).toEqual([next]);
    // What another was making is left for the next call, which finds the group.
    expect(await stateOf(store, pending)).toBe("scheduled");
    expect(await store.promoteScheduled({ name, max: 10 })).toMatchObject({ promoted: 1 });
    const states = [];
    for (const id of [first, second, pending]) states.push(await stateOf(store, id ?? pending));
    expect(states).toEqual(["ready", "waiting", "waiting"]);
  });

  test("work and promote_scheduled never wait for a transaction that is making it", async () => {
    const store = scene.openStore(4);
    const { name, worker, claimed, next, pending } = await setUpPendingGroup(store);
    const gate = await scene.connect("worker");
    await gate.query("begin");
    await enqueueRaw(gate, name, { tasks: [{ group: "new" }], joinsTransaction: false });

    const taken = await within(500, worker.complete(claimed, 1));
    const promotion = await within(500, store.promoteScheduled({ name, max: 10 }));

    expect(idsOf(taken.claimed)).toEqual([next]);
    expect(promotion).toMatchObject({ status: "none", promoted: 0, nextDueMs: 0 });
    await enqueueRaw(gate, name, { tasks: [{ group: "old" }], joinsTransaction: false });
    await gate.query("commit");
    expect(await store.promoteScheduled({ name, max: 10 })).toMatchObject({ promoted: 1 });
    expect(await stateOf(store, pending)).toBe("waiting");
  });

  test("an enqueue waits for the promotion that is making it, then finds it", async () => {
    const store = scene.openStore(4);
    const { name, pending } = await setUpPendingGroup(store);
    const gate = await scene.connect("worker");
    await gate.query("begin");
    await gate.query("select * from taskgate.promote_scheduled($1, 10)", [name]);
    const late = enqueueOne(store, name, { group: "new" });
    await scene.untilWaiting(1);
    await gate.query("commit");

    expect(await stateOf(store, await late)).toBe("waiting");
    expect(await stateOf(store, pending)).toBe("ready");
  });

  test("many new groups in one call take no more than a thousand locks of the server's shared table", async () => {
    const store = scene.openStore(2);
    const name = await define(store);
    const gate = await scene.connect("worker");
    await gate.query("begin");
    const tasks = Array.from({ length: 5_000 }, (_, index) => ({ group: `g${String(index)}` }));
    await enqueueRaw(gate, name, { tasks, joinsTransaction: false });
    const { rows } = await gate.query<{ n: number }>(
      "select count(*)::int as n from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
    );
    expect(at(rows, 0).n).toBeGreaterThan(900);
    expect(at(rows, 0).n).toBeLessThanOrEqual(1_000);
    await gate.query("commit");
    expect((await statusOf(store, name)).ready).toBe(5_000);
  });
});

describe("dedupe keys of two calls", () => {
  test("two calls, one before a key's end and one after it, make no circle, and each sees the key as of its time", async () => {
    const store = scene.openStore(4);
    const name = await define(store);
    await enqueueOne(store, name, { dedupeKey: "b", dedupeMs: 60_000 });
    const gate = await scene.connect("worker");
    await gate.query("begin");
    await enqueueRaw(gate, name, { tasks: [{ dedupeKey: "ab" }], joinsTransaction: true });
    const early = enqueueKeys(store, name, ["a", "ab", "b"]);
    early.catch(() => undefined);
    await scene.untilWaiting(1);
    await scene.advance(60_001);
    const late = enqueueKeys(store, name, ["a", "b"]);
    late.catch(() => undefined);
    await scene.untilWaiting(2);
    await gate.query("rollback");

    expect((await early).outcomes).toEqual(["enqueued", "enqueued", "duplicate"]);
    expect((await late).outcomes).toEqual(["duplicate", "enqueued"]);
  });

  test("a key that its task frees while another key is waited for: the keys are taken again in one order", async () => {
    const store = scene.openStore(4);
    const name = await define(store);
    await enqueue(store, name, [{ dedupeKey: "a" }]);
    const worker = await startWorker(store, name);
    const held = await worker.claim(1);
    const gate = await scene.connect("worker");
    await gate.query("begin");
    await enqueueRaw(gate, name, { tasks: [{ dedupeKey: "c" }], joinsTransaction: true });
    const first = enqueueKeys(store, name, ["a", "b", "c"]);
    first.catch(() => undefined);
    await scene.untilWaiting(1);
    await worker.complete(held);
    const second = enqueueKeys(store, name, ["a", "b"]);
    second.catch(() => undefined);
    await scene.untilWaiting(2);
    await gate.query("rollback");

    const taken = [...(await first).outcomes, ...(await second).outcomes];
    // Three keys and three tasks, in either order.
    expect(taken.filter((outcome) => outcome === "enqueued")).toHaveLength(3);
    expect((await statusOf(store, name)).ready).toBe(3);
  });

  test("many keys of which every other has expired: all replaced, in one call", async () => {
    const store = scene.openStore(2);
    const name = await define(store);
    const keys = Array.from({ length: 1_000 }, (_, index) => `k${String(index)}`);
    const odd = keys.filter((_, index) => index % 2 === 1);
    await enqueue(
      store,
      name,
      odd.map((dedupeKey) => ({ dedupeKey, dedupeMs: 1_000 })),
    );
    await scene.advance(1_001);
    const answer = await enqueueKeys(store, name, keys);
    expect(answer.outcomes).toEqual(keys.map(() => "enqueued"));
    expect((await statusOf(store, name)).ready).toBe(1_500);
  });
});

describe("a cancel request", () => {
  test("a cancel request that is committed while its task is given back isn't lost: the ready task says so when it is claimed", async () => {
    const store = scene.openStore(4);
    const name = await define(store);
    const [taskId] = await enqueue(store, name, [{}]);
    const worker = await startWorker(store, name);
    expect(await worker.claim(1)).toHaveLength(1);
    const gate = await scene.connect();
    await gate.query("select pg_advisory_lock(7, 7)");
    await plantFunction(scene.client, "_give_back", [
      { from: /insert into ready/, to: "perform pg_advisory_xact_lock(7, 7); insert into ready" },
    ]);
    const end = worker.finish();
    await scene.untilWaiting(1);
    await scene.client.query(
      "update taskgate.task set cancel_requested = true where task_id = $1",
      [taskId],
    );
    await gate.query("select pg_advisory_unlock(7, 7)");

    expect(await end).toMatchObject({ status: "ended", givenBack: 1 });
    if (taskId === undefined) throw new Error("one task expected");
    expect(await stateOf(store, taskId)).toBe("ready");
    const other = await startWorker(store, name);
    expect(await other.claim(1)).toMatchObject([{ taskId, isCancelRequested: true }]);
  });
});

describe("the owner of a definition", () => {
  test("an operator's first owner waits for another operator's, and answers with it as the old one", async () => {
    const store = scene.openStore(2);
    const name = await define(store);
    const gate = await scene.connect("operator");
    await gate.query("begin");
    await gate.query("select * from taskgate.set_definition_owner($1, 'one', 'an operator')", [
      name,
    ]);
    const later = store.setDefinitionOwner({ name, app: "two", changedBy: "an operator" });
    later.catch(() => undefined);
    await scene.untilWaiting(1);
    await gate.query("commit");

    expect(await later).toEqual({ status: "set", oldApp: "one", newApp: "two" });
  });
});
