import { beforeEach, describe, expect, test } from "@jest/globals";
import type { Client } from "pg";
import type { TaskId } from "../../shared/core/ids";
import type { ClaimedTask, TaskStore } from "../../shared/ports/task-store";
import { seededRandom } from "../../shared/testing/seeded-random";
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
  testSeed,
  tryStart,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { claimRaw, definitionId, plantFunction } from "../support/contention";
import { useContention } from "../support/use-contention";
import { openPlainStore } from "../support/postgres-setup";
import { within } from "../support/gate";
import { atOnce, runCycles } from "../support/mixed-load";
import type { Mix } from "../support/mixed-load";
import { fewOf, isWhole } from "../support/whole";

/**
 * Real concurrency on PostgreSQL: many connections and several stores at once, raw connections that hold locks while
 * others act. Each test has a database of its own. The controls plant a fault and must see the test's evidence fail.
 */
let isDamaged = false;
const scene = useContention(() => isDamaged);

beforeEach(() => {
  isDamaged = false;
});

/** Tasks that many drain at once. */
const backlog = isWhole ? 10_000 : 4_000;

describe("claims by many at once", () => {
  test("32 connections drain thousands of tasks, each once (S2.1, S2.12, S3.2)", async () => {
    const stores = Array.from({ length: 4 }, () => scene.openStore(8));
    const name = await define(at(stores, 0), { limit: 1_000, prefetchMax: 1 });
    const ids = await enqueue(at(stores, 0), name, backlog);
    const seed = testSeed();
    // One after the other, as at the end: 32 that queue for one row on a busy machine would give up, which is no matter of claims.
    const workers: Worker[] = [];
    for (let index = 0; index < 32; index += 1) {
      workers.push(await startWorker(at(stores, index % 4), name, { want: 20 }));
    }
    const claims = await atOnce(32, async (index) => {
      const random = seededRandom(seed + index);
      const worker = at(workers, index);
      const mine: TaskId[] = [];
      for (let held = await worker.claim(20); held.length > 0;) {
        mine.push(...idsOf(held));
        const want = 1 + Math.floor(random() * 40);
        held = (await worker.complete(held, want)).claimed;
      }
      return mine;
    });
    for (const worker of workers) await worker.finish();
    const all = claims.flat();
    expect({ seed, count: all.length }).toEqual({ seed, count: backlog });
    expect(new Set(all)).toEqual(new Set(ids));
    expect(claims.filter((mine) => mine.length > 0).length).toBeGreaterThan(1);
    expect(await statusOf(at(stores, 0), name)).toMatchObject({
      done: backlog,
      ready: 0,
      claimed: 0,
    });
  });

  test("a claim returns at once with the rest while another one's transaction stays open (S1.6)", async () => {
    const store = scene.openStore(2);
    const name = await define(store, { limit: 12, prefetchMax: 0 });
    const ids = await enqueue(store, name, 12);
    const first = await startWorker(store, name, { want: 6 });
    const second = await startWorker(store, name, { want: 6 });
    const gate = await scene.connect("worker");
    await gate.query("begin");
    const call = { executionId: first.executionId, callNumber: 1, want: 6 };
    expect(await claimRaw(gate, call)).toEqual(ids.slice(0, 6));
    expect(idsOf(await within(500, second.claim(6)))).toEqual(ids.slice(6));
    expect(await scene.countWaiting()).toBe(0);
    await gate.query("commit");
  });

  test("a claim with groups returns at once: 10 and 12 of the source text's data while 1,2,3,4,6,8 are held open (S1.6)", async () => {
    const store = scene.openStore(2);
    const name = await define(store, { limit: 12, prefetchMax: 0 });
    const groups = ["1", null, "3", null, "1", null, "3", null, "1", null, "3", null];
    const ids = await enqueue(
      store,
      name,
      groups.map((group) => (group === null ? {} : { group })),
    );
    const first = await startWorker(store, name, { want: 6 });
    const second = await startWorker(store, name, { want: 6 });
    const gate = await scene.connect("worker");
    await gate.query("begin");
    const claimed = await claimRaw(gate, {
      executionId: first.executionId,
      callNumber: 1,
      want: 6,
    });
    expect(claimed).toEqual([0, 1, 2, 3, 5, 7].map((index) => at(ids, index)));
    expect(idsOf(await within(500, second.claim(6)))).toEqual([at(ids, 9), at(ids, 11)]);
    await gate.query("commit");
  });

  test("a claim that is rolled back leaves its tasks for the next one, in order (S1.11)", async () => {
    const store = scene.openStore(2);
    const name = await define(store, { limit: 12 });
    const ids = await enqueue(store, name, 4);
    const first = await startWorker(store, name, { want: 2 });
    const second = await startWorker(store, name, { want: 4 });
    const gate = await scene.connect("worker");
    await gate.query("begin");
    await claimRaw(gate, { executionId: first.executionId, callNumber: 1, want: 2 });
    await gate.query("rollback");
    expect(idsOf(await within(500, second.claim(4)))).toEqual(ids);
  });

  test("a claim takes the next tasks at once with n rows locked; an empty answer says that all are locked (S2.4, S2.5)", async () => {
    const store = scene.openStore(2);
    const name = await define(store, { limit: 10 });
    const ids = await enqueue(store, name, 5);
    const worker = await startWorker(store, name, { want: 10 });
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query(
      "select 1 from taskgate.ready order by priority, rank, task_id limit 3 for update",
    );
    expect(idsOf(await within(500, worker.claim(1)))).toEqual(ids.slice(3, 4));
    await gate.query("select 1 from taskgate.ready order by priority, rank, task_id for update");
    expect(await within(500, worker.claim(5))).toEqual([]);
    await gate.query("rollback");
    expect(idsOf(await worker.claim(5))).toEqual([...ids.slice(0, 3), ...ids.slice(4)]);
  });
});

