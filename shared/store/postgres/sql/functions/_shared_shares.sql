-- taskgate._shared_shares: how the tokens of the shared limits of a definition are shared out, as of the last commit.
-- In:     p_task_definition_id int; p_worker text: the name of the process
-- Rows:   shared_limit_id int: each that has a limit; task_limit int; mine, held, others, poorest, richest int: as _shares, of
--           the process's work on this definition; 0 each where the token string is damaged
-- Raises: -
-- Locks:  none
-- Plan:   primary keys; one probe when there are none; task_execution once per holder
-- Twin:   mssql/sql/functions/_SharedShares.sql
create or replace function taskgate._shared_shares(p_task_definition_id int, p_worker text)
returns table (shared_limit_id int, task_limit int, mine int, held int, others int, poorest int, richest int)
language sql stable as $$
  select s.shared_limit_id, coalesce(s.concurrency_limit_override, s.concurrency_limit), h.o_mine, h.o_all, h.o_others, h.o_poorest, h.o_richest
    from taskgate.task_definition_shared_limit l
    join taskgate.shared_limit s on s.shared_limit_id = l.shared_limit_id and coalesce(s.concurrency_limit_override, s.concurrency_limit) <> -1
   cross join lateral taskgate._shares(
           case when taskgate._tokens_are_sound(s.execution_tokens) then s.execution_tokens else '' end, p_task_definition_id, p_worker) h
   where l.task_definition_id = p_task_definition_id
$$;
