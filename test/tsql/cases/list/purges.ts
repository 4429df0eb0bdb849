import {
  acquire,
  cancel,
  complete,
  enqueue,
  fail,
  finish,
  listTasks,
  purge,
  reclaim,
  redrive,
  register,
  setLimit,
  start,
  sweep,
  work,
} from "../calls";
import type { Call } from "../calls";
import {
  allOf,
  expectTasks,
  heldTokens,
  isAny,
  numberOf,
  saidOnce,
  statusOf,
  taskIds,
} from "../endings";
import { later, leaseOver } from "../model-case";
import type { Ending, ModelCase, SetupStep } from "../model-case";
import { dedupeKey, executionRow, latch } from "../permitted-waits";

/** Longer ago than anything is kept. */
const monthOver = later(31 * 86_400_000);

/** Rows whose retention is over. */
export function inAMonth(...steps: readonly SetupStep[]): SetupStep[] {
  return [...steps, monthOver];
}

const first = { task: 1, fence: 1 };

/** Task 1 is a dead letter of execution 1, which goes on. */
const died = [
  register(),
  enqueue([{}]),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
  fail(1, { ...first, as: "dead" }),
] as const;

/** Task 1 was done long ago by execution 1, which goes on: its row is its payload's home. */
export const doneLongAgo = inAMonth(
  register(),
  enqueue([{}]),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
  complete(1, first),
);

/** Task 1 is a dead letter of execution 1, which has ended; answer 9 and key k are old as well. */
const old = inAMonth(
  register(),
  enqueue([{ dedupeKey: "k", dedupeMs: 1_000 }], { operation: 9 }),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
  fail(1, { ...first, as: "dead" }),
  finish(1),
);

/** Old rows beside an execution that runs task 2 under fence 2. */
const oldAndNew: readonly SetupStep[] = [
  ...old,
  enqueue([{}]),
  start(2, 1),
  work({ execution: 2, call: 1, want: 1 }),
];
const second = { task: 2, fence: 2 };

/** A table has as many rows. */
function rowCount(end: Ending, table: string, count: number): string | undefined {
  const found = end.rows(table).length;
  return found === count ? undefined : `${String(found)} rows of ${table}`;
}

/** Rows that all purges say to have deleted. */
function rowsPurged(end: Ending): number {
  return end.answers.flat().reduce((sum, answer) => sum + numberOf(answer, "Purged"), 0);
}

/** No old row is left, and each was counted by one call. */
function allPurged(end: Ending, rows: number): string | undefined {
  const counted = rowsPurged(end);
  return allOf(
    ...["Archive", "Attempt", "Operation", "Dedupe"].map((table) => rowCount(end, table, 0)),
    counted === rows ? undefined : `${String(counted)} rows were counted`,
  );
}

/** The row of a done task is there for as long as the archive's. */
function isWholeOrGone(end: Ending): string | undefined {
  return expectTasks(taskIds(end, "Task"), ...taskIds(end, "Archive"));
}

/** A call beside a purge of old rows, which neither of them has anything to do with. */
function beside(name: string, about: string, other: Call): ModelCase {
  return {
    name: `purge-x-${name}`,
    about,
    setup: oldAndNew,
    readersWait: true,
    callers: [[purge(10)], [other]],
    comesAgain: [0],
    ends: (end) =>
      rowsPurged(end) === 4 ? undefined : `${String(rowsPurged(end))} rows were purged`,
  };
}

