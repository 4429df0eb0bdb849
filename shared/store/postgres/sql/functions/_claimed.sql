-- taskgate._claimed: what a worker needs of the tasks it was given, as joined texts (measured: the fastest shape to decode).
-- In:     p_task_ids bigint[]; p_build: of the code that runs them
-- Out:    o_ids, o_attempts: joined by commas; o_kinds, o_payloads, o_extras: JSON arrays; all of the same length, in the order of claims;
--         o_extras null when every entry would be; o_last_priority, o_last_rank: of the last task
-- Raises: -
-- Locks:  none: the caller owns the claims
-- Plan:   pk_task, once per task
-- Twin:   inside mssql/sql/procedures/Work.sql
create or replace function taskgate._claimed(
  p_task_ids bigint[], p_build bigint, out o_ids text, out o_kinds text, out o_attempts text, out o_payloads text, out o_extras text,
  out o_last_priority smallint, out o_last_rank bigint)
language plpgsql as $$
begin
  select string_agg(x.task_id::text, ',' order by x.priority, x.rank, x.task_id), '[' || string_agg(to_json(x.kind)::text, ',' order by x.priority, x.rank, x.task_id) || ']',
         string_agg((x.failed_count + x.lost_count + 1)::text, ',' order by x.priority, x.rank, x.task_id), '[' || string_agg(coalesce(x.payload, 'null'), ',' order by x.priority, x.rank, x.task_id) || ']',
         case when bool_or(x.has_extras) then '[' || string_agg(case when x.has_extras
           then json_build_object('checkpoint', x.checkpoint, 'trace', x.trace_parent, 'grouped', x.group_id is not null,
                                  'cancel', x.cancel_requested, 'newer', x.build > p_build, 'wave', x.wave_id is not null, 'solo', x.lost_count >= 2)::text
           else 'null' end, ',' order by x.priority, x.rank, x.task_id) || ']' end,
         (array_agg(x.priority order by x.priority, x.rank, x.task_id))[count(*)], (array_agg(x.rank order by x.priority, x.rank, x.task_id))[count(*)]
    into o_ids, o_kinds, o_attempts, o_payloads, o_extras, o_last_priority, o_last_rank
    from (select t.*, (t.checkpoint is not null or t.trace_parent is not null or t.group_id is not null or t.cancel_requested or t.build > p_build or t.wave_id is not null or t.lost_count >= 2) as has_extras
            from task t where t.task_id = any (p_task_ids)
           order by t.priority, t.rank, t.task_id) x;
end $$;
