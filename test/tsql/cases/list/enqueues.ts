import {
  complete,
  enqueue,
  plainTasks,
  promote,
  register,
  setLimit,
  start,
  together,
  undone,
  work,
} from "../calls";
import type { NewTask } from "../calls";
import { allOf, expectTasks, taskIds, unfinished } from "../endings";
import { later } from "../model-case";
import type { Ending, ModelCase } from "../model-case";
import { dedupeKey, latch, operationRow } from "../permitted-waits";

const key: NewTask = { dedupeKey: "k" };
const other: NewTask = { dedupeKey: "l" };
const windowed: NewTask = { dedupeKey: "k", dedupeMs: 1_000 };
const waits = [latch, dedupeKey];

/** As many tasks as keys, and both callers were told of them. */
function oneTaskPerKey(end: Ending, keys: number): string | undefined {
  const told = new Set(
    end.answers
      .flat()
      .flatMap((answer) => JSON.parse(String(answer.rows[0]?.["TaskIds"])) as string[]),
  );
  return allOf(
    end.rows("Dedupe").length === keys ? undefined : `${String(end.rows("Dedupe").length)} keys`,
    told.size === keys ? undefined : `the callers were told of ${[...told].join(", ")}`,
    end.rows("Task").length === keys ? undefined : `${String(end.rows("Task").length)} tasks`,
  );
}

/** What each caller was told of its last enqueue, of one task; sorted. */
function outcomesOf(end: Ending): string[] {
  return end.answers
    .flat()
    .flatMap((answer) => answer.rows)
    .map((row) => (row["Outcomes"] === null ? "enqueued" : String(row["Outcomes"]).slice(2, -2)))
    .sort();
}

