import {
  cancelBatch,
  complete,
  createBatch,
  enqueue,
  fail,
  listBatches,
  plainTasks,
  pumpBatch,
  reclaim,
  register,
  resumeBatch,
  start,
  startBatch,
  sweep,
  together,
  work,
} from "../calls";
import type { BatchCall, NewTask } from "../calls";
import {
  allOf,
  expectTasks,
  isAny,
  numberOf,
  oneOf,
  statusOf,
  taskIds,
  unfinished,
} from "../endings";
import { leaseOver } from "../model-case";
import type { Ending, ModelCase } from "../model-case";
import { batchRow, executionRow, latch, shardRow, waveRow } from "../permitted-waits";

const waits = [shardRow, waveRow, batchRow, latch];

/** So many ids are drawn: of equal keys only the first becomes a task. */
export function drawn(count: number): NewTask[] {
  return Array.from({ length: count }, () => ({ dedupeKey: "drawn" }));
}

/** Batch 1 with two waves: tasks 1 and 2 in the first, 3 in the second. Two workers hold one of the first each. */
const lastTwo = [
  register({ limit: 4 }),
  createBatch(1, 2),
  enqueue(plainTasks(2), { wave: 1 }),
  enqueue(plainTasks(1), { wave: 2 }),
  startBatch(1),
  start(1, 1),
  start(2, 1),
  work({ execution: 1, call: 1, want: 1 }),
  work({ execution: 2, call: 1, want: 1 }),
];
const endOfFirst = work({ execution: 1, call: 2, done: [{ task: 1, fence: 1 }] });
const endOfSecond = work({ execution: 2, call: 2, done: [{ task: 2, fence: 2 }] });

/** Batch 1: task 1 in the first wave, claimed; task 2 in the second. */
export const lastOne = [
  register({ limit: 4 }),
  createBatch(1, 2),
  enqueue(plainTasks(1), { wave: 1 }),
  enqueue(plainTasks(1), { wave: 2 }),
  startBatch(1, { seal: false }),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
];

/** Wave 1 of batch 1 is being opened: task 1 is admitted and claimed, 2 and 3 are still blocked; 4 stands in wave 2. */
const half: BatchCall = {
  kind: "batch",
  calls: [],
  sql: `
UPDATE w SET State = 1, OpenShards = w.OpenShards + 1 FROM Taskgate.Wave AS w WHERE w.WaveId = 1;
DELETE FROM Taskgate.Ready WHERE TaskDefinitionId = 1 AND Priority = 100 AND Rank = 0 AND TaskId IN (2, 3);
UPDATE s SET Remaining = 1 FROM Taskgate.WaveShard AS s WHERE s.WaveId = 1 AND s.Shard = 0;
UPDATE w SET Total = 1 FROM Taskgate.Wave AS w WHERE w.WaveId = 1;
INSERT INTO Taskgate.WaveBlocked (WaveId, Priority, Rank, TaskId, TaskDefinitionId) VALUES (1, 100, 0, 2, 1), (1, 100, 0, 3, 1);`,
};
export const halfOpen = [
  register({ limit: 4 }),
  createBatch(1, 2),
  enqueue(plainTasks(3), { wave: 1 }),
  enqueue(plainTasks(1), { wave: 2 }),
  startBatch(1),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
  half,
];

/** The states of all waves. */
export function waveStates(end: Ending, ...wanted: readonly number[]): string | undefined {
  const states = end.rows("Wave").map((row) => Number(row["State"]));
  return states.join() === wanted.join()
    ? undefined
    : `the waves' states are ${states.join()}, expected ${wanted.join()}`;
}

