-- taskgate.list_shared_limits: limits that definitions share, how many tokens are held of each and by whom, by name.
-- In:     p_name: only this one, or null; p_max int 1..1000
-- Out:    status: listed; shared_limits: JSON array of {name, limit (-1 none), limitSource: code | operator, codeLimit,
--           held: by all definitions, also by the dead until the next call that asks for a token,
--           definitions: [{name, held}], by name: those that draw from it}
-- Raises: TG422 max out of range
-- Locks:  none
-- Plan:   uq_shared_limit_name in its order, then primary keys; without a limit the open executions of the definitions that draw from it
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListSharedLimits.sql
create or replace function taskgate.list_shared_limits(p_name text, p_max int, out status text, out shared_limits text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
begin
  perform _check_range('max', p_max, 1, 1000);
  status := 'listed';
  select coalesce('[' || string_agg(json_build_object(
           'name', s.name, 'limit', s.task_limit, 'limitSource', s.source, 'codeLimit', s.code_limit,
           'held', case when s.task_limit = -1 then _shared_count(s.shared_limit_id)
                        else _held_tokens(s.execution_tokens) end,
           'definitions', (
             select coalesce(json_agg(json_build_object('name', d.name, 'held', coalesce(case when s.task_limit = -1
                      then (select sum(e.token_count) from task_execution e
                             where e.task_definition_id = d.task_definition_id and e.state in (1, 3))
                      else h.held end, 0)) order by d.name), '[]')
               from task_definition_shared_limit l
               join task_definition d on d.task_definition_id = l.task_definition_id
               left join (select e.task_definition_id, count(*) as held
                            from _read_tokens(case when _tokens_are_sound(s.execution_tokens) then s.execution_tokens else '' end) t
                            join task_execution e on e.task_execution_id = t.grantee
                           where t.is_held group by e.task_definition_id) h on h.task_definition_id = l.task_definition_id
              where l.shared_limit_id = s.shared_limit_id))::text, ',' order by s.name) || ']', '[]')
    into shared_limits
    from (select x.shared_limit_id, x.name, coalesce(x.concurrency_limit_override, x.concurrency_limit) as task_limit,
                 case when x.concurrency_limit_override is null then 'code' else 'operator' end as source,
                 x.concurrency_limit as code_limit, x.execution_tokens
            from shared_limit x
           where p_name is null or x.name = p_name
           order by x.name limit p_max) s;
end $$;
