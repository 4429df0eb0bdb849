-- taskgate._count_packed: how many done tasks of a definition lie in packs of the archive, counted up to a number.
-- In:     p_task_definition_id int; p_max int
-- Out:    int: 0..p_max
-- Raises: -
-- Locks:  none; as of the statement that asks
-- Plan:   ix_archive_pack_finished under the definition, pack by pack until they hold p_max: as a loop, since to make a row of each task
--         takes ten times as long
-- Twin:   none: T-SQL keeps a row per task
create or replace function taskgate._count_packed(p_task_definition_id int, p_max int) returns int
language plpgsql stable as $$
declare
  v_count int := 0;
  v_size int;
begin
  for v_size in select cardinality(k.task_ids) from archive_pack k where k.task_definition_id = p_task_definition_id loop
    v_count := v_count + v_size;
    exit when v_count >= p_max;
  end loop;
  return least(v_count, p_max);
end $$;