/** 30 starters, each so many times: start, note, note back, finish. The most tokens that were ever in use. */
async function contendForTokens(limit: number, rounds: number): Promise<number> {
  const stores = Array.from({ length: 3 }, () => scene.openStore(10));
  const name = await define(at(stores, 0), { limit });
  await atOnce(30, async (index) => {
    const store = at(stores, index % 3);
    for (let round = 0; round < rounds; round += 1) {
      const want = 1 + ((index + round) % 3);
      const { executionId, tokens } = await store.startExecution(startInput(name, { want }));
      if (executionId === null) continue;
      await scene.note([name], tokens);
      await scene.note([name], -tokens);
      await store.finishExecution({ executionId });
    }
  });
  return (await scene.mostInUse()).get(name) ?? 0;
}

describe("tokens among many starters", () => {
  for (const limit of fewOf([2, 1, 5])) {
    test(`the tokens of 30 starters on 30 connections never exceed limit ${String(limit)} (S0.1)`, async () => {
      // Whether two run at a time is chance, on a busy computer and on a fast one: one crowd may miss each other, five don't.
      let max = 0;
      for (let crowd = 0; crowd < 5 && max < Math.min(limit, 2); crowd += 1) {
        max = await contendForTokens(limit, 8);
        expect(max).toBeLessThanOrEqual(limit);
      }
      expect(max).toBeGreaterThanOrEqual(Math.min(limit, 2));
    });
  }

  test("the same evidence shows more than the limit in the control without the row's lock", async () => {
    isDamaged = true;
    await plantFunction(scene.client, "_settle_tokens", [
      { from: /perform pg_advisory_xact_lock\(42, p_task_definition_id\);/, to: "" },
      {
        from: /update task_definition set hold_lock_task_execution_id = p_task_execution_id\s+where task_definition_id = p_task_definition_id\s+returning (.*) into d;/,
        to: "select $1 into d from task_definition where task_definition_id = p_task_definition_id; perform pg_sleep(0.002);",
      },
    ]);
    // Two starters must meet within 2 ms: one crowd may miss each other, five don't.
    let max = 0;
    for (let crowd = 0; crowd < 5 && max <= 2; crowd += 1) max = await contendForTokens(2, 8);
    expect(max).toBeGreaterThan(2);
  });

  test("the tokens never exceed the greatest limit in force while the limit changes under load (S0.3 to S0.6)", async () => {
    const stores = Array.from({ length: 3 }, () => scene.openStore(8));
    const name = await define(at(stores, 0), { limit: 3 });
    const load = { isOver: false };
    const starters = atOnce(20, async (index) => {
      const store = at(stores, index % 3);
      for (let round = 0; round < 15; round += 1) {
        const { executionId, tokens } = await store.startExecution(startInput(name, { want: 2 }));
        if (executionId === null) continue;
        await scene.note([name], tokens);
        await scene.note([name], -tokens);
        await store.finishExecution({ executionId });
      }
    }).finally(() => {
      load.isOver = true;
    });
    for (let change = 0; !load.isOver; change += 1) {
      await setLimit(at(stores, 0), name, at([4, 1, 2, 0, 3], change % 5));
    }
    await starters;
    expect((await scene.mostInUse()).get(name) ?? 0).toBeLessThanOrEqual(4);
    await setLimit(at(stores, 0), name, 2);
    expect((await startWorker(at(stores, 0), name, { want: 9 })).answer.tokens).toBe(2);
  });

  test("ten first registrations from ten processes make one row", async () => {
    const input = registration();
    const answers = await atOnce(10, () => scene.openStore(1).registerDefinition(input));
    expect(new Set(answers.map((answer) => answer.taskDefinitionId)).size).toBe(1);
    expect(answers.filter((answer) => answer.status === "created")).toHaveLength(1);
  });
});

