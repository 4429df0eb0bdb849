import { at, define, enqueue, enqueueOne, operationId, startWorker } from "../support/builders";
import type { TestStore } from "../support/store-setup";
import { inDialect } from "./two-dialects";
import type { SqlDialect } from "./two-dialects";

/**
 * A database with something of everything, all of it sound: each rule of `check_invariants` has rows here that nearly
 * break it. Faults are planted in it (planted-faults.ts). Its parts by name:
 *
 * - definition `one`, limit 3: tasks `claimed` (by `worker`, which holds two tokens), `ready` (priority 5), `keyed` (ready,
 *   with a key), `scheduled` and `later` (of the group), `holder` and `waiting` of `group`, `done`; `ended`: an execution
 *   that gave its token back, which the free token still names; `schedule`, whose tasks have a group
 * - `two`, no limit: `free` works without tokens on `slotted`, of group `own`; tasks of two waves: `wave1`, `wave2` (ready)
 *   and `held` (wave_blocked)
 * - `three`, limit 1: `dead` was declared dead with the claim `lost`, its token is `heir`'s; a strict group whose `retry`
 *   keeps its slot while `follower` waits
 * - `four`, limit 2, no worker: group `pair` with both its slots taken by `left` and `right`, and `third` waiting; group
 *   `half` with `half1` in one of its two slots
 * - `five`, no limit of its own: `drawer` holds one token of the shared limit `pool` (2), which has a free one, too, and
 *   runs under `wide`, a shared limit that is none; no definition draws from the shared limit `idle` (2)
 */
export type FaultScene = ReadonlyMap<string, string>;

/** Builds it; gives the ids of its parts. */
export async function buildFaultScene(opened: TestStore, dialect: SqlDialect): Promise<FaultScene> {
  const scene = new Map<string, string>();
  await buildThree(opened, scene);
  await buildOne(opened, scene);
  await buildTwo(opened, scene);
  await buildFour(opened, scene);
  await buildFive(opened, scene);
  await addIds(opened, dialect, scene);
  await addWaves(opened, dialect, scene);
  scene.set("tokensCut", (await opened.readTokens("one")).slice(0, 100));
  const sql = "SELECT execution_tokens FROM taskgate.shared_limit WHERE name = 'pool'";
  const [pool] = await opened.raw(inDialect(dialect, sql, scene));
  scene.set(
    "poolCut",
    Object.values(pool ?? {})
      .map(String)
      .join("")
      .slice(0, 100),
  );
  return scene;
}

const nightly = {
  name: "nightly",
  kind: "one",
  cron: "@daily",
  timeZone: "UTC",
  missed: "once",
  payload: null,
  group: "nightly",
  nextRunAt: null,
} as const;

async function buildOne({ store }: TestStore, scene: Map<string, string>): Promise<void> {
  await define(store, { limit: 3 }, "one");
  const worker = await startWorker(store, "one", { want: 2 });
  const [done = "", claimed = ""] = await enqueue(store, "one", 2);
  await worker.complete((await worker.claim(2)).slice(0, 1));
  const [ready = "", keyed = "", scheduled = "", holder = "", waiting = "", later = ""] =
    await enqueue(store, "one", [
      { priority: 5 },
      { dedupeKey: "k" },
      { runInMs: 60_000 },
      { group: "group" },
      { group: "group" },
      { group: "group", runInMs: 60_000 },
    ]);
  await store.setSchedules({ name: "one", build: 1, changedBy: "code", schedules: [nightly] });
  const [schedule] = (await store.listSchedules({ name: "one", max: 1 })).schedules;
  scene.set("schedule", String(schedule?.id));
  const ended = await startWorker(store, "one");
  await ended.finish();
  const parts = { done, claimed, ready, keyed, scheduled, holder, waiting, later };
  for (const [name, id] of Object.entries(parts)) scene.set(name, id);
  scene.set("worker", worker.number).set("ended", ended.number);
}

async function buildTwo({ store }: TestStore, scene: Map<string, string>): Promise<void> {
  await define(store, { limit: null }, "two");
  const free = await startWorker(store, "two", { want: 3 });
  scene.set("slotted", await enqueueOne(store, "two", { group: "own" }));
  await free.claimOne();
  scene.set("free", free.number);
  // Far from what sequences give; shards 8, 9 and 8 again.
  scene.set("wave1", "8000000001").set("wave2", "8000000513").set("held", "8000008193");
}

