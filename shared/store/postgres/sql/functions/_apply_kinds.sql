-- taskgate._apply_kinds: what the code says of the kinds of a call's entries, where the caller said nothing.
-- In:     p_task_definition_id int; p_build bigint: of the caller's code, 0: it has none; p_tasks text: the entries, sound ones;
--         p_is_blocked: of a wave: no delay; p_now; p_kinds, p_payloads: of the entries
--         p_priorities, p_group_keys, p_run_ats, p_dedupe_keys, p_dedupe_ms: as the caller said them
-- Out:    o_priorities, o_group_keys, o_run_ats, o_dedupe_keys, o_dedupe_ms: the same, completed
-- Raises: TG422 a payload has no key at a path, naming entry and member; TG424 the group is a function in the code and the caller
--         said none; or a key is another than the payload's, of a caller without code or with the code that is registered
-- Locks:  none
-- Plan:   primary key, one probe per entry
-- Twin:   mssql/sql/procedures/_ApplyKinds.sql
create or replace function taskgate._apply_kinds(
  p_task_definition_id int, p_build bigint, p_tasks text, p_is_blocked boolean, p_now timestamptz, p_kinds text[], p_payloads text[],
  p_priorities int[], p_group_keys text[], p_run_ats timestamptz[], p_dedupe_keys text[], p_dedupe_ms bigint[],
  out o_priorities int[], out o_group_keys text[], out o_run_ats timestamptz[], out o_dedupe_keys text[], out o_dedupe_ms bigint[])
language plpgsql as $$
declare
  v record;
  v_is_strict boolean := p_build = 0 or p_build is null or p_build = (select d.build from task_definition d where d.task_definition_id = p_task_definition_id);
begin
  select (array_agg(left(x.problem, 5) || 'tasks[' || x.n - 1 || '].' || substr(x.problem, 6) order by x.n) filter (where x.problem is not null))[1] as problem,
         array_agg(coalesce(x.group_key, substr(x.group_is, 2)) order by x.n) as group_keys,
         array_agg(coalesce(x.dedupe_key, substr(x.dedupe_is, 2)) order by x.n) as dedupe_keys,
         array_agg(case when x.dedupe_key is null and x.dedupe_is is not null then coalesce(x.dedupe_ms, x.kind_dedupe_ms) else x.dedupe_ms end order by x.n) as dedupe_ms,
         array_agg(case when x.says_priority then x.priority else coalesce(x.kind_priority, x.priority) end order by x.n) as priorities,
         array_agg(case when p_is_blocked or x.says_instant or coalesce(x.kind_run_in_ms, 0) = 0 then x.run_at else p_now + x.kind_run_in_ms * interval '1 ms' end order by x.n) as run_ats
    into v
    from (
      select u.n, u.group_key, u.dedupe_key, u.dedupe_ms, u.priority, u.run_at, g.group_is, g.dedupe_is, k.priority as kind_priority, k.run_in_ms as kind_run_in_ms,
             k.dedupe_ms as kind_dedupe_ms, u.entry ->> 'priority' is not null as says_priority,
             u.entry ->> 'runInMs' is not null or u.entry ->> 'runAt' is not null as says_instant,
             case
               when g.group_is like '!%' then 'TG422' || substr(g.group_is, 2)
               when k.is_group_computed and u.group_key is null and u.entry -> 'group' is null
                 then 'TG424group: expected a key, or null for none: the code of kind ' || u.kind || ' computes it (nothing)'
               when v_is_strict and k.group_by is not null and u.group_key <> coalesce(substr(g.group_is, 2), '')
                 then 'TG424group: expected nothing, or what the payload of kind ' || u.kind || ' has at ' || k.group_by || ' (' || u.group_key || ')'
               when g.dedupe_is like '!%' then 'TG422' || substr(g.dedupe_is, 2)
               when v_is_strict and k.dedupe_by is not null and u.dedupe_key <> coalesce(substr(g.dedupe_is, 2), '')
                 then 'TG424dedupeKey: expected nothing, or what the payload of kind ' || u.kind || ' has at ' || k.dedupe_by || ' (' || u.dedupe_key || ')' end as problem
        from rows from (unnest(p_kinds, p_payloads, p_priorities, p_group_keys, p_run_ats, p_dedupe_keys, p_dedupe_ms), json_array_elements(p_tasks::json))
             with ordinality as u(kind, payload, priority, group_key, run_at, dedupe_key, dedupe_ms, entry, n)
        left join task_kind k on k.task_definition_id = p_task_definition_id and k.kind = u.kind
       cross join lateral (select _payload_key(u.payload, k.group_by) as group_is, _payload_key(u.payload, k.dedupe_by) as dedupe_is offset 0) g) x;   -- offset: read once
  if v.problem is not null then raise exception '%', substr(v.problem, 6) using errcode = left(v.problem, 5); end if;
  o_priorities := v.priorities; o_group_keys := v.group_keys; o_run_ats := v.run_ats; o_dedupe_keys := v.dedupe_keys; o_dedupe_ms := v.dedupe_ms;
end $$;
