-- taskgate._waiting_beside: definitions that could use tokens which shared limits have got back: they draw from one of them, tasks of theirs
-- are ready, and no execution of theirs would find these.
-- In:     p_task_definition_id int: the one whose execution gave the tokens; p_shared int[]: its shared limits; p_max int: the freed tokens
-- Out:    int[]: at most so many ids: the next ones behind that definition, then from the first one on, so that each has its turn
-- Raises: -
-- Locks:  none
-- Plan:   ix_task_definition_shared_limit_shared_limit; of each definition there one probe of ready, and one of its open executions
-- Twin:   mssql/sql/functions/_WaitingBeside.sql
create or replace function taskgate._waiting_beside(p_task_definition_id int, p_shared int[], p_max int) returns int[]
language sql stable as $$
  select array(
    select d.task_definition_id from taskgate.task_definition d
     where d.task_definition_id in (select l.task_definition_id from taskgate.task_definition_shared_limit l where l.shared_limit_id = any (p_shared))
       and d.task_definition_id <> p_task_definition_id and not d.paused
       and exists (select 1 from taskgate.ready r where r.task_definition_id = d.task_definition_id)
       and not exists (select 1 from taskgate.task_execution x where x.task_definition_id = d.task_definition_id and x.state = 1)
     order by d.task_definition_id < p_task_definition_id, d.task_definition_id
     limit p_max)
$$;
