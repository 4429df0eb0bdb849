-- taskgate._purge_batches: deletes batches that finished long ago, with their waves, the oldest first.
-- In:     p_max int: waves; p_now
-- Out:    batches, waves int: rows deleted; more: waves filled their share
-- Raises: -
-- Locks:  batch, wave_shard and wave by skip: a finished batch never changes again, nor gets rows. A wave goes only when all of its
--         counters could be had
-- Plan:   the primary key of batch from its old end, at most 1000 rows; then the batches' own waves. A batch with more waves loses them
--         call by call, and goes with the last; from the first on a repeat of its create_batch makes a new one
-- Twin:   mssql/sql/procedures/_PurgeBatches.sql
create or replace function taskgate._purge_batches(p_max int, p_now timestamptz, out batches int, out waves int, out more boolean)
language plpgsql as $$
declare
  v_finished_before timestamptz := _purge_executions_before(p_now);
  v_due bigint[];
  v_batch bigint;
  v_waves bigint[];
  v_mine bigint[];
  v_found int;
  v_left int := p_max;
begin
  batches := 0;
  waves := 0;
  v_due := array(
    select x.batch_id
      from (select b.batch_id, b.finished_at from batch b order by b.batch_id limit 1000) x
     where x.finished_at < v_finished_before order by x.batch_id limit p_max);
  for v_batch in select b.batch_id from batch b where b.batch_id = any (v_due) order by b.batch_id for update skip locked loop
    exit when v_left <= 0;
    v_waves := array(select w.wave_id from wave w where w.batch_id = v_batch order by w.ordinal limit v_left + 1);
    v_found := cardinality(v_waves);
    v_mine := array(
      select s.wave_id
        from (select x.wave_id from wave_shard x where x.wave_id = any (v_waves[1:v_left]) for update skip locked) s
       group by s.wave_id having count(*) = (select count(*) from wave_shard a where a.wave_id = s.wave_id));
    v_mine := array(select w.wave_id from wave w where w.wave_id = any (v_mine) for update skip locked);
    delete from wave_shard s where s.wave_id = any (v_mine);
    delete from wave w where w.wave_id = any (v_mine);
    waves := waves + cardinality(v_mine);
    if cardinality(v_mine) = v_found then
      delete from batch b where b.batch_id = v_batch;
      batches := batches + 1;
    elsif cardinality(v_mine) > 0 then               -- an unused id: a repeat must not be told of some of its waves
      update batch b set operation_id = gen_random_uuid() where b.batch_id = v_batch;
    end if;
    v_left := v_left - v_found;
  end loop;
  more := v_left <= 0;
end $$;
