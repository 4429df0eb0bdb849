-- Taskgate._DurationBucket: the place of a duration among bounds of which six make a power of ten.
-- In:     @Ms bigint
-- Rows:   Bucket 0..42: so many bounds are at or below it; below 1 ms, and without a value, 0; one row
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_duration_bucket.sql; shared/core/duration-buckets.ts has the bounds, too
CREATE OR ALTER FUNCTION Taskgate._DurationBucket (@Ms bigint)
RETURNS TABLE
AS
RETURN
  SELECT CONVERT(smallint, COUNT(*)) AS Bucket
  FROM (VALUES (1), (2), (3), (5), (7), (10), (15), (20), (30), (50), (70), (100), (150), (200), (300), (500), (700), (1000), (1500),
    (2000), (3000), (5000), (7000), (10000), (15000), (20000), (30000), (50000), (70000), (100000), (150000), (200000), (300000),
    (500000), (700000), (1000000), (1500000), (2000000), (3000000), (5000000), (7000000), (10000000)) AS b (Bound)
  WHERE b.Bound <= @Ms;
