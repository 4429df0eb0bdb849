-- taskgate._group_latch: which of a thousand advisory locks stands for a group that isn't made yet. Few enough for one call
--         to hold all of them: the server's table of locks is shared by all sessions.
-- In:     p_scope int: the definition, or 0 of a global group; p_group_key text
-- Out:    int: 1..1000, the second key of an advisory lock of class 43
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   inside mssql/sql/functions/_KeyLock.sql: an application lock per key there, as a transaction may hold very many
create or replace function taskgate._group_latch(p_scope int, p_group_key text) returns int
language sql immutable as $$
  select 1 + (hashtextextended(p_group_key, p_scope) & 2147483647)::int % 1000
$$;
