import {
  cancel,
  enqueue,
  fail,
  promote,
  register,
  reschedule,
  start,
  together,
  undone,
  work,
} from "../calls";
import type { NewTask } from "../calls";
import { allOf, isAny } from "../endings";
import { later } from "../model-case";
import type { Ending, ModelCase } from "../model-case";
import { dedupeKey, groupRow, latch, requestedTask } from "../permitted-waits";

const first: NewTask = { dedupeKey: "k", payload: "[1]" };
const ready = [register({ limit: 4 }), enqueue([first]), start(1, 1)];

function replacing(payload: string): ReturnType<typeof enqueue> {
  return enqueue([{ dedupeKey: "k", payload, onDuplicate: "replace" }]);
}

/** What the caller was told became of its payload. */
function told(end: Ending, by: number): string {
  const list = end.answers[by]?.[0]?.rows[0]?.["Outcomes"];
  return list == null ? "enqueued" : (JSON.parse(String(list)) as string[]).join();
}

/** Task 1 carries this, wherever it is. */
function carries(end: Ending, ...payloads: readonly string[]): string | undefined {
  const row = [...end.rows("Task"), ...end.rows("Archive")].find((task) => task["TaskId"] === 1);
  const payload = String(row?.["PayloadUtf8"]);
  return payloads.includes(payload) ? undefined : `the task carries ${payload}`;
}

/** Told to be replaced: a claim of it gets the new payload, and the other way round. */
function claimedAsTold(end: Ending): string | undefined {
  const row = end.answers[0]?.[0]?.rows[0];
  const isReplaced = told(end, 1) === "replaced";
  const held = carries(end, isReplaced ? "[2]" : "[1]");
  if (row?.["TaskIds"] == null) return held;
  const got = String(row["Payloads"]);
  const expected = isReplaced ? "[[2]]" : "[[1]]";
  return got.replaceAll(/[\s"]/g, "") === expected
    ? held
    : `the worker got ${got}, expected ${expected}`;
}

/** A payload is replaced while others take, move or end its task. */
export const replaceCases: readonly ModelCase[] = [
  {
    name: "replace-x-claim",
    about: "a ready task is claimed with the old payload, or carries the new one",
    setup: ready,
    readersWait: true,
    callers: [[work({ execution: 1, call: 1, want: 1 })], [replacing("[2]")]],
    ends: claimedAsTold,
  },
  {
    name: "replace-in-a-transaction-x-claim",
    about: "the same from a user's transaction: the claim steps over the task meanwhile",
    setup: ready,
    readersWait: true,
    callers: [[work({ execution: 1, call: 1, want: 1 })], [together(replacing("[2]"))]],
    ends: claimedAsTold,
  },
  {
    name: "undone-replace-x-claim",
    about: "a user rolls back what was replaced: the worker gets the old payload",
    setup: ready,
    readersWait: true,
    callers: [[work({ execution: 1, call: 1, want: 1 })], [undone(replacing("[2]"))]],
    ends: (end) => carries(end, "[1]"),
  },
  {
    name: "replace-x-replace",
    about: "two enqueues replace the same payload: one after the other",
    setup: ready,
    readersWait: true,
    waits: [latch, dedupeKey],
    callers: [[replacing("[2]")], [replacing("[3]")]],
    ends: (end) =>
      allOf(
        told(end, 0) === "replaced" && told(end, 1) === "replaced"
          ? undefined
          : "one wasn't told so",
        carries(end, "[2]", "[3]"),
      ),
  },
  {
    name: "replace-x-cancel",
    about: "a task is cancelled while its payload is replaced: it ends, or is asked to",
    setup: ready,
    readersWait: true,
    waits: [dedupeKey, requestedTask],
    callers: [[cancel(1)], [replacing("[2]")]],
  },
  {
    name: "replace-x-promote",
    about: "a due task is promoted while its payload is replaced",
    setup: [register(), enqueue([{ ...first, runInMs: 10 }]), later(11)],
    readersWait: true,
    callers: [[promote], [replacing("[2]")]],
    ends: (end) => carries(end, told(end, 1) === "replaced" ? "[2]" : "[1]"),
  },
  {
    name: "replace-x-reschedule",
    about: "a ready task is put off while its payload is replaced",
    setup: ready,
    readersWait: true,
    callers: [[reschedule(60_000, 1)], [replacing("[2]")]],
    ends: (end) => carries(end, told(end, 1) === "replaced" ? "[2]" : "[1]"),
  },
  {
    name: "replace-x-hand-over",
    about: "a task that waits for its group is handed the slot while its payload is replaced",
    setup: [
      register({ limit: 4 }),
      enqueue([
        { ...first, group: "g", priority: 200 },
        { group: "g", priority: 1 },
      ]),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
    ],
    readersWait: true,
    waits: [groupRow, dedupeKey],
    callers: [[work({ execution: 1, call: 2, done: [{ task: 2, fence: 1 }] })], [replacing("[2]")]],
    ends: (end) => carries(end, told(end, 1) === "replaced" ? "[2]" : "[1]"),
  },
  {
    name: "replace-x-completion",
    about: "the key's task ends while somebody would replace its payload: over, or not begun",
    setup: [...ready, work({ execution: 1, call: 1, want: 1 })],
    readersWait: true,
    waits: [dedupeKey],
    callers: [[work({ execution: 1, call: 2, done: [{ task: 1, fence: 1 }] })], [replacing("[2]")]],
    ends: (end) =>
      ["enqueued", "duplicate"].includes(told(end, 1)) ? undefined : "it was replaced",
  },
  {
    name: "replace-x-failure",
    about:
      "the key's task fails and comes back while somebody would replace its payload: it was begun",
    setup: [...ready, work({ execution: 1, call: 1, want: 1 })],
    readersWait: true,
    waits: [dedupeKey],
    callers: [[fail(1, { task: 1, fence: 1, retryInMs: 1 })], [replacing("[2]")]],
    ends: (end) =>
      allOf(
        isAny(end.answers[0]?.[0], "done"),
        told(end, 1) === "duplicate" ? undefined : "it was replaced",
      ),
  },
];
