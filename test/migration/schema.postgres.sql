-- The schema that the scripts of shared/store/postgres/sql make, from the catalogs. Not to be run.
-- Written by: TASKGATE_TEST_UPDATE_SCHEMA=1 npx jest -c test/jest.config.cjs test/migration/schema-snapshot

-- Sequences
create sequence taskgate.fence_sequence as bigint cache 1;
create sequence taskgate.task_sequence as bigint cache 1;

-- Tables: columns, then constraints
create table taskgate.app (
  name text collate "C" not null,
  address text,
  registered_at timestamp with time zone not null,
  constraint pk_app PRIMARY KEY (name)
);
create table taskgate.archive (
  task_id bigint not null,
  task_definition_id integer not null,
  kind text collate "C" not null,
  priority smallint not null,
  rank bigint not null,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone not null,
  purge_after timestamp with time zone not null,
  task_execution_id bigint,
  fence bigint,
  duration_ms integer,
  group_id integer,
  wave_id bigint,
  dedupe_key text collate "C",
  build bigint not null,
  outcome smallint not null,
  failed_count smallint not null,
  lost_count smallint not null,
  error text,
  result text,
  payload text,
  trace_parent text,
  constraint pk_archive PRIMARY KEY (task_id)
);
create table taskgate.archive_pack (
  first_task_id bigint not null,
  last_task_id bigint not null,
  task_definition_id integer not null,
  kind text collate "C" not null,
  priority smallint not null,
  wave_id bigint,
  build bigint not null,
  task_execution_id bigint not null,
  finished_at timestamp with time zone not null,
  purge_after timestamp with time zone not null,
  task_ids bigint[] not null,
  ranks bigint[],
  created_ats timestamp with time zone[] not null,
  fences bigint[] not null,
  durations_ms integer[],
  dedupe_keys text[] collate "C",
  results text[],
  payloads text[],
  trace_parents text[],
  constraint pk_archive_pack PRIMARY KEY (first_task_id)
) with (toast_tuple_target=4080);
create table taskgate.attempt (
  task_id bigint not null,
  fence bigint not null,
  task_execution_id bigint not null,
  claimed_at timestamp with time zone not null,
  finished_at timestamp with time zone not null,
  duration_ms integer,
  outcome smallint not null,
  error text,
  constraint pk_attempt PRIMARY KEY (task_id, fence)
);
create table taskgate.batch (
  batch_id bigint not null generated always as identity,
  operation_id uuid not null,
  name text not null,
  state smallint not null default 0,
  failure_policy smallint not null default 1,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint pk_batch PRIMARY KEY (batch_id),
  constraint uq_batch_operation_id UNIQUE (operation_id)
);
create table taskgate.block_watermark (
  task_definition_id integer not null,
  name text collate "C" not null,
  watermark_value text not null,
  version bigint not null default 1,
  changed_at timestamp with time zone not null,
  constraint pk_block_watermark PRIMARY KEY (task_definition_id, name)
);
create table taskgate.call_audit (
  is_enqueue boolean not null,
  changed_at timestamp with time zone not null,
  call_audit_id bigint not null generated always as identity,
  action text not null,
  task_definition_id integer not null,
  batch_id bigint,
  task_count integer not null,
  task_ids text,
  changed_by text not null,
  reason text,
  constraint pk_call_audit PRIMARY KEY (is_enqueue, changed_at, call_audit_id)
);
create table taskgate.dedupe (
  task_definition_id integer not null,
  dedupe_key text collate "C" not null,
  task_id bigint not null,
  expires_at timestamp with time zone,
  constraint pk_dedupe PRIMARY KEY (task_definition_id, dedupe_key)
);
create table taskgate.definition_owner (
  name text collate "C" not null,
  app text collate "C" not null,
  constraint pk_definition_owner PRIMARY KEY (name)
);
create table taskgate.ended_early (
  task_id bigint not null,
  pending_group_key text collate "C",
  pending_group_is_global boolean,
  was_blocked boolean not null,
  constraint pk_ended_early PRIMARY KEY (task_id)
);
create table taskgate.execution_counted (
  task_execution_id bigint not null,
  claimed_count integer not null,
  done_count integer not null,
  failed_count integer not null,
  dead_count integer not null,
  lost_count integer not null,
  ran_ms bigint not null,
  held_ms bigint not null,
  constraint pk_execution_counted PRIMARY KEY (task_execution_id)
);
create table taskgate.group_kept (
  group_id integer not null,
  constraint pk_group_kept PRIMARY KEY (group_id)
);
create table taskgate.group_round (
  round_id smallint not null,
  last_group_id integer not null,
  ended_at timestamp with time zone not null,
  constraint pk_group_round PRIMARY KEY (round_id)
);
create table taskgate.group_slot (
  group_id integer not null,
  slot smallint not null,
  task_id bigint not null,
  constraint pk_group_slot PRIMARY KEY (group_id, slot)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, fillfactor=50);
