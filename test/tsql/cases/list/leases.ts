import {
  acquire,
  complete,
  enqueue,
  fail,
  finish,
  heartbeat,
  heartbeatStarted,
  plainTasks,
  progress,
  reclaim,
  register,
  release,
  releaseSurplus,
  requestCancel,
  setLimit,
  start,
  work,
} from "../calls";
import { allOf, expectTasks, isAny, numberOf, oneOf, statusOf, taskIds } from "../endings";
import { leaseOver } from "../model-case";
import type { Ending, ModelCase } from "../model-case";
import { cancelledTask, executionRow, only } from "../permitted-waits";

/** A worker holds tasks 1 and 2 under fence 1, and its lease is over. */
const expired = [
  register({ limit: 4 }),
  enqueue(plainTasks(3)),
  start(1, 2),
  work({ execution: 1, call: 1, want: 2 }),
  leaseOver,
];
/** The same with its lease still running. */
const alive = expired.slice(0, -1);
const first = { task: 1, fence: 1 };

/** State 4 is reclaimed, 1 alive: one of them, never both answers. */
function oneWins(end: Ending, says: string): string | undefined {
  const isReclaimed = Number(end.rows("TaskExecution")[0]?.["State"]) === 4;
  const isHeard = JSON.stringify(end.answers[0]).includes(says);
  if (isReclaimed && isHeard) return `the worker was told ${says}, and was reclaimed`;
  const claims = taskIds(end, "Claim");
  return isReclaimed && claims.length > 0 ? "a reclaimed worker still holds claims" : undefined;
}

/** A call that is told of returned tokens gave so many; else its execution was over when it had the row. */
function isFencedOrFrees({ answers }: Ending, count: number): string | undefined {
  const [answer] = answers[0] ?? [];
  const freed = numberOf(answer, "Freed");
  if (statusOf(answer) === "released" && freed !== count) return `${String(freed)} came back`;
  return isAny(answer, "released", "fenced");
}

