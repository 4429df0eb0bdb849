import {
  cancel,
  complete,
  enqueue,
  fail,
  finish,
  promote,
  reclaim,
  register,
  start,
  together,
  work,
} from "../calls";
import type { NewTask } from "../calls";
import { allOf, expectTasks, statusOf, taskIds, unfinishedIds } from "../endings";
import { later, leaseOver } from "../model-case";
import type { CaseAnswer, Ending, ModelCase } from "../model-case";
import { dedupeKey, groupRow, latch, only, requestedTask } from "../permitted-waits";

const g: NewTask = { group: "g" };
const keyed: NewTask = { group: "g", dedupeKey: "k" };
const soon: NewTask = { runInMs: 10 };

/** One ready task, and a worker with a token. */
const ready = [register({ limit: 4 }), enqueue([{}]), start(1, 1)];

/** Task 1 is claimed under fence 1. */
const running = [...ready, work({ execution: 1, call: 1, want: 1 })];

/** Task 1 of group g runs under fence 1, task 2 waits. */
const inGroup = [
  register({ limit: 4 }),
  enqueue([g, g]),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
];

/** What a cancel says of its tasks. */
function outcomesOf(answer: CaseAnswer | undefined): string {
  const list = String(answer?.rows[0]?.["Results"] ?? "[]");
  return (JSON.parse(list) as { outcome: string }[]).map((one) => one.outcome).join();
}

/** A state is told of tasks that were over before; one that was asked to end may be over by the time of the answer. */
function isStateOfGone(answer: CaseAnswer | undefined): string | undefined {
  const list = String(answer?.rows[0]?.["Results"] ?? "[]");
  const told = (JSON.parse(list) as { outcome: string; state: string | null }[]).find(
    ({ outcome, state }) => (outcome === "gone") !== (state !== null),
  );
  return told && `the cancel says ${told.outcome} of a task that is ${String(told.state)}`;
}

/** The task is either ended or was asked to. */
function isTold(answer: CaseAnswer | undefined, ...wanted: readonly string[]): string | undefined {
  const found = outcomesOf(answer);
  return wanted.includes(found) ? undefined : `the cancel says ${found}`;
}

/** A task that is said to be cancelled is never claimed; another one is carried on with the request. */
function isMinded(end: Ending, by: number): string | undefined {
  const said = outcomesOf(end.answers[by]?.[0]);
  const asked = end.rows("Task").some((row) => Number(row["CancelRequested"]) === 1);
  if (said === "cancelled") return expectTasks(taskIds(end, "Archive"), 1);
  if (said !== "requested" || asked || taskIds(end, "Archive").includes(1)) return undefined;
  return "the request is lost";
}

/** A request stands where a call acts on it: not on a task that waits for its time. */
function isActedOn(end: Ending, by: number): string | undefined {
  const isLate = end.rows("Scheduled").some((row) => Number(row["TaskId"]) === 1);
  if (!isLate) return undefined;
  if (outcomesOf(end.answers[by]?.[0]) === "requested")
    return "a scheduled task was only asked to end";
  const isAsked = end.rows("Task").some((row) => Number(row["CancelRequested"]) === 1);
  return isAsked ? "a request stands on a scheduled task" : undefined;
}

/** The row of a done task stays: a cancel that came too late has left nothing on it. */
function isAskedOnlyIfTold(end: Ending, by: number): string | undefined {
  const isAsked = end.rows("Task").some((row) => Number(row["CancelRequested"]) === 1);
  const isTold = outcomesOf(end.answers[by]?.[0]) === "requested";
  return isAsked && !isTold ? "a request stands on a task that is done" : undefined;
}