/** First of all: its time passes. */
async function buildThree(opened: TestStore, scene: Map<string, string>): Promise<void> {
  const { store } = opened;
  await define(store, { limit: 1, leaseMs: 10_000, groupStrict: true }, "three");
  const dead = await startWorker(store, "three");
  scene.set("retry", await enqueueOne(store, "three", { group: "strict" }));
  await dead.fail([await dead.claimOne()], { retryInMs: 600_000 });
  scene.set("follower", await enqueueOne(store, "three", { group: "strict" }));
  scene.set("lost", await enqueueOne(store, "three"));
  await dead.claimOne();
  await opened.advance(10_001);
  const heir = await startWorker(store, "three");
  scene.set("dead", dead.number).set("heir", heir.number);
}

async function buildFour({ store }: TestStore, scene: Map<string, string>): Promise<void> {
  await define(store, { limit: 2, groupSlots: 2 }, "four");
  const pair = await enqueue(store, "four", [
    { group: "pair" },
    { group: "pair" },
    { group: "pair" },
  ]);
  scene.set("left", at(pair, 0)).set("right", at(pair, 1)).set("third", at(pair, 2));
  scene.set("half1", await enqueueOne(store, "four", { group: "half" }));
}

async function buildFive({ store }: TestStore, scene: Map<string, string>): Promise<void> {
  const sharedLimits = [
    { name: "pool", limit: 2 },
    { name: "wide", limit: null },
  ];
  await define(store, { limit: null, sharedLimits }, "five");
  const { executionId, number } = await startWorker(store, "five", { want: 2 });
  await store.releaseTokens({ executionId, keep: 1 });
  await store.setSharedLimit({
    name: "idle",
    limit: 2,
    operationId: operationId(),
    changedBy: "an operator",
  });
  scene.set("drawer", number);
}

/** Ids of definitions and groups, which no operation tells, by their names. */
async function addIds(
  opened: TestStore,
  dialect: SqlDialect,
  scene: Map<string, string>,
): Promise<void> {
  for (const sql of [
    "SELECT name, task_definition_id FROM taskgate.task_definition",
    "SELECT group_key, group_id FROM taskgate.task_group",
  ]) {
    for (const row of await opened.raw(inDialect(dialect, sql, scene))) {
      const [name = "", id = ""] = Object.values(row).map(String);
      scene.set(name, id);
    }
  }
}

/** Written past the operations: tasks with ids of two shards. `early` is being opened, `late` is held. */
async function addWaves(
  opened: TestStore,
  dialect: SqlDialect,
  scene: Map<string, string>,
): Promise<void> {
  const run = (sql: string) => opened.raw(inDialect(dialect, sql, scene));
  // Their ids are far beyond what the counter has given.
  if (dialect === "postgres")
    await run(
      "select setval('taskgate.task_sequence', greatest(8100000000, nextval('taskgate.task_sequence')))",
    );
  await run(
    `INSERT INTO taskgate.batch (operation_id, name, state, failure_policy, created_at) VALUES ({uuid}, 'two waves', 1, 1, {now})`,
  );
  const [batch] = await run("SELECT batch_id FROM taskgate.batch");
  scene.set(
    "batch",
    Object.values(batch ?? {})
      .map(String)
      .join(""),
  );
  await run(
    `INSERT INTO taskgate.wave (batch_id, ordinal, state, open_shards) VALUES ({batch}, 1, 1, 3), ({batch}, 2, 0, 0)`,
  );
  for (const row of await run("SELECT ordinal, wave_id FROM taskgate.wave")) {
    const [ordinal = "", id = ""] = Object.values(row).map(String);
    scene.set(ordinal === "1" ? "early" : "late", id);
  }
  for (const sql of waves) await run(sql);
  const [top] = await run("SELECT MAX(task_id) AS task_id FROM taskgate.task");
  scene.set(
    "topTask",
    Object.values(top ?? {})
      .map(String)
      .join(""),
  );
}

const waves = [
  `INSERT INTO taskgate.task (task_id, task_definition_id, kind, priority, created_at, wave_id)
   VALUES ({wave1}, {two}, 'two', 100, {now}, {early}), ({wave2}, {two}, 'two', 100, {now}, {early}),
     ({held}, {two}, 'two', 100, {now}, {early})`,
  `INSERT INTO taskgate.ready (task_definition_id, priority, rank, task_id)
   VALUES ({two}, 100, 0, {wave1}), ({two}, 100, 0, {wave2})`,
  "INSERT INTO taskgate.wave_blocked (wave_id, priority, rank, task_id, task_definition_id) VALUES ({early}, 100, 0, {held}, {two})",
  "INSERT INTO taskgate.wave_shard (wave_id, shard, remaining) VALUES ({early}, 8, 1), ({early}, 9, 1), ({early}, 10, 0), ({late}, 8, 0)",
];
