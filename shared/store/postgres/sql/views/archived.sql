-- taskgate.archived: finished tasks, one row each: those of the table archive, and those that lie together in an archive_pack.
-- Columns: as of archive, and first_task_id, last_task_id: of the pack, or the task itself. Who looks for a task by its id says, too,
--          that first_task_id lies between id - 4095 and id: then pk_archive_pack finds its pack
-- Twin:    none: T-SQL has a row per task
create or replace view taskgate.archived as
select a.task_id, a.task_definition_id, a.kind, a.priority, a.rank, a.created_at, a.finished_at, a.purge_after, a.task_execution_id, a.fence,
       a.duration_ms, a.group_id, a.wave_id, a.dedupe_key, a.build, a.outcome, a.failed_count, a.lost_count, a.error, a.result, a.payload, a.trace_parent,
       a.task_id as first_task_id, a.task_id as last_task_id
  from taskgate.archive a
union all
select u.task_id, k.task_definition_id, k.kind, k.priority, coalesce(u.rank, 0), u.created_at, k.finished_at, k.purge_after, k.task_execution_id, u.fence,
       u.duration_ms, null, k.wave_id, u.dedupe_key, k.build, 10::smallint, 0::smallint, 0::smallint, null, u.result, u.payload, u.trace_parent,
       k.first_task_id, k.last_task_id
  from taskgate.archive_pack k
 cross join lateral unnest(k.task_ids, k.ranks, k.created_ats, k.fences, k.durations_ms, k.dedupe_keys, k.results, k.payloads, k.trace_parents)
            u(task_id, rank, created_at, fence, duration_ms, dedupe_key, result, payload, trace_parent);
