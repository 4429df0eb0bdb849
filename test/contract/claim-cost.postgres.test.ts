import { describe, expect, test } from "@jest/globals";
import { blocksRead } from "../support/blocks-read";
import { at, define, startWorker } from "../support/builders";
import { definitionId, plantFunction } from "../support/contention";
import { useContention } from "../support/use-contention";

/*
 * What a claim reads on PostgreSQL, in blocks of its cache. It must not depend on how much waits, how much of it is blocked, or
 * how much has finished.
 */
const scene = useContention(() => true);
const batch = 10;

/** Rows of the definition `id`, written past the operations: as many of them would take minutes. */
type Fill = (id: number) => string;

const ready =
  (from: number, count: number, priority: number): Fill =>
  (id) =>
    `
    with t as (
      insert into taskgate.task (task_id, task_definition_id, kind, priority, created_at)
      select n, ${String(id)}, 'one', ${String(priority)}, now() from generate_series(${String(from)}, ${String(from + count - 1)}) n
      returning task_id)
    insert into taskgate.ready (task_definition_id, priority, rank, task_id) select ${String(id)}, ${String(priority)}, 0, task_id from t`;

const finished =
  (from: number, count: number): Fill =>
  (id) =>
    `
    insert into taskgate.archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, build,
                                  outcome, failed_count, lost_count)
    select n, ${String(id)}, 'one', 0, 0, now(), now(), now() + interval '7 days', 1, 10, 0, 0
      from generate_series(${String(from)}, ${String(from + count - 1)}) n`;

/** So many packs of 500 tasks. */
const finishedTogether =
  (from: number, packs: number): Fill =>
  (id) =>
    `
    insert into taskgate.archive_pack (first_task_id, last_task_id, task_definition_id, kind, priority, build, task_execution_id, finished_at, purge_after,
                                       task_ids, created_ats, fences)
    select ${String(from)} + p * 500, ${String(from)} + p * 500 + 499, ${String(id)}, 'one', 0, 1, 1, now(), now() + interval '7 days',
           array(select ${String(from)} + p * 500 + n from generate_series(0, 499) n), array_fill(now(), array[500]), array_fill(p, array[500])
      from generate_series(0, ${String(packs - 1)}) p`;

/** Behind ten groups whose one slot a task has that never ends. */
const blocked: Fill = (id) => `
    with g as (
      insert into taskgate.task_group (task_definition_id, group_key, slots)
      select ${String(id)}, 'g' || n, 1 from generate_series(1, 10) n returning group_id),
    s as (insert into taskgate.group_slot (group_id, slot, task_id) select group_id, 1, 20000000 + group_id from g)
    insert into taskgate.group_waiting (group_id, priority, rank, task_id, task_definition_id)
    select g.group_id, 0, 0, 30000000 + g.group_id * 10000 + n, ${String(id)} from g, generate_series(1, 10000) n`;

interface Claimed {
  readonly task_ids: string;
  readonly last_priority: number;
  readonly last_rank: string;
}

/** `goesOn`: each call says where the one before ended, as a worker does. */
async function blocksOfClaim(fills: readonly Fill[], goesOn = false): Promise<number> {
  const store = scene.openStore(2);
  const name = await define(store, { limit: batch, prefetchMax: 0 });
  const id = await definitionId(scene.client, name);
  for (const fill of [ready(1, 10_000, 0), finished(10_000_000, 10_000), ...fills])
    await scene.client.query(fill(id));
  await scene.client.query("analyze");
  const worker = await startWorker(store, name, { want: batch });
  const { claimed } = await worker.work({ want: batch });
  let ids = claimed.map((task) => task.taskId);
  const blocks: number[] = [];
  const session = await scene.connect("worker");
  let place: unknown[] = [null, null, null];
  for (let call = worker.calls + 1; call <= 8; call += 1) {
    const held = await scene.client.query<{ fences: string }>(
      `select array(select w.fence from taskgate.task_execution x, unnest(x.inflight, x.inflight_fence) w(id, fence)
                     where x.task_execution_id = $1)::text as fences`,
      [worker.number],
    );
    const before = await blocksRead(session);
    const { rows } = await session.query<Claimed>(
      `select task_ids, last_priority, last_rank
         from taskgate.work($1, $2, p_done_task_ids => $3, p_done_fences => $8,
           p_want => $4, p_after_priority => $5, p_after_rank => $6, p_after_task_id => $7)`,
      [worker.number, call, ids, batch, ...place, at(held.rows, 0).fences],
    );
    blocks.push((await blocksRead(session)) - before);
    const [row] = rows;
    ids = (row?.task_ids.split(",") ?? []) as typeof ids;
    if (goesOn) place = [row?.last_priority, row?.last_rank, ids.at(-1)];
    expect(ids).toHaveLength(batch);
  }
  // What the first calls of a session read of the catalogue is not the claim's.
  return Math.min(...blocks);
}

describe("the blocks that a call reads which completes ten tasks and claims ten", () => {
  test.each([
    { situation: "110,000 tasks are ready instead of 10,000", fills: [ready(100_001, 100_000, 1)] },
    { situation: "100,000 more tasks wait behind full groups", fills: [blocked] },
    {
      situation: "110,000 tasks have finished instead of 10,000 (S2.7)",
      fills: [finished(11_000_000, 100_000)],
    },
    {
      situation: "1,000,000 more tasks have finished, 500 at a time (S2.7)",
      fills: [finishedTogether(12_000_000, 2_000)],
    },
  ])("the call reads at most a fifth more blocks where $situation", async ({ fills }) => {
    const plain = await blocksOfClaim([]);
    await scene.client.query(
      "truncate taskgate.task, taskgate.ready, taskgate.archive, taskgate.archive_pack",
    );
    const there = await blocksOfClaim(fills);
    expect(plain).toBeGreaterThan(batch);
    expect(there).toBeLessThanOrEqual(plain * 1.2);
  });

  test("a planted fault of a claim that counts finished tasks is found (S2.7)", async () => {
    await plantFunction(scene.client, "work", [
      {
        from: /v_in := e\.inflight;/,
        to: "perform count(*) from archive a where a.task_definition_id = e.task_definition_id; v_in := e.inflight;",
      },
    ]);
    const plain = await blocksOfClaim([]);
    await scene.client.query(
      "truncate taskgate.task, taskgate.ready, taskgate.archive, taskgate.archive_pack",
    );
    expect(await blocksOfClaim([finished(11_000_000, 20_000)])).toBeGreaterThan(plain * 1.2);
  });

  test("50,000 entries that are gone, but that an old transaction still sees, aren't stepped over by who goes on behind them", async () => {
    const plain = await blocksOfClaim([], true);
    await scene.client.query(
      "truncate taskgate.task, taskgate.ready, taskgate.archive, taskgate.archive_pack",
    );
    const old = await scene.connect();
    const gone: Fill = (id) => `
      ${ready(100_001, 50_000, -1)(id)};
      delete from taskgate.ready where priority = -1`;
    await old.query("begin isolation level repeatable read");
    await old.query("select 1 from taskgate.ready limit 1");
    const there = await blocksOfClaim([gone], true);
    await old.query("rollback");
    expect(there).toBeLessThanOrEqual(plain * 1.2);
  });
});
