-- taskgate._keep_enqueued: keeps the answer of an enqueue for a repeat of the call.
-- In:     p_operation_id uuid: the caller has made its row; p_definition int: whose tasks they are; the answer of enqueue_tasks: p_task_ids text, p_outcomes text, p_ready boolean,
--         p_next_due_ms bigint
-- Out:    -
-- Raises: -
-- Locks:  operation: the caller has it
-- Plan:   primary key
-- Twin:   inside mssql/sql/procedures/EnqueueTasks.sql
create or replace function taskgate._keep_enqueued(p_operation_id uuid, p_definition int, p_task_ids text, p_outcomes text, p_ready boolean, p_next_due_ms bigint) returns void
language sql as $$
  update taskgate.operation o
     set answer = json_build_object('target', p_definition::text, 'taskIds', p_task_ids, 'outcomes', p_outcomes, 'ready', p_ready, 'nextDueMs', p_next_due_ms)::text
   where o.operation_id = p_operation_id
$$;
