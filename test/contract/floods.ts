import type { SqlDialect } from "./two-dialects";

/*
 * More than a hundred faults of each rule of `check_invariants`, planted beside the scene of fault-scene.ts. Each kind of
 * task has ids of its own, far from each other's.
 */

const fromNumbers = "FROM {numbers} WHERE n <= 101";
const token = "I:00000000-0000-4000-8000-00000000000a";

/** Unfinished tasks of definition `one` with ids from `first`. */
function tasks(first: number, group = "NULL"): string {
  return `INSERT INTO taskgate.task (task_id, task_definition_id, kind, priority, created_at, group_id)
          SELECT ${String(first)} + n, {one}, 'one', 100, {now}, ${group} ${fromNumbers}`;
}

function scheduled(first: number, definition: "one" | "two" = "one"): string {
  return `INSERT INTO taskgate.scheduled (task_definition_id, run_at, task_id)
          SELECT {${definition}}, {now}, ${String(first)} + n ${fromNumbers}`;
}

function ready(first: number, rank: number): string {
  return `INSERT INTO taskgate.ready (task_definition_id, priority, rank, task_id)
          SELECT {one}, 100, ${String(rank)}, ${String(first)} + n ${fromNumbers}`;
}

function definitions(prefix: string, limit: number, text: string): string {
  return `INSERT INTO taskgate.task_definition (name, concurrency_limit, execution_tokens, created_at)
          SELECT CONCAT('${prefix}', n), ${String(limit)}, '${text}', {now} ${fromNumbers}`;
}

function groups(prefix: string): string {
  return `INSERT INTO taskgate.task_group (task_definition_id, group_key, slots)
          SELECT {one}, CONCAT('${prefix}', n), 1 ${fromNumbers}`;
}

function sharedLimits(prefix: string, limit: number, text: string): string {
  return `INSERT INTO taskgate.shared_limit (name, concurrency_limit, execution_tokens)
          SELECT CONCAT('${prefix}', n), ${String(limit)}, '${text}' ${fromNumbers}`;
}

/** In the words of both databases (two-dialects.ts). */
export const floods: readonly string[] = [
  `INSERT INTO taskgate.schedule (task_definition_id, name, kind, cron, time_zone)
   SELECT 999, CONCAT('s ', n), 'one', '@daily', 'UTC' ${fromNumbers}`,
  `INSERT INTO taskgate.schedule_group (schedule_id, group_key) SELECT 1000000 + n, 'g' ${fromNumbers}`,
  // Stand nowhere.
  tasks(100_000),
  // Aren't there.
  scheduled(200_000),
  // Stand under another definition.
  tasks(300_000),
  scheduled(300_000, "two"),
  // Are finished, too.
  tasks(400_000),
  scheduled(400_000),
  `INSERT INTO taskgate.archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, build,
     outcome, failed_count, lost_count)
   SELECT 400000 + n, {one}, 'one', 100, 0, {now}, {now}, {now}, 1, 10, 0, 0 ${fromNumbers}`,
  // Of definitions that are gone.
  `INSERT INTO taskgate.task (task_id, task_definition_id, kind, priority, created_at)
   SELECT 1400000 + n, 999, 'one', 100, {now} ${fromNumbers}`,
  // Out of their order.
  tasks(500_000),
  ready(500_000, 1),
  // Without a slot.
  tasks(600_000, "{half}"),
  ready(600_000, 0),
  // Outside of a group that they name; of groups that aren't there.
  tasks(1_200_000, "{half}"),
  scheduled(1_200_000),
  tasks(1_300_000, "900000 + n"),
  definitions("unreadable", 5, "tokens"),
  definitions("unlimited", -1, `${token},S:0,G:0`),
  definitions("free", 0, `${token},S:1,G:0`),
  sharedLimits("unreadable", 5, "tokens"),
  sharedLimits("unlimited", -1, `${token},S:0,G:0`),
  sharedLimits("free", 0, `${token},S:1,G:0`),
  // Shared limits that count who draws from them, and have no token of it.
  `INSERT INTO taskgate.task_definition_shared_limit (task_definition_id, shared_limit_id)
   SELECT {five}, shared_limit_id FROM taskgate.shared_limit WHERE name LIKE 'free%'`,
  // Tokens that are in no text.
  `INSERT INTO taskgate.task_execution (operation_id, task_definition_id, state, started_at, lease_until, worker, token_count)
   SELECT {uuid}, {one}, 1, {now}, {now}, 'flood', 1 ${fromNumbers}`,
  groups("full"),
  `INSERT INTO taskgate.group_slot (group_id, slot, task_id)
   SELECT group_id, n, 700000 FROM taskgate.task_group CROSS JOIN {numbers} WHERE group_key LIKE 'full%' AND n <= 2`,
  groups("empty"),
  `INSERT INTO taskgate.group_waiting (group_id, priority, rank, task_id, task_definition_id)
   SELECT group_id, 100, 0, 800000, {one} FROM taskgate.task_group WHERE group_key LIKE 'empty%'`,
  `INSERT INTO taskgate.dedupe (task_definition_id, dedupe_key, task_id) SELECT {one}, CONCAT('k', n), 900000 ${fromNumbers}`,
  // Waves that count what isn't there, and of those two of one batch that are open; blocked tasks of no wave.
  `INSERT INTO taskgate.wave (batch_id, ordinal, state, open_shards) SELECT 6000 + n, 1, 0, 0 ${fromNumbers}`,
  `INSERT INTO taskgate.wave_shard (wave_id, shard, remaining) SELECT wave_id, 1, 1 FROM taskgate.wave WHERE batch_id > 6000`,
  `INSERT INTO taskgate.wave (batch_id, ordinal, state, open_shards) SELECT 7000 + n, 1, 2, 0 ${fromNumbers}`,
  `INSERT INTO taskgate.wave (batch_id, ordinal, state, open_shards) SELECT 7000 + n, 2, 2, 0 ${fromNumbers}`,
  `INSERT INTO taskgate.wave_blocked (wave_id, priority, rank, task_id, task_definition_id)
   SELECT 9000000 + n, 100, 0, 1100000 + n, {one} ${fromNumbers}`,
];

/** What each database stores in its own way: claims of one that has ended; and where claims are lists, bad ones. */
export const ownFloods: Record<SqlDialect, string> = {
  postgres: `
    update taskgate.task_execution
       set inflight = array(select generate_series(1000001, 1000101)), inflight_fence = array(select generate_series(1, 101)),
           inflight_at = array(select now() from generate_series(1, 101))
     where task_execution_id = {ended};
    update taskgate.task_execution set inflight_fence = array[1], prefetched = array[1] where worker = 'flood'`,
  mssql: `
    -- Tokens are counted that no list has.
    INSERT INTO Taskgate.TaskDefinition (Name, ConcurrencyLimit, HeldCount, CreatedAt)
    SELECT CONCAT(N'counted ', n.N), 0, 1, SYSUTCDATETIME() FROM Taskgate.Number AS n WHERE n.N <= 101;
    INSERT INTO Taskgate.Claim (TaskExecutionId, Fence, Ordinal, TaskId, ClaimedAt)
    SELECT {ended}, 1, n.N, 1000000 + n.N, SYSUTCDATETIME() FROM Taskgate.Number AS n WHERE n.N <= 101;`,
};
