import {
  acquire,
  enqueue,
  finish,
  heartbeat,
  pause,
  pauseIfOpen,
  plainTasks,
  register,
  resume,
  setLimit,
  start,
  work,
} from "../calls";
import { allOf, isAny, numberOf, statusOf } from "../endings";
import type { Ending, ModelCase } from "../model-case";
import { definitionRow, executionRow, sharedRow } from "../permitted-waits";

const waits = [definitionRow];

/** What all callers heard, in one order. */
function expectStatuses({ answers }: Ending, expected: string): string | undefined {
  const found = answers.flat().map(statusOf).sort().join();
  return found === expected ? undefined : `the answers are ${found}`;
}

/** Registrations and operators' changes against each other and against those who read settings. */
export const definitionCases: readonly ModelCase[] = [
  {
    name: "register-x-register-of-a-new-name",
    about: "two registrations of one new name: one row",
    setup: [],
    callers: [[register()], [register()]],
    waits,
    ends: (end) =>
      allOf(
        end.rows("TaskDefinition").length === 1 ? undefined : "the definition was made twice",
        numberOf(end.answers[0]?.[0], "TaskDefinitionId") ===
          numberOf(end.answers[1]?.[0], "TaskDefinitionId")
          ? undefined
          : "the callers were told different ids",
        expectStatuses(end, "created,exists"),
      ),
  },
  {
    name: "register-x-register-of-two-new-names",
    about: "two registrations of different names: no circle of waiters over the gap between names",
    setup: [register({ name: "c" })],
    callers: [[register({ name: "a" })], [register({ name: "b" })]],
    waits,
    ends: (end) =>
      end.rows("TaskDefinition").length === 3 ? undefined : "expected three definitions",
  },
  {
    name: "register-x-register-of-one-new-shared-limit",
    about: "two definitions name one new shared limit: it is made once, and both share it",
    setup: [],
    callers: [
      [register({ shared: [{ name: "s" }] })],
      [register({ name: "b", shared: [{ name: "s" }] })],
    ],
    waits: [definitionRow, sharedRow],
    ends: (end) => {
      const counts = ["SharedLimit", "SharedTokenDemand", "TaskDefinitionSharedLimit"].map(
        (table) => end.rows(table).length,
      );
      return counts.join() === "1,1,2" ? undefined : `there are ${counts.join(" and ")} rows`;
    },
  },
  {
    name: "register-x-register-of-two-builds",
    about: "two builds register at once: the newer one's settings stay",
    setup: [register({ build: 1 })],
    callers: [[register({ build: 2, limit: 2 })], [register({ build: 3, limit: 3 })]],
    waits,
    ends: (end) => {
      const [row] = end.rows("TaskDefinition");
      return row?.["Build"] === 3 && row["ConcurrencyLimit"] === 3
        ? undefined
        : "the older build's settings stay";
    },
  },
  {
    name: "register-x-start-of-a-new-name",
    about: "a start of a name that is being registered: unknown, or started",
    setup: [],
    callers: [[register({ limit: 1 })], [start(1, 1)]],
    waits,
    ends: (end) => isAny(end.answers[1]?.[0], "unknown", "limited", "started"),
  },
  {
    name: "register-x-acquire",
    about: "a new build's limit against an asker",
    setup: [register({ limit: 3 }), start(1, 1), start(2, 1)],
    callers: [[register({ build: 2, limit: 1 })], [acquire(1, 2)]],
    waits,
  },
  {
    name: "register-x-set-limit",
    about: "a new build's limit against an operator's: the operator's wins",
    setup: [register({ limit: 3 })],
    callers: [[register({ build: 2, limit: 1 })], [setLimit(5, 1)]],
    waits,
    ends: (end) =>
      end.rows("TaskDefinition")[0]?.["ConcurrencyLimitOverride"] === 5
        ? undefined
        : "the override is lost",
  },
  {
    name: "set-limit-x-set-limit-over-the-same",
    about:
      "two operators set a limit over the one that both have seen: one does, the other is told",
    setup: [register({ limit: 3 })],
    callers: [[setLimit(1, 1, 3)], [setLimit(2, 2, 3)]],
    waits,
    ends: (end) =>
      allOf(
        expectStatuses(end, "conflict,set"),
        end.rows("Operation").length === 1 ? undefined : "the conflict has left its id",
      ),
  },
  {
    name: "set-limit-x-register-over-the-same",
    about: "an operator sets a limit over the code's, which a new build changes: told, or in force",
    setup: [register({ limit: 3 })],
    callers: [[setLimit(1, 1, 3)], [register({ build: 2, limit: 5 })]],
    waits,
    ends: (end) => {
      const isSet = end.rows("TaskDefinition")[0]?.["ConcurrencyLimitOverride"] === 1;
      return isAny(end.answers[0]?.[0], isSet ? "set" : "conflict");
    },
  },
  {
    name: "pause-x-pause-over-the-same",
    about: "two operators pause what both have seen going on: one does, the other is told",
    setup: [register()],
    callers: [[pauseIfOpen], [pauseIfOpen]],
    waits,
    ends: (end) => expectStatuses(end, "conflict,paused"),
  },
  {
    name: "register-x-work",
    about: "settings are written while tasks are completed and claimed",
    setup: [
      register({ limit: 2 }),
      enqueue(plainTasks(2)),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
    ],
    callers: [
      [register({ build: 2, limit: 1 })],
      [work({ execution: 1, call: 2, want: 1, done: [{ task: 1, fence: 1 }] })],
    ],
    readersWait: true,
  },
  {
    name: "register-without-limit-x-finish",
    about: "the limit is taken away while an execution ends",
    setup: [register({ limit: 2 }), start(1, 1), start(2, 1)],
    callers: [[register({ build: 2, limit: -1 })], [finish(1)]],
    waits: [definitionRow, executionRow],
  },
  {
    name: "register-without-limit-x-heartbeat",
    about: "the limit is taken away while leases are renewed",
    setup: [register({ limit: 2 }), start(1, 1), start(2, 1)],
    callers: [[register({ build: 2, limit: -1 })], [heartbeat(1, 2)]],
    readersWait: true,
  },
  {
    name: "resume-x-work",
    about: "a pause is taken away while a worker asks",
    setup: [register({ limit: 1 }), enqueue(plainTasks(1)), start(1, 1), pause],
    callers: [[resume], [work({ execution: 1, call: 1, want: 1 })]],
    readersWait: true,
    ends: (end) =>
      ["claimed", "paused"].includes(statusOf(end.answers[1]?.[0]))
        ? undefined
        : "neither claimed nor paused",
  },
  {
    name: "resume-x-enqueue",
    about:
      "a task is added while a pause is taken away: where its worker still finds the pause, the resume tells of the task",
    setup: [register({ limit: 1 }), start(1, 1), pause],
    callers: [[resume], [enqueue(plainTasks(1)), work({ execution: 1, call: 1, want: 1 })]],
    readersWait: true,
    ends: (end) =>
      statusOf(end.answers[1]?.[1]) === "claimed" || numberOf(end.answers[0]?.[0], "Ready") === 1
        ? undefined
        : "nobody hears of the task",
  },
];
