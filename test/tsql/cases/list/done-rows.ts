import {
  checkInvariants,
  createBatch,
  enqueue,
  explain,
  listTasks,
  pumpBatch,
  purge,
  readLog,
  readPace,
  register,
  rollUp,
  searchPayloads,
  start,
  startBatch,
  work,
} from "../calls";
import type { Call } from "../calls";
import { later } from "../model-case";
import type { Ending, ModelCase, SetupStep } from "../model-case";
import { doneLongAgo } from "./purges";

/** Task 1 of a wave is the next one to be claimed by execution 1. Its wave opened three days after it was enqueued. */
const nextOfAWave: readonly SetupStep[] = [
  register(),
  createBatch(1, 1),
  enqueue([{}], { wave: 1 }),
  later(3 * 86_400_000),
  startBatch(1, { seal: true }),
  pumpBatch(1, 10),
  start(1, 1),
];

const claimAndComplete: readonly Call[] = [
  work({ execution: 1, call: 1, want: 1 }),
  work({ execution: 1, call: 2, want: 0, done: [{ task: 1, fence: 1 }] }),
];

/** A call that looks at ready tasks, and what must be true of its answer. */
function whileDone(name: string, look: Call, ends: (end: Ending) => boolean): ModelCase {
  return {
    name: `${name}-x-claim-and-complete`,
    about:
      "the next task of a wave is done between two reads: the row that stays isn't taken for a ready one",
    setup: nextOfAWave,
    callers: [[look], claimAndComplete],
    readersWait: true,
    ends: (end) =>
      ends(end) ? undefined : "an age counts from the enqueue, and not from the wave",
  };
}

/** A look at a done task that a purge takes. */
function whilePurged(name: string, look: Call, waits: Pick<ModelCase, "victims"> = {}): ModelCase {
  return {
    name: `purge-x-${name}-of-a-done-task`,
    about:
      "a done task is looked at while its two rows go: both calls go through them in one order",
    setup: doneLongAgo,
    callers: [[purge(10)], [look]],
    readersWait: true,
    ...waits,
    ends: (end) => (end.rows("Task").length === 0 ? undefined : "the task's row is left"),
  };
}

/** A done task's row stays in Task as its payload's home. */
export const doneRowCases: readonly ModelCase[] = [
  whileDone("roll-up", rollUp(10), (end) =>
    end.rows("Statistic").every((row) => Number(row["NextAgeMs"]) === 0),
  ),
  whileDone("read-pace", readPace, ({ answers }) => {
    const told = answers[0]?.[0]?.rows[0];
    return told?.["OldestDueAt"] === null || told?.["OldestDueAt"] !== told?.["OldestCreatedAt"];
  }),
  whileDone("list-ready", listTasks("ready"), ({ answers }) => {
    const tasks = JSON.parse(String(answers[0]?.[0]?.rows[0]?.["Tasks"])) as readonly {
      createdAt: string;
      dueAt: string;
    }[];
    return tasks.every(({ createdAt, dueAt }) => createdAt !== dueAt);
  }),
  whilePurged("explain", explain(1)),
  whilePurged("search", searchPayloads("done")),
  whilePurged("log", readLog),
  // Without row versions: it goes from all tasks to the archive.
  whilePurged("check", checkInvariants, { victims: [0, 1] }),
];
