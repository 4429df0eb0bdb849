-- taskgate._audit_call: writes who called an operation that changed something but no setting.
-- In:     p_action: the operation's name; p_task_definition_id: 0 for tasks of several definitions, or a batch; p_batch_id, or null;
--         p_task_ids bigint[]: the changed tasks, or null; p_changed_by; p_reason, or null; p_now
-- Out:    -
-- Raises: -
-- Locks:  a new row of call_audit
-- Plan:   no read
-- Twin:   mssql/sql/procedures/_AuditCall.sql
create or replace function taskgate._audit_call(
  p_action text, p_task_definition_id int, p_batch_id bigint, p_task_ids bigint[], p_changed_by text, p_reason text, p_now timestamptz)
returns void language sql as $$
  insert into call_audit (is_enqueue, changed_at, action, task_definition_id, batch_id, task_count, task_ids, changed_by, reason)
  values (p_action = 'enqueue_tasks', p_now, p_action, p_task_definition_id, p_batch_id, coalesce(cardinality(p_task_ids), 0),
          (select '["' || array_to_string(p_task_ids[1:1000], '","') || '"]' where cardinality(p_task_ids) > 0),
          p_changed_by, p_reason)
$$;
