-- taskgate._tokens_are_plain: is this token string written as taskgate writes it: I, S and G of each token in this order, with commas?
-- In:     p_tokens text
-- Out:    boolean; of an empty string false
-- Raises: -
-- Locks:  none
-- Plan:   no table; one pass: a tenth of what a look at each part costs
-- Twin:   none: there entries have one width
create or replace function taskgate._tokens_are_plain(p_tokens text) returns boolean
language sql immutable as $$
  select p_tokens ~ '^(?:I:[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12},S:[01],G:[0-9]{1,18}(?:,(?=I)|$))+$'
$$;
