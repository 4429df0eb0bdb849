-- taskgate._count_permits: how many tasks a definition's rate lets start now, as the generic cell rate algorithm counts them: one
-- instant, next_free_at, that every start moves on by one interval; it may be ahead of the clock by burst intervals.
-- So in any window at most burst + window / interval tasks start.
-- In:     p_task_definition_id int; p_want int
-- Out:    o_allowed int: 0..p_want: start so many, then call _use_permits; o_from timestamptz, o_interval_us bigint: for that, null
--           when no rate is in force; o_retry_in_ms bigint: when to ask again; null: no permit is missing. A crowd doesn't ask all at
--           once for the next permit: a call that is allowed nothing gets a turn behind those that were denied before, two for each
--           permit. A turn is at most 1 s from now: a worker that is told a later instant gives its tokens up. When another call holds
--           the row nothing is allowed, and no turn given; the time to ask again is as of _retry_beside_ms
-- Raises: -
-- Locks:  rate_bucket by skip, kept to the end: no other call counts between this and _use_permits; rate_turn, under it
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_CountPermits.sql
create or replace function taskgate._count_permits(
  p_task_definition_id int, p_want int,
  out o_allowed int, out o_from timestamptz, out o_interval_us bigint, out o_retry_in_ms bigint)
language plpgsql as $$
declare
  v_now timestamptz;
  v_lead_us bigint;
  v_interval_us bigint;
  v_permit_at timestamptz;
  v_turn_at timestamptz;
  v_turn_in_ms bigint;
  b record;
begin
  select x.next_free_at, coalesce(x.rate_count_override, x.rate_count) as rate_count,
         case when x.rate_count_override is null then x.rate_period_ms else x.rate_period_ms_override end as period_ms,
         case when x.rate_count_override is null then x.rate_burst else x.rate_burst_override end as burst
    into b from rate_bucket x where x.task_definition_id = p_task_definition_id for no key update skip locked;
  if not found then
    select x.next_free_at, coalesce(x.rate_count_override, x.rate_count) as rate_count,
           case when x.rate_count_override is null then x.rate_period_ms else x.rate_period_ms_override end as period_ms,
           case when x.rate_count_override is null then x.rate_burst else x.rate_burst_override end as burst, t.turn_at
      into b from rate_bucket x left join rate_turn t on t.task_definition_id = x.task_definition_id where x.task_definition_id = p_task_definition_id;
    if not found or b.rate_count < 1 then o_allowed := p_want; return; end if;   -- it was taken away meanwhile, or there is none
    v_now := _now();
    v_interval_us := (b.period_ms * 1000::bigint + b.rate_count - 1) / b.rate_count;
    o_allowed := 0;
    o_retry_in_ms := _retry_beside_ms(
      greatest(round(extract(epoch from b.next_free_at - v_now) * 1000000)::bigint, 0) - (b.burst - 1) * v_interval_us, v_interval_us,
      round(extract(epoch from b.turn_at - v_now) * 1000000)::bigint, floor(random() * 1000)::int);
    return;
  end if;
  if b.rate_count < 1 then o_allowed := p_want; return; end if;   -- an operator said: none
  v_now := _now();                                   -- with the row held: an earlier count read an earlier time
  o_from := greatest(b.next_free_at, v_now);
  o_interval_us := (b.period_ms * 1000::bigint + b.rate_count - 1) / b.rate_count;   -- rounded up: never faster than asked for
  v_lead_us := round(extract(epoch from o_from - v_now) * 1000000);
  o_allowed := least(greatest(b.burst - (v_lead_us + o_interval_us - 1) / o_interval_us, 0), p_want);
  if o_allowed < p_want then
    v_lead_us := v_lead_us - (b.burst - 1 - o_allowed) * o_interval_us;   -- until the next permit
    o_retry_in_ms := (v_lead_us + 999) / 1000;
  end if;
  -- Who comes shortly before a permit has its turn: the permit before was taken late, and moved this one.
  if o_allowed > 0 or 6 * v_lead_us <= o_interval_us then return; end if;
  v_permit_at := v_now + v_lead_us * interval '1 us';
  select greatest(max(x.turn_at), v_permit_at) into v_turn_at from rate_turn x where x.task_definition_id = p_task_definition_id;
  v_turn_in_ms := (round(extract(epoch from v_turn_at - v_now) * 1000000)::bigint + 999) / 1000;
  if v_turn_in_ms > greatest(o_retry_in_ms, 1000) then o_retry_in_ms := greatest(o_retry_in_ms, 1000); return; end if;
  o_retry_in_ms := v_turn_in_ms;
  insert into rate_turn as x (task_definition_id, turn_at)
  values (p_task_definition_id, v_turn_at + (o_interval_us + 1) / 2 * interval '1 us')
  on conflict (task_definition_id) do update set turn_at = excluded.turn_at;
end $$;
