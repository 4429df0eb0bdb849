import {
  cancel,
  cancelBatch,
  createBatch,
  enqueue,
  plainTasks,
  pumpBatch,
  register,
  startBatch,
} from "../calls";
import type { BatchCall } from "../calls";
import { allOf, expectTasks, oneOf, taskIds } from "../endings";
import type { ModelCase } from "../model-case";
import { batchRow, latch, shardRow, waveRow } from "../permitted-waits";
import { batchState, lastOne, waveStates, waveStatesAny } from "./waves";

const waits = [shardRow, waveRow, batchRow, latch];

/** Batch 1 runs and no wave of it is open: the call that was to open it met one that was adding tasks. */
const passedOver: BatchCall = {
  kind: "batch",
  calls: [],
  sql: "UPDATE b SET State = 1, StartedAt = b.CreatedAt FROM Taskgate.Batch AS b WHERE b.BatchId = 1;",
};
const cancelledEmpty: BatchCall = { ...passedOver, sql: passedOver.sql.replace("= 1,", "= 4,") };
export const nothingOpen = [
  register(),
  createBatch(1, 2),
  enqueue(plainTasks(1), { wave: 2 }),
  passedOver,
];

/** Two calls that want the same of a batch, where nothing of it is open or a third takes a task out (S4). */
export const batchRaceCases: readonly ModelCase[] = [
  {
    name: "cancel-x-cancel-of-a-batch",
    about: "of two who cancel a batch one is told that it was before",
    setup: lastOne,
    callers: [[cancelBatch(1)], [cancelBatch(1)]],
    waits,
    readersWait: true,
    victims: [0, 1],
    ends: (end) => allOf(batchState(end, 4), oneOf(end, "again", "cancelled")),
  },
  {
    name: "pump-x-pump-of-a-batch-with-nothing-open",
    about: "of two who find nothing open one opens the next wave that has tasks",
    setup: nothingOpen,
    callers: [[pumpBatch(1, 10)], [pumpBatch(1, 10)]],
    waits,
    readersWait: true,
    ends: (end) =>
      allOf(
        waveStates(end, 3, 2),
        oneOf(end, "done", "pumped"),
        expectTasks(taskIds(end, "Ready"), 1),
      ),
  },
  {
    name: "pump-x-pump-of-a-batch-without-tasks",
    about: "of two who find nothing open, and nothing to open, one ends the batch",
    setup: [createBatch(1, 1), passedOver],
    callers: [[pumpBatch(1, 10)], [pumpBatch(1, 10)]],
    waits,
    readersWait: true,
    ends: (end) => allOf(batchState(end, 3), waveStates(end, 3), oneOf(end, "done", "pumped")),
  },
  {
    name: "pump-x-pump-of-a-cancelled-batch-without-tasks",
    about: "the same of one that is cancelled, which stays what it is: it finishes once",
    setup: [createBatch(1, 1), cancelledEmpty],
    callers: [[pumpBatch(1, 10)], [pumpBatch(1, 10)]],
    waits,
    readersWait: true,
    ends: (end) => allOf(batchState(end, 4), waveStates(end, 3), oneOf(end, "done", "pumped")),
  },
  {
    name: "cancel-of-a-held-task-x-start-of-its-batch",
    about:
      "the only task of a wave is cancelled while the wave is opened: the next one opens, a pump has still to look, or the task came first and is asked to stop",
    setup: [
      register(),
      createBatch(1, 2),
      enqueue(plainTasks(1), { wave: 1 }),
      enqueue(plainTasks(1), { wave: 2 }),
    ],
    callers: [[cancel(1)], [startBatch(1)]],
    waits,
    readersWait: true,
    victims: [0],
    ends: (end) => waveStatesAny(end, "3,2", "1,0", "2,0"),
  },
];
