-- taskgate._id_list: ids as a JSON array of strings; null: none.
-- In:     p_ids bigint[]
-- Out:    text
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   none: T-SQL passes JSON all along
create or replace function taskgate._id_list(p_ids bigint[]) returns text
language sql immutable as $$ select '["' || array_to_string(nullif(p_ids, '{}'), '","') || '"]' $$;