/** Waves: counters, who closes and who opens (S4, lock levels 8 to 10). */
export const waveCases: readonly ModelCase[] = [
  {
    name: "last-x-last-of-a-wave",
    about: "S4.14: the last two tasks of a wave end at once, in one shard: the next opens once",
    setup: lastTwo,
    callers: [[endOfFirst], [endOfSecond]],
    waits,
    ends: (end) => allOf(waveStates(end, 3, 2), expectTasks(taskIds(end, "Ready"), 3)),
  },
  {
    name: "last-x-last-of-two-shards",
    about: "S4.14: the same in two shards: they meet at the wave's row",
    setup: [
      register({ limit: 4 }),
      createBatch(1, 2),
      enqueue(plainTasks(1), { wave: 1 }),
      register({ name: "b" }),
      enqueue(drawn(600), { name: "b" }),
      enqueue(plainTasks(1), { wave: 1 }),
      enqueue(plainTasks(1), { wave: 2 }),
      startBatch(1),
      start(1, 1),
      start(2, 1),
      work({ execution: 1, call: 1, want: 1 }),
      work({ execution: 2, call: 1, want: 1 }),
    ],
    callers: [[endOfFirst], [work({ execution: 2, call: 2, done: [{ task: 602, fence: 2 }] })]],
    waits,
    ends: (end) => allOf(waveStates(end, 3, 2), expectTasks(taskIds(end, "Ready"), 2, 603)),
  },
  {
    name: "ends-of-two-batches",
    about: "two workers end the last tasks of two batches, each one of both: no circle, both open",
    setup: [
      register({ limit: 4 }),
      createBatch(1, 2),
      createBatch(2, 2),
      enqueue(plainTasks(2), { wave: 1 }),
      enqueue(plainTasks(2), { wave: 3 }),
      enqueue(plainTasks(1), { wave: 2 }),
      enqueue(plainTasks(1), { wave: 4 }),
      startBatch(1),
      startBatch(2),
      start(1, 2),
      start(2, 2),
      work({ execution: 1, call: 1, want: 1 }),
      work({ execution: 2, call: 1, want: 2 }),
      work({ execution: 1, call: 2, want: 1 }),
    ],
    callers: [
      [
        work({
          execution: 1,
          call: 3,
          done: [
            { task: 4, fence: 3 },
            { task: 1, fence: 1 },
          ],
        }),
      ],
      [
        work({
          execution: 2,
          call: 2,
          done: [
            { task: 2, fence: 2 },
            { task: 3, fence: 2 },
          ],
        }),
      ],
    ],
    waits,
    ends: (end) => allOf(waveStates(end, 3, 2, 3, 2), expectTasks(taskIds(end, "Ready"), 5, 6)),
  },
  {
    name: "last-x-dead-of-a-wave",
    about: "S4.11: one of the last two tasks is dead: the batch is halted, whoever comes last",
    setup: lastTwo,
    callers: [[fail(1, { task: 1, fence: 1, as: "dead" })], [endOfSecond]],
    waits,
    ends: (end) => allOf(waveStates(end, 3, 0), batchState(end, 2)),
  },
  {
    name: "last-by-hand-x-reclaim",
    about: "S4.12: a task is completed in the user's transaction while its worker is declared dead",
    setup: [...lastOne, leaseOver],
    callers: [[complete(1, { task: 1, fence: 1 })], [reclaim]],
    waits: [...waits, executionRow],
    ends: (end) =>
      statusOf(end.answers[0]?.[0]) === "done" ? waveStates(end, 3, 2) : waveStates(end, 2, 0),
  },
  {
    name: "add-x-last-of-a-wave",
    about: "S4.9: a task is added to the wave that is opened just then: it is in, or it is late",
    setup: lastOne,
    callers: [[endOfFirst], [enqueue(plainTasks(1), { wave: 2 })]],
    waits,
    ends: addedOrLate,
  },
  {
    name: "add-in-transaction-x-last-of-a-wave",
    about: "the same inside a user's transaction: who ends the last task doesn't wait for it",
    setup: lastOne,
    callers: [[endOfFirst], [together(enqueue(plainTasks(1), { wave: 2 }))]],
    waits,
    ends: addedOrLate,
  },
  {
    name: "add-x-add-to-a-wave",
    about: "two enqueues into one wave share its gate",
    setup: lastOne,
    callers: [
      [enqueue(plainTasks(1), { wave: 2 })],
      [together(enqueue(plainTasks(1), { wave: 2 }))],
    ],
    ends: (end) => expectTasks(taskIds(end, "WaveBlocked"), 2, 3, 4),
  },
  {
    name: "add-x-start-of-a-batch",
    about:
      "a task is added to the first wave while the batch is started: in, late, or the start is told busy",
    setup: [register(), createBatch(1, 1), enqueue(plainTasks(1), { wave: 1 })],
    callers: [[startBatch(1)], [enqueue(plainTasks(1), { wave: 1 })]],
    waits,
    ends: (end) => isAny(end.answers[0]?.[0], "started", "busy"),
  },
  {
    name: "start-x-start-of-a-batch",
    about: "of two starts one opens the wave",
    setup: [register(), createBatch(1, 1), enqueue(plainTasks(1), { wave: 1 })],
    callers: [[startBatch(1)], [startBatch(1)]],
    waits,
    ends: (end) => allOf(oneOf(end, "again", "started"), expectTasks(taskIds(end, "Ready"), 1)),
  },
  {
    name: "create-x-create-of-a-batch",
    about: "two calls with one operation id make one batch",
    setup: [],
    callers: [[createBatch(1, 2)], [createBatch(1, 2)]],
    waits,
    ends: (end) => (end.rows("Wave").length === 2 ? undefined : "there are more waves than two"),
  },
  {
    name: "pump-x-pump",
    about: "two go on opening a wave: one of them does it, the other is told busy or finds it done",
    setup: halfOpen,
    callers: [[pumpBatch(1, 1)], [pumpBatch(1, 2)]],
    waits,
    ends: (end) => isAny(end.answers[0]?.[0], "pumped", "busy", "done"),
  },
  {
    name: "pump-x-last-admitted",
    about: "the last task that was admitted ends while the rest is admitted: the wave stays open",
    setup: halfOpen,
    callers: [[pumpBatch(1, 2)], [endOfFirst]],
    waits,
    comesAgain: [0],
    ends: (end) =>
      allOf(
        waveStates(end, 2, 0),
        expectTasks(taskIds(end, "Ready"), 2, 3),
        numberOf(end.answers[0]?.at(-1), "More") === 0 ? undefined : "there is nothing more",
      ),
  },
  {
    name: "cancel-batch-x-last-of-a-wave",
    about: "a batch is cancelled while the last task of its wave ends: nothing more is admitted",
    setup: lastTwo.slice(0, 5).concat([start(1, 2), work({ execution: 1, call: 1, want: 2 })]),
    callers: [
      [
        work({
          execution: 1,
          call: 2,
          done: [
            { task: 1, fence: 1 },
            { task: 2, fence: 1 },
          ],
        }),
      ],
      [cancelBatch(1)],
    ],
    waits,
    readersWait: true,
    victims: [1],
    ends: (end) =>
      allOf(
        batchState(end, 4),
        isAny(end.answers[1]?.[0], "cancelled"),
        waveStatesAny(end, "3,1", "3,2"),
      ),
  },
  {
    name: "cancel-batch-x-pump",
    about: "a batch is cancelled while its wave is being opened",
    setup: halfOpen,
    callers: [[pumpBatch(1, 2)], [cancelBatch(1)]],
    waits,
    readersWait: true,
    victims: [1],
    ends: (end) => batchState(end, 4),
  },
  {
    name: "resume-x-resume-of-a-batch",
    about: "of two who resume a halted batch one opens the next wave",
    setup: [
      ...lastTwo.slice(0, 5),
      start(1, 2),
      work({ execution: 1, call: 1, want: 2 }),
      fail(1, { task: 1, fence: 1, as: "dead" }, { task: 2, fence: 1, as: "dead" }),
    ],
    callers: [[resumeBatch(1)], [resumeBatch(1)]],
    waits,
    ends: (end) => allOf(oneOf(end, "again", "resumed"), expectTasks(taskIds(end, "Ready"), 3)),
  },
  {
    name: "list-batches-x-last-of-a-wave",
    about: "people look while a wave is closed and the next opened",
    setup: lastOne,
    callers: [[endOfFirst], [listBatches]],
    isLong: ["locking"],
    waits,
    readersWait: true,
    victims: [1],
    ends: (end) => waveStates(end, 3, 2),
  },
  {
    name: "sweep-x-last-of-a-wave",
    about: "the sweep looks while a wave is closed and the next opened",
    setup: lastOne,
    callers: [[endOfFirst], [sweep]],
    waits,
    readersWait: true,
    victims: [1],
    ends: (end) => waveStates(end, 3, 2),
  },
];

/** The state of batch 1. */
export function batchState(end: Ending, wanted: number): string | undefined {
  const state = Number(end.rows("Batch")[0]?.["State"]);
  return state === wanted ? undefined : `the batch's state is ${String(state)}`;
}

export function waveStatesAny(end: Ending, ...wanted: readonly string[]): string | undefined {
  const states = end
    .rows("Wave")
    .map((row) => String(row["State"]))
    .join();
  return wanted.includes(states) ? undefined : `the waves' states are ${states}`;
}

/** The task was added before the wave was opened, or not at all; no addition keeps the wave shut for good. */
function addedOrLate(end: Ending): string | undefined {
  const isLate = unfinished(end).length === (end.rows("Archive").length === 1 ? 1 : 2);
  const blocked = taskIds(end, "WaveBlocked");
  const ready = taskIds(end, "Ready");
  const isShut = end.rows("OpenWave").length === 0;
  if (isShut) return expectTasks(blocked, 2, 3);
  return isLate ? expectTasks(ready, 2) : expectTasks(ready, 2, 3);
}