/** Lines up askers behind the locked row in a known order; the order in which they were served. */
async function serveInOrder(store: TaskStore, gate: Client, count: number): Promise<number[]> {
  const name = await define(store, { limit: count });
  const row = await definitionId(scene.client, name);
  await gate.query("begin");
  await gate.query(
    "update taskgate.task_definition set hold_lock_task_execution_id = 0 where task_definition_id = $1",
    [row],
  );
  const askers: Promise<{ index: number; fence: bigint }>[] = [];
  for (let index = 0; index < count; index += 1) {
    askers.push(
      store
        .startExecution(startInput(name))
        .then((answer) => ({ index, fence: BigInt(answer.tokenFence ?? "0") })),
    );
    await scene.untilWaiting(index + 1);
  }
  await gate.query("commit");
  const served = await Promise.all(askers);
  return served.sort((a, b) => Number(a.fence - b.fence)).map((asker) => asker.index);
}

describe("the token row", () => {
  test("the askers of a token are served in the order of their arrival, 20 rounds (S0.11)", async () => {
    const store = scene.openStore(10);
    const gate = await scene.connect();
    for (let round = 0; round < 20; round += 1) {
      expect({ round, order: await serveInOrder(store, gate, 6) }).toEqual({
        round,
        order: [0, 1, 2, 3, 4, 5],
      });
    }
  });

  test("the order is lost in the control without the advisory lock in front of the row", async () => {
    await plantFunction(scene.client, "_settle_tokens", [
      { from: /perform pg_advisory_xact_lock\(42, p_task_definition_id\);/, to: "" },
    ]);
    const store = scene.openStore(10);
    const gate = await scene.connect();
    const orders: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      orders.push((await serveInOrder(store, gate, 6)).join(""));
    }
    expect(orders.filter((order) => order !== "012345")).not.toHaveLength(0);
  });

  test("a definition starts at once while another one's row is locked (S0.14)", async () => {
    const store = scene.openStore(3);
    const locked = await define(store);
    const other = await define(store);
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query("select 1 from taskgate.task_definition where name = $1 for update", [locked]);
    expect(await within(500, tryStart(store, other))).toBe("started");
    await gate.query("rollback");
  });

  test("a denial on a full limit waits for no lock", async () => {
    const store = scene.openStore(3);
    const name = await define(store, { limit: 1 });
    const holder = await startWorker(store, name);
    await store.releaseTokens({ executionId: holder.executionId, keep: 1 });
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query("select 1 from taskgate.task_definition where name = $1 for update", [name]);
    for (let ask = 0; ask < 100; ask += 1) {
      expect(await within(500, tryStart(store, name))).toBe("limited");
    }
    await gate.query("rollback");
    await holder.finish();
    expect(await tryStart(store, name)).toBe("started");
  });

  test("work, heartbeat, enqueue and fail never wait for the token row", async () => {
    const store = scene.openStore(3);
    const name = await define(store, { limit: 4 });
    await enqueue(store, name, [{}, {}, { group: "g" }]);
    const worker = await startWorker(store, name, { want: 3 });
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query("select 1 from taskgate.task_definition where name = $1 for update", [name]);
    const [first, second, third] = await within(500, worker.claim(3));
    if (!first || !second || !third) throw new Error("three tasks expected");
    await within(500, worker.complete([first], 1));
    await within(500, worker.fail([second]));
    await within(500, worker.beat());
    await within(500, enqueue(store, name, 1));
    await within(500, store.completeTask({ executionId: worker.executionId, ...done(third) }));
    await gate.query("rollback");
    expect(await statusOf(store, name)).toMatchObject({ done: 2, scheduled: 1, ready: 1 });
  });

  test("an asker whose connection is killed while it waits leaves nothing behind (S0.19)", async () => {
    const store = scene.openStore(3);
    const name = await define(store, { limit: 1 });
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query("select 1 from taskgate.task_definition where name = $1 for update", [name]);
    const victim = await scene.connect("worker");
    const { rows } = await victim.query<{ pid: number }>("select pg_backend_pid() as pid");
    const killed = victim.query(
      "select * from taskgate.start_execution($1, $2, 'w', 1, 'hash-1', 1, false)",
      [name, operationId()],
    );
    killed.catch(() => undefined);
    await scene.untilWaiting(1);
    await scene.client.query("select pg_terminate_backend($1)", [at(rows, 0).pid]);
    await expect(killed).rejects.toThrow();
    await gate.query("rollback");
    expect(await statusOf(store, name)).toMatchObject({ held: 0, executions: 0 });
    expect(await tryStart(store, name)).toBe("started");
    expect(await tryStart(store, name)).toBe("limited");
  });

  test.each([
    ["a start", "start_execution($1, $2, 'w', 1, 'hash-1', 1, false)"],
    ["a return", "release_tokens($1, 0)"],
    ["an end", "finish_execution($1)"],
  ])(
    "%s whose connection is killed before its commit leaves the row free and the tokens as they were (S0.19)",
    async (_, call) => {
      const store = scene.openStore(3);
      const name = await define(store, { limit: 2 });
      const holder = await startWorker(store, name);
      const subject = call.startsWith("start") ? name : holder.number;
      const before = await scene.client.query(
        "select execution_tokens from taskgate.task_definition",
      );
      const victim = await scene.connect("worker");
      await victim.query("begin");
      const { rows } = await victim.query<{ pid: number }>("select pg_backend_pid() as pid");
      const values = call.includes("$2") ? [subject, operationId()] : [subject];
      await scene.client.query("grant select on taskgate.task_definition to taskgate_worker");
      await victim.query(`select * from taskgate.${call}`, values);
      const written = await victim.query("select execution_tokens from taskgate.task_definition");
      expect(written.rows).not.toEqual(before.rows);
      victim.on("error", () => undefined);
      await scene.client.query("select pg_terminate_backend($1)", [at(rows, 0).pid]);
      await within(2_000, holder.beat());
      const after = await scene.client.query(
        "select execution_tokens from taskgate.task_definition",
      );
      expect(after.rows).toEqual(before.rows);
      expect(await tryStart(store, name)).toBe("started");
      expect(await tryStart(store, name)).toBe("limited");
    },
  );

  test("an asker never waits for a live holder's call in flight", async () => {
    const store = scene.openStore(3);
    const name = await define(store, { limit: 2, leaseMs: 10_000 });
    const busy = await startWorker(store, name);
    await startWorker(store, name);
    await scene.advance(10_001);
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query(
      "select 1 from taskgate.task_execution where task_execution_id = $1 for update",
      [busy.number],
    );
    const answer = await within(500, store.startExecution(startInput(name, { want: 2 })));
    expect(answer).toMatchObject({ status: "started", tokens: 1, deadHolders: 1 });
    await gate.query("rollback");
    expect((await busy.beat()).status).toBe("renewed");
  });
});

