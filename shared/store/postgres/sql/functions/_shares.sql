-- taskgate._shares: how a definition's tokens are shared out: what the executions of a process hold together, and those of others.
-- In:     p_tokens text: a definition's; p_worker text: the name of the process
-- Out:    o_mine, o_all int; o_others int: how many other processes hold some; o_poorest, o_richest int: of all that hold some, 0: none does
-- Raises: TG499 the text is damaged
-- Locks:  none
-- Plan:   primary key of task_execution, once per holder
-- Twin:   mssql/sql/functions/_Shares.sql
create or replace function taskgate._shares(
  p_tokens text, p_worker text, out o_mine int, out o_all int, out o_others int, out o_poorest int, out o_richest int)
language sql stable as $$
  select coalesce(sum(h.held) filter (where h.process = p_worker), 0)::int, coalesce(sum(h.held), 0)::int,
         (count(*) filter (where h.process <> p_worker))::int, coalesce(min(h.held), 0)::int, coalesce(max(h.held), 0)::int
    from (select coalesce(e.worker, '#' || g.grantee) as process, sum(g.held) as held
            from (select t.grantee, count(*) as held from taskgate._read_tokens(p_tokens) t where t.is_held group by t.grantee) g
            left join taskgate.task_execution e on e.task_execution_id = g.grantee
           group by 1) h
$$;
