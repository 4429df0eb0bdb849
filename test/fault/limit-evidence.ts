import type { Client } from "pg";

/** One task that ran, in milliseconds of database time. */
export interface Interval {
  readonly process: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** When the execution that ran a task had its tokens; when the process let a call begin. */
  readonly grantedMs: number;
}

/** A limit and the database time before and after the call that set it. */
export interface LimitChange {
  readonly limit: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** A moment at which more ran than the limit allows. */
export interface Violation {
  readonly atMs: number;
  readonly running: number;
  readonly allowed: number;
  /** Those that ran, for people: how long they had run and how long ago their execution had started. */
  readonly who: readonly string[];
}

/** When a process was killed or frozen: it runs nothing after that, until it is thawed. */
export interface Halt {
  readonly process: string;
  readonly atMs: number;
  /** An instant just before it was thawed; infinity: it never was. */
  readonly untilMs: number;
}

/** Database time, in milliseconds. */
export async function databaseMs(client: Client): Promise<number> {
  const result = await client.query<{ ms: string }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::text as ms",
  );
  return Number(result.rows[0]?.ms);
}

/** An entry of the overlap log; its instants are in milliseconds of database time, as the driver gives them. */
export interface Entry {
  readonly process: string;
  readonly from_ms: string;
  readonly until_ms: string | null;
  /** When the process let the call begin, of a call; null of a task, whose entry is refused once its lease is lost. */
  readonly admitted_ms: number | null;
  readonly granted_ms: string | number | null;
}

/** Reads the overlap log. */
export async function readIntervals(client: Client, halts: readonly Halt[]): Promise<Interval[]> {
  const result = await client.query<Entry>(`
    select o.process, o.admitted_ms, extract(epoch from o.begun_at) * 1000 as from_ms, extract(epoch from o.ended_at) * 1000 as until_ms,
           coalesce(o.admitted_ms, extract(epoch from (select e.started_at from taskgate.task_execution e where e.task_execution_id = coalesce(
             (select a.task_execution_id from taskgate.archived a where a.fence::text = o.fence limit 1),
             (select t.task_execution_id from taskgate.attempt t where t.fence::text = o.fence limit 1)))) * 1000) as granted_ms
      from overlap o order by o.begun_at`);
  return result.rows.map((entry) => readInterval(entry, halts));
}

/**
 * What a halted process left open ended when it was halted. An entry whose instant lies in the halt was sent before it, and the
 * database took its time. A call that the process had let begin before it was halted may write its entry when it is thawed.
 */
export function readInterval(entry: Entry, halts: readonly Halt[]): Interval {
  const fromMs = Number(entry.from_ms);
  const begunMs = entry.admitted_ms ?? fromMs;
  const halt = halts.find(
    (candidate) => candidate.process === entry.process && candidate.untilMs >= begunMs,
  );
  const endedMs = entry.until_ms === null ? Number.POSITIVE_INFINITY : Number(entry.until_ms);
  return {
    process: entry.process,
    fromMs,
    untilMs: halt === undefined ? endedMs : Math.min(endedMs, halt.atMs),
    grantedMs: entry.granted_ms === null ? fromMs : Math.min(Number(entry.granted_ms), fromMs),
  };
}

/**
 * The changes as calls under a limit hear of them: a process that holds tokens asks every 250 ms, and a lowered limit acts on
 * the calls that it lets begin after the answer. The limit before counts as in force until the last process was answered.
 */
export async function heardChanges(
  client: Client,
  changes: readonly LimitChange[],
): Promise<LimitChange[]> {
  return Promise.all(
    changes.map(async (change) => {
      const result = await client.query<{ ms: number | null }>(
        `select max(first) as ms from (select min(answered_ms) as first from heard where sent_ms > $1 group by process) answers`,
        [change.afterMs],
      );
      // Date.now() drops the part below a millisecond.
      const heardMs = (result.rows[0]?.ms ?? 0) + 1;
      return { ...change, afterMs: Math.max(change.afterMs, heardMs) };
    }),
  );
}

/**
 * Limit: at any instant at most as many run as the greatest limit in force since the oldest of them was granted its token.
 * A limit counts as in force from before the call that set it until after the call that replaced it.
 */
export function findViolations(
  intervals: readonly Interval[],
  changes: readonly LimitChange[],
): Violation[] {
  const violations: Violation[] = [];
  for (const { fromMs: atMs } of intervals) {
    const running = intervals.filter((other) => other.fromMs <= atMs && other.untilMs > atMs);
    // What a process sent before its halt is over when the database writes it: at that instant maybe nothing runs.
    if (running.length === 0) continue;
    const oldestMs = Math.min(...running.map((other) => other.grantedMs));
    const allowed = Math.max(
      ...changes
        .filter(
          (change, index) =>
            change.beforeMs <= atMs &&
            (changes[index + 1]?.afterMs ?? Number.POSITIVE_INFINITY) >= oldestMs,
        )
        .map((change) => change.limit),
    );
    if (running.length <= allowed) continue;
    const who = running.map(
      ({ process, fromMs, grantedMs }) =>
        `${process}: ${(atMs - fromMs).toFixed(1)} ms, ${(atMs - grantedMs).toFixed(1)} ms`,
    );
    violations.push({ atMs, running: running.length, allowed, who });
  }
  return violations;
}

/** Most that ran at once from `sinceMs` on, counting those that began later. */
export function mostRunning(intervals: readonly Interval[], sinceMs: number): number {
  return Math.max(
    0,
    ...intervals
      .filter((entry) => entry.fromMs >= sinceMs)
      .map(
        (entry) =>
          intervals.filter((other) => other.fromMs <= entry.fromMs && other.untilMs > entry.fromMs)
            .length,
      ),
  );
}
