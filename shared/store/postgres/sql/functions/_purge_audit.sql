-- taskgate._purge_audit: deletes entries of the audit of settings that are older than 400 days and were followed by another one of the
--         same: the last word on each setting of each definition, group, shared limit, schedule and watermark stays, however old. Entries of
--         calls go after 400 days, those of enqueues after 30.
-- In:     p_max int: entries of each kind; p_now
-- Out:    entries int: rows deleted; more: one kind fills its share
-- Raises: -
-- Locks:  setting_audit, call_audit by skip: entries never change
-- Plan:   the primary key from its old end, at most 1000 rows, one when that is young: an entry goes when the one that follows it is among
--         them, too. check_invariants asks for the last entry of a group's slots only. Both kinds of calls from their old ends
-- Twin:   mssql/sql/procedures/_PurgeAudit.sql
create or replace function taskgate._purge_audit(p_max int, p_now timestamptz, out entries int, out more boolean)
language plpgsql as $$
declare
  v_before timestamptz := p_now - interval '400 days';
  v_due bigint[] := '{}';
  v_enqueue boolean;
  v_count int;
begin
  if (select a.changed_at < v_before from setting_audit a order by a.setting_audit_id limit 1) then
    -- Values are written as `value of name`, no value with ` of ` in it; those of a definition's own settings name nothing.
    v_due := array(
      select x.setting_audit_id
        from (select e.setting_audit_id, e.changed_at,
                     max(e.setting_audit_id) over (
                       partition by e.task_definition_id, e.setting,
                                    case when e.setting <> 'shared_limits'       -- the one of them that is made of names
                                         then substr(e.value, nullif(strpos(e.value, ' of '), 0) + 4) end) as last_id
                from (select a.*, coalesce(a.new_value, a.old_value) as value from setting_audit a
                       order by a.setting_audit_id limit 1000) e) x
       where x.changed_at < v_before and x.setting_audit_id < x.last_id
       order by x.setting_audit_id limit p_max);
  end if;
  more := cardinality(v_due) = p_max;
  delete from setting_audit a where a.setting_audit_id = any (array(
    select x.setting_audit_id from setting_audit x where x.setting_audit_id = any (v_due) for update skip locked));
  get diagnostics entries = row_count;
  foreach v_enqueue in array array[false, true] loop
    delete from call_audit a where a.ctid = any (array(
      select x.ctid from call_audit x
       where x.is_enqueue = v_enqueue and x.changed_at < case when v_enqueue then p_now - interval '30 days' else v_before end
       order by x.changed_at, x.call_audit_id limit p_max for update skip locked));
    get diagnostics v_count = row_count;
    entries := entries + v_count;
    more := more or v_count = p_max;
  end loop;
end $$;
