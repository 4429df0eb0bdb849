-- taskgate._change_rate: writes a definition's rate, the code's or the operator's. The used part of the old burst is used of the new
-- one: a slow rate's long pause doesn't outlive it, nor do the turns that it gave, and a new rate isn't a new burst.
-- In:     p_task_definition_id int; p_is_override boolean: the operator's; p_count int: null: none said, -1: none (the operator's
--         only); p_period_ms, p_burst int
-- Out:    o_old, o_new text: that side's, as of _rate_text; o_old_rate, o_new_rate: in force, null: none
-- Raises: -
-- Locks:  rate_bucket: waits for a claim that holds it; rate_turn, under it. The caller holds task_definition
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_ChangeRate.sql
create or replace function taskgate._change_rate(
  p_task_definition_id int, p_is_override boolean, p_count int, p_period_ms int, p_burst int,
  out o_old text, out o_new text, out o_old_rate text, out o_new_rate text)
language plpgsql as $$
declare
  v_now timestamptz;
  v_used bigint := 0;
  v_interval_us bigint;
  b rate_bucket;
  n rate_bucket;
begin
  select x.* into b from rate_bucket x where x.task_definition_id = p_task_definition_id for no key update;
  if b.task_definition_id is null and p_count is null then return; end if;
  v_now := _now();
  n := b; n.task_definition_id := p_task_definition_id; n.rate_count := coalesce(b.rate_count, 0);
  if p_is_override then
    n.rate_count_override := p_count; n.rate_period_ms_override := p_period_ms; n.rate_burst_override := p_burst;
    n.rate_period_ms := coalesce(b.rate_period_ms, 0); n.rate_burst := coalesce(b.rate_burst, 0);
    o_old := _rate_text(b.rate_count_override, b.rate_period_ms_override, b.rate_burst_override);
  else
    n.rate_count := coalesce(p_count, 0); n.rate_period_ms := coalesce(p_period_ms, 0); n.rate_burst := coalesce(p_burst, 0);
    o_old := _rate_text(b.rate_count, b.rate_period_ms, b.rate_burst);
  end if;
  o_new := _rate_text(p_count, p_period_ms, p_burst);
  o_old_rate := nullif(coalesce(_rate_text(b.rate_count_override, b.rate_period_ms_override, b.rate_burst_override),
                                _rate_text(b.rate_count, b.rate_period_ms, b.rate_burst)), 'none');
  o_new_rate := nullif(coalesce(_rate_text(n.rate_count_override, n.rate_period_ms_override, n.rate_burst_override),
                                _rate_text(n.rate_count, n.rate_period_ms, n.rate_burst)), 'none');
  if o_old_rate is distinct from o_new_rate then
    delete from rate_turn x where x.task_definition_id = p_task_definition_id;
  end if;
  if n.rate_count = 0 and n.rate_count_override is null then
    delete from rate_bucket where task_definition_id = p_task_definition_id;   -- without a rate there is no cost
    return;
  end if;
  n.next_free_at := coalesce(b.next_free_at, v_now);
  if o_old_rate is distinct from o_new_rate then
    if o_old_rate is not null and b.next_free_at > v_now then
      v_interval_us := (coalesce(b.rate_period_ms_override, b.rate_period_ms) * 1000::bigint + coalesce(b.rate_count_override, b.rate_count) - 1)
                       / coalesce(b.rate_count_override, b.rate_count);
      v_used := (round(extract(epoch from b.next_free_at - v_now) * 1000000)::bigint + v_interval_us - 1) / v_interval_us;
    end if;
    n.next_free_at := v_now;
    if o_new_rate is not null then
      v_interval_us := (coalesce(n.rate_period_ms_override, n.rate_period_ms) * 1000::bigint + coalesce(n.rate_count_override, n.rate_count) - 1)
                       / coalesce(n.rate_count_override, n.rate_count);
      n.next_free_at := v_now + least(v_used, coalesce(n.rate_burst_override, n.rate_burst)) * v_interval_us * interval '1 us';
    end if;
  end if;
  if b.task_definition_id is null then
    insert into rate_bucket (task_definition_id, rate_count, rate_period_ms, rate_burst, rate_count_override, rate_period_ms_override, rate_burst_override, next_free_at)
    values (n.task_definition_id, n.rate_count, n.rate_period_ms, n.rate_burst, n.rate_count_override, n.rate_period_ms_override, n.rate_burst_override, n.next_free_at);
  else
    update rate_bucket x
       set rate_count = n.rate_count, rate_period_ms = n.rate_period_ms, rate_burst = n.rate_burst, rate_count_override = n.rate_count_override,
           rate_period_ms_override = n.rate_period_ms_override, rate_burst_override = n.rate_burst_override, next_free_at = n.next_free_at
     where x.task_definition_id = p_task_definition_id;
  end if;
end $$;
