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
} from "../calls";
import type { NewTask } from "../calls";
import { allOf, expectTasks, taskIds } from "../endings";
import type { Ending, ModelCase } from "../model-case";
import {
  batchRow,
  dedupeKey,
  groupRow,
  latch,
  requestedTask,
  shardRow,
  waveRow,
} from "../permitted-waits";

const keyed: NewTask = { dedupeKey: "k" };

/** Task 1 is a dead letter; one worker is left. */
function died(task: NewTask, ...others: readonly NewTask[]) {
  return [
    register({ limit: 4 }),
    enqueue([task, ...others]),
    start(1, 1),
    work({ execution: 1, call: 1, want: 1 }),
    fail(1, { task: 1, fence: 1, as: "dead" as const }),
  ];
}

/** A batch of two waves: of the first, which is open, task 1 has died and another worker has task 2; task 3 is blocked. */
const openWave = [
  register({ limit: 4 }),
  createBatch(1, 2),
  enqueue(plainTasks(2), { wave: 1 }),
  enqueue(plainTasks(1), { wave: 2 }),
  startBatch(1),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
  fail(1, { task: 1, fence: 1, as: "dead" as const }),
  work({ execution: 1, call: 2, want: 1 }),
];

/** A batch of so many waves that has halted behind the first: its tasks 1 and 2 are dead, task 3 of the second is blocked. */
const haltedBatch = (waves: 1 | 2) => [
  register({ limit: 4 }),
  createBatch(1, waves),
  enqueue(plainTasks(2), { wave: 1 }),
  ...(waves === 2 ? [enqueue(plainTasks(1), { wave: 2 })] : []),
  startBatch(1),
  start(1, 2),
  work({ execution: 1, call: 1, want: 2 }),
  fail(1, { task: 1, fence: 1, as: "dead" as const }, { task: 2, fence: 1, as: "dead" as const }),
];

/** Task 1 was cancelled while its wave was blocked; task 2 is there. */
const blockedWave = [
  register({ limit: 4 }),
  createBatch(1, 1),
  enqueue(plainTasks(2), { wave: 1 }),
  cancel(1),
];

/** Waves that are open, and those that their tasks and OpenWave say are. */
function agreeOnOpenWaves(end: Ending): string | undefined {
  const open = end.rows("Wave").filter((row) => row["State"] === 1 || row["State"] === 2);
  const blocked = new Set(taskIds(end, "WaveBlocked"));
  const admitted = end.rows("Task").filter((row) => !blocked.has(Number(row["TaskId"])));
  const waves = new Set(admitted.flatMap((row) => row["WaveId"] ?? []));
  if (open.length > 0 && end.rows("Batch")[0]?.["FinishedAt"] !== null) return "a batch is over";
  const said = [open, end.rows("OpenWave")].map((rows) => rows.map((row) => row["WaveId"]).join());
  return said.every((ids) => ids === [...waves].join())
    ? undefined
    : `open by their rows: ${said.join(" and ")}; by their tasks: ${[...waves].join()}`;
}

function outcomes(end: Ending, by: number): string {
  const list = String(end.answers[by]?.[0]?.rows[0]?.["Results"] ?? "[]");
  return (JSON.parse(list) as { outcome: string }[]).map((one) => one.outcome).join();
}

/** One of two calls has each task. */
function once(end: Ending, task: number): string | undefined {
  const both = [outcomes(end, 0), outcomes(end, 1)];
  const count = both.filter((said) => said.includes("redriven")).length;
  return allOf(
    count === 1 ? undefined : `the redrives say ${both.join(" and ")}`,
    expectTasks(taskIds(end, "Ready"), task),
  );
}