create table taskgate.group_waiting (
  group_id integer not null,
  priority smallint not null,
  rank bigint not null,
  task_id bigint not null,
  task_definition_id integer not null,
  constraint pk_group_waiting PRIMARY KEY (group_id, priority, rank, task_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, vacuum_truncate=off);
create table taskgate.open_wave (
  batch_id bigint not null,
  wave_id bigint not null,
  constraint pk_open_wave PRIMARY KEY (batch_id)
);
create table taskgate.operation (
  operation_id uuid not null,
  name text not null,
  done_at timestamp with time zone not null,
  answer text,
  constraint pk_operation PRIMARY KEY (operation_id)
);
create table taskgate.rate_bucket (
  task_definition_id integer not null,
  rate_count integer not null,
  rate_period_ms integer not null,
  rate_burst integer not null,
  rate_count_override integer,
  rate_period_ms_override integer,
  rate_burst_override integer,
  next_free_at timestamp with time zone not null,
  constraint pk_rate_bucket PRIMARY KEY (task_definition_id)
) with (fillfactor=20);
create table taskgate.rate_turn (
  task_definition_id integer not null,
  turn_at timestamp with time zone not null,
  constraint pk_rate_turn PRIMARY KEY (task_definition_id)
) with (fillfactor=50);
create table taskgate.ready (
  task_definition_id integer not null,
  priority smallint not null,
  rank bigint not null,
  task_id bigint not null,
  is_solo boolean not null default false,
  constraint pk_ready PRIMARY KEY (task_definition_id, priority, rank, task_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, vacuum_truncate=off);
create table taskgate.schedule (
  schedule_id integer not null generated always as identity,
  task_definition_id integer not null,
  name text collate "C" not null,
  kind text collate "C" not null,
  cron text not null,
  time_zone text not null,
  missed_policy smallint not null default 2,
  next_run_at timestamp with time zone,
  last_run_at timestamp with time zone,
  paused boolean not null default false,
  payload text,
  constraint pk_schedule PRIMARY KEY (schedule_id),
  constraint uq_schedule_name UNIQUE (task_definition_id, name)
);
create table taskgate.schedule_group (
  schedule_id integer not null,
  group_key text collate "C" not null,
  constraint pk_schedule_group PRIMARY KEY (schedule_id)
);
create table taskgate.scheduled (
  task_definition_id integer not null,
  run_at timestamp with time zone not null,
  task_id bigint not null,
  constraint pk_scheduled PRIMARY KEY (task_definition_id, run_at, task_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, vacuum_truncate=off);
create table taskgate.schema_version (
  version integer not null,
  name text not null,
  checksum text not null,
  client_version_min text not null,
  applied_at timestamp with time zone not null,
  constraint pk_schema_version PRIMARY KEY (version)
);
create table taskgate.setting_audit (
  setting_audit_id bigint not null generated always as identity,
  task_definition_id integer not null,
  setting text not null,
  old_value text,
  new_value text,
  source text not null,
  changed_by text not null,
  reason text,
  changed_at timestamp with time zone not null,
  constraint pk_setting_audit PRIMARY KEY (setting_audit_id)
);
create table taskgate.shared_limit (
  shared_limit_id integer not null generated always as identity,
  name text collate "C" not null,
  hold_lock_task_execution_id bigint,
  execution_tokens text not null default ''::text,
  token_fence bigint not null default 0,
  concurrency_limit integer not null default 1,
  concurrency_limit_override integer,
  constraint pk_shared_limit PRIMARY KEY (shared_limit_id),
  constraint uq_shared_limit_name UNIQUE (name)
) with (fillfactor=20);
create table taskgate.shared_token_demand (
  shared_limit_id integer not null,
  denied_at timestamp with time zone not null,
  task_definition_id integer,
  given_at timestamp with time zone not null,
  constraint pk_shared_token_demand PRIMARY KEY (shared_limit_id)
);
create table taskgate.statistic (
  task_definition_id integer not null,
  grain integer not null,
  at timestamp with time zone not null,
  claimed integer not null,
  done integer not null,
  failed integer not null,
  dead integer not null,
  lost integer not null,
  ran_ms bigint not null,
  held_ms bigint not null,
  task_limit integer not null,
  ready integer not null,
  next_age_ms bigint not null,
  constraint pk_statistic PRIMARY KEY (task_definition_id, grain, at)
);
create table taskgate.statistic_round (
  round_id smallint not null,
  last_execution_id bigint not null,
  ended_at timestamp with time zone not null,
  constraint ck_statistic_round_one CHECK ((round_id = 1)),
  constraint pk_statistic_round PRIMARY KEY (round_id)
);
create table taskgate.statistic_time (
  task_definition_id integer not null,
  grain integer not null,
  at timestamp with time zone not null,
  measure smallint not null,
  bucket smallint not null,
  tasks integer not null,
  constraint pk_statistic_time PRIMARY KEY (task_definition_id, grain, at, measure, bucket)
);
create table taskgate.stop (
  stop_id smallint not null,
  stopped_at timestamp with time zone,
  stopped_by text,
  reason text,
  constraint ck_stop_one CHECK ((stop_id = 1)),
  constraint pk_stop PRIMARY KEY (stop_id)
);
create table taskgate.stopped_definition (
  task_definition_id integer not null,
  stopped_at timestamp with time zone not null,
  stopped_by text not null,
  reason text,
  constraint pk_stopped_definition PRIMARY KEY (task_definition_id)
);
create table taskgate.stopped_schedule (
  schedule_id integer not null,
  stopped_at timestamp with time zone not null,
  stopped_by text not null,
  reason text,
  constraint pk_stopped_schedule PRIMARY KEY (schedule_id)
);
create table taskgate.task (
  task_id bigint not null,
  task_definition_id integer not null,
  kind text collate "C" not null,
  priority smallint not null,
  rank bigint not null default 0,
  created_at timestamp with time zone not null,
  group_id integer,
  pending_group_key text collate "C",
  pending_group_is_global boolean,
  wave_id bigint,
  dedupe_key text collate "C",
  build bigint not null default 0,
  trace_parent text,
  failed_count smallint not null default 0,
  lost_count smallint not null default 0,
  continued_count integer not null default 0,
  cancel_requested boolean not null default false,
  payload text,
  checkpoint text,
  last_error text,
  progress_done bigint,
  progress_total bigint,
  progress_text text,
  due_at timestamp with time zone,
  constraint pk_task PRIMARY KEY (task_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=50000, fillfactor=95, vacuum_truncate=off);
create table taskgate.task_definition (
  task_definition_id integer not null generated always as identity,
  name text collate "C" not null,
  hold_lock_task_execution_id bigint,
  execution_tokens text not null default ''::text,
  token_fence bigint not null default 0,
  concurrency_limit integer not null default 1,
  concurrency_limit_override integer,
  paused boolean not null default false,
  lease_ms integer not null default 60000,
  retry_attempts smallint not null default 5,
  lost_max smallint not null default 3,
  retry_base_ms integer not null default 1000,
  retry_cap_ms integer not null default 300000,
  prefetch_max smallint not null default 1,
  group_slots smallint not null default 1,
  group_strict boolean not null default false,
  retain_done_ms bigint not null default 604800000,
  retain_dead_ms bigint not null default '2592000000'::bigint,
  build bigint not null default 0,
  settings_hash text not null default ''::text,
  created_at timestamp with time zone not null,
  keep_payload boolean not null default true,
  constraint ck_task_definition_concurrency_limit CHECK (((concurrency_limit >= '-1'::integer) AND (concurrency_limit <= 1000))),
  constraint ck_task_definition_concurrency_limit_override CHECK (((concurrency_limit_override >= '-1'::integer) AND (concurrency_limit_override <= 1000))),
  constraint ck_task_definition_name CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
  constraint pk_task_definition PRIMARY KEY (task_definition_id),
  constraint uq_task_definition_name UNIQUE (name)
) with (fillfactor=20);
create table taskgate.task_definition_shared_limit (
  task_definition_id integer not null,
  shared_limit_id integer not null,
  constraint pk_task_definition_shared_limit PRIMARY KEY (task_definition_id, shared_limit_id)
);
create table taskgate.task_execution (
  task_execution_id bigint not null generated always as identity,
  operation_id uuid not null,
  task_definition_id integer not null,
  state smallint not null,
  started_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  ended_at timestamp with time zone,
  worker text not null,
  build bigint not null default 0,
  token_count integer not null default 0,
  call_number bigint not null default 0,
  call_fence bigint,
  call_refused text,
  is_solo boolean not null default false,
  inflight bigint[] not null default '{}'::bigint[],
  inflight_fence bigint[] not null default '{}'::bigint[],
  inflight_at timestamp with time zone[] not null default '{}'::timestamp with time zone[],
  prefetched bigint[] not null default '{}'::bigint[],
  claimed_count integer not null default 0,
  done_count integer not null default 0,
  failed_count integer not null default 0,
  dead_count integer not null default 0,
  lost_count integer not null default 0,
  ran_ms bigint not null default 0,
  held_ms bigint not null default 0,
  tokens_at timestamp with time zone,
  constraint pk_task_execution PRIMARY KEY (task_execution_id),
  constraint uq_task_execution_operation_id UNIQUE (operation_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, fillfactor=30);
create table taskgate.task_group (
  group_id integer not null generated always as identity,
  task_definition_id integer not null,
  group_key text collate "C" not null,
  slots smallint not null,
  paused boolean not null default false,
  strict boolean not null default false,
  constraint pk_task_group PRIMARY KEY (group_id),
  constraint uq_task_group_key UNIQUE (task_definition_id, group_key)
) with (fillfactor=50);
create table taskgate.task_kind (
  task_definition_id integer not null,
  kind text not null,
  group_by text,
  is_group_computed boolean not null,
  priority smallint,
  run_in_ms bigint,
  dedupe_by text,
  dedupe_ms bigint,
  constraint pk_task_kind PRIMARY KEY (task_definition_id, kind)
);
create table taskgate.token_demand (
  task_definition_id integer not null,
  denied_at timestamp with time zone not null,
  constraint pk_token_demand PRIMARY KEY (task_definition_id)
) with (fillfactor=20);
create table taskgate.token_gift (
  task_definition_id integer not null,
  given_at timestamp with time zone not null,
  constraint pk_token_gift PRIMARY KEY (task_definition_id)
);
create table taskgate.wave (
  wave_id bigint not null generated always as identity,
  batch_id bigint not null,
  ordinal integer not null,
  state smallint not null default 0,
  is_sealed boolean not null default false,
  open_shards integer not null default 0,
  total integer not null default 0,
  dead_count integer not null default 0,
  opened_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint pk_wave PRIMARY KEY (wave_id),
  constraint uq_wave_ordinal UNIQUE (batch_id, ordinal)
) with (fillfactor=30);
create table taskgate.wave_blocked (
  wave_id bigint not null,
  priority smallint not null,
  rank bigint not null,
  task_id bigint not null,
  task_definition_id integer not null,
  constraint pk_wave_blocked PRIMARY KEY (wave_id, priority, rank, task_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, vacuum_truncate=off);
create table taskgate.wave_shard (
  wave_id bigint not null,
  shard smallint not null,
  remaining integer not null,
  constraint pk_wave_shard PRIMARY KEY (wave_id, shard)
) with (fillfactor=20);

-- Indexes that are no constraint
CREATE INDEX ix_archive_finished ON taskgate.archive USING btree (task_definition_id, outcome, finished_at);
CREATE INDEX ix_archive_group ON taskgate.archive USING btree (group_id) WHERE (group_id IS NOT NULL);
CREATE INDEX ix_archive_pack_finished ON taskgate.archive_pack USING btree (task_definition_id, finished_at);
CREATE INDEX ix_archive_pack_purge ON taskgate.archive_pack USING btree (purge_after);
CREATE INDEX ix_archive_purge ON taskgate.archive USING btree (purge_after);
CREATE INDEX ix_batch_unfinished ON taskgate.batch USING btree (batch_id) WHERE ((state = ANY (ARRAY[1, 4])) AND (finished_at IS NULL));
CREATE INDEX ix_dedupe_expires ON taskgate.dedupe USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX ix_group_waiting_definition ON taskgate.group_waiting USING btree (task_definition_id, group_id, priority, rank, task_id);
CREATE INDEX ix_operation_done_at ON taskgate.operation USING btree (done_at);
CREATE INDEX ix_scheduled_task ON taskgate.scheduled USING btree (task_id);
CREATE INDEX ix_setting_audit_definition ON taskgate.setting_audit USING btree (task_definition_id, setting_audit_id);
CREATE INDEX ix_statistic_at ON taskgate.statistic USING btree (grain, at);
CREATE INDEX ix_task_definition_shared_limit_shared_limit ON taskgate.task_definition_shared_limit USING btree (shared_limit_id, task_definition_id);
CREATE INDEX ix_task_execution_open ON taskgate.task_execution USING btree (task_definition_id, task_execution_id) WHERE (state = ANY (ARRAY[1, 3]));
CREATE INDEX ix_task_wave ON taskgate.task USING btree (wave_id, task_id) WHERE (wave_id IS NOT NULL);
CREATE INDEX ix_wave_opening ON taskgate.wave USING btree (wave_id) WHERE (state = 1);

-- Views with their columns, and who may read
create view taskgate.archived (task_id bigint, task_definition_id integer, kind text, priority smallint, rank bigint, created_at timestamp with time zone, finished_at timestamp with time zone, purge_after timestamp with time zone, task_execution_id bigint, fence bigint, duration_ms integer, group_id integer, wave_id bigint, dedupe_key text, build bigint, outcome smallint, failed_count smallint, lost_count smallint, error text, result text, payload text, trace_parent text, first_task_id bigint, last_task_id bigint);
create view taskgate.v_execution_log (task_id bigint, definition text, kind text, payload text, worker text, started_at timestamp with time zone, ended_at timestamp with time zone, duration_ms integer, outcome text, error text, task_execution_id bigint, fence bigint); -- read by taskgate_operator, taskgate_worker

-- Functions: signature, answer, how they run, who may call
create function taskgate._admit_blocked(p_wave_id bigint, p_max integer, p_now timestamp with time zone, OUT o_moved integer, OUT o_woken integer[], OUT o_is_over boolean, OUT o_is_closed boolean) language plpgsql;
create function taskgate._app_problem(p_app text) returns text language sql immutable;
create function taskgate._apply_kinds(p_task_definition_id integer, p_build bigint, p_tasks text, p_is_blocked boolean, p_now timestamp with time zone, p_kinds text[], p_payloads text[], p_priorities integer[], p_group_keys text[], p_run_ats timestamp with time zone[], p_dedupe_keys text[], p_dedupe_ms bigint[], OUT o_priorities integer[], OUT o_group_keys text[], OUT o_run_ats timestamp with time zone[], OUT o_dedupe_keys text[], OUT o_dedupe_ms bigint[]) language plpgsql;
create function taskgate._audit_call(p_action text, p_task_definition_id integer, p_batch_id bigint, p_task_ids bigint[], p_changed_by text, p_reason text, p_now timestamp with time zone) returns void language sql;
create function taskgate._backoff_ms(p_base_ms integer, p_cap_ms integer, p_failed_count smallint) returns bigint language sql;
create function taskgate._change_limit(p_task_definition_id integer, p_limit integer, p_override integer, OUT o_old integer, OUT o_new integer, OUT o_held integer, OUT o_over_limit integer) language plpgsql;
create function taskgate._change_rate(p_task_definition_id integer, p_is_override boolean, p_count integer, p_period_ms integer, p_burst integer, OUT o_old text, OUT o_new text, OUT o_old_rate text, OUT o_new_rate text) language plpgsql;
create function taskgate._change_shared_limit(p_shared_limit_id integer, p_limit integer, p_override integer, OUT o_old integer, OUT o_new integer, OUT o_held integer, OUT o_over_limit integer) language plpgsql;
create function taskgate._change_shared_links(p_task_definition_id integer, p_shared_limits text, p_registered_by text, OUT o_old text, OUT o_new text) language plpgsql;
create function taskgate._check_actor(p_changed_by text, p_reason text) returns text language plpgsql stable;
create function taskgate._check_filters(p_key text, p_key_prefix text, p_group_key text, p_created_since text, p_created_before text, p_finished_since text, p_finished_before text, p_path text, p_value text) returns void language plpgsql stable;
create function taskgate._check_range(p_what text, p_value bigint, p_min bigint, p_max bigint) returns void language plpgsql immutable;
create function taskgate._check_results(p_results text[]) returns void language plpgsql;
create function taskgate._check_text(p_what text, p_text text) returns void language plpgsql immutable;
create function taskgate._claimed(p_task_ids bigint[], p_build bigint, OUT o_ids text, OUT o_kinds text, OUT o_attempts text, OUT o_payloads text, OUT o_extras text, OUT o_last_priority smallint, OUT o_last_rank bigint) language plpgsql;
create function taskgate._close_wave(p_wave_id bigint, p_now timestamp with time zone, OUT o_woken integer[], OUT o_is_opening boolean) language plpgsql;
create function taskgate._count_packed(p_task_definition_id integer, p_max integer) returns integer language plpgsql stable;
create function taskgate._count_permits(p_task_definition_id integer, p_want integer, OUT o_allowed integer, OUT o_from timestamp with time zone, OUT o_interval_us bigint, OUT o_retry_in_ms bigint) language plpgsql;
create function taskgate._dead_holders(p_held boolean[], p_grantee bigint[], p_task_execution_id bigint, p_now timestamp with time zone) returns bigint[] language plpgsql;
create function taskgate._definition_names(p_ids integer[], p_except integer) returns text language sql stable;
create function taskgate._deny_early(p_task_definition_id integer, p_worker text, OUT o_status text, OUT o_retry_in_ms bigint, OUT o_demand text, OUT o_mine integer) language plpgsql stable;
create function taskgate._drop_claims(p_task_execution_id bigint, p_task_ids bigint[], p_done integer, p_ran_ms bigint, p_failed integer, p_dead integer) returns void language sql;
create function taskgate._duration_bucket(p_ms bigint) returns smallint language sql immutable;
create function taskgate._end_in_waves(p_task_ids bigint[], p_wave_ids bigint[], p_outcomes smallint[], p_now timestamp with time zone, OUT o_woken integer[], OUT o_opening bigint[]) language plpgsql;
create function taskgate._end_tasks(p_task_ids bigint[], p_fences bigint[], p_outcomes smallint[], p_durations_ms integer[], p_results text[], p_task_execution_id bigint, p_now timestamp with time zone, p_released_task_ids bigint[], p_released_group_ids integer[], p_are_blocked boolean DEFAULT false, p_retain_done_ms bigint DEFAULT NULL::bigint, p_keep_payload boolean DEFAULT NULL::boolean, OUT o_woken integer[], OUT o_opening bigint[]) language plpgsql;
create function taskgate._enqueue_grouped(p_task_definition_id integer, p_group_slots smallint, p_group_strict boolean, p_build bigint, p_joins_transaction boolean, p_now timestamp with time zone, p_ids bigint[], p_payloads text[], p_kinds text[], p_priorities smallint[], p_group_keys text[], p_globals boolean[], p_run_ats timestamp with time zone[], p_dedupe_keys text[], p_traces text[], p_is_new boolean[], OUT o_ready boolean, OUT o_next_due_ms bigint) language plpgsql;
create function taskgate._enqueue_plain(p_task_definition_id integer, p_name text, p_build bigint, p_tasks json, p_payloads text, p_operation_id uuid, p_now timestamp with time zone) returns text language plpgsql;
create function taskgate._enqueued(p_definition integer, p_task_ids text, p_outcomes text, p_ready boolean, p_next_due_ms bigint) returns text language sql stable;
create function taskgate._enter_wave(p_wave_id bigint, p_may_be_sealed boolean DEFAULT false) returns boolean language plpgsql;
create function taskgate._entry_per_payload(p_tasks json, p_payloads text) returns text language plpgsql;
create function taskgate._extras_of(p_task taskgate.task, p_build bigint) returns text language sql stable;
create function taskgate._find_bad_entry(p_tasks text) returns text language plpgsql;
create function taskgate._find_definition(p_name text) returns integer language plpgsql stable;
create function taskgate._first_answer(p_operation_id uuid, p_name text, p_target text) returns json language plpgsql stable;
create function taskgate._give_back(p_task_execution_id bigint, p_now timestamp with time zone, OUT o_woken integer[], OUT o_opening text) language plpgsql;
create function taskgate._group_latch(p_scope integer, p_group_key text) returns integer language sql immutable;
create function taskgate._hand_over(p_task_ids bigint[], p_group_ids integer[]) returns integer[] language plpgsql;
create function taskgate._held_tokens(p_tokens text) returns integer language sql immutable;
create function taskgate._id_list(p_ids bigint[]) returns text language sql immutable;
create function taskgate._idle_groups(p_group_ids integer[]) returns integer[] language plpgsql;
create function taskgate._instant(p_text text) returns timestamp with time zone language plpgsql stable;
create function taskgate._is_asked(p_task_definition_id integer, p_lease_ms integer, p_tokens text, p_worker text, p_now timestamp with time zone) returns boolean language plpgsql stable;
create function taskgate._is_asked_shared(p_task_definition_id integer, p_lease_ms integer, p_worker text, p_now timestamp with time zone) returns boolean language plpgsql stable;
create function taskgate._is_json(p_text text) returns boolean language plpgsql immutable;
create function taskgate._is_json_container(p_text text) returns boolean language sql immutable;
create function taskgate._is_json_list(p_text text) returns boolean language plpgsql immutable;
create function taskgate._is_packed(p_task_id bigint) returns boolean language sql stable;
create function taskgate._is_plain(p_task taskgate.task) returns boolean language sql immutable;
create function taskgate._iso(p_at timestamp with time zone) returns text language sql stable;
create function taskgate._keep_solo(p_task_definition_id integer, p_task_ids bigint[], p_is_idle boolean) returns bigint[] language plpgsql;
create function taskgate._kinds_problem(p_kinds text) returns text language sql immutable;
create function taskgate._kinds_text(p_task_definition_id integer) returns text language sql stable;
create function taskgate._lock_shared(p_shared integer[]) returns void language plpgsql;
create function taskgate._make_pending_groups(p_task_definition_id integer, p_task_ids bigint[]) returns integer[] language plpgsql;
create function taskgate._make_shared(p_names text[]) returns integer[] language plpgsql;
create function taskgate._next_due_from(p_task_definition_id integer, p_from timestamp with time zone) returns bigint language sql stable;
create function taskgate._next_due_ms(p_task_definition_id integer) returns bigint language sql stable;
create function taskgate._note_demand(p_task_definition_id integer, p_worker text, p_shared integer[]) returns boolean language plpgsql;
create function taskgate._now() returns timestamp with time zone language sql;
create function taskgate._open_demand(p_task_definition_id integer, p_lease_ms integer, p_now timestamp with time zone) returns timestamp with time zone language sql stable;
create function taskgate._open_next_wave(p_batch_id bigint, p_now timestamp with time zone, OUT o_woken integer[], OUT o_is_opening boolean) language plpgsql;
create function taskgate._over_limit(p_task_definition_id integer) returns integer language sql stable;
create function taskgate._passes_on(p_shared_limit_id integer) returns boolean language sql stable;
create function taskgate._payload_has(p_payload text, p_path text, p_value text) returns boolean language plpgsql immutable;
create function taskgate._payload_key(p_payload text, p_path text) returns text language plpgsql immutable;
create function taskgate._permit_in_ms(p_task_definition_id integer, p_now timestamp with time zone) returns bigint language sql stable;
create function taskgate._promote(p_task_definition_id integer, p_max integer, p_now timestamp with time zone) returns integer language plpgsql;
create function taskgate._purge_audit(p_max integer, p_now timestamp with time zone, OUT entries integer, OUT more boolean) language plpgsql;
create function taskgate._purge_batches(p_max integer, p_now timestamp with time zone, OUT batches integer, OUT waves integer, OUT more boolean) language plpgsql;
create function taskgate._purge_executions_before(p_now timestamp with time zone) returns timestamp with time zone language sql stable;
create function taskgate._purge_groups(p_max integer, p_now timestamp with time zone, OUT o_groups integer, OUT o_more boolean) language plpgsql;
create function taskgate._purge_tasks(p_max integer, p_now timestamp with time zone, OUT o_tasks integer, OUT o_attempts integer, OUT o_more boolean) language plpgsql;
create function taskgate._rate_problem(p_count integer, p_period_ms integer, p_burst integer) returns text language sql immutable;
create function taskgate._rate_text(p_count integer, p_period_ms integer, p_burst integer) returns text language sql immutable;
create function taskgate._read_tokens(p_tokens text) returns TABLE(ord integer, token_id uuid, is_held boolean, grantee bigint) language plpgsql stable;
create function taskgate._readable_json(p_payload text) returns text language plpgsql immutable;
create function taskgate._rejoin_waves(p_task_ids bigint[], p_wave_ids bigint[], p_outcomes smallint[]) returns bigint[] language plpgsql;
create function taskgate._replace_payloads(p_ids bigint[], p_kinds text[], p_payloads text[], p_traces text[], p_build bigint, p_joins_transaction boolean) returns bigint[] language plpgsql;
create function taskgate._reserved_ms(p_task_definition_id integer, p_now timestamp with time zone) returns bigint language sql stable;
create function taskgate._retry_beside_ms(p_ahead_us bigint, p_interval_us bigint, p_turn_in_us bigint, p_lot integer) returns bigint language sql immutable;
create function taskgate._retry_in_ms(p_task_definition_id integer) returns bigint language sql stable;
create function taskgate._set_paused(p_name text, p_paused boolean, p_changed_by text, p_reason text, p_is_stop boolean, p_expected_paused boolean, OUT o_status text, OUT o_ready boolean) language plpgsql;
create function taskgate._settle_shared(p_shared integer[], p_task_execution_id bigint, p_need integer, p_own integer, OUT o_room integer, OUT o_over_limit integer, OUT o_dead integer) language plpgsql;
create function taskgate._settle_tokens(p_task_definition_id integer, p_task_execution_id bigint, p_want integer, p_keep integer, p_over_limit_keep integer, p_shared integer[], OUT o_own integer, OUT o_granted integer, OUT o_freed integer, OUT o_held integer, OUT o_limit integer, OUT o_token_fence bigint, OUT o_paused boolean, OUT o_dead integer, OUT o_is_live boolean, OUT o_given integer, OUT o_given_to integer[]) language plpgsql;
create function taskgate._shared_count(p_shared_limit_id integer) returns integer language sql stable;
create function taskgate._shared_demand(p_task_definition_id integer, p_lease_ms integer, p_now timestamp with time zone) returns TABLE(shared_limit_id integer, open_since timestamp with time zone, reserved_ms bigint) language sql stable;
create function taskgate._shared_gift(p_task_definition_id integer, p_lease_ms integer, p_worker text, p_now timestamp with time zone, OUT o_gift integer, OUT o_shared integer[]) language sql stable;
create function taskgate._shared_ids(p_task_definition_id integer) returns integer[] language sql stable;
create function taskgate._shared_problem(p_shared_limits text) returns text language sql immutable;
create function taskgate._shared_room(p_task_definition_id integer, p_worker text, p_now timestamp with time zone) returns integer language sql stable;
create function taskgate._shared_shares(p_task_definition_id integer, p_worker text) returns TABLE(shared_limit_id integer, task_limit integer, mine integer, held integer, others integer, poorest integer, richest integer) language sql stable;
create function taskgate._shared_use(p_task_definition_id integer, p_now timestamp with time zone) returns TABLE(shared_limit_id integer, name text, task_limit integer, source text, held integer, live integer, retry_in_ms bigint) language sql stable;
create function taskgate._shares(p_tokens text, p_task_definition_id integer, p_worker text, OUT o_mine integer, OUT o_all integer, OUT o_others integer, OUT o_poorest integer, OUT o_richest integer) language sql stable;
create function taskgate._take_keys(p_task_definition_id integer, p_ids bigint[], p_keys text[], p_keep_ms bigint[], p_now timestamp with time zone, OUT o_ids bigint[], OUT o_is_new boolean[]) language plpgsql;
create function taskgate._take_tasks(p_task_ids bigint[], p_to_end boolean, OUT o_seen bigint[], OUT o_scheduled bigint[], OUT o_ready bigint[], OUT o_waited bigint[], OUT o_blocked bigint[]) language plpgsql;
create function taskgate._tokens_are_plain(p_tokens text) returns boolean language sql immutable;
create function taskgate._tokens_are_sound(p_tokens text) returns boolean language sql immutable;
create function taskgate._use_permits(p_task_definition_id integer, p_count integer, p_from timestamp with time zone, p_interval_us bigint) returns void language sql;
create function taskgate._waiting_beside(p_task_definition_id integer, p_shared integer[], p_max integer) returns integer[] language sql stable;
create function taskgate._write_kinds(p_task_definition_id integer, p_kinds text, OUT o_old text, OUT o_new text) language plpgsql;
create function taskgate.acquire_tokens(p_task_execution_id bigint, p_want integer, p_start_id uuid DEFAULT NULL::uuid, OUT status text, OUT tokens integer, OUT granted integer, OUT token_fence bigint, OUT retry_in_ms bigint, OUT dead_holders integer, OUT demand text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.advance_watermark(p_name text, p_watermark text, p_expected_version bigint, p_value text, p_build bigint, p_tasks text, p_operation_id uuid DEFAULT NULL::uuid, p_needs_all boolean DEFAULT false, OUT status text, OUT version bigint, OUT value text, OUT task_ids text, OUT outcomes text, OUT ready boolean, OUT next_due_ms bigint) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.cancel_batch(p_batch_id bigint, p_changed_by text DEFAULT NULL::text, p_reason text DEFAULT NULL::text, OUT status text, OUT tasks text, OUT opening text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.cancel_tasks(p_task_ids bigint[], p_reason text DEFAULT NULL::text, p_changed_by text DEFAULT NULL::text, OUT status text, OUT results text, OUT woken text, OUT opening text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.check_invariants(OUT status text, OUT findings text) language plpgsql security definer set jit=off set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.complete_task(p_task_execution_id bigint, p_task_id bigint, p_fence bigint, p_duration_ms integer DEFAULT NULL::integer, p_result text DEFAULT NULL::text, p_start_id uuid DEFAULT NULL::uuid, OUT status text, OUT woken text, OUT opening text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.create_batch(p_operation_id uuid, p_name text, p_failure_policy text, p_waves integer, OUT status text, OUT batch bigint, OUT waves text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.enqueue_tasks(p_name text, p_build bigint, p_tasks text, p_operation_id uuid DEFAULT NULL::uuid, p_joins_transaction boolean DEFAULT true, p_wave_id bigint DEFAULT NULL::bigint, p_changed_by text DEFAULT NULL::text, p_reason text DEFAULT NULL::text, p_is_checked boolean DEFAULT false, p_payloads text DEFAULT NULL::text, OUT status text, OUT task_ids text, OUT outcomes text, OUT ready boolean, OUT next_due_ms bigint) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.explain_task(p_task_id bigint, OUT status text, OUT facts text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.fail_tasks(p_task_execution_id bigint, p_failures text, p_start_id uuid DEFAULT NULL::uuid, OUT status text, OUT results text, OUT woken text, OUT next_due_ms bigint, OUT opening text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.finish_execution(p_task_execution_id bigint, p_start_id uuid DEFAULT NULL::uuid, OUT status text, OUT given_back integer, OUT tokens_freed integer, OUT ready boolean, OUT next_due_ms bigint, OUT woken text, OUT opening text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.fire_schedule(p_schedule_id integer, p_expected_run_at text, p_run_ats text, p_next_run_at text, OUT status text, OUT task_ids text, OUT next_due_ms bigint) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.heartbeat(p_executions text, OUT status text, OUT executions text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_apps(OUT status text, OUT apps text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_audit(p_object text, p_action text, p_changed_by text, p_since text, p_before text, p_max integer, OUT status text, OUT entries text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_batches(p_batch_id bigint, p_before bigint, p_max integer, OUT status text, OUT batches text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_definitions(p_name text DEFAULT NULL::text, OUT status text, OUT definitions text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_executions(p_name text, p_is_open boolean, p_max integer, OUT status text, OUT executions text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_failures(p_name text, p_max integer, OUT status text, OUT looked_at integer, OUT is_whole boolean, OUT failures text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set enable_sort=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_groups(p_name text, p_group_key text, p_max integer, OUT status text, OUT groups text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_schedules(p_name text, p_max integer, OUT status text, OUT now_at text, OUT schedules text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_shared_limits(p_name text, p_max integer, OUT status text, OUT shared_limits text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_stopped(p_max integer, OUT status text, OUT stop text, OUT definitions text, OUT schedules text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_tasks(p_name text, p_state text, p_max integer, p_after text DEFAULT NULL::text, p_key text DEFAULT NULL::text, p_key_prefix text DEFAULT NULL::text, p_group_key text DEFAULT NULL::text, p_batch_id bigint DEFAULT NULL::bigint, p_created_since text DEFAULT NULL::text, p_created_before text DEFAULT NULL::text, p_finished_since text DEFAULT NULL::text, p_finished_before text DEFAULT NULL::text, p_path text DEFAULT NULL::text, p_value text DEFAULT NULL::text, p_look_max integer DEFAULT 5000, OUT status text, OUT tasks text, OUT looked_at integer, OUT next text, OUT last_task bigint, OUT last_at text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set enable_sort=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.list_watermarks(p_name text, p_watermark text, p_max integer, OUT status text, OUT watermarks text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.pause_definition(p_name text, p_changed_by text, p_reason text DEFAULT NULL::text, p_is_stop boolean DEFAULT false, p_expected_paused boolean DEFAULT NULL::boolean, OUT status text, OUT ready boolean) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.promote_scheduled(p_name text, p_max integer, OUT status text, OUT promoted integer, OUT next_due_ms bigint, OUT ready boolean) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.pump_batch(p_batch_id bigint, p_max integer, OUT status text, OUT moved integer, OUT more boolean, OUT woken text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.purge(p_max integer, OUT status text, OUT purged integer, OUT tasks integer, OUT executions integer, OUT operations integer, OUT keys integer, OUT groups integer, OUT batches integer, OUT audit_entries integer, OUT more boolean) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.read_free_tokens(p_name text, p_since_fence bigint DEFAULT NULL::bigint, OUT status text, OUT free integer, OUT ready integer, OUT crowded_out boolean, OUT grants integer, OUT token_fence bigint) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.read_pace(p_name text, p_max integer, OUT status text, OUT now_at text, OUT oldest_task_id bigint, OUT oldest_created_at text, OUT oldest_due_at text, OUT finished integer, OUT over_ms bigint, OUT kinds text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set enable_sort=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.read_statistics(p_name text, p_grain integer, p_max integer, OUT status text, OUT now_at text, OUT counted_at text, OUT periods text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.reclaim_expired(p_max integer, OUT status text, OUT executions integer, OUT tasks_back integer, OUT tasks_lost integer, OUT tasks_dead integer, OUT definitions text, OUT more boolean, OUT opening text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.redrive_tasks(p_task_ids bigint[], p_name text DEFAULT NULL::text, p_kind text DEFAULT NULL::text, p_outcome text DEFAULT NULL::text, p_max integer DEFAULT NULL::integer, p_changed_by text DEFAULT NULL::text, p_reason text DEFAULT NULL::text, OUT status text, OUT results text, OUT woken text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set enable_sort=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.register_app(p_app text, p_definitions text, p_address text DEFAULT NULL::text, OUT status text, OUT refused text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.register_definition(p_name text, p_build bigint, p_settings_hash text, p_registered_by text, p_limit integer, p_lease_ms integer, p_retry_attempts integer, p_lost_max integer, p_retry_base_ms integer, p_retry_cap_ms integer, p_prefetch_max integer, p_group_slots integer, p_group_strict boolean, p_retain_done_ms bigint, p_retain_dead_ms bigint, p_rate_count integer DEFAULT NULL::integer, p_rate_period_ms integer DEFAULT NULL::integer, p_rate_burst integer DEFAULT NULL::integer, p_shared_limits text DEFAULT NULL::text, p_kinds text DEFAULT NULL::text, p_keep_payload boolean DEFAULT true, OUT status text, OUT task_definition_id integer) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.release_surplus(p_task_execution_id bigint, p_keep integer, p_start_id uuid DEFAULT NULL::uuid, OUT status text, OUT tokens integer, OUT freed integer, OUT over_limit integer, OUT given integer, OUT woken text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.release_tokens(p_task_execution_id bigint, p_keep integer, p_start_id uuid DEFAULT NULL::uuid, OUT status text, OUT tokens integer, OUT freed integer, OUT ready boolean, OUT woken text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.report_progress(p_task_execution_id bigint, p_task_id bigint, p_fence bigint, p_done bigint, p_total bigint, p_text text, p_start_id uuid DEFAULT NULL::uuid, OUT status text, OUT cancel_requested boolean) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.reschedule_tasks(p_task_ids bigint[], p_run_in_ms bigint, p_run_at text, p_changed_by text DEFAULT NULL::text, p_reason text DEFAULT NULL::text, OUT status text, OUT results text, OUT next_due_ms bigint, OUT definitions text, OUT woken text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.resume_batch(p_batch_id bigint, p_changed_by text DEFAULT NULL::text, p_reason text DEFAULT NULL::text, OUT status text, OUT woken text, OUT opening text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.resume_definition(p_name text, p_changed_by text, p_reason text DEFAULT NULL::text, p_expected_paused boolean DEFAULT NULL::boolean, OUT status text, OUT ready boolean) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.roll_up_statistics(p_max integer, OUT status text, OUT executions integer, OUT deleted integer, OUT more boolean) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.set_definition_owner(p_name text, p_app text, p_changed_by text, p_reason text DEFAULT NULL::text, p_expected_app text DEFAULT NULL::text, OUT status text, OUT old_app text, OUT new_app text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.set_group(p_name text, p_group_key text, p_group_scope text, p_slots integer, p_paused boolean, p_strict boolean, p_changed_by text, p_reason text DEFAULT NULL::text, p_expected_slots integer DEFAULT NULL::integer, p_expected_paused boolean DEFAULT NULL::boolean, p_expected_strict boolean DEFAULT NULL::boolean, OUT status text, OUT old_slots integer, OUT new_slots integer, OUT old_paused boolean, OUT new_paused boolean, OUT old_strict boolean, OUT new_strict boolean, OUT used integer, OUT waiting integer, OUT woken text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.set_limit(p_name text, p_limit integer, p_operation_id uuid, p_changed_by text, p_reason text DEFAULT NULL::text, p_expected_limit integer DEFAULT NULL::integer, OUT status text, OUT old_limit integer, OUT new_limit integer, OUT held integer, OUT over_limit integer, OUT ready boolean) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.set_rate(p_name text, p_count integer, p_period_ms integer, p_burst integer, p_changed_by text, p_reason text DEFAULT NULL::text, p_expected_rate text DEFAULT NULL::text, OUT status text, OUT old_rate text, OUT new_rate text, OUT ready boolean) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.set_schedule_paused(p_name text, p_schedule text, p_paused boolean, p_next_run_at text, p_changed_by text, p_reason text DEFAULT NULL::text, p_is_stop boolean DEFAULT false, p_expected_paused boolean DEFAULT NULL::boolean, OUT status text, OUT next_due_ms bigint) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.set_schedules(p_name text, p_build bigint, p_schedules text, p_changed_by text, OUT status text, OUT changed integer, OUT next_due_ms bigint) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.set_shared_limit(p_name text, p_limit integer, p_operation_id uuid, p_changed_by text, p_reason text DEFAULT NULL::text, p_expected_limit integer DEFAULT NULL::integer, OUT status text, OUT old_limit integer, OUT new_limit integer, OUT held integer, OUT over_limit integer, OUT definitions text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.set_stop(p_is_on boolean, p_changed_by text, p_reason text DEFAULT NULL::text, OUT status text) returns text language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.set_watermark(p_name text, p_watermark text, p_value text, p_expected_version bigint, p_operation_id uuid, p_changed_by text, p_reason text DEFAULT NULL::text, OUT status text, OUT version bigint, OUT old_value text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator
create function taskgate.start_batch(p_batch_id bigint, p_seal boolean, OUT status text, OUT woken text, OUT opening text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.start_execution(p_name text, p_operation_id uuid, p_worker text, p_build bigint, p_settings_hash text, p_want integer, p_needs_ready boolean, OUT status text, OUT task_execution_id bigint, OUT lease_ms integer, OUT tokens integer, OUT token_fence bigint, OUT prefetch_max smallint, OUT ready integer, OUT retry_in_ms bigint, OUT next_due_ms bigint, OUT dead_holders integer, OUT demand text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.sweep(p_max integer, OUT status text, OUT expired integer, OUT definitions text, OUT next_due_ms bigint, OUT opening text, OUT schedules text, OUT purgeable boolean) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker
create function taskgate.work(p_task_execution_id bigint, p_call_number bigint, p_done_task_ids bigint[] DEFAULT NULL::bigint[], p_done_fences bigint[] DEFAULT NULL::bigint[], p_done_durations_ms integer[] DEFAULT NULL::integer[], p_done_results text DEFAULT NULL::text, p_started_task_ids bigint[] DEFAULT NULL::bigint[], p_want integer DEFAULT 0, p_after_priority smallint DEFAULT NULL::smallint, p_after_rank bigint DEFAULT NULL::bigint, p_after_task_id bigint DEFAULT NULL::bigint, p_start_id uuid DEFAULT NULL::uuid, OUT status text, OUT fence bigint, OUT task_ids text, OUT kinds text, OUT attempts text, OUT payloads text, OUT extras text, OUT started integer, OUT last_priority smallint, OUT last_rank bigint, OUT refused_task_ids text, OUT lease_ms integer, OUT over_limit integer, OUT release_requested boolean, OUT free_tokens integer, OUT next_due_ms bigint, OUT retry_in_ms bigint, OUT woken text, OUT opening text) language plpgsql security definer set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set lock_timeout=2s set plan_cache_mode=force_generic_plan set search_path=taskgate, pg_temp set standard_conforming_strings=on; -- called by taskgate_operator, taskgate_worker

-- Who may use the schema
grant usage on schema taskgate to taskgate_operator, taskgate_worker;

-- Anything else in the schema
