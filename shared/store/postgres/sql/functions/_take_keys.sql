-- taskgate._take_keys: takes dedupe keys for the tasks of an enqueue; who finds one taken is a duplicate. Keys whose window is
--         over are replaced.
-- In:     p_task_definition_id int; p_ids bigint[] ascending, p_keys text[] (null: none), p_keep_ms bigint[] (null: for as long
--         as the task is unfinished): per entry, same length; p_now
-- Out:    o_ids bigint[]: per entry, of a duplicate the first task's; o_is_new boolean[]
-- Raises: -
-- Locks:  dedupe: each key is taken, whether new or replaced, before the next one in the order of bytes is waited for. Nothing
--         of a duplicate is locked: it is one as of the last statement, and never keeps the first task from ending
-- Plan:   pk_dedupe, one probe per key (a join would be free to read all keys of the definition for each); one statement for all new
--         keys between two that are over
-- Twin:   inside mssql/sql/procedures/EnqueueTasks.sql
create or replace function taskgate._take_keys(
  p_task_definition_id int, p_ids bigint[], p_keys text[], p_keep_ms bigint[], p_now timestamptz,
  out o_ids bigint[], out o_is_new boolean[])
language plpgsql as $$
declare
  r record;
  v_is_missing boolean;
begin
  loop
    begin
      for r in
        select array_agg(x.key order by x.key) as keys, array_agg(x.id order by x.key) as ids, array_agg(x.ms order by x.key) as keep_ms,
               bool_or(x.is_over) as is_over
          from (select f.*, count(*) filter (where f.is_over) over (order by f.key) as run
                  from (select distinct on (u.key collate "C") u.key collate "C" as key, u.id, u.ms,
                               coalesce((select k.expires_at < p_now from dedupe k
                                          where k.task_definition_id = p_task_definition_id and k.dedupe_key = u.key), false) as is_over
                          from unnest(p_keys, p_ids, p_keep_ms) u(key, id, ms) where u.key is not null
                         order by u.key collate "C", u.id) f) x
         group by x.run order by x.run
      loop
        if r.is_over then                            -- the first of its run
          delete from dedupe k where k.task_definition_id = p_task_definition_id and k.dedupe_key = r.keys[1] and k.expires_at < p_now;
        end if;
        insert into dedupe (task_definition_id, dedupe_key, task_id, expires_at)
        select p_task_definition_id, u.key, u.id, p_now + u.ms * interval '1 ms'
          from unnest(r.keys, r.ids, r.keep_ms) u(key, id, ms) order by u.key collate "C"
        on conflict do nothing;
      end loop;
      -- Own statement: the key that was waited for is visible now.
      select array_agg(coalesce(x.owner_id, x.id) order by x.n), array_agg(coalesce(x.owner_id = x.id, true) order by x.n),
             bool_or(x.key is not null and x.owner_id is null)
        into o_ids, o_is_new, v_is_missing
        from (select u.id, u.key, u.n,
                     (select k.task_id from dedupe k where k.task_definition_id = p_task_definition_id and k.dedupe_key = u.key) as owner_id
                from unnest(p_ids, p_keys) with ordinality u(id, key, n) offset 0) x;   -- offset: probed once, though named three times
      exit when not v_is_missing;
      -- A key that was taken is free: its task ended while a later key was waited for. To wait for it now would be against the
      -- order of keys, so this block undoes itself, and all are taken again; each turn means that another call got on.
      raise exception 'a key was freed' using errcode = 'TG000';
    exception when sqlstate 'TG000' then null;
    end;
  end loop;
end $$;
