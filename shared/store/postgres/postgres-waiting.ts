import { createHash } from "node:crypto";
import type { Statement } from "./postgres-transaction";

/*
 * How processes that wait for tasks are found and notified, without a table. A process that waits for tasks of a
 * definition holds two advisory locks of its session: one of 64 places of the definition, alone, and place 0, shared. Who
 * has added tasks tries place 0 for the length of one statement: where it is free no process waits, and that was all. Else
 * the places that are taken are notified, as many as there are tasks. They are tried shared: to others who look for one at
 * the same time a free place is free. Locks end with their session, also one that breaks.
 * NOTIFY takes a lock of the whole server until its commit, so it is a statement of its own, never part of a caller's
 * transaction. Its commit has a transaction id, so that it would wait for the disk: of a notification nothing need be kept.
 */

/** Processes that can wait for one definition; further ones poll. */
const placesMax = 64;

/** Of a place, for all definitions: of a notification only the processes hear that have this place somewhere. */
const channelPrefix = "taskgate_waiting_";

/** Which tasks are waited for. */
export interface Waited {
  readonly schema: string;
  readonly definition: string;
}

/** The first number of the locks; definitions that share one by chance notify each other's processes, in vain. */
export function waitingKey({ schema, definition }: Waited): number {
  const hash = createHash("sha256").update(`${schema}\0${definition}`).digest();
  // Small numbers are what people and other programs take.
  return hash.readInt32BE(0) | 0x4000_0000;
}

const notifyText = `
  with waited as materialized (select not pg_try_advisory_xact_lock($1::int, 0) as is_so),
  places as (
    select n % ${String(placesMax)} + 1 as place
      from waited cross join lateral generate_series($2::int, $2::int + ${String(placesMax - 1)}) n
     where waited.is_so and not pg_try_advisory_xact_lock_shared($1::int, n % ${String(placesMax)} + 1)
     limit $3::int)
  select pg_notify('${channelPrefix}' || place, $1::text || '/' || place::text), set_config('synchronous_commit', 'off', true)
    from places`;

/** Notifies at most so many processes; one row each. Begins at a place by chance, so that all are woken equally often. */
export function notifyStatement(waited: Waited, tasks: number): Statement {
  const first = anyStart();
  const values = [String(waitingKey(waited)), first, Math.min(Math.max(tasks, 1), placesMax)];
  return { name: "taskgate_notify_waiting", text: notifyText, values };
}

/** So many places are passed over at the beginning. */
function anyStart(): number {
  return Math.floor(Math.random() * placesMax);
}

/** Hears of a place until the connection ends. */
export function listenStatement(place: number): Statement {
  return { text: `listen ${channelPrefix}${String(place)}`, values: [] };
}

/**
 * Takes a place: one row with its number, or none when all are taken. Those that the connection hears of already come first;
 * of the others one by chance, as a process beside free places would be notified for all of them.
 */
export function takePlaceStatement(waited: Waited, heard: ReadonlySet<number>): Statement {
  const first = anyStart();
  const all = Array.from({ length: placesMax }, (_, index) => ((first + index) % placesMax) + 1);
  const places = [...heard, ...all.filter((place) => !heard.has(place))];
  const text = `
    with free as materialized (
      select place from unnest($2::int[]) place where pg_try_advisory_lock($1::int, place) limit 1)
    select place, pg_advisory_lock_shared($1::int, 0) from free`;
  return { text, values: [waitingKey(waited), `{${places.join(",")}}`] };
}

/** Gives a place back. */
export function leavePlaceStatement(waited: Waited, place: number): Statement {
  const text = "select pg_advisory_unlock_shared($1::int, 0), pg_advisory_unlock($1::int, $2::int)";
  return { text, values: [waitingKey(waited), place] };
}

/** What a notification's payload names; null: it isn't one of ours. */
export function readNotification(payload: string): { key: number; place: number } | null {
  const [, key, place] = /^(-?\d{1,10})\/(\d{1,2})$/.exec(payload) ?? [];
  return key === undefined ? null : { key: Number(key), place: Number(place) };
}
