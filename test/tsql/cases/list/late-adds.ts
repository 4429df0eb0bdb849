import {
  cancelBatch,
  createBatch,
  enqueue,
  fail,
  plainTasks,
  register,
  resumeBatch,
  startBatch,
  together,
} from "../calls";
import type { BatchCall } from "../calls";
import { allOf, expectTasks, isAny, statusOf, taskIds } from "../endings";
import type { Ending, ModelCase } from "../model-case";
import { batchRow, latch, shardRow, waveRow } from "../permitted-waits";
import { batchState, lastOne, waveStates } from "./waves";

const waits = [shardRow, waveRow, batchRow, latch];
const add = enqueue(plainTasks(1), { wave: 2 });
const addOnce = enqueue(plainTasks(1), { wave: 1, operation: 7 });
const firstIsDead = fail(1, { task: 1, fence: 1, as: "dead" });

/** Batch 1 isn't started; wave 1 has a task. */
const collecting = [register(), createBatch(1, 2), enqueue(plainTasks(1), { wave: 1 })];
const seal: BatchCall = {
  kind: "batch",
  calls: [],
  sql: "UPDATE w SET IsSealed = 1 FROM Taskgate.Wave AS w WHERE w.WaveId = 1;",
};

/** A repeat is answered what the first call was, whatever has become of the wave. */
function saysTheSame({ answers }: Ending): string | undefined {
  const [first, second] = answers.map((own) => own[0]);
  return allOf(isAny(first, "enqueued", "late", "sealed"), isAny(second, statusOf(first)));
}

/** Tasks are added to a wave while its batch is cancelled, halted or goes on (S4.9, S4.11). */
export const lateAddCases: readonly ModelCase[] = [
  {
    name: "add-x-cancel-of-a-batch",
    about: "a task is added to a wave that isn't open while the batch is cancelled: in or late",
    setup: lastOne,
    callers: [[add], [cancelBatch(1)]],
    waits,
    readersWait: true,
    victims: [1],
    ends: (end) =>
      allOf(
        batchState(end, 4),
        isAny(end.answers[0]?.[0], "enqueued", "late"),
        isAny(end.answers[1]?.[0], "cancelled"),
      ),
  },
  {
    name: "add-in-transaction-x-cancel-of-a-batch",
    about: "the same inside a user's transaction",
    setup: lastOne,
    callers: [[together(add)], [cancelBatch(1)]],
    waits,
    readersWait: true,
    victims: [1],
    ends: (end) => batchState(end, 4),
  },
  {
    name: "add-x-dead-end-of-the-wave-before",
    about: "S4.11: the last task of a wave dies while one is added to the next: the batch halts",
    setup: lastOne,
    callers: [[firstIsDead], [add]],
    waits,
    ends: (end) =>
      allOf(
        waveStates(end, 3, 0),
        batchState(end, 2),
        expectTasks(taskIds(end, "WaveBlocked"), 2, 3),
        isAny(end.answers[1]?.[0], "enqueued"),
      ),
  },
  {
    name: "add-x-resume-of-a-batch",
    about: "a halted batch goes on with a wave while a task is added to it: in, or late",
    setup: [...lastOne, firstIsDead],
    callers: [[add], [resumeBatch(1)]],
    waits,
    ends: (end) =>
      allOf(isAny(end.answers[0]?.[0], "enqueued", "late"), isAny(end.answers[1]?.[0], "resumed")),
  },
  {
    name: "resume-x-cancel-of-a-halted-batch",
    about: "a halted batch goes on while it is cancelled: cancelled it is, and no wave stays open",
    setup: [...lastOne, firstIsDead],
    callers: [[resumeBatch(1)], [cancelBatch(1)]],
    waits,
    readersWait: true,
    victims: [1],
    ends: (end) => allOf(batchState(end, 4), isAny(end.answers[0]?.[0], "resumed", "ended")),
  },
  {
    name: "add-and-start-of-the-batch-x-repeat-of-the-add",
    about: "an addition and its repeat meet, and the wave opens between them: both hear the same",
    setup: collecting,
    callers: [[addOnce, startBatch(1)], [addOnce]],
    waits,
    ends: saysTheSame,
  },
  {
    name: "add-and-seal-x-repeat-of-the-add",
    about: "the same where the wave is sealed by a single statement: few orders show it",
    setup: collecting,
    callers: [[addOnce, seal], [addOnce]],
    waits,
    ends: saysTheSame,
  },
];
