-- taskgate._shares: how a definition's tokens, or a shared limit's, are shared out: what the executions of a process hold together, and
-- those of others. A process counts once per definition that it works on: of one it may wait for what it holds of another.
-- In:     p_tokens text; p_task_definition_id int, p_worker text: the name of the process, and what it works on
-- Out:    o_mine, o_all int; o_others int: how many others hold some; o_poorest, o_richest int: of all that hold some, 0: none does
-- Raises: TG499 the text is damaged
-- Locks:  none
-- Plan:   primary key of task_execution, once per holder
-- Twin:   mssql/sql/functions/_Shares.sql
create or replace function taskgate._shares(
  p_tokens text, p_task_definition_id int, p_worker text, out o_mine int, out o_all int, out o_others int, out o_poorest int, out o_richest int)
language sql stable as $$
  select coalesce(sum(h.held) filter (where h.is_mine), 0)::int, coalesce(sum(h.held), 0)::int,
         (count(*) filter (where not h.is_mine))::int, coalesce(min(h.held), 0)::int, coalesce(max(h.held), 0)::int
    from (select p.is_mine, sum(g.held) as held
            from (select t.grantee, count(*) as held from taskgate._read_tokens(p_tokens) t where t.is_held group by t.grantee) g
            left join taskgate.task_execution e on e.task_execution_id = g.grantee
           cross join lateral (select coalesce(e.worker, '#' || g.grantee) as process,
                                      coalesce(e.worker = p_worker and e.task_definition_id = p_task_definition_id, false) as is_mine) p
           group by p.process, e.task_definition_id, p.is_mine) h
$$;
