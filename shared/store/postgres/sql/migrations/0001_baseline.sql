-- 0001_baseline: every table, empty, as of 0.2.0-pre. A later change of a table is a migration of its own, which adds.
-- Duration: milliseconds on an empty database. Locks: none that anybody else can hold. Old code beside it: there is none.
-- Twin: mssql/sql/migrations/0001_baseline.sql
--
-- A task's state is the table its id stands in, not a column: exactly one of ready, scheduled, group_waiting,
-- wave_blocked, or the arrays of a task_execution (claimed); at the end, archive or archive_pack. Each container is narrow,
-- is ordered as it is taken, and holds nothing that its takers would have to step over.
-- Storage settings: hot rows (definitions, executions, counters) leave room in the page so that updates stay HOT;
-- queue tables are vacuumed by count, not by share, because their heads are deleted for ever.

create schema if not exists taskgate;

create sequence taskgate.task_sequence as bigint cache 1;   -- a session cache would break creation order
create sequence taskgate.fence_sequence as bigint cache 1;  -- and the growth of fences

create table taskgate.schema_version (
  version int not null constraint pk_schema_version primary key,
  name text not null,
  checksum text not null,
  client_version_min text not null,
  applied_at timestamptz not null
);

create table taskgate.task_definition (
  task_definition_id int generated always as identity constraint pk_task_definition primary key,
  name text collate "C" not null constraint uq_task_definition_name unique
    constraint ck_task_definition_name check (char_length(name) between 1 and 200),
  hold_lock_task_execution_id bigint,               -- written first by whoever changes tokens (seed 000)
  execution_tokens text not null default '',        -- I:<id>,S:<0 held, 1 free>,G:<execution> repeated; empty while there is no limit
  token_fence bigint not null default 0,            -- grows with every grant
  concurrency_limit int not null default 1          -- what the code says: -1 none, 0 nothing starts, else 1..1000
    constraint ck_task_definition_concurrency_limit check (concurrency_limit between -1 and 1000),
  concurrency_limit_override int                    -- what an operator says; wins while it is not null
    constraint ck_task_definition_concurrency_limit_override check (concurrency_limit_override between -1 and 1000),
  paused boolean not null default false,
  lease_ms int not null default 60000,
  retry_attempts smallint not null default 5,
  lost_max smallint not null default 3,
  retry_base_ms int not null default 1000,
  retry_cap_ms int not null default 300000,
  prefetch_max smallint not null default 1,         -- claims <= tokens * (1 + prefetch_max)
  group_slots smallint not null default 1,          -- of groups made by this definition's tasks
  group_strict boolean not null default false,
  retain_done_ms bigint not null default 604800000, -- 0: a done task leaves no archive row
  retain_dead_ms bigint not null default 2592000000,
  build bigint not null default 0,                  -- of the code that registered last; an older one changes nothing
  settings_hash text not null default '',
  created_at timestamptz not null
) with (fillfactor = 20);

-- A kind without rules has no row. Either a path into the payload gives the group's key, or a function in the code does: then callers
-- without the code must say the group.
create table taskgate.task_kind (
  task_definition_id int not null,
  kind text not null,
  group_by text,
  is_group_computed boolean not null,
  priority smallint,
  run_in_ms bigint,
  dedupe_by text,
  dedupe_ms bigint,
  constraint pk_task_kind primary key (task_definition_id, kind)
);

-- Which app runs the tasks of a definition, and where its hints go.
create table taskgate.app (
  name text collate "C" constraint pk_app primary key,
  address text,                                     -- JSON object: queue of its hints, schedule of its sweep; no secret; null: not known
  registered_at timestamptz not null
);
-- By name: an app names its definitions before it registers them. A definition without a row belongs to no app.
create table taskgate.definition_owner (
  name text collate "C" constraint pk_definition_owner primary key,
  app text collate "C" not null
);

create table taskgate.setting_audit (
  setting_audit_id bigint generated always as identity constraint pk_setting_audit primary key,
  task_definition_id int not null,
  setting text not null,
  old_value text,
  new_value text,
  source text not null,                             -- code | operator
  changed_by text not null,
  reason text,
  changed_at timestamptz not null
);
create index ix_setting_audit_definition on taskgate.setting_audit (task_definition_id, setting_audit_id);

