-- taskgate._tokens_are_sound: can this token string be read?
-- In:     p_tokens text
-- Out:    boolean
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   the NULLs of mssql/sql/functions/_ReadTokens.sql
create or replace function taskgate._tokens_are_sound(p_tokens text) returns boolean
language sql immutable as $$
  select case when p_tokens = '' or taskgate._tokens_are_plain(p_tokens) then true else not exists (
    select 1 from unnest(string_to_array(replace(p_tokens, '|', ','), ',')) with ordinality as u(part, n)
     group by (u.n - 1) / 3
    having count(*) <> 3
        or count(*) filter (where u.part ~ '^I:[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$') <> 1
        or count(*) filter (where u.part in ('S:0', 'S:1')) <> 1
        or count(*) filter (where u.part ~ '^G:[0-9]{1,18}$') <> 1) end
$$;
