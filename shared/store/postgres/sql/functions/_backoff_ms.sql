-- taskgate._backoff_ms: exponential back-off with equal jitter: min(cap, base * 2^(n-1)), half of it fixed and half random.
-- In:     p_base_ms, p_cap_ms int; p_failed_count smallint: 1 after the first failure
-- Out:    bigint
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   inside mssql/sql/procedures/FailTasks.sql (a function may not call RAND or NEWID there)
create or replace function taskgate._backoff_ms(p_base_ms int, p_cap_ms int, p_failed_count smallint) returns bigint
language sql volatile as $$
  select (m.ms / 2 + floor(random() * (m.ms - m.ms / 2 + 1)))::bigint
    from (select least(p_cap_ms::bigint, p_base_ms::bigint * (1::bigint << least(greatest(p_failed_count - 1, 0), 30))) as ms) m
$$;
