-- taskgate.list_batches: batches with their waves and how far they are, newest first.
-- In:     p_batch_id bigint: only this one, or null; p_before bigint: only older ones, or null; p_max int 1..100
-- Out:    status: listed; batches: JSON array of {batch, name, state: draft | running | halted | done | cancelled, failurePolicy,
--         createdAt, startedAt, finishedAt, runningMs: since its start while it runs, or null, waves: [{wave, ordinal,
--         state: blocked | opening | open | done | cancelled (with its batch, before it opened), sealed, blocked: not admitted yet
--         (counted up to 100000), admitted, unfinished: of those admitted, dead, openedAt, finishedAt}]}
-- Raises: TG422 max out of range
-- Locks:  none
-- Plan:   primary keys; blocked tasks are counted in pk_wave_blocked
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListBatches.sql
create or replace function taskgate.list_batches(p_batch_id bigint, p_before bigint, p_max int, out status text, out batches text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
begin
  perform _check_range('max', p_max, 1, 100);
  status := 'listed';
  select coalesce('[' || string_agg(json_build_object('batch', b.batch_id::text, 'name', b.name,
           'state', (array['draft', 'running', 'halted', 'done', 'cancelled'])[b.state + 1],
           'failurePolicy', (array['halt', 'continue', 'cancel'])[b.failure_policy],
           'createdAt', _iso(b.created_at), 'startedAt', _iso(b.started_at), 'finishedAt', _iso(b.finished_at),
           'runningMs', case when b.state = 1 then floor(extract(epoch from v_now - b.started_at) * 1000)::bigint end,
           'waves', (
             select json_agg(json_build_object('wave', w.wave_id::text, 'ordinal', w.ordinal,
                      'state', case when b.state = 4 and w.opened_at is null then 'cancelled'
                                    else (array['blocked', 'opening', 'open', 'done'])[w.state + 1] end, 'sealed', w.is_sealed,
                      'blocked', (select count(*) from (select 1 from wave_blocked h where h.wave_id = w.wave_id limit 100000) c),
                      'admitted', w.total, 'dead', w.dead_count,
                      'unfinished', (select coalesce(sum(s.remaining), 0) from wave_shard s where s.wave_id = w.wave_id),
                      'openedAt', _iso(w.opened_at), 'finishedAt', _iso(w.finished_at)) order by w.ordinal)
               from wave w where w.batch_id = b.batch_id))::text, ',' order by b.batch_id desc) || ']', '[]')
    into batches
    from (select x.* from batch x
           where x.batch_id = coalesce(p_batch_id, x.batch_id) and (p_before is null or x.batch_id < p_before)
           order by x.batch_id desc limit p_max) b;
end $$;
