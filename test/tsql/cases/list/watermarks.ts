import {
  advance,
  enqueue,
  listWatermarks,
  plainTasks,
  register,
  setWatermark,
  start,
  together,
  undone,
  work,
} from "../calls";
import type { NewTask } from "../calls";
import { allOf, expectTasks, isAny, numberOf, oneOf, statusOf, taskIds } from "../endings";
import type { CallerStep, Ending, ModelCase } from "../model-case";
import { dedupeKey, latch, operationRow } from "../permitted-waits";

const key: NewTask = { dedupeKey: "k" };
const other: NewTask = { dedupeKey: "l" };

/** The only watermark's version, and how many tasks there are. */
function standsAt(end: Ending, version: number, tasks: number): string | undefined {
  const versions = end.rows("BlockWatermark").map((row) => Number(row["Version"]));
  return allOf(
    versions.join() === String(version) ? undefined : `the versions are ${versions.join()}`,
    end.rows("Task").length === tasks
      ? undefined
      : `${String(end.rows("Task").length)} tasks, expected ${String(tasks)}`,
  );
}

/** One of two operations with one id was made. */
function isUsedOnce(end: Ending): string | undefined {
  return allOf(
    end.rows("Operation").length === 1 ? undefined : "expected one answer",
    end.rows("Task").length === 1 ? undefined : "expected one operation's task",
  );
}

/** Goes on from the version that a conflict told, once. */
const onwards: CallerStep = {
  kind: "dependent",
  names: ["AdvanceWatermark", "ListWatermarks"],
  make: ([first]) =>
    statusOf(first) === "conflict"
      ? advance(numberOf(first, "Version"), plainTasks(1))
      : listWatermarks,
};

