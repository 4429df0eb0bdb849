-- taskgate._change_shared_limit: writes a shared limit (by the code or by an operator) and brings its tokens in line.
-- In:     p_shared_limit_id int: the caller holds the row; p_limit int: the code's; p_override int: the operator's, null: none
-- Out:    o_old, o_new: effective limits, -1 none; o_held: tokens held now; o_over_limit: of them above the new limit
-- Raises: TG499 damaged token string
-- Locks:  task_execution of dead holders by skip
-- Plan:   primary keys; the open executions of the definitions that draw from it when a limit takes the place of none
-- Twin:   mssql/sql/procedures/_ChangeSharedLimit.sql
create or replace function taskgate._change_shared_limit(
  p_shared_limit_id int, p_limit int, p_override int, out o_old int, out o_new int, out o_held int, out o_over_limit int)
language plpgsql as $$
declare
  e record;
begin
  select coalesce(s.concurrency_limit_override, s.concurrency_limit) into o_old from shared_limit s where s.shared_limit_id = p_shared_limit_id;
  o_new := coalesce(p_override, p_limit);
  update shared_limit s
     set concurrency_limit = p_limit, concurrency_limit_override = p_override,
         execution_tokens = case when o_new = -1 then '' else s.execution_tokens end
   where s.shared_limit_id = p_shared_limit_id;
  o_held := 0;
  -- Tokens of these executions change only under this row's lock; own statement: lock, then look.
  for e in select x.task_execution_id, x.token_count from task_definition_shared_limit l
             join task_execution x on x.task_definition_id = l.task_definition_id and x.state in (1, 3) and x.state = 1 /* the index's own filter, then the test */
            where (o_new = -1 or o_old = -1) and l.shared_limit_id = p_shared_limit_id and x.token_count > 0
            order by x.task_execution_id loop
    -- Tasks that run without a limit are counted as soon as there is one.
    perform _settle_shared(array[p_shared_limit_id], e.task_execution_id, 0, e.token_count);
    o_held := o_held + e.token_count;
  end loop;
  perform _settle_shared(array[p_shared_limit_id], 0, 0, null);
  if o_new <> -1 then
    select _held_tokens(s.execution_tokens) into o_held
      from shared_limit s where s.shared_limit_id = p_shared_limit_id;
  end if;
  o_over_limit := case when o_new = -1 then 0 else greatest(o_held - o_new, 0) end;
end $$;
