-- taskgate._check_filters: refuses filters of list_tasks that can't be read.
-- In:     p_key, p_key_prefix, p_group_key, p_created_since, p_created_before, p_finished_since, p_finished_before, p_path, p_value, each or null:
--         as list_tasks has them
-- Out:    -
-- Raises: TG422 a key, prefix or group that can't be one, an instant without its zone, a path that isn't names joined by dots, a path
--         without a value or a value without a path
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/procedures/_CheckFilters.sql
create or replace function taskgate._check_filters(
  p_key text, p_key_prefix text, p_group_key text, p_created_since text, p_created_before text, p_finished_since text, p_finished_before text,
  p_path text, p_value text) returns void
language plpgsql stable as $$
declare
  v_what text;
  v_text text;
begin
  if p_key is not null then perform _check_text('key', p_key); end if;
  if p_key_prefix is not null then perform _check_text('key_prefix', p_key_prefix); end if;
  if p_group_key is not null then perform _check_text('group_key', p_group_key); end if;
  select x.what, x.given into v_what, v_text
    from (values (1, 'created_since', p_created_since), (2, 'created_before', p_created_before), (3, 'finished_since', p_finished_since),
                 (4, 'finished_before', p_finished_before)) x(n, what, given)
   where x.given is not null and _instant(x.given) is null order by x.n limit 1;
  if found then
    raise exception '%: expected an ISO-8601 instant with its zone (%)', v_what, left(v_text, 100) using errcode = 'TG422';
  end if;
  if p_path is not null and (char_length(p_path) > 200 or p_path !~ '^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$') then
    raise exception 'path: expected names of letters, digits and _ joined by dots, 1..200 characters, such as customer.id (%)', left(p_path, 220)
      using errcode = 'TG422';
  end if;
  if (p_path is null) <> (p_value is null) then
    raise exception 'value: expected it together with path (%)', left(p_value, 220) using errcode = 'TG422';
  end if;
  if char_length(p_value) > 200 then
    raise exception 'value: expected at most 200 characters (%)', left(p_value, 220) using errcode = 'TG422';
  end if;
end $$;