/** A lease's end against everything its worker may still do: one of them wins, the other changes nothing. */
export const leaseCases: readonly ModelCase[] = [
  {
    name: "heartbeat-x-reclaim",
    about: "a late heartbeat meets the reclaim: renewed, or fenced",
    setup: expired,
    callers: [[heartbeat(1)], [reclaim]],
    readersWait: true,
    ends: (end) => oneWins(end, "renewed"),
  },
  {
    name: "work-x-reclaim",
    about: "a late completion and claim meet the reclaim",
    setup: expired,
    callers: [[work({ execution: 1, call: 2, want: 1, done: [first] })], [reclaim]],
    waits: [only(0, executionRow)],
    ends: (end) => oneWins(end, '"Status":"claimed"'),
  },
  {
    name: "complete-x-reclaim",
    about:
      "a late completion in a user's transaction meets the reclaim: done, or fenced and ready again",
    setup: expired,
    callers: [[complete(1, first)], [reclaim]],
    waits: [only(0, executionRow)],
    ends: (end) =>
      expectTasks(
        taskIds(end, "Archive"),
        ...(statusOf(end.answers[0]?.[0]) === "done" ? [1] : []),
      ),
  },
  {
    name: "fail-x-reclaim",
    about: "a late failure meets the reclaim: counted as failed or as lost, not as both",
    setup: expired,
    callers: [[fail(1, first)], [reclaim]],
    waits: [only(0, executionRow)],
    ends: (end) => {
      const row = end.rows("Task").find((one) => Number(one["TaskId"]) === 1);
      const count = Number(row?.["FailedCount"]) + Number(row?.["LostCount"]);
      return count === 1 ? undefined : `${String(count)} attempts are counted`;
    },
  },
  {
    name: "finish-x-reclaim",
    about: "a late end of an execution meets the reclaim: each task is ready once",
    readersWait: true,
    setup: expired,
    callers: [[finish(1)], [reclaim]],
    waits: [only(0, executionRow)],
    ends: (end) =>
      allOf(
        expectTasks(taskIds(end, "Ready"), 1, 2, 3),
        statusOf(end.answers[0]?.[0]) === "ended" && end.rows("TaskExecution")[0]?.["State"] !== 2
          ? "an ended stay was reclaimed"
          : undefined,
        oneOf(end, "ended", "none") === undefined || oneOf(end, "fenced", "reclaimed") === undefined
          ? undefined
          : "both ended it, or neither",
      ),
  },
  {
    name: "acquire-x-work",
    about:
      "one execution asks for more tokens while it completes and claims: tokens come before the execution",
    setup: alive,
    callers: [[acquire(1, 3)], [work({ execution: 1, call: 2, want: 1, done: [first] })]],
    waits: [executionRow],
    readersWait: true,
  },
  {
    name: "finish-x-work",
    about:
      "an execution ends while its last call arrives: ended, or done first and then given back",
    setup: alive,
    callers: [[finish(1)], [work({ execution: 1, call: 2, want: 1, done: [first] })]],
    waits: [executionRow],
    readersWait: true,
    ends: (end) => expectTasks(taskIds(end, "Claim")),
  },
  {
    name: "acquire-x-reclaim",
    about: "a late wish for more tokens meets the reclaim",
    setup: expired,
    callers: [[acquire(1, 4)], [reclaim]],
    waits: [only(0, executionRow)],
    readersWait: true,
  },
  {
    name: "release-x-reclaim",
    about: "a late return of tokens meets the reclaim",
    setup: expired,
    callers: [[release(1, 0)], [reclaim]],
    waits: [only(0, executionRow)],
    readersWait: true,
    ends: (end) => isFencedOrFrees(end, 2),
  },
  {
    name: "surplus-x-reclaim",
    about: "a late return of what is above the limit meets the reclaim",
    setup: [register({ limit: 4 }), start(1, 2), setLimit(1, 1), leaseOver],
    callers: [[releaseSurplus(1, 0)], [reclaim]],
    waits: [only(0, executionRow)],
    readersWait: true,
    ends: (end) => isFencedOrFrees(end, 1),
  },
  {
    name: "reclaim-x-reclaim",
    about: "two reclaims: each dead worker once, its tasks counted once",
    isLong: ["locking", "versioned"],
    setup: [
      register({ limit: 4 }),
      enqueue(plainTasks(3)),
      start(1, 1),
      start(2, 1),
      work({ execution: 1, call: 1, want: 1 }),
      work({ execution: 2, call: 1, want: 1 }),
      leaseOver,
    ],
    callers: [[reclaim], [reclaim]],
    waits: [executionRow],
    ends: (end) =>
      allOf(
        expectTasks(taskIds(end, "Ready"), 1, 2, 3),
        end.rows("Task").every((row) => Number(row["LostCount"]) <= 1)
          ? undefined
          : "a loss counts twice",
      ),
  },
  {
    name: "reclaim-x-cancel",
    about: "a cancel is requested while the task is taken back",
    setup: expired,
    callers: [[reclaim], [requestCancel(1)]],
    waits: [cancelledTask],
  },
  {
    name: "reclaim-x-set-limit",
    about: "settings are written while tasks are taken back",
    setup: expired,
    callers: [[reclaim], [setLimit(2, 1)]],
    readersWait: true,
  },
  {
    name: "heartbeat-x-heartbeat",
    about: "two heartbeats of one process: one renews, the other passes over",
    setup: [...alive, start(2, 1)],
    callers: [[heartbeat(1, 2)], [heartbeat(2, 1)]],
    readersWait: true,
  },
  {
    name: "heartbeat-x-work",
    about: "a heartbeat while its worker completes and claims: it says busy, or renews",
    setup: alive,
    callers: [[heartbeat(1)], [work({ execution: 1, call: 2, want: 1, done: [first] })]],
    waits: [only(1, executionRow)],
    readersWait: true,
  },
  {
    name: "heartbeat-of-a-prefetched-x-work",
    about: "a prefetched claim is told started by both: it counts once",
    setup: [
      register({ limit: 1, prefetchMax: 2 }),
      enqueue(plainTasks(3)),
      start(1, 1),
      work({ execution: 1, call: 1, want: 3 }),
    ],
    callers: [
      [heartbeatStarted(1, 2)],
      [work({ execution: 1, call: 2, done: [first], started: [2] })],
    ],
    waits: [only(1, executionRow)],
    readersWait: true,
    ends: (end) =>
      expectTasks(
        end
          .rows("Claim")
          .filter((row) => row["IsPrefetched"] === 1)
          .map((row) => Number(row["TaskId"])),
        3,
      ),
  },
  {
    name: "heartbeat-x-finish",
    about: "a heartbeat while the execution ends",
    setup: alive,
    callers: [[heartbeat(1)], [finish(1)]],
    waits: [only(1, executionRow)],
    readersWait: true,
  },
  {
    name: "heartbeat-x-set-limit",
    about: "a heartbeat while settings are written",
    setup: alive,
    callers: [[heartbeat(1)], [setLimit(1, 1)]],
    readersWait: true,
  },
  {
    name: "progress-x-complete",
    about: "a report of progress that overtakes, or is overtaken by, the task's end",
    setup: alive,
    callers: [[progress(1, first)], [complete(1, first)]],
    waits: [{ table: "Task", why: "the end waits while the report is written" }],
    readersWait: true,
    ends: (end) => expectTasks(taskIds(end, "Archive"), 1),
  },
  {
    name: "progress-x-reclaim",
    about: "a report of progress while the task is taken back",
    setup: expired,
    callers: [[progress(1, first)], [reclaim]],
    waits: [{ table: "Task", why: "the reclaim waits while the report is written" }],
    readersWait: true,
  },
];

export const longLeaseCases: readonly ModelCase[] = [
  {
    name: "reclaim-x-work-x-heartbeat",
    about: "a lease is over: the reclaim, a completion and a heartbeat",
    setup: expired,
    callers: [[reclaim], [work({ execution: 1, call: 2, want: 1, done: [first] })], [heartbeat(1)]],
    waits: [executionRow],
    readersWait: true,
    isLong: true,
  },
];
