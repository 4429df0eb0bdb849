-- taskgate._permit_in_ms: milliseconds until a definition's rate lets another task start, as of the last commit.
-- In:     p_task_definition_id int; p_now timestamptz
-- Out:    bigint: 1 or more; 0: it lets one start now; null: no rate
-- Raises: -
-- Locks:  none
-- Plan:   primary key
-- Twin:   mssql/sql/functions/_PermitInMs.sql
create or replace function taskgate._permit_in_ms(p_task_definition_id int, p_now timestamptz) returns bigint
language sql stable as $$
  select greatest(ceil((extract(epoch from b.next_free_at - p_now) * 1000000 - (b.burst - 1) * ((b.period_ms * 1000::bigint + b.rate_count - 1) / b.rate_count)) / 1000), 0)::bigint
    from (select x.next_free_at, coalesce(x.rate_count_override, x.rate_count) as rate_count,
                 case when x.rate_count_override is null then x.rate_period_ms else x.rate_period_ms_override end as period_ms,
                 case when x.rate_count_override is null then x.rate_burst else x.rate_burst_override end as burst
            from taskgate.rate_bucket x where x.task_definition_id = p_task_definition_id) b
   where b.rate_count > 0
$$;
