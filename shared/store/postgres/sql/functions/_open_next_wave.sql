-- taskgate._open_next_wave: opens a batch's next wave that has tasks; empty ones before it are done; after the last the batch is.
-- In:     p_batch_id bigint: running or cancelled, no wave of it is open (open_wave), the caller holds its row; p_now
--         A wave of a cancelled batch has never opened: its tasks are cancelled
-- Out:    o_woken int[]: definitions that got ready tasks; o_is_opening: tasks of the wave are still to be admitted, or another call
--         adds tasks to it now: call pump_batch
-- Raises: -
-- Locks:  the gate of the next wave by skip, then its row. No other call wants a blocked wave's row, so this one never waits
-- Plan:   uq_wave_ordinal; primary keys
-- Twin:   mssql/sql/procedures/_OpenNextWave.sql
create or replace function taskgate._open_next_wave(p_batch_id bigint, p_now timestamptz, out o_woken int[], out o_is_opening boolean)
language plpgsql as $$
declare
  w record;
  r record;
  v_opened_at timestamptz;
begin
  o_woken := '{}'; o_is_opening := false;
  for w in select x.wave_id, b.state as batch_state from wave x join batch b on b.batch_id = x.batch_id
            where x.batch_id = p_batch_id and x.state = 0 order by x.ordinal loop
    v_opened_at := case when w.batch_state <> 4 then p_now end;
    -- The gate is had alone only when no call is adding tasks: added tasks are visible to the next statement.
    perform 1 from wave_shard s where s.wave_id = w.wave_id and s.shard = 16 for no key update skip locked;
    if not found then o_is_opening := true; return; end if;
    if not exists (select 1 from wave_blocked h where h.wave_id = w.wave_id) then
      update wave x set state = 3, opened_at = v_opened_at, finished_at = p_now where x.wave_id = w.wave_id;
      continue;
    end if;
    update wave x set state = 1, open_shards = 1, opened_at = v_opened_at where x.wave_id = w.wave_id;   -- the 1 stands for those to be admitted
    insert into wave_shard (wave_id, shard, remaining) select w.wave_id, n, 0 from generate_series(0, 17) n where n <> 16;
    insert into open_wave (batch_id, wave_id) values (p_batch_id, w.wave_id);
    if w.batch_state = 4 then o_is_opening := true; return; end if;   -- to be cancelled: not in a caller's completion
    select * into r from _admit_blocked(w.wave_id, 200, p_now);
    o_woken := r.o_woken;
    o_is_opening := not r.o_is_over;
    if not r.o_is_closed then return; end if;
    update wave x set state = 3, finished_at = p_now where x.wave_id = w.wave_id;   -- all of it was cancelled meanwhile
    delete from open_wave o where o.batch_id = p_batch_id;
  end loop;
  update batch b set state = case when b.state = 1 then 3 else b.state end, finished_at = p_now where b.batch_id = p_batch_id;
end $$;
