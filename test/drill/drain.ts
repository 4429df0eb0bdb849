import type { BatchId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import { startInput, Worker } from "../support/builders";

/** The rows that must come to their end. */
export interface Drained {
  readonly store: TaskStore;
  readonly names: readonly string[];
  readonly batches: readonly BatchId[];
  /** The longest of any definition. */
  readonly leaseMs: number;
  /** Moves the database's clock. */
  readonly advance: (ms: number) => Promise<void>;
  /** Tasks that haven't ended, with the known facts. */
  readonly findLeft: () => Promise<readonly unknown[]>;
}

/** Lets everything come to its end: nothing paused, no execution alive, workers that only complete. Answers what doesn't. */
export async function drain(drained: Drained): Promise<readonly unknown[]> {
  const { store, names, batches, leaseMs, advance, findLeft } = drained;
  await unpause(drained);
  for (const batchId of batches) {
    // Some were busy when they were to be started.
    await store.startBatch({ batchId, seal: true });
    await store.resumeBatch({ batchId });
  }
  await advance(10 * leaseMs);
  for (let fruitless = 0; ;) {
    await store.reclaimExpired({ max: 100 });
    const { opening } = await store.sweep({ max: 100 });
    for (const batchId of opening) await store.pumpBatch({ batchId, max: 500 });
    let ended = 0;
    for (const name of names) ended += await drainWhole(store, name);
    if (ended > 0 || opening.length > 0) continue;
    const left = await findLeft();
    if (left.length === 0 || fruitless > 10) return left;
    fruitless += 1;
    // Halted ones, those that retry, those that died a moment ago.
    for (const batchId of batches) await store.resumeBatch({ batchId });
    await advance(10 * leaseMs);
  }
}

async function unpause({ store, names }: Drained): Promise<void> {
  const by = { changedBy: "the drill's end" };
  for (const name of names) await store.resumeDefinition({ ...by, name });
  const { groups } = await store.listGroups({ max: 1_000 });
  for (const { definition, key } of groups.filter((group) => group.paused)) {
    const groupScope = definition === null ? "global" : "definition";
    const name = definition ?? names[0] ?? "";
    await store.setGroup({ ...by, name, groupKey: key, groupScope, paused: false });
  }
}

/** As far as it goes before other definitions are needed, or the sweep: ten minutes of calls leave hundreds of thousands of tasks. */
async function drainWhole(store: TaskStore, name: string): Promise<number> {
  let ended = 0;
  for (let last = 1; last > 0;) {
    last = await drainOne(store, name);
    ended += last;
  }
  return ended;
}

async function drainOne(store: TaskStore, name: string): Promise<number> {
  await store.promoteScheduled({ name, max: 1_000 });
  const answer = await store.startExecution(startInput(name, { want: 4 }));
  if (answer.executionId === null) return 0;
  const worker = new Worker(store, answer.executionId, answer);
  const claimed = await worker.claim(100);
  await worker.complete(claimed);
  await worker.finish();
  return claimed.length;
}