describe("a store", () => {
  test("close waits at most 5 s for calls in flight", async () => {
    const store = scene.openStore(3);
    const name = await define(store);
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query("select 1 from taskgate.task_definition where name = $1 for update", [name]);
    const inFlight = store.startExecution(startInput(name));
    inFlight.catch(() => undefined);
    await scene.untilWaiting(1);
    try {
      await within(6_000, store.close());
    } finally {
      await gate.query("rollback");
    }
    await inFlight.catch(() => undefined);
  });

  test("close lets calls in flight end", async () => {
    const store = openPlainStore(scene.url, 3);
    const name = await define(store, { limit: 10 });
    const calls = atOnce(3, () => startWorker(store, name));
    await within(6_000, store.close());
    expect(await calls).toHaveLength(3);
  });
});

describe("no deadlock", () => {
  const cycles = isWhole ? 100 : 50;

  test("the calls of 15 connections make no deadlock amid heartbeats, limit changes, reclaims and enqueues (S0.12, S1.8)", async () => {
    const stores = [scene.openStore(8), scene.openStore(7), scene.openStore(6)];
    const seed = testSeed();
    const name = await define(at(stores, 0), {
      limit: 6,
      leaseMs: 10_000,
      retryAttempts: 4,
      lostMax: 2,
    });
    const advance = (ms: number): Promise<void> => scene.advance(ms);
    const mix: Mix = { stores, name, seed, open: new Set(), cycles, advance };
    try {
      await atOnce(15, (index) => runCycles(mix, index));
    } catch (error) {
      throw new Error(`seed ${String(seed)}`, { cause: error });
    }
    await scene.client.query("select pg_stat_clear_snapshot()");
    expect({ seed, deadlocks: await scene.countDeadlocks() }).toEqual({ seed, deadlocks: 0 });
    const { done: ended, dead } = await statusOf(at(stores, 0), name);
    expect(ended + dead).toBeGreaterThan(100);
  }, 60_000);

  test("a deadlock of the control reaches the test, and the counter counts it", async () => {
    await scene.client.query(
      "create table public.pair (id int primary key); insert into public.pair values (1), (2)",
    );
    const lock = async (client: Client, id: number): Promise<void> => {
      await client.query("select 1 from public.pair where id = $1 for update", [id]);
    };
    const clients = [await scene.connect(), await scene.connect()];
    const [one, two] = clients;
    if (!one || !two) throw new Error("two connections expected");
    for (const client of clients) {
      await client.query("begin");
      await client.query("set local deadlock_timeout = '50ms'");
    }
    await lock(one, 1);
    await lock(two, 2);
    const results = await Promise.allSettled([lock(one, 2), lock(two, 1)]);
    const codes = results.map((result) =>
      result.status === "rejected" ? (result.reason as { code?: string }).code : "fine",
    );
    expect(codes.sort()).toEqual(["40P01", "fine"]);
    for (const client of clients) await client.query("rollback");
    await scene.untilWaiting(0);
    const stores = scene.openStore(1);
    await expect(stores.sweep({ max: 1 })).resolves.toBeDefined();
    for (const client of clients) await client.query("select pg_stat_force_next_flush()");
    await scene.client.query("select pg_stat_clear_snapshot()");
    expect(await scene.countDeadlocks()).toBe(1);
  });
});

