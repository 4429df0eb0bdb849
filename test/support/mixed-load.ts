import type { ClaimedTask, TaskStore } from "../../shared/ports/task-store";
import { seededRandom } from "../../shared/testing/seeded-random";
import { at, done, enqueue, setLimit, startInput, Worker } from "./builders";

/** `count` times `body`, all at once. */
export function atOnce<Result>(
  count: number,
  body: (index: number) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => body(index)));
}

/** A load of everything at once, for tests of deadlocks. */
export interface Mix {
  stores: TaskStore[];
  name: string;
  seed: number;
  /** Executions that are open just now. */
  open: Set<Worker>;
  cycles: number;
  /** Moves the database's time. */
  advance: (ms: number) => Promise<void>;
}

/** A `work` call that must not have waited too long for a lock. */
async function workSoon(
  worker: Worker,
  call: Parameters<Worker["work"]>[0],
): Promise<ClaimedTask[]> {
  const { status, claimed } = await worker.work(call);
  if (status === "busy") throw new Error("a lock was waited for too long");
  return claimed;
}

/** One connection's cycles: start, claim, end some tasks, disturb the others, now and then die, finish. */
export async function runCycles(mix: Mix, index: number): Promise<void> {
  const random = seededRandom(mix.seed + index);
  const store = at(mix.stores, index % mix.stores.length);
  for (let cycle = 0; cycle < mix.cycles;) {
    const answer = await store.startExecution(
      startInput(mix.name, { want: 1 + Math.floor(random() * 3) }),
    );
    if (random() < 0.4) await disturb(mix, store, random);
    if (answer.executionId === null) continue;
    cycle += 1;
    const worker = new Worker(store, answer.executionId, answer);
    mix.open.add(worker);
    const tasks = await workSoon(worker, { want: 1 + Math.floor(random() * 4) });
    const half = tasks.slice(0, Math.ceil(tasks.length / 2));
    await workSoon(worker, { done: half.map((task) => done(task)), want: 2 });
    const failed = tasks.filter((task) => !half.includes(task) && random() < 0.7);
    if (failed.length > 0) await worker.fail(failed, { retryInMs: 0 });
    mix.open.delete(worker);
    if (random() < 0.03) continue;
    await worker.finish();
  }
}

/** Something that goes on beside the cycles. */
async function disturb(mix: Mix, store: TaskStore, random: () => number): Promise<void> {
  const pick = (below: number): number => Math.floor(random() * below);
  const disturbances = [
    () => setLimit(store, mix.name, at([6, 3, 9, null, 5], pick(5))),
    () => {
      const executions = [...mix.open].map(({ executionId }) => ({ executionId, started: [] }));
      return executions.length === 0 ? Promise.resolve() : store.heartbeat({ executions });
    },
    () => store.reclaimExpired({ max: 10 }),
    () => {
      const tasks = Array.from({ length: 12 }, (_, entry) => ({
        group: `g${String(pick(5))}`,
        ...(entry % 2 === 0 ? { dedupeKey: `k${String(pick(12))}` } : {}),
      }));
      return enqueue(store, mix.name, tasks);
    },
    () => store.promoteScheduled({ name: mix.name, max: 20 }),
    () => mix.advance(500),
  ];
  await at(disturbances, pick(disturbances.length))();
}