/** Tasks come back from the archive. */
export const redriveCases: readonly ModelCase[] = [
  {
    name: "redrive-x-end-of-its-wave",
    about:
      "a dead letter comes back while the last task of its wave ends: it keeps the wave open, or comes back on its own",
    setup: openWave,
    readersWait: true,
    waits: [shardRow, waveRow],
    callers: [[redrive(1)], [work({ execution: 1, call: 3, done: [{ task: 2, fence: 2 }] })]],
    ends: (end) => {
      const [wave] = end.rows("Wave");
      const [task] = end.rows("Task").filter((row) => row["TaskId"] === 1);
      const isOpen = wave?.["State"] === 2 && wave["DeadCount"] === 0 && task?.["WaveId"] === 1;
      const isOver = wave?.["State"] === 3 && wave["DeadCount"] === 1 && task?.["WaveId"] === null;
      return allOf(
        isOpen || isOver ? undefined : "the wave and the task disagree",
        expectTasks(taskIds(end, "WaveBlocked"), 3),
        expectTasks(taskIds(end, "Ready"), 1),
      );
    },
  },
  {
    name: "redrive-x-start-of-its-batch",
    about:
      "a task that was cancelled while it was blocked comes back while its wave is opened: blocked for the next slice, or counted",
    setup: blockedWave,
    readersWait: true,
    waits: [shardRow, waveRow],
    callers: [[redrive(1)], [startBatch(1)]],
    ends: (end) => {
      const [wave] = end.rows("Wave");
      const blocked = taskIds(end, "WaveBlocked").length;
      return allOf(
        blocked + Number(wave?.["Total"]) === 2 ? undefined : "a task is counted nowhere",
        end.rows("Task").every((row) => row["WaveId"] === 1) ? undefined : "a task left its wave",
      );
    },
  },
  {
    name: "redrive-x-cancel-of-its-batch",
    about:
      "a task that was cancelled while it was blocked comes back while its batch is cancelled: no wave ends without it",
    setup: blockedWave,
    readersWait: true,
    waits: [shardRow, waveRow],
    callers: [[redrive(1)], [cancelBatch(1), pumpBatch(1, 10)]],
    ends: (end) => {
      const [wave] = end.rows("Wave");
      const inWave = end.rows("Task").filter((row) => row["WaveId"] === 1).length;
      return wave?.["State"] === 3 && inWave > 0 ? "a wave that has ended has tasks" : undefined;
    },
  },
  {
    name: "redrive-x-resume-of-its-halted-batch",
    about:
      "a dead letter of the wave behind which its batch halted comes back while the batch is resumed: the batch waits for it, or goes on without it",
    setup: haltedBatch(2),
    readersWait: true,
    waits: [shardRow, waveRow, batchRow],
    callers: [[redrive(1)], [resumeBatch(1)]],
    ends: (end) => {
      const inWave = end.rows("Task").find((row) => row["TaskId"] === 1)?.["WaveId"] === 1;
      return allOf(
        agreeOnOpenWaves(end),
        end.rows("Batch")[0]?.["State"] === 1 ? undefined : "the batch isn't resumed",
        expectTasks(taskIds(end, "WaveBlocked"), ...(inWave ? [3] : [])),
        expectTasks(taskIds(end, "Ready"), ...(inWave ? [1] : [1, 3])),
      );
    },
  },
  {
    name: "redrive-x-cancel-of-its-halted-batch",
    about:
      "a dead letter of the wave behind which its batch halted comes back while the batch is cancelled: no wave ends without it",
    setup: haltedBatch(2),
    readersWait: true,
    waits: [shardRow, waveRow, batchRow],
    callers: [[redrive(1)], [cancelBatch(1), pumpBatch(1, 10)]],
    ends: (end) => allOf(agreeOnOpenWaves(end), expectTasks(taskIds(end, "Ready"), 1)),
  },
  {
    name: "redrive-x-end-of-its-halted-batch",
    about:
      "a dead letter of the last wave comes back while the halted batch is resumed, or cancelled: it isn't over with an open wave",
    setup: haltedBatch(1),
    readersWait: true,
    waits: [shardRow, waveRow, batchRow],
    callers: [[redrive(1)], [resumeBatch(1)], [cancelBatch(1)]],
    ends: (end) => allOf(agreeOnOpenWaves(end), expectTasks(taskIds(end, "Ready"), 1)),
  },
  {
    name: "redrive-into-two-halted-batches-x-resume-of-one",
    about:
      "dead letters of two halted batches come back in one call while the second batch is resumed: each as its own batch has it",
    setup: [
      ...haltedBatch(1),
      createBatch(2, 1),
      enqueue(plainTasks(1), { wave: 2 }),
      startBatch(2),
      work({ execution: 1, call: 2, want: 1 }),
      fail(1, { task: 3, fence: 2, as: "dead" as const }),
    ],
    readersWait: true,
    waits: [shardRow, waveRow, batchRow],
    callers: [[redrive(1, 3)], [resumeBatch(2)]],
    ends: (end) => {
      const over = end.rows("Batch").find((row) => row["FinishedAt"] !== null);
      const open = end.rows("OpenWave").map((row) => row["BatchId"]);
      return allOf(
        expectTasks(taskIds(end, "Ready"), 1, 3),
        open.includes(over?.["BatchId"] ?? null) ? "a batch is over" : undefined,
        open.includes(1) ? undefined : "the first batch's wave isn't open",
      );
    },
  },
  {
    name: "redrive-x-redrive-into-a-halted-batch",
    about:
      "two dead letters of the wave behind which their batch halted come back at once: both count in it",
    setup: haltedBatch(2),
    readersWait: true,
    waits: [shardRow, waveRow],
    callers: [[redrive(1)], [redrive(2)]],
    ends: (end) => {
      const [wave] = end.rows("Wave");
      return allOf(
        agreeOnOpenWaves(end),
        wave?.["State"] === 2 && wave["DeadCount"] === 0 ? undefined : "the wave isn't whole",
        end.rows("Task").every((row) => row["WaveId"] !== null) ? undefined : "a task is alone",
      );
    },
  },
  {
    name: "redrive-x-redrive",
    about: "two redrives of one dead letter: it comes back once",
    setup: died(keyed),
    readersWait: true,
    waits: [latch, dedupeKey],
    callers: [[redrive(1)], [redrive(1)]],
    ends: (end) => once(end, 1),
  },
  {
    name: "redrive-x-enqueue-of-its-key",
    about: "the dead letter's key is enqueued: one of them has it",
    setup: died(keyed),
    readersWait: true,
    waits: [latch, dedupeKey],
    callers: [[redrive(1)], [enqueue([keyed])]],
    ends: (end) => {
      const ready = taskIds(end, "Ready");
      return ready.length === 1
        ? expectTasks(taskIds(end, "Dedupe"), ...ready)
        : `tasks ${ready.join()} are ready`;
    },
  },
  {
    name: "redrive-x-enqueue-into-its-group",
    about: "a dead letter comes back into a group of one slot while a task is added",
    setup: died({ group: "g" }),
    readersWait: true,
    waits: [groupRow],
    callers: [[redrive(1)], [enqueue([{ group: "g" }])]],
    ends: (end) =>
      taskIds(end, "Ready").length === 1 && taskIds(end, "GroupWaiting").length === 1
        ? undefined
        : "the slot isn't held by one of them",
  },
  {
    name: "redrive-x-hand-over",
    about: "a dead letter comes back into its group while the running task ends",
    setup: [...died({ group: "g" }, { group: "g" }), work({ execution: 1, call: 2, want: 1 })],
    readersWait: true,
    waits: [groupRow],
    callers: [[redrive(1)], [work({ execution: 1, call: 3, done: [{ task: 2, fence: 2 }] })]],
    ends: (end) => expectTasks(taskIds(end, "Ready"), 1),
  },
  {
    name: "redrive-x-cancel",
    about: "a task is redriven while it is cancelled: it is ended, or comes back",
    setup: died({ group: "g", dedupeKey: "k" }),
    readersWait: true,
    waits: [groupRow, latch, dedupeKey, requestedTask],
    callers: [[redrive(1)], [cancel(1)]],
    ends: (end) => {
      const said = outcomes(end, 1);
      if (said === "cancelled") return expectTasks(taskIds(end, "Archive"), 1);
      return expectTasks(taskIds(end, "Ready"), 1);
    },
  },
];