-- Calls that change no setting: cancel, redrive, reschedule, batches, and tasks added by HTTP or the command line.
-- Entries of one retention stand together, so that a purge and a list read from an end.
create table taskgate.call_audit (
  is_enqueue boolean not null,                      -- kept for 30 days; the others for 400
  changed_at timestamptz not null,
  call_audit_id bigint generated always as identity,
  action text not null,                             -- name of the operation
  task_definition_id int not null,                  -- 0: tasks of several definitions, or a batch
  batch_id bigint,
  task_count int not null,
  task_ids text,                                    -- JSON array of strings: the first 1000 of them
  changed_by text not null,
  reason text,
  constraint pk_call_audit primary key (is_enqueue, changed_at, call_audit_id)
);

create table taskgate.shared_limit (
  shared_limit_id int generated always as identity constraint pk_shared_limit primary key,
  name text collate "C" not null constraint uq_shared_limit_name unique,
  hold_lock_task_execution_id bigint,
  execution_tokens text not null default '',
  token_fence bigint not null default 0,
  concurrency_limit int not null default 1,
  concurrency_limit_override int
) with (fillfactor = 20);

create table taskgate.task_definition_shared_limit (
  task_definition_id int not null,
  shared_limit_id int not null,
  constraint pk_task_definition_shared_limit primary key (task_definition_id, shared_limit_id)
);
create index ix_task_definition_shared_limit_shared_limit on taskgate.task_definition_shared_limit (shared_limit_id, task_definition_id);

create table taskgate.rate_bucket (
  task_definition_id int not null constraint pk_rate_bucket primary key,
  rate_count int not null,                          -- tasks per period, by the code
  rate_period_ms int not null,
  rate_burst int not null,
  rate_count_override int,                          -- all three overrides together, or none
  rate_period_ms_override int,
  rate_burst_override int,
  next_free_at timestamptz not null                 -- the one instant of the generic cell rate algorithm
) with (fillfactor = 20);

-- A definition has a row here and in token_gift from its registration on, a shared limit its row of shared_token_demand: a denial
-- changes a row, and never waits for one that is being made.
create table taskgate.token_demand (
  task_definition_id int not null constraint pk_token_demand primary key,
  denied_at timestamptz not null                    -- somebody was denied then; written at most once a second
) with (fillfactor = 20);

-- When a holder gave tokens for somebody who was denied; written under the definition's row lock only.
create table taskgate.token_gift (
  task_definition_id int constraint pk_token_gift primary key,
  given_at timestamptz not null
);

-- When somebody was denied by a shared limit, and of which definition; when a holder gave for that one, written under the limit's row lock only.
create table taskgate.shared_token_demand (
  shared_limit_id int constraint pk_shared_token_demand primary key,
  denied_at timestamptz not null,
  task_definition_id int,
  given_at timestamptz not null
);

create table taskgate.task_execution (
  task_execution_id bigint generated always as identity constraint pk_task_execution primary key,
  operation_id uuid not null constraint uq_task_execution_operation_id unique,
  task_definition_id int not null,
  state smallint not null,                          -- 1 live, 2 ended, 3 declared dead, 4 dead and reclaimed
  started_at timestamptz not null,
  lease_until timestamptz not null,                 -- not indexed: an index on it would forbid HOT updates
  ended_at timestamptz,
  worker text not null,
  build bigint not null default 0,                  -- of the code that runs here
  token_count int not null default 0,               -- tokens granted; the string says who holds them while there is a limit
  call_number bigint not null default 0,            -- of the last work call, so that its answer can be given again
  call_fence bigint,                                -- the claims of that call carry this fence
  call_refused text,                                -- and these completions were refused
  is_solo boolean not null default false,           -- runs a task that was lost twice, alone
  inflight bigint[] not null default '{}',          -- claimed tasks in claim order
  inflight_fence bigint[] not null default '{}',    -- same length
  inflight_at timestamptz[] not null default '{}',  -- same length
  prefetched bigint[] not null default '{}'         -- those of inflight that haven't been started
) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index ix_task_execution_open on taskgate.task_execution (task_definition_id, task_execution_id) where state in (1, 3);
-- The lists are stored as they are: they live for one call, and to compress them takes longer than to write them (a sixteenth of a call
-- that ends and claims 500 tasks).
alter table taskgate.task_execution
  alter column inflight set storage external, alter column inflight_fence set storage external,
  alter column inflight_at set storage external, alter column prefetched set storage external;

