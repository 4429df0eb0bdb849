-- taskgate._end_in_waves: counts ended tasks down in their waves; the call that ends the last task of a wave opens the next.
-- In:     p_task_ids, p_wave_ids bigint[], p_outcomes smallint[]: same length; p_now
-- Out:    o_woken int[]: definitions that got ready tasks; o_opening bigint[]: batches whose next wave is still being opened
-- Raises: TG499 a wave's counter is missing
-- Locks:  all wave_shard rows by (wave, shard); then wave rows by (batch, ordinal), once each; then as _close_wave
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_EndInWaves.sql
create or replace function taskgate._end_in_waves(
  p_task_ids bigint[], p_wave_ids bigint[], p_outcomes smallint[], p_now timestamptz, out o_woken int[], out o_opening bigint[])
language plpgsql as $$
declare
  r record;
  c record;
  v_left int;
  v_empty bigint[] := '{}';
begin
  o_woken := '{}'; o_opening := '{}';
  for r in select u.wave_id, ((u.task_id / 512) % 16)::smallint as shard, count(*)::int as n
             from unnest(p_wave_ids, p_task_ids) u(wave_id, task_id) group by 1, 2 order by 1, 2 loop
    update wave_shard s set remaining = s.remaining - r.n where s.wave_id = r.wave_id and s.shard = r.shard returning s.remaining into v_left;
    if not found then raise exception 'wave_id: a task names a wave that is gone (%)', r.wave_id using errcode = 'TG499'; end if;
    if v_left = 0 then v_empty := v_empty || r.wave_id; end if;
  end loop;
  for r in select w.wave_id, w.batch_id, (select count(*) from unnest(v_empty) e(id) where e.id = w.wave_id)::int as shards, x.dead
             from (select u.wave_id, (count(*) filter (where u.outcome = 11))::int as dead from unnest(p_wave_ids, p_outcomes) u(wave_id, outcome) group by 1) x
             join wave w on w.wave_id = x.wave_id
            where x.dead > 0 or x.wave_id = any (v_empty)
            order by w.batch_id, w.ordinal loop
    update wave w set open_shards = w.open_shards - r.shards, dead_count = w.dead_count + r.dead
     where w.wave_id = r.wave_id returning w.open_shards into v_left;
    if v_left = 0 then
      select * into c from _close_wave(r.wave_id, p_now);
      o_woken := o_woken || c.o_woken;
      if c.o_is_opening then o_opening := o_opening || r.batch_id; end if;
    end if;
  end loop;
end $$;