/** Claims, notes each task's group in use, ends it in some way. */
async function runGroupAgent(
  worker: Worker,
  groupOf: ReadonlyMap<TaskId, string>,
  random: () => number,
): Promise<void> {
  let idle = 0;
  let held: ClaimedTask[] = [];
  const keysOf = (tasks: readonly ClaimedTask[]): string[] =>
    tasks.map((task) => groupOf.get(task.taskId) ?? "");
  while (idle < 3) {
    const answer = await worker.complete(held, 1 + Math.floor(random() * 5));
    expect(answer.refused).toEqual([]);
    idle = answer.claimed.length === 0 ? idle + 1 : 0;
    await scene.note(keysOf(answer.claimed), 1);
    await worker.beat();
    await scene.note(keysOf(answer.claimed), -1);
    const failed = answer.claimed.filter(() => random() < 0.1);
    if (failed.length > 0) await worker.fail(failed, { retryInMs: 0 });
    held = answer.claimed.filter((task) => !failed.includes(task));
  }
  await worker.finish();
}

describe("groups among many agents", () => {
  for (const slots of fewOf([3, 1])) {
    test(`the claims of 20 agents never exceed ${String(slots)} slots of a group among 50 groups, and no call fails (S1.3, S1.7, S1.8)`, async () => {
      const stores = [scene.openStore(10), scene.openStore(10)];
      const seed = testSeed();
      const name = await define(at(stores, 0), {
        limit: 200,
        groupSlots: slots,
        retryAttempts: 50,
      });
      const groups = Array.from(
        { length: 600 },
        (_, index) => `g${String(Math.floor(index / 12))}`,
      );
      const ids = await enqueue(
        at(stores, 0),
        name,
        groups.map((group) => ({ group })),
      );
      const groupOf = new Map(ids.map((id, index) => [id, at(groups, index)]));
      await atOnce(20, async (index) => {
        const worker = await startWorker(at(stores, index % 2), name, { want: 5 });
        await runGroupAgent(worker, groupOf, seededRandom(seed + index));
      });
      const last = await startWorker(at(stores, 0), name, { want: 100 });
      for (let rest = await last.claim(100); rest.length > 0;) {
        rest = (await last.complete(rest, 100)).claimed;
      }
      const max = await scene.mostInUse();
      expect(max.size).toBe(50);
      expect({ seed, max: Math.max(...max.values()) }).toEqual({ seed, max: slots });
      expect((await statusOf(at(stores, 0), name)).done).toBe(600);
    });
  }

  test("the last two of a group end at once: both successors are ready, none waits for ever", async () => {
    const store = scene.openStore(6);
    const name = await define(store, { limit: 20, groupSlots: 2 });
    for (let round = 0; round < 40; round += 1) {
      const group = `g${String(round)}`;
      const ids = await enqueue(store, name, [{ group }, { group }, { group }, { group }]);
      const [one, two] = await atOnce(2, () => startWorker(store, name));
      if (!one || !two) throw new Error("two workers expected");
      const first = await one.claim(1);
      const second = await two.claim(1);
      const [late] = await Promise.all([
        enqueueOne(store, name, { group }),
        one.complete(first),
        two.complete(second),
      ]);
      const states: string[] = [];
      for (const id of [...ids.slice(2), late]) states.push(await stateOf(store, id));
      expect({ round, states }).toEqual({ round, states: ["ready", "ready", "waiting"] });
      const rest = await startWorker(store, name, { want: 5 });
      for (let held = await rest.claim(5); held.length > 0;)
        held = (await rest.complete(held, 5)).claimed;
      await Promise.all([one.finish(), two.finish(), rest.finish()]);
    }
  });

  test("a completion held open: the other completion and an enqueue wait for it, then all is in its place", async () => {
    const store = scene.openStore(4);
    const name = await define(store, { limit: 20, groupSlots: 2 });
    const ids = await enqueue(store, name, [
      { group: "g" },
      { group: "g" },
      { group: "g" },
      { group: "g" },
    ]);
    const one = await startWorker(store, name);
    const two = await startWorker(store, name);
    const [first] = await one.claim(1);
    const second = await two.claim(1);
    if (first === undefined) throw new Error("nothing claimed");
    const gate = await scene.connect("worker");
    await gate.query("begin");
    await gate.query("select * from taskgate.work($1, 2, array[$2::bigint], array[$3::bigint])", [
      one.number,
      first.taskId,
      first.fence,
    ]);
    const completion = two.complete(second);
    await scene.untilWaiting(1);
    const late = enqueueOne(store, name, { group: "g" });
    await scene.untilWaiting(2);
    await gate.query("commit");
    await completion;
    const states: string[] = [];
    for (const id of [...ids, await late]) states.push(await stateOf(store, id));
    expect(states).toEqual(["done", "done", "ready", "ready", "waiting"]);
  });
});

