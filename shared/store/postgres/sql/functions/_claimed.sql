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
  if cardinality(p_task_ids) = 1 then                -- of one task in a third of the time
    select t.task_id::text, '[' || to_json(t.kind)::text || ']', (t.failed_count + t.lost_count + 1)::text, '[' || coalesce(t.payload, 'null') || ']',
           '[' || _extras_of(t, p_build) || ']', t.priority, t.rank
      into o_ids, o_kinds, o_attempts, o_payloads, o_extras, o_last_priority, o_last_rank
      from task t where t.task_id = p_task_ids[1];
    return;
  end if;
  select string_agg(x.task_id::text, ',' order by x.priority, x.rank, x.task_id), '[' || string_agg(to_json(x.kind)::text, ',' order by x.priority, x.rank, x.task_id) || ']',
         string_agg((x.failed_count + x.lost_count + 1)::text, ',' order by x.priority, x.rank, x.task_id), '[' || string_agg(coalesce(x.payload, 'null'), ',' order by x.priority, x.rank, x.task_id) || ']',
         case when count(x.extras) > 0 then '[' || string_agg(coalesce(x.extras, 'null'), ',' order by x.priority, x.rank, x.task_id) || ']' end,
         (array_agg(x.priority order by x.priority, x.rank, x.task_id))[count(*)], (array_agg(x.rank order by x.priority, x.rank, x.task_id))[count(*)]
    into o_ids, o_kinds, o_attempts, o_payloads, o_extras, o_last_priority, o_last_rank
    from (select t.task_id, t.kind, t.priority, t.rank, t.failed_count, t.lost_count, t.payload, _extras_of(t, p_build) as extras
            from task t where t.task_id = any (p_task_ids)
           order by t.priority, t.rank, t.task_id) x;
end $$;
