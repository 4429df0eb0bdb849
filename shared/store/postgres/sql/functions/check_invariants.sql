-- taskgate.check_invariants: every invariant of limits, holders, containers and order that SQL can see, in the whole database. For tests and `taskgate doctor --deep`.
-- In:     -
-- Out:    status: sound | broken; findings: JSON array, at most 100 per rule, of {rule, key, detail}
-- Raises: -
-- Locks:  none; on a busy database repeat a finding before believing it
-- Plan:   reads everything; isn't compiled (jit), which takes seconds before the first row is read
-- Once:   a read
-- Twin:   mssql/sql/procedures/CheckInvariants.sql
create or replace function taskgate.check_invariants(out status text, out findings text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set jit = off as $$
begin
  with claimed as materialized (
    select u.id as task_id, e.task_execution_id, e.task_definition_id, e.state from task_execution e cross join lateral unnest(e.inflight) u(id)),
  places as materialized (
    select task_id, 'ready' as place, task_definition_id from ready
    union all select task_id, 'scheduled', task_definition_id from scheduled
    union all select task_id, 'group_waiting', task_definition_id from group_waiting
    union all select task_id, 'wave_blocked', task_definition_id from wave_blocked
    union all select task_id, 'claimed', task_definition_id from claimed),
  tokens as materialized (
    select d.task_definition_id, d.name, t.is_held, t.grantee from task_definition d cross join lateral _read_tokens(case when _tokens_are_sound(d.execution_tokens) then d.execution_tokens else '' end) t),
  shared_tokens as materialized (
    select s.shared_limit_id, s.name, coalesce(s.concurrency_limit_override, s.concurrency_limit) as task_limit, t.is_held, t.grantee
      from shared_limit s cross join lateral _read_tokens(case when _tokens_are_sound(s.execution_tokens) then s.execution_tokens else '' end) t),
  found as (
    (select 'each unfinished task stands in exactly one place' as rule, t.task_id::text as key, coalesce(string_agg(p.place, ' and ' order by p.place), 'nowhere') as detail
       from task t left join places p on p.task_id = t.task_id group by t.task_id having count(p.place) <> 1 limit 100)
    union all
    (select 'a place holds only tasks that exist', p.task_id::text, p.place from places p where not exists (select 1 from task t where t.task_id = p.task_id) limit 100)
    union all
    (select 'a task stands under its own definition', p.task_id::text, p.place from places p join task t on t.task_id = p.task_id where t.task_definition_id <> p.task_definition_id limit 100)
    union all
    (select 'a task belongs to a definition', t.task_id::text, t.task_definition_id::text from task t
      where not exists (select 1 from task_definition d where d.task_definition_id = t.task_definition_id) limit 100)
    union all
    (select 'a finished task is not unfinished, too', a.task_id::text, 'archive and task' from archived a join task t on t.task_id = a.task_id limit 100)
    union all
    (select 'a finished task has ended once', a.task_id::text, count(*) || ' times' from archived a group by a.task_id having count(*) > 1 limit 100)
    union all
    (select 'the lists of a pack tell of each of its tasks', k.first_task_id::text, cardinality(k.task_ids) || ' tasks'
       from archive_pack k cross join lateral (select cardinality(k.task_ids) as size) c
      where cardinality(k.created_ats) <> c.size or cardinality(k.fences) <> c.size or cardinality(k.ranks) <> c.size or cardinality(k.durations_ms) <> c.size
         or cardinality(k.dedupe_keys) <> c.size or cardinality(k.results) <> c.size or cardinality(k.payloads) <> c.size or cardinality(k.trace_parents) <> c.size
         or k.task_ids <> array(select distinct u.id from unnest(k.task_ids) u(id) order by 1)
         or k.first_task_id <> k.task_ids[1] or k.last_task_id <> k.task_ids[c.size] or k.last_task_id - k.first_task_id >= 4096 limit 100)
    union all
    (select 'ready tasks carry their task''s order', r.task_id::text, r.priority || '/' || r.rank || ' in ready, ' || t.priority || '/' || t.rank || ' in task'
       from ready r join task t on t.task_id = r.task_id where r.priority <> t.priority or r.rank <> t.rank limit 100)
    union all
    (select 'only a live or not yet reclaimed execution holds claims', c.task_execution_id::text, 'state ' || c.state from claimed c where c.state not in (1, 3) limit 100)
    union all
    (select 'claims and their fences are of one length', e.task_execution_id::text, cardinality(e.inflight) || ' and ' || cardinality(e.inflight_fence)
       from task_execution e where cardinality(e.inflight) <> cardinality(e.inflight_fence) or cardinality(e.inflight) <> cardinality(e.inflight_at) limit 100)
    union all
    (select 'prefetched claims are claims', e.task_execution_id::text, array_to_string(e.prefetched, ',') from task_execution e where not e.prefetched <@ e.inflight limit 100)
    union all
    (select 'the token string can be read', d.name, left(d.execution_tokens, 100) from task_definition d where not _tokens_are_sound(d.execution_tokens) limit 100)
    union all
    (select 'a held token has a grantee', t.name, 'G:0' from tokens t where t.is_held and t.grantee = 0 limit 100)
    union all
    (select 'tokens held equal tokens counted', coalesce(s.task_execution_id, e.task_execution_id)::text, coalesce(s.held, 0) || ' in the string, ' || coalesce(e.token_count, 0) || ' counted'
       from (select t.grantee as task_execution_id, count(*)::int as held from tokens t where t.is_held group by t.grantee) s
       full join (select x.task_execution_id, x.token_count from task_execution x join task_definition d on d.task_definition_id = x.task_definition_id
                   where x.state = 1 and x.token_count > 0 and coalesce(d.concurrency_limit_override, d.concurrency_limit) <> -1) e on e.task_execution_id = s.task_execution_id
      where coalesce(s.held, 0) <> coalesce(e.token_count, 0)
        and (e.task_execution_id is not null or exists (select 1 from task_execution x where x.task_execution_id = s.task_execution_id and x.state = 1)) limit 100)
    union all
    (select 'without a limit there is no token string', d.name, left(d.execution_tokens, 100) from task_definition d
      where coalesce(d.concurrency_limit_override, d.concurrency_limit) = -1 and d.execution_tokens <> '' limit 100)
    union all
    (select 'free tokens do not exceed the limit', d.name, count(*) || ' tokens, limit ' || coalesce(d.concurrency_limit_override, d.concurrency_limit)
       from task_definition d join tokens t on t.task_definition_id = d.task_definition_id
      group by d.task_definition_id having count(*) > greatest(coalesce(d.concurrency_limit_override, d.concurrency_limit), count(*) filter (where t.is_held)) limit 100)
    union all
    (select 'the token string of a shared limit can be read', s.name, left(s.execution_tokens, 100) from shared_limit s where not _tokens_are_sound(s.execution_tokens) limit 100)
    union all
    (select 'a held token of a shared limit has a grantee', t.name, 'G:0' from shared_tokens t where t.is_held and t.grantee = 0 limit 100)
    union all
    (select 'tokens held of a shared limit equal tokens counted', s.name || '/' || e.task_execution_id, coalesce(h.held, 0) || ' in the string, ' || coalesce(w.token_count, 0) || ' counted'
       from shared_limit s join task_execution e on e.state = 1
       left join (select t.shared_limit_id, t.grantee, count(*)::int as held from shared_tokens t where t.is_held group by t.shared_limit_id, t.grantee) h
         on h.shared_limit_id = s.shared_limit_id and h.grantee = e.task_execution_id
       left join (select l.shared_limit_id, x.task_execution_id, x.token_count from task_definition_shared_limit l join task_execution x on x.task_definition_id = l.task_definition_id) w
         on w.shared_limit_id = s.shared_limit_id and w.task_execution_id = e.task_execution_id
        and coalesce(s.concurrency_limit_override, s.concurrency_limit) <> -1
      where coalesce(h.held, 0) <> coalesce(w.token_count, 0) limit 100)
    union all
    (select 'without a limit a shared limit has no token string', s.name, left(s.execution_tokens, 100) from shared_limit s
      where coalesce(s.concurrency_limit_override, s.concurrency_limit) = -1 and s.execution_tokens <> '' limit 100)
    union all
    (select 'free tokens do not exceed a shared limit', t.name, count(*) || ' tokens, limit ' || t.task_limit
       from shared_tokens t group by t.shared_limit_id, t.name, t.task_limit having count(*) > greatest(t.task_limit, count(*) filter (where t.is_held)) limit 100)
    union all
    (select 'a group fills at most its slots', g.group_id::text, count(*) || ' of ' || g.slots
       from task_group g join group_slot s on s.group_id = g.group_id group by g.group_id
       having count(*) > g.slots and not exists (     -- a lowered limit stops no running task
         select 1 from setting_audit l
          where l.setting in (case g.task_definition_id when 0 then 'global_group_slots' else 'own_group_slots' end, 'group_slots')   -- entries of before told no scope
            and (g.task_definition_id = 0 or l.task_definition_id = g.task_definition_id)
            and l.new_value = g.slots || ' of ' || g.group_key) limit 100)
    union all
    (select 'a grouped task in ready or claimed holds one slot', t.task_id::text, p.place || ', ' || (select count(*) from group_slot s where s.group_id = t.group_id and s.task_id = t.task_id) || ' slots'
       from task t join places p on p.task_id = t.task_id
      where t.group_id is not null and p.place in ('ready', 'claimed') and (select count(*) from group_slot s where s.group_id = t.group_id and s.task_id = t.task_id) <> 1 limit 100)
    union all
    -- By joins, each of which goes through the places once: a look per slot would do so as many times.
    (select 'a slot is held by a task of the group that may run', s.group_id || '/' || s.slot, s.task_id::text from group_slot s
       left join task t on t.task_id = s.task_id and t.group_id = s.group_id
       left join places p on p.task_id = t.task_id and p.place in ('ready', 'claimed', 'scheduled')
      where p.task_id is null limit 100)
    union all
    (select 'no task waits for a group that has a free slot', g.group_id::text, (select count(*) from group_slot s where s.group_id = g.group_id) || ' of ' || g.slots || ' slots used'
       from task_group g where not g.paused and exists (select 1 from group_waiting w where w.group_id = g.group_id)
        and (select count(*) from group_slot s where s.group_id = g.group_id) < g.slots limit 100)
    union all
    (select 'a task names its group while it holds a slot or waits for one', t.task_id::text, coalesce(t.pending_group_key, p.place)
       from task t join places p on p.task_id = t.task_id
      where t.group_id is not null and (t.pending_group_key is not null or p.place in ('scheduled', 'wave_blocked')
        and not exists (select 1 from group_slot s where s.group_id = t.group_id and s.task_id = t.task_id)) limit 100)
    union all
    (select 'a group that a row names exists', n.group_id::text, min(n.place)
       from (select t.group_id, 'task' as place from task t union all select s.group_id, 'slot' from group_slot s
             union all select w.group_id, 'waiting' from group_waiting w union all select a.group_id, 'archive' from archive a) n
      where n.group_id is not null and not exists (select 1 from task_group g where g.group_id = n.group_id) group by n.group_id limit 100)
    union all
    (select 'a key without a window belongs to an unfinished task', k.task_definition_id || '/' || k.dedupe_key, k.task_id::text from dedupe k
      where k.expires_at is null and not exists (select 1 from task t where t.task_id = k.task_id) limit 100)
    union all
    (select 'a schedule belongs to a definition', s.schedule_id::text, s.task_definition_id::text from schedule s
      where not exists (select 1 from task_definition d where d.task_definition_id = s.task_definition_id) limit 100)
    union all
    (select 'a group of a schedule has its schedule', g.schedule_id::text, g.group_key from schedule_group g
      where not exists (select 1 from schedule s where s.schedule_id = g.schedule_id) limit 100)
    union all
    (select 'a wave belongs to a batch', w.wave_id::text, w.batch_id::text from wave w
      where not exists (select 1 from batch b where b.batch_id = w.batch_id) limit 100)
    union all
    -- A replica that is fed row by row has counters of its own, which stand at their beginning when it takes over.
    (select 'a counter stands above the numbers that it has given', c.name, coalesce(c.stands::text, 'not begun') || ', ' || c.given || ' is given'
       from (select 'task_sequence' as name, pg_sequence_last_value('task_sequence'::regclass) as stands,
                    greatest((select max(t.task_id) from task t), (select max(a.task_id) from archive a), (select max(k.last_task_id) from archive_pack k)) as given
             union all select 'fence_sequence', pg_sequence_last_value('fence_sequence'::regclass), (select max(u.f) from task_execution e cross join unnest(e.inflight_fence) u(f))
             union all select 'task_definition', pg_sequence_last_value(pg_get_serial_sequence('task_definition', 'task_definition_id')::regclass), (select max(d.task_definition_id) from task_definition d)
             union all select 'setting_audit', pg_sequence_last_value(pg_get_serial_sequence('setting_audit', 'setting_audit_id')::regclass), (select max(l.setting_audit_id) from setting_audit l)
             union all select 'call_audit', pg_sequence_last_value(pg_get_serial_sequence('call_audit', 'call_audit_id')::regclass), (select max(l.call_audit_id) from call_audit l)
             union all select 'shared_limit', pg_sequence_last_value(pg_get_serial_sequence('shared_limit', 'shared_limit_id')::regclass), (select max(s.shared_limit_id) from shared_limit s)
             union all select 'task_execution', pg_sequence_last_value(pg_get_serial_sequence('task_execution', 'task_execution_id')::regclass), (select max(e.task_execution_id) from task_execution e)
             union all select 'task_group', pg_sequence_last_value(pg_get_serial_sequence('task_group', 'group_id')::regclass), (select max(g.group_id) from task_group g)
             union all select 'batch', pg_sequence_last_value(pg_get_serial_sequence('batch', 'batch_id')::regclass), (select max(b.batch_id) from batch b)
             union all select 'wave', pg_sequence_last_value(pg_get_serial_sequence('wave', 'wave_id')::regclass), (select max(w.wave_id) from wave w)
             union all select 'schedule', pg_sequence_last_value(pg_get_serial_sequence('schedule', 'schedule_id')::regclass), (select max(s.schedule_id) from schedule s)) c
      where c.given > coalesce(c.stands, 0))
    union all
    -- Counted for all waves at once: a look per wave and shard would go through what is blocked as many times.
    (select 'a wave counts its unfinished tasks', w.wave_id || '/' || n, coalesce(s.remaining, 0) || ' counted, ' || coalesce(c.tasks, 0) || ' there'
       from wave w cross join generate_series(0, 15) n
       left join wave_shard s on s.wave_id = w.wave_id and s.shard = n
       left join (
         select t.wave_id, (t.task_id / 512) % 16 as shard, count(*) as tasks
           from task t
          where t.wave_id is not null and not exists (select 1 from places p where p.task_id = t.task_id and p.place = 'wave_blocked')
          group by 1, 2) c on c.wave_id = w.wave_id and c.shard = n
      where coalesce(s.remaining, 0) <> coalesce(c.tasks, 0) limit 100)
    union all
    (select 'a wave counts its open shards', w.wave_id::text, w.open_shards || ' counted, ' || count(s.shard) + case w.state when 1 then 1 else 0 end || ' there'
       from wave w left join wave_shard s on s.wave_id = w.wave_id and s.shard < 16 and s.remaining > 0
      group by w.wave_id having w.open_shards <> count(s.shard) + case w.state when 1 then 1 else 0 end limit 100)
    union all
    (select 'a wave is open while it has unfinished tasks', w.wave_id::text, 'state ' || w.state || ', ' || w.open_shards || ' open shards'
       from wave w where (w.state in (0, 3) and w.open_shards > 0) or (w.state = 2 and w.open_shards = 0) limit 100)
    union all
    (select 'only waves that are blocked or being opened hold tasks', h.wave_id::text, 'state ' || coalesce(w.state::text, 'none')
       from (select distinct x.wave_id from wave_blocked x) h left join wave w on w.wave_id = h.wave_id where w.state is null or w.state not in (0, 1) limit 100)
    union all
    (select 'waves open one after the other', w.batch_id::text, count(*) || ' open'
       from wave w where w.state in (1, 2) group by w.batch_id having count(*) > 1 limit 100))
  select case when count(*) = 0 then 'sound' else 'broken' end, coalesce('[' || string_agg(json_build_object('rule', f.rule, 'key', f.key, 'detail', f.detail)::text, ',') || ']', '[]')
    into status, findings from found f;
end $$;