create table taskgate.task (
  task_id bigint not null constraint pk_task primary key,
  task_definition_id int not null,
  kind text collate "C" not null,
  priority smallint not null,
  rank bigint not null default 0,
  created_at timestamptz not null,
  group_id int,                                     -- while it holds a slot or waits for one
  pending_group_key text collate "C",               -- enqueued inside a user's transaction before the group existed:
  pending_group_is_global boolean,                  -- promotion makes the group, so that no new key keeps others waiting
  wave_id bigint,
  dedupe_key text collate "C",
  build bigint not null default 0,                  -- of the code that enqueued it
  trace_parent text,
  failed_count smallint not null default 0,
  lost_count smallint not null default 0,
  continued_count int not null default 0,
  cancel_requested boolean not null default false,
  payload text,
  checkpoint text,
  last_error text,
  progress_done bigint,
  progress_total bigint,
  progress_text text
) with (fillfactor = 95, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create index ix_task_wave on taskgate.task (wave_id, task_id) where wave_id is not null;

create table taskgate.ready (
  task_definition_id int not null,
  priority smallint not null,
  rank bigint not null,
  task_id bigint not null,
  is_solo boolean not null default false,           -- was lost twice: claimed alone
  constraint pk_ready primary key (task_definition_id, priority, rank, task_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

create table taskgate.scheduled (
  task_definition_id int not null,
  run_at timestamptz not null,
  task_id bigint not null,
  constraint pk_scheduled primary key (task_definition_id, run_at, task_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

create table taskgate.task_group (
  group_id int generated always as identity constraint pk_task_group primary key,
  task_definition_id int not null,                  -- 0: the group excludes tasks of all definitions
  group_key text collate "C" not null,
  slots smallint not null,
  paused boolean not null default false,
  strict boolean not null default false,
  constraint uq_task_group_key unique (task_definition_id, group_key)
) with (fillfactor = 50);

create table taskgate.group_slot (
  group_id int not null,
  slot smallint not null,
  task_id bigint not null,
  constraint pk_group_slot primary key (group_id, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

create table taskgate.group_waiting (
  group_id int not null,
  priority smallint not null,
  rank bigint not null,
  task_id bigint not null,
  task_definition_id int not null,
  constraint pk_group_waiting primary key (group_id, priority, rank, task_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

-- Groups that an operator has set stay. Written under the group's row lock only.
create table taskgate.group_kept (
  group_id int constraint pk_group_kept primary key
);
-- How far a purge has looked through the groups: one row, and one purge at a time.
create table taskgate.group_round (
  round_id smallint constraint pk_group_round primary key, -- always 1
  last_group_id int not null,                       -- 0: a round begins
  ended_at timestamptz not null                     -- of the last round
);
insert into taskgate.group_round (round_id, last_group_id, ended_at) values (1, 0, '2000-01-01 00:00:00+00');

create table taskgate.batch (
  batch_id bigint generated always as identity constraint pk_batch primary key,
  operation_id uuid not null constraint uq_batch_operation_id unique,
  name text not null,
  state smallint not null default 0,                -- 0 draft, 1 running, 2 halted, 3 done, 4 cancelled
  failure_policy smallint not null default 1,       -- 1 halt, 2 continue, 3 cancel
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);
create index ix_batch_unfinished on taskgate.batch (batch_id) where state in (1, 4) and finished_at is null;

create table taskgate.wave (
  wave_id bigint generated always as identity constraint pk_wave primary key,
  batch_id bigint not null,
  ordinal int not null,
  state smallint not null default 0,                -- 0 blocked, 1 opening, 2 open, 3 done
  is_sealed boolean not null default false,
  open_shards int not null default 0,
  total int not null default 0,
  dead_count int not null default 0,
  opened_at timestamptz,
  finished_at timestamptz,
  constraint uq_wave_ordinal unique (batch_id, ordinal)
) with (fillfactor = 30);
create index ix_wave_opening on taskgate.wave (wave_id) where state = 1;

-- Written under the batch's row lock only, so that who holds it needn't read waves that others may hold.
create table taskgate.open_wave (
  batch_id bigint constraint pk_open_wave primary key,
  wave_id bigint not null                           -- is being opened, or open
);

create table taskgate.wave_shard (
  wave_id bigint not null,
  shard smallint not null,                          -- (task_id / 512) % 16
  remaining int not null,
  constraint pk_wave_shard primary key (wave_id, shard)
) with (fillfactor = 20);

create table taskgate.wave_blocked (
  wave_id bigint not null,
  priority smallint not null,
  rank bigint not null,
  task_id bigint not null,
  task_definition_id int not null,
  constraint pk_wave_blocked primary key (wave_id, priority, rank, task_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

create table taskgate.dedupe (
  task_definition_id int not null,
  dedupe_key text collate "C" not null,
  task_id bigint not null,
  expires_at timestamptz,                           -- null: for as long as the task is unfinished
  constraint pk_dedupe primary key (task_definition_id, dedupe_key)
);
create index ix_dedupe_expires on taskgate.dedupe (expires_at) where expires_at is not null;

create table taskgate.attempt (
  task_id bigint not null,
  fence bigint not null,
  task_execution_id bigint not null,
  claimed_at timestamptz not null,
  finished_at timestamptz not null,
  duration_ms int,                                  -- measured by the worker; null: it never told
  outcome smallint not null,                        -- 11 failed, 12 cancelled, 13 lost, 14 continued later without counting
  error text,
  constraint pk_attempt primary key (task_id, fence)
);

create table taskgate.archive (
  task_id bigint not null constraint pk_archive primary key,
  task_definition_id int not null,
  kind text collate "C" not null,
  priority smallint not null,
  rank bigint not null,
  created_at timestamptz not null,
  finished_at timestamptz not null,
  purge_after timestamptz not null,
  task_execution_id bigint,                         -- of the last attempt; null: none was made
  fence bigint,
  duration_ms int,
  group_id int,
  wave_id bigint,
  dedupe_key text collate "C",
  build bigint not null,
  outcome smallint not null,                        -- 10 done, 11 dead, 12 cancelled
  failed_count smallint not null,
  lost_count smallint not null,
  error text,
  result text,
  payload text
);
create index ix_archive_finished on taskgate.archive (task_definition_id, outcome, finished_at);
create index ix_archive_purge on taskgate.archive (purge_after);
-- A task that may be redriven needs its group. One that is done names none.
create index ix_archive_group on taskgate.archive (group_id) where group_id is not null;

-- Done tasks that one call ends lie in one row together: three index entries for all of them, where each took three, and they are deleted
-- as one. The archive keeps a row each for those that ended otherwise, were the only one of their call, failed before, or are large.
-- T-SQL has no arrays and keeps a row per task.
create table taskgate.archive_pack (
  first_task_id bigint not null constraint pk_archive_pack primary key,
  last_task_id bigint not null,
  task_definition_id int not null,
  kind text collate "C" not null,
  priority smallint not null,
  wave_id bigint,
  build bigint not null,
  task_execution_id bigint not null,
  finished_at timestamptz not null,
  purge_after timestamptz not null,
  task_ids bigint[] not null,                       -- ascending; the other lists: same length; ranks null: all 0; the last four null: the call said none
  ranks bigint[],
  created_ats timestamptz[] not null,
  fences bigint[] not null,
  durations_ms int[],
  dedupe_keys text[] collate "C",
  results text[],
  payloads text[],
  constraint ck_archive_pack_ends check (first_task_id = task_ids[1] and last_task_id = task_ids[cardinality(task_ids)]),
  constraint ck_archive_pack_span check (last_task_id - first_task_id < 4096)   -- so whoever looks for a task knows how far back its pack may begin
);
create index ix_archive_pack_finished on taskgate.archive_pack (task_definition_id, finished_at);
create index ix_archive_pack_purge on taskgate.archive_pack (purge_after);
-- As they are: to compress them takes longer than to write them.
alter table taskgate.archive_pack
  alter column task_ids set storage external, alter column ranks set storage external, alter column created_ats set storage external,
  alter column fences set storage external, alter column durations_ms set storage external, alter column dedupe_keys set storage external,
  alter column results set storage external, alter column payloads set storage external;

-- Of archived tasks that ended before they came into their group or wave. Who holds the archive's row may write it.
create table taskgate.ended_early (
  task_id bigint constraint pk_ended_early primary key,
  pending_group_key text collate "C",               -- the group wasn't made yet
  pending_group_is_global boolean,
  was_blocked boolean not null                      -- its wave didn't count it yet
);

create table taskgate.operation (
  operation_id uuid not null constraint pk_operation primary key,
  name text not null,
  done_at timestamptz not null,
  answer text
);
create index ix_operation_done_at on taskgate.operation (done_at);

create table taskgate.schedule (
  schedule_id int generated always as identity constraint pk_schedule primary key,
  task_definition_id int not null,
  name text collate "C" not null,
  kind text collate "C" not null,
  cron text not null,
  time_zone text not null,
  missed_policy smallint not null default 2,        -- 1 skip, 2 once, 3 all
  next_run_at timestamptz,
  last_run_at timestamptz,
  paused boolean not null default false,
  payload text,
  constraint uq_schedule_name unique (task_definition_id, name)
);

-- The group that a schedule's tasks join; no row: none. Written under the schedule's row lock only.
create table taskgate.schedule_group (
  schedule_id int constraint pk_schedule_group primary key,
  group_key text collate "C" not null
);

create table taskgate.block_watermark (
  task_definition_id int not null,
  name text collate "C" not null,
  watermark_value text not null,
  version bigint not null default 1,
  changed_at timestamptz not null,
  constraint pk_block_watermark primary key (task_definition_id, name)
);
