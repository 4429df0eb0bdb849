-- taskgate._retry_beside_ms: when a caller asks again that met the row of a rate held by another call, and so was given nothing and no
-- turn. The holder is taken to use up the next permit, and may not: so the answer is a second at most, unless that permit itself comes
-- later. The instant is drawn over the turns that are given: callers that met come apart, and a crowd asks seldom.
-- In:     p_ahead_us bigint: microseconds until the next permit, as of the last commit; below 0: so much is saved up; p_interval_us
--           bigint: between two permits; p_turn_in_us bigint: until the last turn that is given, null: none; p_lot int 0..999: drawn by
--           the caller
-- Out:    bigint: milliseconds, 5 at least
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_RetryBesideMs.sql
create or replace function taskgate._retry_beside_ms(p_ahead_us bigint, p_interval_us bigint, p_turn_in_us bigint, p_lot int) returns bigint
language sql immutable as $$
  select least(5 + (l.lead_us + p_lot * least(greatest(s.spread_us, 16000), l.latest_us - l.lead_us) / 1000) / 1000, (l.latest_us + 999) / 1000)
    from (select least(greatest(p_ahead_us + p_interval_us, 0), greatest(p_ahead_us, 500000)) as lead_us,   -- to the permit behind the next one
                 greatest(p_ahead_us, 1000000) as latest_us) l
   cross join lateral (select case when p_ahead_us + p_interval_us > 0 then p_interval_us else 0 end
                              + greatest(coalesce(p_turn_in_us, 0) - l.lead_us, 0) as spread_us) s
$$;
