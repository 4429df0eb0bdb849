-- taskgate._close_wave: the last task of a wave has ended: its batch goes on as its failure policy says.
-- In:     p_wave_id bigint: the caller holds its row and left no open shard; p_now
-- Out:    as _open_next_wave
-- Raises: -
-- Locks:  batch, then as _open_next_wave
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_CloseWave.sql
create or replace function taskgate._close_wave(p_wave_id bigint, p_now timestamptz, out o_woken int[], out o_is_opening boolean)
language plpgsql as $$
declare
  w record;
  b record;
begin
  o_woken := '{}'; o_is_opening := false;
  update wave x set state = 3, finished_at = p_now where x.wave_id = p_wave_id returning x.batch_id, x.dead_count into w;
  select x.state, x.failure_policy into b from batch x where x.batch_id = w.batch_id for no key update;
  delete from open_wave o where o.batch_id = w.batch_id;
  if b.state = 1 and w.dead_count > 0 and b.failure_policy <> 2 then
    b.state := case when b.failure_policy = 1 then 2 else 4 end;
    update batch x set state = b.state where x.batch_id = w.batch_id;
  end if;
  if b.state in (1, 4) then
    select x.o_woken, x.o_is_opening into o_woken, o_is_opening from _open_next_wave(w.batch_id, p_now) x;
  end if;
end $$;