/** Makers of blocks meet: each block is made once, by any of them. */
export const watermarkCases: readonly ModelCase[] = [
  {
    name: "advance-x-advance-from-nothing",
    about: "two makers make the same watermark: one does, the other is told where it stands",
    setup: [register()],
    waits: [latch],
    callers: [[advance(0, plainTasks(2))], [advance(0, plainTasks(2))]],
    ends: (end) => allOf(oneOf(end, "advanced", "conflict"), standsAt(end, 1, 2)),
  },
  {
    name: "advance-x-advance",
    about: "two makers move a watermark from one version: one does",
    setup: [register(), advance(0, [])],
    waits: [latch],
    callers: [[advance(1, plainTasks(2))], [advance(1, plainTasks(2))]],
    ends: (end) => allOf(oneOf(end, "advanced", "conflict"), standsAt(end, 2, 2)),
  },
  {
    name: "advance-x-advance-onwards",
    about: "who is told of a conflict goes on from there: both have made their blocks",
    setup: [register()],
    waits: [latch],
    readersWait: true,
    callers: [
      [advance(0, plainTasks(1)), onwards],
      [advance(0, plainTasks(1)), onwards],
    ],
    ends: (end) => allOf(oneOf(end, "advanced", "conflict"), standsAt(end, 2, 2)),
  },
  {
    name: "advance-x-same-advance",
    about: "a maker and its repeat: one move, the same answer",
    setup: [register()],
    waits: [latch, operationRow],
    callers: [
      [advance(0, plainTasks(2), { operation: 7 })],
      [advance(0, plainTasks(2), { operation: 7 })],
    ],
    ends: (end) => {
      const told = end.answers.map(([answer]) => String(answer?.rows[0]?.["TaskIds"]));
      return allOf(
        oneOf(end, "advanced", "advanced"),
        standsAt(end, 1, 2),
        told[0] === told[1] ? undefined : `the answers name ${told.join(" and ")}`,
      );
    },
  },
  {
    name: "advance-x-enqueue-of-the-same-operation",
    about:
      "an operation id of two operations: the first takes it, the other is told of the conflict",
    setup: [register()],
    waits: [latch, operationRow],
    errors: [50409],
    callers: [
      [advance(0, plainTasks(1), { operation: 7 })],
      [enqueue(plainTasks(1), { operation: 7 })],
    ],
    ends: isUsedOnce,
  },
  {
    name: "advance-x-enqueue-of-the-same-operation-in-a-user-transaction",
    about: "the same while a user's transaction has the id",
    setup: [register()],
    waits: [latch, operationRow],
    errors: [50409],
    callers: [
      [advance(0, plainTasks(1), { operation: 7 })],
      [together(enqueue(plainTasks(1), { operation: 7 }))],
    ],
    ends: isUsedOnce,
  },
  {
    name: "advance-x-advance-of-another-new-watermark",
    about: "two new watermarks that stand side by side: neither waits for the other",
    setup: [register()],
    callers: [
      [advance(0, plainTasks(1), { watermark: "m" })],
      [advance(0, plainTasks(1), { watermark: "n" })],
    ],
    ends: (end) => oneOf(end, "advanced", "advanced"),
  },
  {
    name: "advance-x-advance-of-a-neighbour",
    about: "a new watermark in front of one that moves: neither waits for the other",
    setup: [register(), advance(0, [], { watermark: "n" })],
    callers: [
      [advance(0, plainTasks(1), { watermark: "m" })],
      [advance(1, plainTasks(1), { watermark: "n" })],
    ],
    ends: (end) => oneOf(end, "advanced", "advanced"),
  },
  {
    name: "advance-x-rolled-back-advance",
    about: "a move in a user's transaction that is rolled back never was",
    setup: [register()],
    waits: [latch],
    callers: [[advance(0, plainTasks(1))], [undone(advance(0, plainTasks(1)))]],
    ends: (end) => allOf(isAny(end.answers[0]?.[0], "advanced"), standsAt(end, 1, 1)),
  },
  {
    name: "advance-x-advance-in-a-user-transaction",
    about: "a user's transaction holds the watermark: who waits may give up, and has made nothing",
    setup: [register()],
    waits: [latch],
    errors: [50423],
    mayTimeOut: true,
    callers: [[advance(0, plainTasks(1))], [together(advance(0, plainTasks(1)))]],
    ends: (end) => standsAt(end, 1, 1),
  },
  {
    name: "advance-x-set-watermark",
    about: "an operator sets it back while a maker moves it: nothing is made from what it was",
    setup: [register(), advance(0, [])],
    waits: [latch],
    callers: [[advance(1, plainTasks(1))], [setWatermark(3)]],
    ends: (end) =>
      statusOf(end.answers[0]?.[0]) === "conflict" ? standsAt(end, 2, 0) : standsAt(end, 3, 1),
  },
  {
    name: "set-watermark-x-set-watermark",
    about: "an operator's change and its repeat: one change",
    setup: [register()],
    waits: [latch, operationRow],
    callers: [[setWatermark(3)], [setWatermark(3)]],
    ends: (end) => allOf(oneOf(end, "set", "set"), standsAt(end, 1, 0)),
  },
  {
    name: "advance-x-enqueue-of-the-same-group",
    about: "blocks of a group and an enqueue into it: the enqueue isn't kept waiting",
    setup: [register(), enqueue([{ group: "g" }])],
    readersWait: true,
    callers: [[advance(0, [{ group: "g" }, {}])], [enqueue([{ group: "g" }])]],
    ends: (end) =>
      allOf(
        taskIds(end, "Scheduled").length === 1 ? undefined : "expected one block that is due",
        taskIds(end, "GroupWaiting").length === 1 ? undefined : "expected one that waits",
      ),
  },
  {
    name: "advance-x-enqueue-of-a-new-group",
    about: "blocks of a group that an enqueue makes: there is one group",
    setup: [register()],
    waits: [latch],
    readersWait: true,
    callers: [[advance(0, [{ group: "g" }])], [enqueue([{ group: "g" }])]],
    ends: (end) => (end.rows("TaskGroup").length === 1 ? undefined : "expected one group"),
  },
  {
    name: "advance-x-enqueue-of-the-same-keys",
    about: "two keys in opposite order: no circle of waiters, one task each",
    setup: [register()],
    waits: [latch, dedupeKey],
    callers: [[advance(0, [key, other])], [enqueue([other, key])]],
    ends: (end) => standsAt(end, 1, 2),
  },
  {
    name: "advance-x-claim",
    about: "a move that isn't committed keeps no claim waiting",
    setup: [register(), enqueue(plainTasks(1)), start(1, 2)],
    callers: [[advance(0, [{ priority: 1 }, {}])], [work({ execution: 1, call: 1, want: 2 })]],
  },
  {
    name: "list-of-watermarks-x-advance",
    about: "watermarks are listed while one is moved and one is made",
    setup: [register(), advance(0, [], { watermark: "n" })],
    readersWait: true,
    victims: [1],
    callers: [
      [advance(1, [], { watermark: "n" }), advance(0, plainTasks(1), { watermark: "m" })],
      [listWatermarks],
    ],
    ends: (end) => expectTasks(taskIds(end, "Ready"), 1),
  },
];
