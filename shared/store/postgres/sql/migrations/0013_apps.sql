-- 0013_apps: which app runs the tasks of a definition, and where an app's hints go.
-- Duration: milliseconds: two empty tables. Locks: none that another caller can hold. Old code beside it: runs on, and owns no definition.
-- Twin: mssql/sql/migrations/0013_apps.sql
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
