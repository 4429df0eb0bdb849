-- taskgate.purge: deletes rows whose retention is over, one slice of each kind. The sweep calls it until nothing is left.
-- In:     p_max int 1..1000: rows of each kind
-- Out:    status: purged | none; tasks: finished ones whose retention is over, with their attempts; executions: those that ended a day
--           ago and longer ago than the longest retention of any definition, of the 1000 oldest; operations: answers kept for
--           repeats for a day; keys: dedupe keys whose window is over; groups: as _purge_groups; batches: those that finished as long ago as
--           executions that go, with their waves, of the 1000 oldest; audit_entries: as _purge_audit; purged: all these together
--         more: one kind filled its share: call again, unless this call purged nothing
-- Raises: TG422 max out of range
-- Locks:  as _purge_groups, then as _purge_tasks; task_execution, operation, dedupe, batches as
--         _purge_batches and the audit as _purge_audit, by skip: it never waits
-- Plan:   as _purge_tasks; ix_operation_done_at, ix_dedupe_expires, pk_task_execution from their old ends; then whole keys. At most 10000
--         attempts: a task that has more loses them call by call, and goes with the last; so does a batch with more than p_max waves
-- Once:   naturally
-- Twin:   mssql/sql/procedures/Purge.sql
create or replace function taskgate.purge(
  p_max int, out status text, out purged int, out tasks int, out executions int, out operations int, out keys int, out groups int,
  out batches int, out audit_entries int, out more boolean)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_ended_before timestamptz;
  v_due bigint[];
  v_ids uuid[];
  v_definitions int[];
  v_keys text[];
  g record;
  t record;
  v_waves int;
  v_more_waves boolean;
  v_more_entries boolean;
begin
  perform _check_range('max', p_max, 1, 1000);
  -- 1. Groups. What goes below lets go of its group in the next round.
  select * into g from _purge_groups(p_max, v_now);
  groups := g.o_groups;

  -- 2. Tasks, oldest first.
  select * into t from _purge_tasks(p_max, v_now);
  tasks := t.o_tasks;
  more := g.o_more or t.o_more;

  -- 3. Executions: ids grow with time, and an ended one never changes again.
  v_ended_before := _purge_executions_before(v_now);
  v_due := array(
    select x.task_execution_id
      from (select e.* from task_execution e order by e.task_execution_id limit 1000) x
     where x.state in (2, 4) and x.ended_at < v_ended_before order by x.task_execution_id limit p_max);
  more := more or cardinality(v_due) = p_max;
  delete from task_execution e where e.task_execution_id = any (array(
    select x.task_execution_id from task_execution x where x.task_execution_id = any (v_due) for update skip locked));
  get diagnostics executions = row_count;

  -- 4. Answers kept for repeats.
  v_ids := array(select o.operation_id from operation o where o.done_at < v_now - interval '1 day' order by o.done_at limit p_max);
  more := more or cardinality(v_ids) = p_max;
  delete from operation o where o.operation_id = any (array(
    select x.operation_id from operation x where x.operation_id = any (v_ids) for update skip locked));
  get diagnostics operations = row_count;

  -- 5. Keys last: an enqueue of one waits until this is over.
  select array_agg(x.task_definition_id), array_agg(x.dedupe_key) into v_definitions, v_keys
    from (select k.task_definition_id, k.dedupe_key from dedupe k where k.expires_at < v_now order by k.expires_at limit p_max) x;
  more := more or coalesce(cardinality(v_keys), 0) = p_max;
  delete from dedupe k where k.ctid = any (array(
    select x.ctid from unnest(v_definitions, v_keys) u(definition, key)
      join dedupe x on x.task_definition_id = u.definition and x.dedupe_key = u.key
     where x.expires_at < v_now for update of x skip locked));
  get diagnostics keys = row_count;

  -- 6. Batches.
  select p.batches, p.waves, p.more into batches, v_waves, v_more_waves from _purge_batches(p_max, v_now) p;

  -- 7. The audit of settings.
  select p.entries, p.more into audit_entries, v_more_entries from _purge_audit(p_max, v_now) p;
  more := more or v_more_waves or v_more_entries;
  purged := tasks + executions + operations + keys + groups + batches + audit_entries;
  status := case when purged + t.o_attempts + v_waves > 0 then 'purged' else 'none' end;
end $$;
