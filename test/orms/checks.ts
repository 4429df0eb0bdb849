import assert from "node:assert/strict";
import { fromPg, taskRef } from "taskgate";
import type { Client, EnqueuedTask, StoreTransaction, TaskClient } from "taskgate";
import pg from "pg";
import type { SystemName } from "../orms-launcher/protocol.ts";
import { bill } from "./guide/tables.ts";
import type { System } from "./system.ts";

/** What the checks have at hand. */
export interface Scene {
  readonly name: SystemName;
  readonly system: System;
  readonly client: Client;
  readonly owner: pg.Client;
  readonly shopUrl: string;
}

type Options = { transaction: StoreTransaction };

/** What the guide's enqueue does instead, or besides. */
type Body = (options: Options) => Promise<unknown>;

const ship = taskRef<{ customer: string }>({ name: "ship" });
/** Their call rejects when a statement in the transaction has failed. MikroORM's does because it writes the rows at the end. */
const tellFailedCommit: readonly SystemName[] = ["kysely", "postgres", "@mikro-orm/postgresql"];
const unknown = taskRef<{ order: number }>({ name: "unknown" });

/** Each begins with no order and no task. */
export const checks: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  "commit: the row and the task are there, and not before": async (scene) => {
    const { made } = await place(scene, async (options) => {
      const made = await scene.client.enqueue(bill, { order: 1 }, options);
      assert.deepEqual(await count(scene), { orders: 0, tasks: 0 });
      return made;
    });
    assert.partialDeepStrictEqual(made, { outcome: "enqueued", startsWithinMs: null });
    assert.deepEqual(await count(scene), { orders: 1, tasks: 1 });
  },

  "committed: the answer says that a hint is under way": async (scene) => {
    const { committed } = await place(scene);
    assert.deepEqual(committed, { startsWithinMs: 0 });
  },

  "rollback: neither is there, and the dedupe key is free": async (scene) => {
    const body: Body = async (options) => {
      await scene.client.enqueue(bill, { order: 1 }, { ...options, dedupeKey: "one" });
      throw new Error("changed my mind");
    };
    await assert.rejects(place(scene, body), /changed my mind/);
    assert.deepEqual(await count(scene), { orders: 0, tasks: 0 });
    const again = await scene.client.enqueue(bill, { order: 1 }, { dedupeKey: "one" });
    assert.equal(again.outcome, "enqueued");
  },

  "outside of a transaction: refused": async (scene) => {
    const transaction = scene.system.outside();
    const call = scene.client.enqueue(bill, { order: 1 }, { transaction });
    await refused(call, "TASKGATE_STORE_CONTEXT", /no transaction is open/);
    assert.deepEqual(await count(scene), { orders: 0, tasks: 0 });
  },

  "after the commit: refused": async (scene) => {
    const { transaction } = await place(scene);
    const call = scene.client.enqueue(bill, { order: 2 }, { transaction });
    await refused(call, "TASKGATE_STORE_CONTEXT", /Nothing was enqueued/);
    assert.deepEqual(await count(scene), { orders: 1, tasks: 1 });
  },

  "behind a statement that failed: refused": async (scene) => {
    await rolledBack(scene, async ({ transaction }) => {
      await assert.rejects(transaction.query("select 1 / 0"));
      const call = scene.client.enqueue(bill, { order: 1 }, { transaction });
      await refused(call, "TASKGATE_STORE_CONTEXT", /no statement has failed/);
    });
  },

  "an unknown definition": async (scene) => {
    await rolledBack(scene, (options) =>
      refused(
        scene.client.enqueue(unknown, { order: 1 }, options),
        "TASKGATE_ARG_UNKNOWN",
        /^name: unknown definition \(unknown\)/,
      ),
    );
  },

  "an error that the program catches: nothing is committed, whether the ORM says so or not": async (
    scene,
  ) => {
    const placed = place(scene, async (options) => {
      const call = scene.client.enqueue(unknown, { order: 1 }, options);
      await refused(call, "TASKGATE_ARG_UNKNOWN", /unknown/);
    });
    if (tellFailedCommit.includes(scene.name)) await assert.rejects(placed);
    else await placed;
    assert.deepEqual(await count(scene), { orders: 0, tasks: 0 });
  },

  "a bad payload: nothing is sent, and the transaction goes on": async (scene) => {
    await place(scene, async (options) => {
      const call = scene.client.enqueue(bill, { order: 1n } as never, options);
      await refused(call, "TASKGATE_ARG_INVALID", /payload/);
    });
    assert.deepEqual(await count(scene), { orders: 1, tasks: 0 });
  },

  "a group against the kind's rule": async (scene) => {
    await rolledBack(scene, (options) => {
      const call = scene.client.enqueue(ship, { customer: "anna" }, { ...options, group: "bert" });
      return refused(call, "TASKGATE_ARG_RULE", /group/);
    });
  },

  "a payload that is too large": async (scene) => {
    await place(scene, async (options) => {
      const call = scene.client.enqueue(bill, { order: "x".repeat(70_000) } as never, options);
      await refused(call, "TASKGATE_ARG_TOO_LARGE", /payload/);
    });
  },

  "a right that the login lacks": async (scene) => {
    await rolledBack(scene, ({ transaction }) => {
      const call = advance(scene, transaction);
      return refused(call, "TASKGATE_STORE_FORBIDDEN", /advance_watermark/);
    });
  },

  "a dedupe key that another transaction holds": async (scene) => {
    const keyed = { dedupeKey: "held" };
    await asShop(scene, async (other) => {
      await other.query("begin");
      const within = { ...keyed, transaction: fromPg(other) };
      await scene.client.enqueue(bill, { order: 1 }, within);
      await rolledBack(scene, (options) => {
        const call = scene.client.enqueue(bill, { order: 2 }, { ...keyed, ...options });
        return refused(call, "TASKGATE_STORE_CONFLICT", /lock/);
      });
      await other.query("rollback");
    });
  },

  "a dedupe key twice: the first task's id": async (scene) => {
    const enqueue = (options: Options): Promise<EnqueuedTask> =>
      scene.client.enqueue(bill, { order: 1 }, { ...options, dedupeKey: "one" });
    const { made } = await place<EnqueuedTask[]>(scene, async (options) => [
      await enqueue(options),
      await enqueue(options),
    ]);
    assert.deepEqual(
      made.map(({ outcome }) => outcome),
      ["enqueued", "duplicate"],
    );
    assert.equal(new Set(made.map(({ taskId }) => taskId)).size, 1);
    assert.deepEqual(await count(scene), { orders: 1, tasks: 1 });
  },

  "several at once, one of them for later": async (scene) => {
    const { made } = await place<EnqueuedTask[]>(scene, (options) =>
      Promise.all(
        [0, 60_000, 0, 0].map((runInMs, order) =>
          scene.client.enqueue(bill, { order }, { ...options, runInMs }),
        ),
      ),
    );
    assert.equal(new Set(made.map(({ taskId }) => taskId)).size, 4);
    assert.deepEqual(await count(scene), { orders: 1, tasks: 4 });
  },

  "a payload of odd characters arrives as it is": async (scene) => {
    const text = "? ?? :name $1 $$ 'q' \"q\" \\ \u2028 \u{1f4e6}";
    await place(scene, (options) => scene.client.enqueue(ship, { customer: text }, options));
    const { rows } = await scene.owner.query<{ payload: string }>(
      "select payload from taskgate.task",
    );
    assert.deepEqual(
      rows.map(({ payload }) => JSON.parse(payload) as unknown),
      [{ customer: text }],
    );
  },

  "a watermark moves with its tasks": async (scene) => {
    const grant = "execute on function taskgate.advance_watermark";
    await scene.owner.query(`grant ${grant} to taskgate_test_shop`);
    try {
      const { made } = await place(scene, ({ transaction }) => advance(scene, transaction));
      assert.partialDeepStrictEqual(made, { version: "1" });
      assert.deepEqual(await count(scene), { orders: 1, tasks: 2 });
    } finally {
      await scene.owner.query(`revoke ${grant} from taskgate_test_shop`);
    }
  },
};

