-- taskgate._shared_ids: the shared limits that a definition draws from.
-- In:     p_task_definition_id int
-- Out:    int[]: their ids, ascending; {}: none
-- Raises: -
-- Locks:  none
-- Plan:   primary key of task_definition_shared_limit: one probe when there are none
-- Twin:   mssql/sql/functions/_SharedIds.sql
create or replace function taskgate._shared_ids(p_task_definition_id int) returns int[]
language sql stable as $$
  select array(select l.shared_limit_id from taskgate.task_definition_shared_limit l
                where l.task_definition_id = p_task_definition_id order by l.shared_limit_id)
$$;
