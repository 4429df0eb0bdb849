-- taskgate._is_packed: whether a task is done and lies in a pack of the archive.
-- In:     p_task_id bigint
-- Out:    boolean
-- Raises: -
-- Locks:  none; as of the statement that asks
-- Plan:   pk_archive_pack, over the packs that begin at most 4095 ids before; of those that reach to the task the list of ids
-- Twin:   none: T-SQL keeps a row per task
create or replace function taskgate._is_packed(p_task_id bigint) returns boolean
language sql stable as $$
  select exists (select 1 from taskgate.archive_pack k
                  where k.first_task_id between greatest(p_task_id, 0) - 4095 and p_task_id and k.last_task_id >= p_task_id and p_task_id = any (k.task_ids)) $$;