function advance({ client }: Scene, transaction: StoreTransaction): Promise<unknown> {
  const numeric = { to: "2", size: 1 };
  return client.watermark.advance(bill, { watermark: "orders", numeric }, { transaction });
}

/** Runs the guide's program; `body` takes the place of its enqueue. */
async function place<Made = unknown>(
  { system, client }: Scene,
  body?: (options: Options) => Promise<Made>,
): Promise<{ made: Made; transaction: StoreTransaction; committed: unknown }> {
  let made: unknown;
  let committed: unknown;
  let transaction: StoreTransaction | undefined;
  const watched = {
    enqueue: async (task: typeof bill, payload: { order: number }, options: Options) => {
      ({ transaction } = options);
      made = await (body?.(options) ?? client.enqueue(task, payload, options));
      return made;
    },
    committed: async (within: StoreTransaction) => (committed = await client.committed(within)),
  };
  await system.placeOrder(watched as unknown as TaskClient, 17);
  assert.ok(transaction);
  return { made: made as Made, transaction, committed };
}

/** The program ends with an error behind `body`, and leaves nothing. */
async function rolledBack(scene: Scene, body: Body): Promise<void> {
  let problem: unknown = new Error("the program didn't reach its enqueue");
  const placed = place(scene, async (options) => {
    problem = null;
    await body(options).catch((error: unknown) => (problem = error));
    throw new Error("the program ends here");
  });
  await assert.rejects(placed);
  if (problem !== null) throw problem;
  assert.deepEqual(await count(scene), { orders: 0, tasks: 0 });
}

async function refused(call: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof Error && "code" in error, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

export async function count({ owner }: Scene): Promise<{ orders: number; tasks: number }> {
  const { rows } = await owner.query<{ orders: number; tasks: number }>(
    "select (select count(*)::int from orders) as orders, (select count(*)::int from taskgate.task) as tasks",
  );
  return rows[0] ?? { orders: -1, tasks: -1 };
}

async function asShop(
  { shopUrl }: Scene,
  body: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const other = new pg.Client({ connectionString: shopUrl });
  await other.connect();
  try {
    await body(other);
  } finally {
    await other.end();
  }
}