/** Deleted rows are met by calls that still want them: none waits for long, and none sees half of them. */
export const purgeCases: readonly ModelCase[] = [
  {
    name: "purge-x-purge",
    about: "two purges of the same rows: each row goes once",
    setup: old,
    readersWait: true,
    callers: [[purge(10)], [purge(10)]],
    comesAgain: [0],
    ends: (end) => allPurged(end, 4),
    isLong: true,
  },
  ...(
    [
      ["tasks", inAMonth(...died)],
      ["done tasks", doneLongAgo],
      ["executions", inAMonth(register(), start(1, 1), finish(1))],
      ["answers", inAMonth(register(), setLimit(2, 9))],
      ["keys", inAMonth(register(), enqueue([{ dedupeKey: "k", dedupeMs: 1_000 }]))],
    ] as const
  ).map(([kind, setup]): ModelCase => ({
    name: `purge-x-purge-of-${kind}`,
    about: `two purges of the same ${kind}: each goes once, and nobody waits`,
    setup,
    readersWait: true,
    callers: [[purge(10)], [purge(10)]],
    comesAgain: [0],
    ends: (end) => allOf(allPurged(end, 1), kind === "done tasks" ? isWholeOrGone(end) : undefined),
  })),
  {
    name: "purge-of-the-audit-x-purge",
    about: "two purges of the same entries: each goes once, the last of each setting stays",
    setup: [register(), setLimit(2, 1), setLimit(3, 2), later(401 * 86_400_000)],
    readersWait: true,
    callers: [[purge(10)], [purge(10)]],
    ends: (end) =>
      allOf(
        rowCount(end, "SettingAudit", 2),
        end.answers.reduce((sum, [own]) => sum + numberOf(own, "AuditEntries"), 0) === 1
          ? undefined
          : "an entry was not counted once",
      ),
  },
  {
    name: "purge-of-the-audit-x-set-limit",
    about: "a limit is set while its older entries go",
    setup: [register(), setLimit(2, 1), setLimit(3, 2), later(401 * 86_400_000)],
    readersWait: true,
    waits: [{ table: "Operation", why: "answers of old limits go, too", by: 1 }],
    callers: [[purge(10)], [setLimit(4, 3)]],
    ends: (end) =>
      rowCount(end, "SettingAudit", numberOf(end.answers[0]?.[0], "AuditEntries") === 2 ? 2 : 3),
  },
  {
    name: "purge-x-purge-and-repeat-of-a-start",
    about: "what was found to be old is gone, and its start is repeated: the new execution stays",
    setup: inAMonth(register(), start(1, 1), finish(1)),
    readersWait: true,
    waits: [{ ...executionRow, by: 1 }],
    callers: [[purge(10)], [purge(10), start(1, 1)]],
    ends: (end) =>
      statusOf(end.answers[1]?.[1]) === "started"
        ? allOf(heldTokens(end, 1), rowCount(end, "TaskExecution", 1))
        : heldTokens(end, 0),
  },
  {
    name: "purge-x-redrive",
    about: "a dead letter is redriven while it is purged: it comes back whole, or is gone",
    setup: old,
    readersWait: true,
    waits: [latch, dedupeKey],
    callers: [[purge(10)], [redrive(1)]],
    ends: (end) => {
      const isBack = String(end.answers[1]?.[0]?.rows[0]?.["Results"]).includes("redriven");
      return allOf(
        expectTasks(taskIds(end, "Ready"), ...(isBack ? [1] : [])),
        expectTasks(taskIds(end, "Attempt"), ...(isBack ? [1] : [])),
        rowCount(end, "Archive", 0),
      );
    },
  },
  {
    name: "purge-x-redrive-and-cancel",
    about: "a dead letter that was found to be old is redriven and ends again: it is kept anew",
    setup: inAMonth(...died),
    readersWait: true,
    callers: [[purge(10)], [redrive(1), cancel(1)]],
    ends: (end) => {
      const isBack = String(end.answers[1]?.[0]?.rows[0]?.["Results"]).includes("redriven");
      const kept = isBack ? [1] : [];
      return allOf(
        expectTasks(taskIds(end, "Archive"), ...kept),
        expectTasks(taskIds(end, "Attempt"), ...kept),
      );
    },
  },
  {
    name: "purge-x-cancel-of-a-done-task",
    about: "a done task goes while it is cancelled: nothing of it is left, and nothing is written",
    setup: doneLongAgo,
    readersWait: true,
    callers: [[purge(10)], [cancel(1)]],
    ends: (end) => {
      const told = String(end.answers[1]?.[0]?.rows[0]?.["Results"]);
      return allOf(
        /"outcome":"(?:gone|busy)"/.test(told) ? undefined : `the cancel says ${told}`,
        rowCount(end, "Task", 0),
        rowCount(end, "Archive", 0),
        rowCount(end, "CallAudit", 0),
      );
    },
  },
  {
    name: "purge-x-redrive-of-a-done-task",
    about: "a done task goes while it is redriven: it never comes back",
    setup: doneLongAgo,
    readersWait: true,
    callers: [[purge(10)], [redrive(1)]],
    ends: (end) => allOf(isWholeOrGone(end), rowCount(end, "Ready", 0)),
  },
  {
    name: "purge-x-enqueue-of-its-key",
    about: "a key whose window is over is taken anew while it is purged",
    setup: old,
    readersWait: true,
    waits: [latch, dedupeKey],
    callers: [[purge(10)], [enqueue([{ dedupeKey: "k", dedupeMs: 1_000 }])]],
    ends: (end) =>
      allOf(
        expectTasks(taskIds(end, "Ready"), 2),
        expectTasks(taskIds(end, "Dedupe"), 2),
        rowCount(end, "Archive", 0),
      ),
  },
  {
    name: "purge-x-repeat-of-an-enqueue",
    about: "an enqueue is repeated after more than a day: the first answer, or a second task",
    setup: inAMonth(register(), enqueue([{}], { operation: 9 })),
    readersWait: true,
    waits: [latch, { table: "Operation", why: "a repeat waits for the end of the purge", by: 1 }],
    callers: [[purge(10)], [enqueue([{}], { operation: 9 })]],
    ends: (end) => {
      const again = String(end.answers[1]?.[0]?.rows[0]?.["TaskIds"]) === '["1"]';
      return expectTasks(taskIds(end, "Ready"), ...(again ? [1] : [1, 2]));
    },
  },
  {
    name: "purge-x-repeat-of-a-limit",
    about: "a limit is set again after more than a day",
    setup: inAMonth(register(), setLimit(2, 9)),
    readersWait: true,
    waits: [{ table: "Operation", why: "a repeat waits for the end of the purge", by: 1 }],
    callers: [[purge(10)], [setLimit(2, 9)]],
    ends: (end) => isAny(end.answers[1]?.[0], "set"),
  },
  {
    name: "purge-x-repeat-of-a-start",
    about:
      "a start is repeated after its execution has ended long ago: no token either way too many",
    setup: inAMonth(register({ limit: 1 }), start(1, 1), finish(1)),
    readersWait: true,
    waits: [{ ...executionRow, by: 1 }],
    callers: [[purge(10)], [start(1, 1)]],
    ends: (end) => heldTokens(end, statusOf(end.answers[1]?.[0]) === "started" ? 1 : 0),
  },
  {
    name: "purge-x-repeat-of-a-finish",
    about: "the end of an execution is told again long after it",
    setup: inAMonth(register(), start(1, 1), finish(1)),
    readersWait: true,
    waits: [{ ...executionRow, by: 1 }],
    callers: [[purge(10)], [finish(1)]],
    ends: (end) => isAny(end.answers[1]?.[0], "ended", "fenced"),
  },
  {
    name: "purge-x-acquire",
    about: "a dead execution goes while somebody is granted the token that it had",
    setup: [...inAMonth(register({ limit: 2 }), start(1, 1), leaseOver, reclaim), start(2, 1)],
    readersWait: true,
    callers: [[purge(10)], [acquire(2, 2)]],
    comesAgain: [0],
    ends: (end) => allOf(heldTokens(end, 2), rowCount(end, "TaskExecution", 1)),
  },
  {
    name: "purge-x-reclaim",
    about: "what a dead execution held comes back; it is kept for as long as one that ended",
    setup: [...inAMonth(...old, start(2, 1)), enqueue([{}])],
    readersWait: true,
    callers: [[purge(10)], [reclaim]],
    comesAgain: [0, 1],
    ends: (end) =>
      allOf(
        ...["purged", "reclaimed"].map((status, place) => saidOnce(end.answers[place], status)),
        rowCount(end, "TaskExecution", 1),
      ),
  },
  beside("complete", "a task ends meanwhile", complete(2, second)),
  beside(
    "work",
    "tasks end and are claimed meanwhile",
    work({ execution: 2, call: 2, want: 1, done: [second] }),
  ),
  beside("fail", "a task becomes a dead letter meanwhile", fail(2, { ...second, as: "dead" })),
  beside("finish", "an execution ends meanwhile", finish(2)),
  beside("enqueue", "tasks are added meanwhile", enqueue([{ dedupeKey: "l" }], { operation: 8 })),
  beside("sweep", "somebody looks whether there is anything to purge", sweep),
  beside("list-tasks", "somebody looks at dead letters", listTasks("dead")),
];
