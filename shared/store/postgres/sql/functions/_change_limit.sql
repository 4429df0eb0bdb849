-- taskgate._change_limit: writes a definition's limit (by the code or by an operator) and brings its tokens in line.
-- In:     p_task_definition_id int; p_limit int: the code's; p_override int: the operator's, null: none
-- Out:    o_old, o_new: effective limits, -1 none; o_held: tokens held now; o_over_limit: of them above the new limit
-- Raises: TG404 unknown definition; TG499 damaged token string
-- Locks:  task_definition
-- Plan:   primary key; the open executions of one definition when a limit takes the place of none
-- Twin:   mssql/sql/procedures/_ChangeLimit.sql
create or replace function taskgate._change_limit(
  p_task_definition_id int, p_limit int, p_override int,
  out o_old int, out o_new int, out o_held int, out o_over_limit int)
language plpgsql as $$
declare
  s record;
begin
  perform pg_advisory_xact_lock(42, p_task_definition_id);
  select coalesce(d.concurrency_limit_override, d.concurrency_limit) into o_old
    from task_definition d where d.task_definition_id = p_task_definition_id for no key update;
  o_new := coalesce(p_override, p_limit);
  -- Tasks that run without a limit are counted as soon as there is one. Own statement: lock, then read.
  update task_definition
     set concurrency_limit = p_limit, concurrency_limit_override = p_override,
         execution_tokens = case
           when o_new = -1 then ''
           when o_old = -1 then coalesce((
             select string_agg('I:' || gen_random_uuid() || ',S:0,G:' || e.task_execution_id, ',' order by e.task_execution_id)
               from task_execution e cross join generate_series(1, e.token_count)
              where e.task_definition_id = p_task_definition_id and e.state in (1, 3) and e.state = 1 /* the index's own filter, then the test */), '')
           else execution_tokens end
   where task_definition_id = p_task_definition_id;
  select * into s from _settle_tokens(p_task_definition_id, 0, null, null, null, '{}');
  o_held := s.o_held;
  if o_new = -1 then
    select coalesce(sum(e.token_count), 0) into o_held from task_execution e
     where e.task_definition_id = p_task_definition_id and e.state in (1, 3) and e.state = 1 /* the index's own filter, then the test */;
  end if;
  o_over_limit := case when o_new = -1 then 0 else greatest(o_held - o_new, 0) end;
end $$;