describe("enqueues at once", () => {
  test("ten connections that enqueue one key amid completions make one unfinished task per key, 30 rounds", async () => {
    const stores = Array.from({ length: 10 }, () => scene.openStore(1));
    const name = await define(at(stores, 0), { limit: 10 });
    const worker = await startWorker(at(stores, 0), name, { want: 5 });
    for (let round = 0; round < 30; round += 1) {
      const input = {
        name,
        build: 1,
        operationId: null,
        tasks: [{ payload: null, dedupeKey: "k" }],
      };
      const answers = await atOnce(10, (index) => at(stores, index).enqueueTasks(input));
      expect(new Set(answers.flatMap((answer) => answer.taskIds)).size).toBe(1);
      expect(answers.filter((answer) => answer.outcomes[0] === "enqueued")).toHaveLength(1);
      await worker.complete(await worker.claim(5));
    }
    expect(await statusOf(at(stores, 0), name)).toMatchObject({ done: 30, ready: 0 });
  });

  test("the enqueues of a key that race with its task's end never make two unfinished tasks", async () => {
    const stores = Array.from({ length: 4 }, () => scene.openStore(2));
    const name = await define(at(stores, 0), { limit: 10 });
    const worker = await startWorker(at(stores, 0), name, { want: 5 });
    await enqueue(at(stores, 0), name, [{ dedupeKey: "k" }]);
    for (let round = 0; round < 60; round += 1) {
      const claimed = await worker.claim(5);
      expect(claimed.length).toBeLessThanOrEqual(1);
      await Promise.all([
        worker.complete(claimed),
        ...stores.map((store) => enqueue(store, name, [{ dedupeKey: "k" }])),
      ]);
      const { ready } = await statusOf(at(stores, 0), name);
      expect(ready).toBeLessThanOrEqual(1);
      if (ready === 0) await enqueue(at(stores, 0), name, [{ dedupeKey: "k" }]);
    }
  });

  test("ten connections with one operation id enqueue once: the others wait for the first and get its ids", async () => {
    const stores = Array.from({ length: 10 }, () => scene.openStore(1));
    const name = await define(at(stores, 0));
    const tasks = Array.from({ length: 100 }, () => ({ payload: null }));
    const input = { name, build: 1, operationId: operationId(), tasks };
    const answers = await atOnce(10, (index) => at(stores, index).enqueueTasks(input));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect((await statusOf(at(stores, 0), name)).ready).toBe(100);
  });

  test("eight claimers promote 3,000 due tasks while claiming, each once", async () => {
    const stores = [scene.openStore(4), scene.openStore(4)];
    const name = await define(at(stores, 0), { limit: 1_000 });
    const ids = await enqueue(
      at(stores, 0),
      name,
      Array.from({ length: 3_000 }, () => ({ runInMs: 1_000 })),
    );
    await scene.advance(1_001);
    const claims = await atOnce(8, async (index) => {
      const worker = await startWorker(at(stores, index % 2), name, { want: 50 });
      const mine: TaskId[] = [];
      let held: ClaimedTask[] = [];
      for (let idle = 0; idle < 3; idle = held.length === 0 ? idle + 1 : 0) {
        held = (await worker.complete(held, 60)).claimed;
        mine.push(...idsOf(held));
      }
      await worker.finish();
      return mine;
    });
    expect(claims.flat()).toHaveLength(3_000);
    expect(new Set(claims.flat())).toEqual(new Set(ids));
  });
});