/** An operator's cancel against every other move of the task. */
export const cancelCases: readonly ModelCase[] = [
  {
    name: "cancel-x-claim",
    isLong: ["locking", "versioned"],
    about: "a ready task is claimed or ended, never both",
    setup: ready,
    readersWait: true,
    callers: [[work({ execution: 1, call: 1, want: 1 })], [cancel(1)]],
    ends: (end) => allOf(isTold(end.answers[1]?.[0], "cancelled", "requested"), isMinded(end, 1)),
  },
  {
    name: "cancel-x-complete",
    about: "a running task is done, whatever the cancel sees of it",
    setup: running,
    readersWait: true,
    waits: [requestedTask],
    callers: [[complete(1, { task: 1, fence: 1 })], [cancel(1)]],
    ends: (end) =>
      allOf(
        isTold(end.answers[1]?.[0], "requested", "busy", "gone"),
        isStateOfGone(end.answers[1]?.[0]),
        expectTasks(taskIds(end, "Archive"), 1),
        isAskedOnlyIfTold(end, 1),
      ),
  },
  {
    name: "cancel-x-fail",
    about: "a task that fails minds the request, or the cancel finds it elsewhere",
    setup: running,
    readersWait: true,
    waits: [requestedTask],
    callers: [[fail(1, { task: 1, fence: 1, retryInMs: 1_000 })], [cancel(1)]],
    ends: (end) =>
      allOf(
        isTold(end.answers[1]?.[0], "cancelled", "requested", "busy"),
        isMinded(end, 1),
        isActedOn(end, 1),
      ),
  },
  {
    name: "cancel-x-give-back",
    about: "a task that is given back is ended, or goes on with the request",
    setup: running,
    readersWait: true,
    waits: [requestedTask],
    callers: [[finish(1)], [cancel(1)]],
    ends: (end) =>
      allOf(isTold(end.answers[1]?.[0], "cancelled", "requested", "busy"), isMinded(end, 1)),
  },
  {
    name: "cancel-x-reclaim",
    about: "a lost task is ended, or goes on with the request",
    setup: [...running, leaseOver],
    readersWait: true,
    waits: [requestedTask],
    callers: [[reclaim], [cancel(1)]],
    ends: (end) =>
      allOf(isTold(end.answers[1]?.[0], "cancelled", "requested", "busy"), isMinded(end, 1)),
  },
  {
    name: "cancel-x-promote",
    about: "a due task is promoted or ended; promotion never waits",
    setup: [register(), enqueue([soon]), later(11)],
    readersWait: true,
    callers: [[promote], [cancel(1)]],
    ends: (end) => allOf(isTold(end.answers[1]?.[0], "cancelled", "requested"), isMinded(end, 1)),
  },
  {
    name: "cancel-x-promote-into-a-group",
    isLong: ["locking", "versioned"],
    about: "the same where the task's group is full and somebody waits",
    setup: [register(), enqueue([{ ...g, runInMs: 10 }, g, g]), later(11)],
    readersWait: true,
    waits: [groupRow],
    callers: [[promote], [cancel(1, 2, 3)]],
    ends: (end) => {
      const told = outcomesOf(end.answers[1]?.[0]);
      return told.endsWith(",cancelled,cancelled") ? undefined : `the cancel says ${told}`;
    },
  },
  {
    name: "cancel-x-promote-that-makes-the-group",
    about:
      "a due task whose group isn't made yet is promoted, and its group made, or ended; busy while it is on the move",
    setup: [register(), together(enqueue([keyed]))],
    readersWait: true,
    waits: [
      groupRow,
      only(0, {
        table: "Task",
        why: "who makes a group writes it on the task, where a cancel may have asked last",
      }),
    ],
    callers: [[promote], [cancel(1)]],
    ends: (end) => {
      const isEnded = outcomesOf(end.answers[1]?.[0]) === "cancelled";
      const early = end.rows("EndedEarly").map((row) => String(row["PendingGroupKey"]));
      const groups = end.rows("TaskGroup").length;
      return allOf(
        isTold(end.answers[1]?.[0], "cancelled", "requested", "busy"),
        isMinded(end, 1),
        expectTasks(taskIds(end, "Dedupe"), ...(isEnded ? [] : [1])),
        !isEnded || early.length + groups === 1 ? undefined : "its group is kept nowhere",
      );
    },
  },
  {
    name: "cancel-x-hand-over",
    about: "a waiting task is handed the slot while it is cancelled: it ends either way",
    setup: inGroup,
    readersWait: true,
    waits: [groupRow],
    callers: [[work({ execution: 1, call: 2, done: [{ task: 1, fence: 1 }] })], [cancel(2)]],
    ends: (end) =>
      allOf(
        isTold(end.answers[1]?.[0], "cancelled"),
        expectTasks(taskIds(end, "Archive"), 1, 2),
        expectTasks(taskIds(end, "GroupSlot")),
      ),
  },
  {
    name: "cancel-x-enqueue-into-its-group",
    about: "a ready task's slot goes to the one who waits, not to the new one",
    setup: [register(), enqueue([g, g])],
    readersWait: true,
    waits: [groupRow],
    callers: [[cancel(1)], [enqueue([g])]],
    ends: (end) =>
      allOf(expectTasks(taskIds(end, "Ready"), 2), expectTasks(taskIds(end, "GroupWaiting"), 3)),
  },
  {
    name: "cancel-x-enqueue-of-its-key",
    about: "the same key is enqueued: a duplicate of a task that still was, or a new task",
    setup: [register(), enqueue([keyed])],
    readersWait: true,
    waits: [groupRow, latch, dedupeKey],
    callers: [[cancel(1)], [enqueue([keyed])]],
    ends: (end) => {
      const ids = String(end.answers[1]?.[0]?.rows[0]?.["TaskIds"]);
      return ids === '["1"]'
        ? expectTasks(taskIds(end, "Ready"))
        : expectTasks(taskIds(end, "Dedupe"), 2);
    },
  },
  {
    name: "cancel-x-cancel",
    about: "two cancels of the same tasks, told in opposite order: each ends once, nobody is left",
    setup: [register({ groupSlots: 2 }), enqueue([keyed, { group: "h" }, g, g])],
    isLong: true,
    readersWait: true,
    waits: [groupRow, dedupeKey, requestedTask],
    victims: [0, 1],
    callers: [[cancel(1, 2, 4)], [cancel(4, 2, 1)]],
    ends: (end) => expectTasks(unfinishedIds(end), 3),
  },
  {
    name: "cancel-x-cancel-of-one",
    about: "two cancels of one task: it ends once; the other one asks, or finds it gone",
    setup: [register(), enqueue([keyed])],
    readersWait: true,
    waits: [groupRow, dedupeKey, requestedTask],
    callers: [[cancel(1)], [cancel(1)]],
    ends: (end) => {
      const both = [0, 1].map((by) => outcomesOf(end.answers[by]?.[0]));
      return both.includes("cancelled") && statusOf(end.answers[0]?.[0]) === "done"
        ? expectTasks(taskIds(end, "Archive"), 1)
        : `the cancels say ${both.join(" and ")}`;
    },
  },
  {
    name: "cancel-of-waiting-x-cancel-of-running",
    about: "one cancel asks the running task, the other ends the waiting one: they don't meet",
    setup: inGroup,
    readersWait: true,
    waits: [groupRow],
    callers: [[cancel(2)], [cancel(1)]],
    comesAgain: [0, 1],
    ends: ({ answers }) =>
      allOf(
        ...["cancelled", "requested"].map((outcome, place) =>
          answers[place]?.some((answer) => isTold(answer, outcome) === undefined) === true
            ? undefined
            : `the cancel of task ${String(2 - place)} is never told ${outcome}`,
        ),
      ),
  },
];
