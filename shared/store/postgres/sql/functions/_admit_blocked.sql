-- taskgate._admit_blocked: lets tasks of a wave that is being opened in, in order: to ready, grouped ones to scheduled as due now. Those
--         of a cancelled batch end cancelled instead.
-- In:     p_wave_id bigint; p_max int; p_now
-- Out:    o_moved int: null: another call does it now; o_woken int[]: definitions that got ready tasks; o_is_over: none is left
--         to be admitted; o_is_closed: and none is unfinished: the caller closes the wave
-- Raises: -
-- Locks:  the wave's latch (shard 17) by skip, its blocked rows by skip; then shards ascending, then the wave's row: brief waits for completions
-- Plan:   first entries of pk_wave_blocked under the wave; primary keys
-- Twin:   mssql/sql/procedures/_AdmitBlocked.sql
create or replace function taskgate._admit_blocked(
  p_wave_id bigint, p_max int, p_now timestamptz, out o_moved int, out o_woken int[], out o_is_over boolean, out o_is_closed boolean)
language plpgsql as $$
declare
  w record;
  r record;
  v_ids bigint[];
  v_left int;
  v_shards int := 0;
begin
  o_woken := '{}'; o_is_over := false; o_is_closed := false;
  perform 1 from wave_shard s where s.wave_id = p_wave_id and s.shard = 17 for no key update skip locked;
  if not found then return; end if;
  o_moved := 0;
  select x.state, b.state = 4 as is_cancelled into w from wave x join batch b on b.batch_id = x.batch_id where x.wave_id = p_wave_id;
  if w.state <> 1 then o_is_over := true; return; end if;
  with taken as (
    delete from wave_blocked h where h.ctid = any (array(
      select x.ctid from wave_blocked x where x.wave_id = p_wave_id order by x.priority, x.rank, x.task_id limit p_max for update skip locked))
    returning h.task_id, h.priority, h.rank)
  select array_agg(t.task_id order by t.priority, t.rank, t.task_id) into v_ids from taken t;
  if v_ids is not null then
    o_moved := cardinality(v_ids);
    if w.is_cancelled then                           -- never counted, so nothing is counted down
      perform _end_tasks(v_ids, null, array_fill(12::smallint, array[o_moved]), null, null, null, p_now, null, null, true);
      -- The total below has them: a redrive doesn't add them once more.
      update ended_early e set was_blocked = false where e.task_id = any (v_ids) and e.pending_group_key is not null;
      delete from ended_early e where e.task_id = any (v_ids) and e.pending_group_key is null;   -- nothing is left to be said of it
    else
      with task as materialized (
        select t.task_id, t.task_definition_id, t.priority, t.rank, t.pending_group_key is not null as is_grouped
          from unnest(v_ids) u(id) join taskgate.task t on t.task_id = u.id),
      opened as (insert into ready (task_definition_id, priority, rank, task_id)
                 select t.task_definition_id, t.priority, t.rank, t.task_id from task t where not t.is_grouped),
      later as (insert into scheduled (task_definition_id, run_at, task_id)
                select t.task_definition_id, p_now, t.task_id from task t where t.is_grouped)
      select array_agg(distinct t.task_definition_id) into o_woken from task t;
      for r in select (u.id / 512) % 16 as shard, count(*)::int as n from unnest(v_ids) u(id) group by 1 order by 1 loop
        update wave_shard s set remaining = s.remaining + r.n where s.wave_id = p_wave_id and s.shard = r.shard returning s.remaining - r.n into v_left;
        if v_left = 0 then v_shards := v_shards + 1; end if;
      end loop;
    end if;
  end if;
  o_is_over := not exists (select 1 from wave_blocked h where h.wave_id = p_wave_id);
  update wave x set total = x.total + o_moved, open_shards = x.open_shards + v_shards - case when o_is_over then 1 else 0 end,
                    state = case when o_is_over then 2 else 1 end
   where x.wave_id = p_wave_id returning x.open_shards into v_left;
  o_is_closed := o_is_over and v_left = 0;
end $$;
