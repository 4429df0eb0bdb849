-- taskgate._rejoin_waves: counts tasks that come back in their waves. One that has ended is open again where its batch has halted behind
--         it; into any other ended wave they don't come back.
-- In:     p_task_ids, p_wave_ids bigint[], p_outcomes smallint[]: same length; of waves that were being opened or open, or ended in a
--         halted batch; outcome 11 died, 12 was cancelled, 0 was cancelled before its wave counted it
-- Out:    bigint[]: the waves that have ended: their tasks are counted nowhere
-- Raises: TG499 a wave's counter is missing
-- Locks:  all wave_shard rows by (wave, shard); then wave rows by (batch, ordinal): the call that ends the last task of a wave comes before
--         this call, which finds the wave ended then, or after it, and finds a task more; then halted batches by skip: the one that
--         another call resumes or cancels at this moment goes on without these tasks
-- Plan:   primary keys, uq_wave_ordinal
-- Twin:   mssql/sql/procedures/_RejoinWaves.sql
create or replace function taskgate._rejoin_waves(p_task_ids bigint[], p_wave_ids bigint[], p_outcomes smallint[]) returns bigint[]
language plpgsql as $$
declare
  r record;
  v_left int;
  v_state smallint;
  v_filled bigint[] := '{}';
  v_ended bigint[] := '{}';
begin
  for r in select u.wave_id, ((u.task_id / 512) % 16)::smallint as shard, count(*)::int as n
             from unnest(p_wave_ids, p_task_ids) u(wave_id, task_id) group by 1, 2 order by 1, 2 loop
    update wave_shard s set remaining = s.remaining + r.n where s.wave_id = r.wave_id and s.shard = r.shard returning s.remaining into v_left;
    if not found then raise exception 'wave_id: a task names a wave that is gone (%)', r.wave_id using errcode = 'TG499'; end if;
    if v_left = r.n then v_filled := v_filled || r.wave_id; end if;
  end loop;
  for r in select w.wave_id, w.batch_id, w.ordinal, (select count(*) from unnest(v_filled) e(id) where e.id = w.wave_id)::int as shards, x.dead, x.uncounted
             from (select u.wave_id, (count(*) filter (where u.outcome = 11))::int as dead, (count(*) filter (where u.outcome = 0))::int as uncounted
                     from unnest(p_wave_ids, p_outcomes) u(wave_id, outcome) group by 1) x
             join wave w on w.wave_id = x.wave_id
            order by w.batch_id, w.ordinal loop
    select w.state into v_state from wave w where w.wave_id = r.wave_id for no key update;   -- lock, then look
    if v_state = 3 then
      perform 1 from batch b
        where b.batch_id = r.batch_id and b.state = 2
          and not exists (select 1 from wave n where n.batch_id = b.batch_id and n.ordinal > r.ordinal and n.state <> 0)
          for no key update of b skip locked;
      if not found then
        v_ended := v_ended || r.wave_id;
        continue;
      end if;
      insert into open_wave (batch_id, wave_id) values (r.batch_id, r.wave_id);
    end if;
    update wave w
       set state = case v_state when 3 then 2 else w.state end, finished_at = null, open_shards = w.open_shards + r.shards,
           dead_count = w.dead_count - r.dead, total = w.total + r.uncounted
     where w.wave_id = r.wave_id;
  end loop;
  -- Waves that have ended aren't counted any more: the additions above are undone.
  update wave_shard s set remaining = s.remaining - x.n
    from (select u.wave_id, ((u.task_id / 512) % 16)::smallint as shard, count(*)::int as n
            from unnest(p_wave_ids, p_task_ids) u(wave_id, task_id) where u.wave_id = any (v_ended) group by 1, 2) x
   where s.wave_id = x.wave_id and s.shard = x.shard;
  return v_ended;
end $$;
