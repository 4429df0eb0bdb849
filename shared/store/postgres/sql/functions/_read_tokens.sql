-- taskgate._read_tokens: a token string as rows, in list order.
-- In:     p_tokens: I:<uuid>,S:<0 held, 1 free>,G:<execution id, 0 none> repeated; also reads | between the triples
--         and the three parts in any order
-- Rows:   ord int from 0; token_id uuid; is_held boolean; grantee bigint; 0..1000 rows, by ord
-- Raises: TG499 the text is damaged; nothing is granted from a string that can't be read
-- Locks:  none; the caller holds the row, or reads as of its snapshot
-- Plan:   no table
-- Twin:   mssql/sql/functions/_ReadTokens.sql (there the caller tests for damage)
create or replace function taskgate._read_tokens(p_tokens text)
returns table (ord int, token_id uuid, is_held boolean, grantee bigint)
language plpgsql stable as $$
begin
  if p_tokens = '' then return; end if;
  if taskgate._tokens_are_plain(p_tokens) then                -- a UUID has 36 characters
    return query
      select (u.n - 1)::int, left(u.entry, 36)::uuid, substr(u.entry, 40, 1) = '0', substr(u.entry, 44)::bigint
        from unnest(string_to_array(substr(p_tokens, 3), ',I:')) with ordinality u(entry, n)
       order by u.n;
    return;
  end if;
  if not taskgate._tokens_are_sound(p_tokens) then
    raise exception 'execution_tokens: not a list of I:,S:,G: triples (%)', left(p_tokens, 200) using errcode = 'TG499';
  end if;
  return query
    select ((u.n - 1) / 3)::int,
           (max(substr(u.part, 3)) filter (where u.part like 'I:%'))::uuid,
           bool_or(u.part = 'S:0'),
           (max(substr(u.part, 3)) filter (where u.part like 'G:%'))::bigint
      from unnest(string_to_array(replace(p_tokens, '|', ','), ',')) with ordinality as u(part, n)
     group by 1
     order by 1;
end $$;