/** Enqueues that meet by key, by operation, or with those who take tasks (lock levels 0 and 6). */
export const enqueueCases: readonly ModelCase[] = [
  {
    name: "enqueue-x-enqueue",
    about: "two enqueues without keys: nobody waits",
    setup: [register()],
    callers: [[enqueue(plainTasks(2))], [enqueue(plainTasks(2))]],
    ends: (end) => expectTasks(taskIds(end, "Ready"), 1, 2, 3, 4),
  },
  {
    name: "enqueue-x-claim",
    about: "an enqueue that isn't committed keeps no claim waiting",
    setup: [register(), enqueue(plainTasks(1)), start(1, 2)],
    callers: [[enqueue([{ priority: 1 }, {}])], [work({ execution: 1, call: 1, want: 2 })]],
  },
  {
    name: "user-transaction-x-claim",
    about: "nor does one in a user's transaction",
    setup: [register(), enqueue(plainTasks(1)), start(1, 2)],
    callers: [
      [together(enqueue([{ priority: 1 }]), enqueue([{ runInMs: 0 }]))],
      [work({ execution: 1, call: 1, want: 2 })],
    ],
  },
  {
    name: "start-x-user-transaction",
    about: "nor does a start wait for a user's transaction, with row versions or without",
    setup: [register({ limit: 1 })],
    callers: [
      [start(1, 1, { needsReady: true })],
      [together(enqueue([{}, { runInMs: 0 }]), enqueue([{ group: "g" }]))],
    ],
  },
  {
    name: "enqueue-x-same-key",
    about: "one key twice: one task, both are told its id",
    setup: [register()],
    callers: [[enqueue([key])], [enqueue([key])]],
    waits,
    ends: (end) => oneTaskPerKey(end, 1),
  },
  {
    name: "enqueue-x-same-key-with-time-outs",
    about: "whoever waits for the key may give up: then it has added nothing",
    setup: [register()],
    callers: [[enqueue([key, {}])], [together(enqueue([key, {}]))]],
    waits,
    errors: [1222, 50423],
    mayTimeOut: true,
    ends: (end) => (end.rows("Dedupe").length === 1 ? undefined : "expected one key"),
  },
  {
    name: "enqueue-x-same-keys-in-two-orders",
    about: "two keys in opposite order: no circle of waiters, one task each",
    setup: [register()],
    callers: [[enqueue([key, other])], [enqueue([other, key])]],
    waits,
    ends: (end) => oneTaskPerKey(end, 2),
  },
  {
    name: "user-transactions-with-the-same-keys",
    about: "the same in users' transactions, one call each",
    setup: [register()],
    callers: [[together(enqueue([key, other]))], [together(enqueue([other, key]))]],
    waits,
    ends: (end) => (end.rows("Dedupe").length === 2 ? undefined : "expected two keys"),
  },
  {
    name: "enqueue-x-user-transaction-of-a-key",
    about: "a user's transaction holds a key: the other enqueue waits for its end",
    setup: [register()],
    callers: [[enqueue([key])], [together(enqueue([key]), enqueue(plainTasks(1)))]],
    waits,
    ends: (end) => (end.rows("Dedupe").length === 1 ? undefined : "expected one key"),
  },
  {
    name: "user-transactions-with-keys-of-their-own",
    about:
      "two users' transactions with two keyed calls each, of two definitions, share no key: nobody waits, whatever the keys' sums are",
    setup: [register(), register({ name: "b" })],
    // In the model's CHECKSUM % 1000 k1 goes with k88, and k7 with k82: locks by such a sum closed a circle here.
    callers: [
      [together(enqueue([{ dedupeKey: "k1" }]), enqueue([{ dedupeKey: "k82" }], { name: "b" }))],
      [together(enqueue([{ dedupeKey: "k7" }]), enqueue([{ dedupeKey: "k88" }], { name: "b" }))],
    ],
    ends: (end) => (end.rows("Dedupe").length === 4 ? undefined : "expected four keys"),
  },
  {
    name: "user-transactions-with-a-shared-key",
    about:
      "of two users' transactions with two keyed calls each the second waits, and is a duplicate",
    setup: [register(), register({ name: "b" })],
    callers: [
      [together(enqueue([key]), enqueue([key], { name: "b" }))],
      [together(enqueue([key]), enqueue([key], { name: "b" }))],
    ],
    waits,
    ends: (end) =>
      allOf(
        end.rows("Task").length === 2 ? undefined : "expected two tasks",
        end.rows("Dedupe").length === 2 ? undefined : "expected two keys",
        outcomesOf(end).join() === "duplicate,enqueued"
          ? undefined
          : `the callers were told ${outcomesOf(end).join()}`,
      ),
  },
  {
    name: "enqueue-x-rolled-back-key",
    about: "a key that is rolled back was never taken",
    setup: [register()],
    callers: [[enqueue([key])], [undone(enqueue([key]))]],
    waits,
    ends: (end) =>
      allOf(
        end.rows("Task").length === 1 ? undefined : "expected one task",
        end.rows("Dedupe").length === 1 ? undefined : "expected one key",
      ),
  },
  {
    name: "enqueue-x-expired-key",
    about: "two enqueues of a key whose window is over: one replaces it",
    setup: [register(), enqueue([windowed]), later(1_001)],
    callers: [[enqueue([windowed])], [enqueue([windowed])]],
    waits,
    ends: (end) =>
      end.rows("Task").length === 2 ? undefined : `${String(end.rows("Task").length)} tasks`,
  },
  {
    name: "enqueue-x-end-of-the-keys-task",
    about:
      "a key is enqueued again while its task ends: a duplicate of the running task, or a new one",
    setup: [register(), enqueue([key]), start(1, 1), work({ execution: 1, call: 1, want: 1 })],
    callers: [[enqueue([key])], [complete(1, { task: 1, fence: 1 })]],
    waits,
    ends: (end) =>
      end.rows("Dedupe").length === unfinished(end).length
        ? undefined
        : "a key without its task, or a task without its key",
  },
  {
    name: "expired-key-x-end-of-its-task",
    about: "a key with a window that is over is replaced while its task ends",
    setup: [
      register(),
      enqueue([windowed]),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
      later(1_001),
    ],
    callers: [[enqueue([windowed])], [complete(1, { task: 1, fence: 1 })]],
    waits,
    ends: (end) => expectTasks(taskIds(end, "Ready"), 2),
  },
  {
    name: "enqueue-x-same-operation",
    about: "an enqueue and its repeat: the same ids",
    setup: [register()],
    callers: [
      [enqueue(plainTasks(2), { operation: 7 })],
      [enqueue(plainTasks(2), { operation: 7 })],
    ],
    waits: [latch, operationRow],
    ends: (end) => expectTasks(taskIds(end, "Ready"), 1, 2),
  },
  {
    name: "enqueue-x-same-operation-in-a-user-transaction",
    about: "the repeat waits for the user's commit",
    setup: [register()],
    callers: [
      [enqueue(plainTasks(1), { operation: 7 })],
      [together(enqueue(plainTasks(1), { operation: 7 }))],
    ],
    waits: [latch, operationRow],
    ends: (end) => (end.rows("Task").length === 1 ? undefined : "the operation was made twice"),
  },
  {
    name: "enqueue-x-set-limit",
    about: "settings are written while tasks are added",
    setup: [register()],
    callers: [[enqueue(plainTasks(1))], [setLimit(2, 1)]],
    readersWait: true,
  },
  {
    name: "enqueue-x-promote",
    about: "a scheduled task is added while due ones are promoted",
    setup: [register(), enqueue([{ runInMs: 10 }]), later(11)],
    callers: [[enqueue([{ runInMs: 5 }, {}])], [promote]],
    ends: (end) => expectTasks(taskIds(end, "Scheduled"), 2),
  },
];

/** Documented: several keyed calls in one transaction may close a circle with those of another one. */
export const knownCircle: ModelCase = {
  name: "user-transactions-with-several-keyed-calls",
  about:
    "two users' transactions take the same keys in several calls, in opposite order: one may die of 1205",
  setup: [register()],
  callers: [
    [together(enqueue([key]), enqueue([other]))],
    [together(enqueue([other]), enqueue([key]))],
  ],
  waits,
};

export const longEnqueueCases: readonly ModelCase[] = [
  {
    name: "three-enqueues-of-three-keys",
    about: "three keys in three orders",
    setup: [register()],
    callers: [
      [enqueue([key, other, { dedupeKey: "m" }])],
      [enqueue([{ dedupeKey: "m" }, key, other])],
      [enqueue([other, { dedupeKey: "m" }, key])],
    ],
    waits,
    isLong: true,
    ends: (end) => oneTaskPerKey(end, 3),
  },
];
