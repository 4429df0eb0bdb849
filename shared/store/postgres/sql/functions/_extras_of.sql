-- taskgate._extras_of: what a worker needs of a claimed task beside its kind, attempt and payload.
-- In:     p_task task: its row; p_build bigint: of the code that runs it
-- Out:    text: a JSON object {checkpoint, trace, grouped, cancel, newer, wave, solo}; null: none of them says anything
-- Raises: -
-- Locks:  none
-- Plan:   no table; one expression, which the planner puts in place of the call
-- Twin:   inside mssql/sql/procedures/Work.sql
create or replace function taskgate._extras_of(p_task taskgate.task, p_build bigint) returns text
language sql stable as $$
  select case when (p_task).checkpoint is not null or (p_task).trace_parent is not null or (p_task).group_id is not null or (p_task).cancel_requested
                or (p_task).build > p_build or (p_task).wave_id is not null or (p_task).lost_count >= 2
         then json_build_object('checkpoint', (p_task).checkpoint, 'trace', (p_task).trace_parent, 'grouped', (p_task).group_id is not null,
                                'cancel', (p_task).cancel_requested, 'newer', (p_task).build > p_build, 'wave', (p_task).wave_id is not null,
                                'solo', (p_task).lost_count >= 2)::text end
$$;
