-- flights: the tables of the sample, in a schema of their own beside Taskgate's. Run by `npm start`; safe to run again.
-- Twin: mssql.sql
create schema if not exists flights;

-- One row per imported file, by the event that announced it.
create table if not exists flights.source_file (
  event_id text constraint pk_source_file primary key,
  name text not null,
  record_count int not null,
  imported_at timestamptz not null);

create table if not exists flights.airport (
  code text constraint pk_airport primary key,
  name text not null,
  city text not null,
  state text not null,
  country text not null,
  latitude double precision not null,
  longitude double precision not null);

-- Sums. Each row belongs to one origin: tasks of one origin run one after the other, so no task waits for a row here.
create table if not exists flights.origin_total (
  origin text constraint pk_origin_total primary key,
  flight_count bigint not null,
  delay_sum bigint not null);

create table if not exists flights.hour_total (
  origin text not null,
  hour int not null constraint ck_hour_total__hour check (hour between 0 and 23),
  flight_count bigint not null,
  delay_sum bigint not null,
  constraint pk_hour_total primary key (origin, hour));

create table if not exists flights.route_total (
  origin text not null,
  destination text not null,
  flight_count bigint not null,
  delay_sum bigint not null,
  distance_sum bigint not null,
  constraint pk_route_total primary key (origin, destination));

-- What the parts of a file left of each origin, until the file's wave of totals adds it to the sums.
create table if not exists flights.block_total (
  wave_id bigint not null,
  origin text not null,
  part text not null,
  totals text not null,
  constraint pk_block_total primary key (wave_id, origin, part));

-- flights.add_totals: adds what one part of a file has of one origin.
-- In:     p_totals: {origin, flights, delay, hours: [{hour, flights, delay}], routes: [{destination, flights, delay, distance}]}
-- Locks:  origin_total, hour_total, route_total: rows of that origin
-- Once:   no; runs in the transaction of the task's completion
create or replace function flights.add_totals(p_totals text) returns void language plpgsql as $$
declare
  v json := p_totals::json;
begin
  insert into flights.origin_total as t (origin, flight_count, delay_sum)
  values (v ->> 'origin', (v ->> 'flights')::bigint, (v ->> 'delay')::bigint)
  on conflict on constraint pk_origin_total do update
    set flight_count = t.flight_count + excluded.flight_count, delay_sum = t.delay_sum + excluded.delay_sum;
  insert into flights.hour_total as t (origin, hour, flight_count, delay_sum)
  select v ->> 'origin', h.hour, h.flights, h.delay
    from json_to_recordset(v -> 'hours') as h (hour int, flights bigint, delay bigint)
   order by h.hour
  on conflict on constraint pk_hour_total do update
    set flight_count = t.flight_count + excluded.flight_count, delay_sum = t.delay_sum + excluded.delay_sum;
  insert into flights.route_total as t (origin, destination, flight_count, delay_sum, distance_sum)
  select v ->> 'origin', r.destination, r.flights, r.delay, r.distance
    from json_to_recordset(v -> 'routes') as r (destination text, flights bigint, delay bigint, distance bigint)
   order by r.destination
  on conflict on constraint pk_route_total do update
    set flight_count = t.flight_count + excluded.flight_count, delay_sum = t.delay_sum + excluded.delay_sum,
        distance_sum = t.distance_sum + excluded.distance_sum;
end $$;

-- flights.add_block_totals: leaves what one part of a file has, for add_file_totals.
-- In:     p_wave_id: the file's wave of totals; p_part: block or row; p_totals: JSON array, one entry per origin as add_totals reads it
-- Locks:  block_total: own new rows
-- Once:   by wave, origin and part
create or replace function flights.add_block_totals(p_wave_id text, p_part text, p_totals text) returns void language sql as $$
  insert into flights.block_total (wave_id, origin, part, totals)
  select p_wave_id::bigint, j.value ->> 'origin', p_part, j.value::text
    from json_array_elements(p_totals::json) as j (value)
  on conflict on constraint pk_block_total do nothing;
$$;

-- flights.add_file_totals: adds what the parts of a file left of one origin, and removes it.
-- In:     p_wave_id: the file's wave of totals; p_origin
-- Locks:  as add_totals, and block_total: rows of that wave and origin
-- Once:   added rows are deleted; runs in the transaction of the task's completion
create or replace function flights.add_file_totals(p_wave_id text, p_origin text) returns void language plpgsql as $$
declare
  v_totals text;
begin
  for v_totals in
    select t.totals from flights.block_total t where t.wave_id = p_wave_id::bigint and t.origin = p_origin order by t.part
  loop
    perform flights.add_totals(v_totals);
  end loop;
  delete from flights.block_total t where t.wave_id = p_wave_id::bigint and t.origin = p_origin;
end $$;

-- flights.add_airports: adds airports; those that are known get the new facts.
-- In:     p_airports: [{code, name, city, state, country, latitude, longitude}]
-- Locks:  airport, in the order of codes
-- Once:   by code
create or replace function flights.add_airports(p_airports text) returns void language sql as $$
  insert into flights.airport (code, name, city, state, country, latitude, longitude)
  select distinct on (a.code) a.code, a.name, a.city, a.state, a.country, a.latitude, a.longitude
    from json_to_recordset(p_airports::json)
      as a (code text, name text, city text, state text, country text, latitude double precision, longitude double precision)
   order by a.code
  on conflict on constraint pk_airport do update
    set name = excluded.name, city = excluded.city, state = excluded.state, country = excluded.country,
        latitude = excluded.latitude, longitude = excluded.longitude;
$$;

-- flights.add_source_file: notes that a file was imported.
-- In:     p_event_id: of the event that announced it; p_name; p_record_count
-- Locks:  source_file
-- Once:   by event
create or replace function flights.add_source_file(p_event_id text, p_name text, p_record_count int) returns void language sql as $$
  insert into flights.source_file (event_id, name, record_count, imported_at)
  values (p_event_id, p_name, p_record_count, clock_timestamp())
  on conflict on constraint pk_source_file do nothing;
$$;

-- flights.unknown_airports: those of some codes that no airport has.
-- In:     p_codes: JSON array of texts
-- Rows:   code, in order
create or replace function flights.unknown_airports(p_codes text) returns table (code text) language sql stable as $$
  select c.code from json_array_elements_text(p_codes::json) as c (code)
   where not exists (select 1 from flights.airport a where a.code = c.code)
   order by c.code;
$$;

-- The results: `delay` is the mean in minutes, early flights counted as negative.
create or replace view flights.v_delay_by_origin as
select t.origin, a.city, t.flight_count, round(t.delay_sum::numeric / t.flight_count, 1) as delay
  from flights.origin_total t
  join flights.airport a on a.code = t.origin;

create or replace view flights.v_delay_by_hour as
select t.hour, sum(t.flight_count)::bigint as flight_count, round(sum(t.delay_sum)::numeric / sum(t.flight_count), 1) as delay
  from flights.hour_total t
 group by t.hour;

create or replace view flights.v_busiest_route as
select t.origin, t.destination, t.flight_count, round(t.delay_sum::numeric / t.flight_count, 1) as delay,
       round(t.distance_sum::numeric / t.flight_count)::bigint as distance
  from flights.route_total t;

-- Workers may call; only the owner may write by hand.
grant usage on schema flights to taskgate_worker;
grant select, insert, update, delete on all tables in schema flights to taskgate_worker;
grant execute on all functions in schema flights to taskgate_worker;
