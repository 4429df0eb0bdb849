-- taskgate._duration_bucket: the place of a duration among bounds of which six make a power of ten.
-- In:     p_ms bigint
-- Out:    0..42: so many bounds are at or below it; below 1 ms, and without a value, 0
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_DurationBucket.sql; shared/core/duration-buckets.ts has the bounds, too
create or replace function taskgate._duration_bucket(p_ms bigint) returns smallint
language sql immutable as $$
  select width_bucket(coalesce(p_ms, 0), array[
    1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000, 10000, 15000, 20000, 30000,
    50000, 70000, 100000, 150000, 200000, 300000, 500000, 700000, 1000000, 1500000, 2000000, 3000000, 5000000, 7000000, 10000000]::bigint[])::smallint
$$;
