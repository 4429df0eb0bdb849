-- taskgate._keep_solo: a task that was lost twice runs alone, so that it can't take its neighbours along a third time.
-- In:     p_task_definition_id; p_task_ids bigint[]: just taken from ready, in claim order, at least one marked as solo;
--         p_is_idle: the execution holds nothing else
-- Out:    bigint[]: what the claim keeps: the tasks before the first solo one, or only it when it comes first and the
--         execution is idle; the rest is back in ready. None is solo any more: all of them
-- Raises: -
-- Locks:  ready (rows this transaction deleted)
-- Plan:   pk_task, pk_ready
-- Twin:   inside mssql/sql/procedures/Work.sql
create or replace function taskgate._keep_solo(p_task_definition_id int, p_task_ids bigint[], p_is_idle boolean) returns bigint[]
language plpgsql as $$
declare
  v_first int;
  v_keep int;
begin
  select min(u.n) into v_first from unnest(p_task_ids) with ordinality u(id, n) join task t on t.task_id = u.id where t.lost_count >= 2;
  v_keep := case when v_first = 1 and p_is_idle then 1 else coalesce(v_first - 1, cardinality(p_task_ids)) end;
  insert into ready (task_definition_id, priority, rank, task_id, is_solo)
  select p_task_definition_id, t.priority, t.rank, t.task_id, t.lost_count >= 2
    from unnest(p_task_ids[v_keep + 1:]) u(id) join task t on t.task_id = u.id;
  return p_task_ids[:v_keep];
end $$;
