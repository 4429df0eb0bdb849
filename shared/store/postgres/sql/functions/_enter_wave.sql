-- taskgate._enter_wave: may tasks be added to a wave? Until it is sealed or opened, or its batch was cancelled. While they are, it
--         isn't opened.
-- In:     p_wave_id bigint; p_may_be_sealed: true: also after it is sealed, for tasks that were in it before
-- Out:    boolean
-- Raises: TG404 unknown wave
-- Locks:  the wave's gate (wave_shard 16), shared, when it takes tasks: who opens the wave wants it alone and skips it
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_EnterWave.sql
create or replace function taskgate._enter_wave(p_wave_id bigint, p_may_be_sealed boolean default false) returns boolean
language plpgsql as $$
declare
  v_takes boolean;
begin
  select w.state = 0 and (not w.is_sealed or p_may_be_sealed) and b.state <> 4 into v_takes from wave w join batch b on b.batch_id = w.batch_id where w.wave_id = p_wave_id;
  if not found then raise exception 'wave_id: unknown (%)', p_wave_id using errcode = 'TG404'; end if;
  if v_takes then                                    -- lock, then look
    perform 1 from wave_shard s where s.wave_id = p_wave_id and s.shard = 16 for share;
    select w.state = 0 and (not w.is_sealed or p_may_be_sealed) and b.state <> 4 into v_takes from wave w join batch b on b.batch_id = w.batch_id where w.wave_id = p_wave_id;
  end if;
  return v_takes;
end $$;