const racingCalls: {
  title: string;
  call: (worker: Worker, task: ClaimedTask) => Promise<string>;
  /** The word of the winner. */
  won: string;
  /** The task's states when the call won and when the reclaim won. */
  states: [won: string, lost: string];
}[] = [
  {
    title: "a completion",
    call: async (worker, task) => (await worker.complete([task])).status,
    won: "done",
    states: ["done", "ready"],
  },
  {
    title: "a heartbeat",
    call: async (worker) => (await worker.beat()).status,
    won: "renewed",
    states: ["claimed", "ready"],
  },
  {
    title: "a failure",
    call: async (worker, task) => (await worker.fail([task], { as: "dead" })).status,
    won: "done",
    states: ["dead", "ready"],
  },
  {
    title: "the worker's end",
    call: async (worker) => (await worker.finish()).status,
    won: "ended",
    states: ["ready", "ready"],
  },
];

describe("reclaim races", () => {
  for (const { title, call, won, states } of racingCalls) {
    test(`a reclaim against ${title} has exactly one winner, and the loser says so`, async () => {
      const store = scene.openStore(4);
      const name = await define(store, { limit: 100, leaseMs: 10_000, lostMax: 100 });
      for (let round = 0; round < 25; round += 1) {
        const worker = await startWorker(store, name);
        const taskId = await enqueueOne(store, name, { priority: -round });
        const task = await worker.claimOne();
        await scene.advance(10_001);
        const [heard] = await Promise.all([
          call(worker, task),
          store.reclaimExpired({ max: 1_000 }),
        ]);
        const { lostCount, state } = await factsOf(store, taskId);
        const hasWon = heard === won;
        expect({ round, heard, state, lostCount }).toEqual({
          round,
          heard: hasWon ? won : heard === "busy" ? "busy" : "fenced",
          state: hasWon ? states[0] : states[1],
          lostCount: hasWon ? 0 : 1,
        });
      }
    });
  }
});
