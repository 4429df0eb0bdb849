import { asTaskId } from "../../shared/core/ids";
import { sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { define } from "../support/builders";
import type { Contention } from "../support/contention";
import { add, addSlowly, batch, juggleTokens, keepHouse, look, operate, work } from "./actors";
import type { DrillGround, Turn } from "./actors";
import { drain } from "./drain";
import { Dice } from "../support/dice";

/*
 * All operations at random on few rows of PostgreSQL, on many connections, for a while: no call may die of a deadlock, none
 * may wait for long, and afterwards everything must be sound and come to its end. The stores repeat nothing.
 */

/** How long, and by which lots. */
export interface DrillOptions {
  readonly seed: number;
  readonly ms: number;
}

/** A wait that took long: who waited for what, and for whom. */
export interface LongWait {
  readonly ms: number;
  readonly waiting: string;
  readonly blocking: string;
}

/** The outcome. */
export interface DrillReport {
  readonly turns: number;
  readonly seen: ReadonlyMap<string, number>;
  readonly deadlocks: number;
  readonly longWaits: readonly LongWait[];
  /** Tasks that hadn't ended when all was drained, with the known facts. */
  readonly left: readonly unknown[];
}

const cast: readonly Turn[] = [
  work,
  work,
  work,
  work,
  juggleTokens,
  add,
  add,
  addSlowly,
  operate,
  operate,
  batch,
  keepHouse,
  look,
];

/** Longer waits for locks than this are reported; milliseconds. */
const longWaitMs = 100;
const lookEveryMs = 20;
const leaseMs = 1_000;

/** Runs a drill to its end. Throws what an actor's call threw. */
export async function runDrill(scene: Contention, options: DrillOptions): Promise<DrillReport> {
  const store = scene.openStore(4);
  const settings = { limit: 4, leaseMs, groupSlots: 2, retryAttempts: 3, prefetchMax: 1 };
  const names = [await define(store, settings), await define(store, { ...settings, limit: null })];
  const ground: DrillGround = {
    names,
    ids: [],
    batches: [],
    openWaves: [],
    seen: new Map(),
    advance: (ms) => scene.advance(ms),
  };
  const endMs = performance.now() + options.ms;
  let turns = 0;
  const failures: unknown[] = [];
  const act = async (turn: Turn, index: number): Promise<void> => {
    const own = scene.openStore(1);
    const dice = new Dice(options.seed + index);
    while (performance.now() < endMs && failures.length === 0) {
      try {
        await turn(own, ground, dice);
      } catch (error) {
        failures.push(error);
      }
      turns += 1;
    }
  };
  const longWaits: LongWait[] = [];
  const watching = watchWaits(scene, endMs, longWaits);
  await Promise.all(cast.map(act));
  await watching;
  const [failure] = failures;
  if (failure !== undefined) throw new Error("A call failed", { cause: failure });
  const left = await drain({
    store,
    names,
    batches: ground.batches,
    leaseMs,
    advance: ground.advance,
    findLeft: () => unfinished(scene, store),
  });
  await scene.client.query("select pg_stat_clear_snapshot()");
  const deadlocks = await scene.countDeadlocks();
  return { turns, seen: ground.seen, deadlocks, longWaits, left };
}

/** Reads the waiting sessions, their blockers and their times. */
async function watchWaits(scene: Contention, endMs: number, found: LongWait[]): Promise<void> {
  const client = await scene.connect();
  const seen = new Map<string, LongWait>();
  while (performance.now() < endMs) {
    const { rows } = await client.query<{
      key: string;
      ms: number;
      waiting: string;
      blocking: string | null;
    }>(
      `select l.pid || ' ' || l.waitstart as key, extract(epoch from clock_timestamp() - l.waitstart) * 1000 as ms,
              a.query as waiting,
              (select string_agg(b.state || ': ' || b.query, ' | ') from pg_stat_activity b where b.pid = any (pg_blocking_pids(l.pid))) as blocking
         from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where not l.granted and a.datname = current_database()
          and l.waitstart < clock_timestamp() - $1 * interval '1 ms'`,
      [longWaitMs],
    );
    for (const { key, ms, waiting, blocking } of rows)
      seen.set(key, { ms: Math.round(ms), waiting, blocking: blocking ?? "nobody any more" });
    await sleep(lookEveryMs);
  }
  found.push(...seen.values());
}

async function unfinished(scene: Contention, store: TaskStore): Promise<unknown[]> {
  const { rows } = await scene.client.query<{ id: string }>(
    "select task_id::text as id from taskgate.task order by task_id limit 10",
  );
  const facts: unknown[] = [];
  for (const { id } of rows) facts.push((await store.explainTask({ taskId: asTaskId(id) })).facts);
  const { batches } = await store.listBatches({ max: 100 });
  const open = batches.filter(({ state }) => state !== "done" && state !== "cancelled");
  return facts.length === 0 ? [] : [...facts, ...open.map((batch) => ({ batch }))];
}
