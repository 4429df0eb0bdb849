-- taskgate._enqueued: the answer of an enqueue as it is kept for a repeat of the call.
-- In:     p_definition int: whose tasks they are; the answer of enqueue_tasks: p_task_ids text, p_outcomes text, p_ready boolean, p_next_due_ms bigint
-- Out:    text: as _first_answer reads it
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   inside mssql/sql/procedures/EnqueueTasks.sql
create or replace function taskgate._enqueued(p_definition int, p_task_ids text, p_outcomes text, p_ready boolean, p_next_due_ms bigint) returns text
language sql stable as $$
  select json_build_object('target', p_definition::text, 'taskIds', p_task_ids, 'outcomes', p_outcomes, 'ready', p_ready, 'nextDueMs', p_next_due_ms)::text
$$;
