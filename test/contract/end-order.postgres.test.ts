import { beforeEach, describe, expect, test } from "@jest/globals";
import type { Client } from "pg";
import type { ClaimedTask, TaskStore } from "../../shared/ports/task-store";
import { blocksRead } from "../support/blocks-read";
import { at, define, enqueue, startWorker } from "../support/builders";
import type { Worker } from "../support/builders";
import { definitionId } from "../support/contention";
import { useContention } from "../support/use-contention";

/**
 * In which order ending tasks lock their dedupe keys. A transaction holds one key; the locks of the ending call by the time it
 * waits for that one are read from outside: a reader that skips locked rows gets the keys that are still free.
 */
let isFilled = false;
const scene = useContention(() => isFilled);
beforeEach(() => {
  isFilled = false;
});

/** `k001` .. */
function keysUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `k${String(index + 1).padStart(3, "0")}`);
}

/** A transaction that holds one key's row until its commit. */
async function hold(key: string): Promise<Client> {
  const gate = await scene.connect();
  await gate.query("begin");
  await gate.query("select 1 from taskgate.dedupe where dedupe_key = $1 for update", [key]);
  return gate;
}

/** Free keys, in key order. */
async function freeKeys(): Promise<string[]> {
  const { rows } = await scene.client.query<{ key: string }>(
    "select k.dedupe_key as key from taskgate.dedupe k for update skip locked",
  );
  return rows.map(({ key }) => key).sort();
}

/** A worker that has claimed one task for each key, enqueued in this order: so it is the order of the tasks' ids. */
async function claimKeys(store: TaskStore, name: string, keys: readonly string[]) {
  await enqueue(
    store,
    name,
    keys.map((dedupeKey) => ({ dedupeKey })),
  );
  const worker = await startWorker(store, name, { want: keys.length });
  const claimed = await worker.claim(keys.length);
  expect(claimed).toHaveLength(keys.length);
  return { worker, claimed };
}

describe("tasks that end in one call lock their keys in key order", () => {
  test.each([3, 300])(
    "a call that ends %i done tasks, made in the opposite order, locks their keys in key order",
    async (count) => {
      const store = scene.openStore(2);
      const name = await define(store, { limit: count });
      const keys = keysUpTo(count);
      const { worker, claimed } = await claimKeys(store, name, keys.toReversed());
      const middle = Math.floor(count / 2);
      const gate = await hold(at(keys, middle));
      const end = worker.complete(claimed);
      end.catch(() => undefined);
      await scene.untilWaiting(1);

      expect(await freeKeys()).toEqual(keys.slice(middle + 1));

      await gate.query("commit");
      expect((await end).refused).toEqual([]);
      expect(await freeKeys()).toEqual([]);
    },
  );

  test("the loss of tasks of two definitions locks the definition before the key", async () => {
    const store = scene.openStore(2);
    const [first, second] = [
      await define(store, { lostMax: 0 }),
      await define(store, { lostMax: 0 }),
    ];
    // Tasks and keys of the second one come before those of the first.
    await claimKeys(store, second, ["k2", "k1"]);
    await claimKeys(store, first, ["k4", "k3"]);
    await scene.advance(60_001);
    const gate = await hold("k1");
    const end = store.reclaimExpired({ max: 10 });
    end.catch(() => undefined);
    await scene.untilWaiting(1);

    expect(await freeKeys()).toEqual(["k2"]);

    await gate.query("commit");
    expect(await end).toMatchObject({ executions: 2, tasksDead: 4 });
    expect(await freeKeys()).toEqual([]);
  });
});

/** Blocks that a session reads to end the worker's next task; its plans stay those of its first call. */
async function blocksOfEnd(session: Client, worker: Worker, task: ClaimedTask): Promise<number> {
  const before = await blocksRead(session);
  await session.query("select * from taskgate.complete_task($1, $2, $3, null::int, null::text)", [
    worker.number,
    task.taskId,
    task.fence,
  ]);
  return (await blocksRead(session)) - before;
}

/** What a task may leave when it ends, in one row of its own or in none, and 20,000 rows of others. */
const leftovers: readonly { table: string; one: string; others: string }[] = [
  {
    table: "dedupe",
    one: "insert into taskgate.dedupe (task_definition_id, dedupe_key, task_id) values ($1, 'k0', 0)",
    others: `insert into taskgate.dedupe (task_definition_id, dedupe_key, task_id, expires_at)
             select $1, 'other' || n, 1000000 + n, now() + interval '1 day' from generate_series(1, 20000) n`,
  },
  {
    table: "attempt",
    one: `insert into taskgate.attempt (task_id, fence, task_execution_id, claimed_at, finished_at, outcome)
          select 0, 0, $1, now(), now(), 13`,
    others: `insert into taskgate.attempt (task_id, fence, task_execution_id, claimed_at, finished_at, outcome)
             select 1000000 + n, 0, $1, now(), now(), 13 from generate_series(1, 20000) n`,
  },
];

describe("a task that ends, though its plan was made when there was hardly a row", () => {
  test.each(leftovers)(
    "a task that ends reads its own rows of $table, and not all there are",
    async ({ table, one, others }) => {
      const store = scene.openStore(2);
      const name = await define(store, { limit: 15, retainDoneMs: 0 });
      const id = [await definitionId(scene.client, name)];
      await scene.client.query(one, id);
      await scene.client.query(`analyze taskgate.${table}`);
      const { worker, claimed } = await claimKeys(store, name, keysUpTo(15));
      const session = await scene.connect("worker");
      const few = [];
      for (const task of claimed.slice(0, 10)) few.push(await blocksOfEnd(session, worker, task));
      isFilled = true; // with rows of tasks that there never were
      await scene.client.query(others, id);
      const many = [];
      for (const task of claimed.slice(10)) many.push(await blocksOfEnd(session, worker, task));

      expect(many).toHaveLength(5);
      expect(Math.min(...many)).toBeLessThan(Math.min(...few) + 20);
    },
  );
});
