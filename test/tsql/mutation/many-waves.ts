import {
  cancel,
  cancelBatch,
  createBatch,
  enqueue,
  fail,
  plainTasks,
  pumpBatch,
  redrive,
  register,
  resumeBatch,
  start,
  startBatch,
  work,
} from "../cases/calls";
import type { KillCase } from "../cases/kill";
import { nothingOpen } from "../cases/list/batch-races";
import { drawn, halfOpen, lastOne } from "../cases/list/waves";

/*
 * Calls that meet several waves at once, and batches in each state: also where there is nothing to do, which shows that
 * nothing is locked for it.
 */

/**
 * Tasks 1 and 2 of wave 3; 3, 4, 605 and 606 of wave 1, which is another batch's, in two of its counters; both are open, and one
 * worker has all of them. 607 and 608 are held in the waves behind.
 */
const twoOpen = [
  register({ limit: 6 }),
  createBatch(1, 2),
  createBatch(2, 2),
  enqueue(plainTasks(2), { wave: 3 }),
  enqueue(plainTasks(2), { wave: 1 }),
  register({ name: "b" }),
  enqueue(drawn(600), { name: "b" }),
  enqueue(plainTasks(2), { wave: 1 }),
  enqueue(plainTasks(1), { wave: 2 }),
  enqueue(plainTasks(1), { wave: 4 }),
  startBatch(1),
  startBatch(2),
  start(1, 6),
  work({ execution: 1, call: 1, want: 6 }),
];
const died = [1, 3, 605].map((task) => ({ task, fence: 1, as: "dead" }) as const);
const mixed = [...died.slice(1), { task: 1, fence: 1, as: "cancelled" }] as const;
const halted = [...lastOne, fail(1, { task: 1, fence: 1, as: "dead" })];
const draft = [register(), createBatch(1, 1), enqueue(plainTasks(1), { wave: 1 })];
const over = [createBatch(1, 1), cancelBatch(1)];
const openEnded = [
  ...draft.slice(0, 1),
  createBatch(1, 2),
  enqueue(plainTasks(1), { wave: 1 }),
  startBatch(1),
];
const restCancelled = [
  ...halfOpen,
  work({ execution: 1, call: 2, done: [{ task: 1, fence: 1 }] }),
  cancel(2, 3),
];
const add = enqueue(plainTasks(1), { wave: 1 });

export const manyWaves: readonly KillCase[] = [
  { name: "fail-in-waves", setup: twoOpen, call: fail(1, ...mixed) },
  { name: "redrive-in-waves", setup: [...twoOpen, fail(1, ...died)], call: redrive(1, 3, 605) },
  { name: "redrive-into-a-halted-batch", setup: halted, call: redrive(1) },
  { name: "pump-a-draft", setup: draft, call: pumpBatch(1, 10) },
  { name: "pump-an-open-wave", setup: lastOne, call: pumpBatch(1, 10) },
  { name: "pump-a-slice", setup: halfOpen, call: pumpBatch(1, 1) },
  { name: "pump-to-the-next-wave", setup: restCancelled, call: pumpBatch(1, 1) },
  { name: "pump-a-halted-batch", setup: halted, call: pumpBatch(1, 10) },
  { name: "pump-with-nothing-open", setup: nothingOpen, call: pumpBatch(1, 10) },
  { name: "pump-what-is-over", setup: over, call: pumpBatch(1, 10) },
  { name: "create-batch-again", setup: draft, call: createBatch(1, 1) },
  { name: "start-batch-again", setup: lastOne, call: startBatch(1) },
  { name: "resume-a-draft", setup: draft, call: resumeBatch(1) },
  { name: "cancel-a-draft", setup: draft, call: cancelBatch(1) },
  { name: "cancel-what-is-done", setup: [createBatch(1, 1), startBatch(1)], call: cancelBatch(1) },
  { name: "cancel-batch-again", setup: over, call: cancelBatch(1) },
  { name: "add-to-an-open-wave", setup: openEnded, call: add },
  { name: "add-to-a-sealed-wave", setup: openEnded, call: enqueue(plainTasks(1), { wave: 2 }) },
  { name: "add-to-a-cancelled-batch", setup: over.concat(register()), call: add },
];
