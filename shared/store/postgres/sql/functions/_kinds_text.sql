-- taskgate._kinds_text: the rules of a definition's kinds, for the audit.
-- In:     p_task_definition_id int
-- Out:    text: at most 400 characters, or null: no kind has any
-- Raises: -
-- Locks:  none
-- Plan:   primary key
-- Twin:   mssql/sql/functions/_KindsText.sql
create or replace function taskgate._kinds_text(p_task_definition_id int) returns text
language sql stable as $$
  select left(string_agg(k.kind || case when k.is_group_computed then ' group=code' else coalesce(' group=' || k.group_by, '') end || coalesce(' priority=' || k.priority, '')
           || coalesce(' run_in_ms=' || k.run_in_ms, '') || coalesce(' dedupe=' || k.dedupe_by || coalesce('/' || k.dedupe_ms, ''), ''), ', ' order by k.kind collate "C"), 400)
    from taskgate.task_kind k where k.task_definition_id = p_task_definition_id
$$;
