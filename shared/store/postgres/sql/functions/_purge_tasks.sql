-- taskgate._purge_tasks: deletes finished tasks whose retention is over, with their attempts.
-- In:     p_max int; p_now
-- Out:    o_tasks: how many went; o_attempts: of them, and of tasks that had too many to go; o_more: as many as asked for were due, or some have attempts left
-- Raises: -
-- Locks:  archive, then archive_pack, by skip; then attempt and ended_early of these tasks: it never waits
-- Plan:   ix_archive_purge, ix_archive_pack_purge from their old ends; then whole keys
-- Twin:   inside mssql/sql/procedures/Purge.sql
create or replace function taskgate._purge_tasks(p_max int, p_now timestamptz, out o_tasks int, out o_attempts int, out o_more boolean)
language plpgsql as $$
declare
  v_due bigint[];
  v_packs bigint[];
  v_rows bigint[];
  v_packed bigint[];
begin
  -- 1. The oldest ones. The holder of an archive's row or pack owns its tasks' attempts.
  select array_agg(x.task_id), array_agg(distinct x.pack) filter (where x.pack is not null) into v_due, v_packs
    from (select * from (
            (select a.task_id, a.purge_after, null::bigint as pack from archive a where a.purge_after < p_now order by a.purge_after limit p_max)
            union all
            (select u.task_id, k.purge_after, k.first_task_id from archive_pack k cross join lateral unnest(k.task_ids) u(task_id)
              where k.purge_after < p_now order by k.purge_after limit p_max)) y
           order by y.purge_after, y.task_id limit p_max) x;
  o_more := coalesce(cardinality(v_due), 0) = p_max;
  v_rows := array(select a.task_id from archive a where a.task_id = any (v_due) and a.purge_after < p_now
                   order by a.task_id for update skip locked);
  v_packs := array(select k.first_task_id from archive_pack k where k.first_task_id = any (v_packs) and k.purge_after < p_now
                    order by k.first_task_id for update skip locked);
  v_packed := array(select u.task_id from archive_pack k cross join lateral unnest(k.task_ids) u(task_id)
                     where k.first_task_id = any (v_packs) and (u.task_id in (select unnest(v_due))) is true);
  v_due := v_rows || v_packed;

  -- 2. Attempts. A task that has more loses them call by call, and goes with the last.
  delete from attempt p where p.ctid = any (array(       -- no other call writes them: their places stay
    select x.ctid from attempt x where x.task_id = any (v_due) order by x.task_id, x.fence limit 10000));
  get diagnostics o_attempts = row_count;
  if o_attempts = 10000 and exists (select 1 from attempt p where p.task_id = any (v_due)) then
    o_more := true;
    v_due := array(select d.id from unnest(v_due) d(id) where not exists (select 1 from attempt p where p.task_id = d.id));
  end if;

  -- 3. The tasks: a pack goes when all of its tasks do, and is cut to those that stay otherwise.
  delete from archive a where a.task_id = any (v_due);
  get diagnostics o_tasks = row_count;
  o_tasks := o_tasks + (select count(*) from unnest(v_packed) u(id) where (u.id in (select unnest(v_due))) is true);
  delete from archive_pack k where k.first_task_id = any (v_packs) and not exists (select 1 from unnest(k.task_ids) u(id) where u.id not in (select unnest(v_due)));
  update archive_pack k
     set (first_task_id, last_task_id, task_ids, ranks, created_ats, fences, durations_ms, dedupe_keys, results, payloads, trace_parents) = (
           select min(u.task_id), max(u.task_id), array_agg(u.task_id order by u.task_id),
                  case when k.ranks is not null then array_agg(u.rank order by u.task_id) end,
                  array_agg(u.created_at order by u.task_id), array_agg(u.fence order by u.task_id),
                  case when k.durations_ms is not null then array_agg(u.duration_ms order by u.task_id) end,
                  case when k.dedupe_keys is not null then array_agg(u.dedupe_key order by u.task_id) end,
                  case when k.results is not null then array_agg(u.result order by u.task_id) end,
                  case when k.payloads is not null then array_agg(u.payload order by u.task_id) end,
                  case when k.trace_parents is not null then array_agg(u.trace_parent order by u.task_id) end
             from unnest(k.task_ids, k.ranks, k.created_ats, k.fences, k.durations_ms, k.dedupe_keys, k.results, k.payloads, k.trace_parents)
                  u(task_id, rank, created_at, fence, duration_ms, dedupe_key, result, payload, trace_parent)
            where u.task_id not in (select unnest(v_due)))
   where k.first_task_id = any (v_packs) and exists (select 1 from unnest(k.task_ids) u(id) where (u.id in (select unnest(v_due))) is true);
  delete from ended_early e where e.task_id = any (v_due);
end $$;
