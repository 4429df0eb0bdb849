-- taskgate.set_rate: an operator's rate, over the code's, or no override any more. Acts at the next claim.
-- In:     p_name; p_count 1..1000000 tasks per p_period_ms 1000..86400000, p_burst 1..p_count at once | p_count -1: none, also when the
--         code sets one | p_count null: the code's rate again; the other two are null then; p_changed_by (null: the login), p_reason for the audit
--         p_expected_rate: only if this rate is in force: {"count":..,"periodMs":..,"burst":..} or none; null: any
-- Out:    status: set | exists (it was so already) | conflict (another rate is in force: nothing was written; both are it); old_rate, new_rate text: in force, {count, periodMs, burst} or null: none
--         ready: tasks wait (a hint is due)
-- Raises: TG404 unknown definition; TG422 a value out of range
-- Locks:  task_definition, rate_bucket: waits for the claim that holds it
-- Plan:   unique name, primary keys
-- Once:   by value
-- Twin:   mssql/sql/procedures/SetRate.sql
create or replace function taskgate.set_rate(
  p_name text, p_count int, p_period_ms int, p_burst int, p_changed_by text, p_reason text default null, p_expected_rate text default null,
  out status text, out old_rate text, out new_rate text, out ready boolean)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
  v_problem text;
  c record;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  if p_count is null or p_count = -1 then
    v_problem := case when p_period_ms is not null then 'rate_period_ms: expected null without a rate (' || p_period_ms || ')'
                      when p_burst is not null then 'rate_burst: expected null without a rate (' || p_burst || ')' end;
  else
    v_problem := _rate_problem(p_count, p_period_ms, p_burst);
  end if;
  if v_problem is not null then raise exception '%', v_problem using errcode = 'TG422'; end if;
  v_definition := _find_definition(p_name);
  perform pg_advisory_xact_lock(42, v_definition);
  perform 1 from task_definition x where x.task_definition_id = v_definition for no key update;
  if p_expected_rate is not null then
    old_rate := coalesce((select coalesce(_rate_text(b.rate_count_override, b.rate_period_ms_override, b.rate_burst_override),
                                          _rate_text(b.rate_count, b.rate_period_ms, b.rate_burst))
                            from rate_bucket b where b.task_definition_id = v_definition), 'none');   -- only the definition's holder changes it
    if old_rate <> p_expected_rate then
      status := 'conflict'; old_rate := nullif(old_rate, 'none'); new_rate := old_rate; ready := false;
      return;
    end if;
  end if;
  select * into c from _change_rate(v_definition, true, p_count, p_period_ms, p_burst);
  status := case when c.o_old is distinct from c.o_new then 'set' else 'exists' end;
  old_rate := c.o_old_rate; new_rate := c.o_new_rate;
  if status = 'set' then
    insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
    values (v_definition, 'rate_override', c.o_old, c.o_new, 'operator', p_changed_by, p_reason, v_now);
  end if;
  ready := exists (select 1 from taskgate.ready r where r.task_definition_id = v_definition);
end $$;
