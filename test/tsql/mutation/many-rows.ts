import {
  createBatch,
  enqueue,
  fail,
  plainTasks,
  redrive,
  register,
  cancel,
  resumeBatch,
  start,
  startBatch,
  together,
  work,
} from "../cases/calls";
import type { KillCase } from "../cases/kill";

/*
 * Rows of one table that belong to several batches, waves, limits or containers, for the order in which a call asks for them and for those
 * that it steps over.
 */

/** Task 1 stands in the second wave of batch 1, whose first had none; 2 in the first wave of batch 2. One worker has both. */
const inTwoBatches = [
  register(),
  createBatch(1, 2),
  createBatch(2, 1),
  enqueue(plainTasks(1), { wave: 2 }),
  enqueue(plainTasks(1), { wave: 3 }),
  startBatch(1),
  startBatch(2),
  start(1, 2),
  work({ execution: 1, call: 1, want: 2 }),
];

/** Tasks 1 and 2 of the two waves of a batch are dead letters. */
const deadInTwoWaves = [
  register(),
  createBatch(1, 2),
  enqueue(plainTasks(1), { wave: 1 }),
  enqueue(plainTasks(1), { wave: 2 }),
  startBatch(1),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
  fail(1, { task: 1, fence: 1, as: "dead" }),
  resumeBatch(1),
  work({ execution: 1, call: 2, want: 1 }),
  fail(1, { task: 2, fence: 2, as: "dead" }),
];

/** Cancelled tasks that come back: 2 into a full group, 3 to have its group made, 5 into a wave that isn't open. */
const forEachContainer = [
  register(),
  createBatch(1, 2),
  enqueue([{ group: "g" }, { group: "g" }]),
  together(enqueue([{ group: "new" }], { joinsTransaction: true })),
  enqueue(plainTasks(1), { wave: 1 }),
  enqueue(plainTasks(1), { wave: 2 }),
  startBatch(1),
  cancel(2, 3, 5),
];

/** One process holds the two tokens of a definition, which are those of its shared limit, too. */
const full = [register({ limit: 2, shared: [{ name: "s", limit: 2 }] }), start(1, 2)];

export const manyRows: readonly KillCase[] = [
  {
    name: "fail-in-two-batches",
    setup: inTwoBatches,
    call: fail(1, ...[1, 2].map((task) => ({ task, fence: 1, as: "dead" }) as const)),
  },
  { name: "redrive-in-two-waves", setup: deadInTwoWaves, call: redrive(2, 1) },
  { name: "redrive-into-each-container", setup: forEachContainer, call: redrive(2, 3, 5) },
  { name: "denied-at-both-limits", setup: full, call: start(2, 1) },
  { name: "denied-again-at-both-limits", setup: [...full, start(2, 1)], call: start(3, 1) },
];
