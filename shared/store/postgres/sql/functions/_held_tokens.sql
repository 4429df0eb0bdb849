-- taskgate._held_tokens: how many tokens of a token string are held.
-- In:     p_tokens text
-- Out:    int
-- Raises: -
-- Locks:  none
-- Plan:   no table; one expression, which the planner puts in place of the call: S:0 in the text, which a token id can't contain. By bytes: counted
--         by characters, a thousand tokens took a third of a call of work
-- Twin:   none: there a count stands beside the string
create or replace function taskgate._held_tokens(p_tokens text) returns int
language sql immutable as $$ select (octet_length(p_tokens) - octet_length(replace(p_tokens, 'S:0', ''))) / 3 $$;
