import {
  advance,
  enqueue,
  plainTasks,
  register,
  setLimit,
  setSharedLimit,
  setWatermark,
  start,
  together,
  undone,
} from "../calls";
import type { Call } from "../calls";
import { allOf, heldTokens, isAny } from "../endings";
import { later } from "../model-case";
import type { Ending, ModelCase } from "../model-case";
import { executionRow, latch } from "../permitted-waits";

/** Operators' calls that keep their answer, each with the operation's id 7. */
const changes: readonly { name: string; call: Call; effect: string }[] = [
  { name: "set-limit", call: setLimit(2, 7), effect: "SettingAudit" },
  { name: "set-shared-limit", call: setSharedLimit("s", 2, 7), effect: "SharedLimit" },
  { name: "set-watermark", call: setWatermark(7), effect: "BlockWatermark" },
];

const shared = [{ name: "s", limit: 4 }];
const minute = 60_000;

/** One of two calls with one id was refused, and nothing is left of it. */
function isUsedOnce(end: Ending): string | undefined {
  const refused = end.answers.flat().filter(({ errors }) => errors.includes(50409)).length;
  return allOf(
    refused === 1 ? undefined : `${String(refused)} calls are refused, expected one`,
    end.rows("Operation").length === 1 ? undefined : "expected one answer",
  );
}

/** The change, or the enqueue: which of them is there follows from whose answer is kept. */
function isWholly(end: Ending, effect: string, before: number): string | undefined {
  const isChanged = end.rows(effect).length > before;
  const isEnqueued = end.rows("Task").length === 1;
  const isKept = end.rows("Operation")[0]?.["Name"] === "enqueue_tasks";
  return isChanged !== isKept && isEnqueued === isKept
    ? undefined
    : "what is there isn't what the kept answer tells of";
}

/** An operation's id of an operator's change and of an enqueue. */
function changeMeetsEnqueue({ name, call, effect }: (typeof changes)[number]): ModelCase[] {
  const before = effect === "SettingAudit" ? 1 : 0;
  const setup = [register()];
  const waits = [latch];
  // The enqueue reads the definition that a limit is changed of.
  const readers = name === "set-limit" ? { readersWait: true as const } : {};
  return [
    {
      name: `${name}-x-enqueue-of-the-same-operation`,
      about: "an operation id of two operations: the first takes it, the other is refused",
      setup,
      waits,
      ...readers,
      errors: [50409],
      callers: [[call], [enqueue(plainTasks(1), { operation: 7 })]],
      ends: (end) => allOf(isUsedOnce(end), isWholly(end, effect, before)),
    },
    {
      name: `${name}-x-enqueue-of-the-same-operation-in-a-user-transaction`,
      about: "the same while a user's transaction has the id",
      setup,
      waits,
      ...readers,
      errors: [50409],
      callers: [[call], [together(enqueue(plainTasks(1), { operation: 7 }))]],
      ends: (end) => allOf(isUsedOnce(end), isWholly(end, effect, before)),
    },
    {
      name: `${name}-x-rolled-back-enqueue-of-the-same-operation`,
      about: "an id whose user rolls back is free: the change is made, whoever came first",
      setup,
      waits,
      ...readers,
      errors: [50409],
      callers: [[call], [undone(enqueue(plainTasks(1), { operation: 7 }))]],
      ends: (end) =>
        allOf(
          isAny(end.answers[0]?.[0], "set", "created"),
          end.rows(effect).length === before + 1 ? undefined : "the change isn't there",
        ),
    },
  ];
}

/** One id for two operations: the second call is refused with a defined error, never with that of a key. */
export const operationIdCases: readonly ModelCase[] = [
  ...changes.flatMap(changeMeetsEnqueue),
  {
    name: "set-limit-x-set-shared-limit-of-the-same-operation",
    about: "an id of two operators' changes: one is made",
    setup: [register({ shared })],
    waits: [latch],
    errors: [50409],
    callers: [[setLimit(2, 7)], [setSharedLimit("s", 2, 7)]],
    ends: isUsedOnce,
  },
  {
    name: "set-watermark-x-advance-of-the-same-operation",
    about: "an operator's move and a maker's with one id, of one watermark: one is made",
    setup: [register()],
    waits: [latch],
    errors: [50409],
    callers: [[setWatermark(7)], [advance(0, plainTasks(1), { operation: 7 })]],
    ends: isUsedOnce,
  },
  {
    name: "set-watermark-x-advance-of-another-with-the-same-operation",
    about: "the same of two watermarks, the maker's in a user's transaction",
    setup: [register()],
    waits: [latch],
    errors: [50409],
    callers: [
      [setWatermark(7)],
      [together(advance(0, plainTasks(1), { operation: 7, watermark: "other" }))],
    ],
    ends: isUsedOnce,
  },
  {
    name: "start-x-start-of-another-definition-with-the-same-operation",
    about: "an id of two executions: one starts, the other is refused, and its tokens are free",
    setup: [register(), register({ name: "b" })],
    waits: [executionRow],
    errors: [50409],
    callers: [[start(7, 1)], [start(7, 1, { name: "b" })]],
    ends: (end) => {
      const refused = end.answers.flat().filter(({ errors }) => errors.includes(50409)).length;
      return allOf(heldTokens(end, 1), refused === 1 ? undefined : "nobody is refused");
    },
  },
  {
    name: "start-x-denied-start-of-another-definition-with-the-same-operation",
    about: "an id of an execution that a rate denies is free again: the other one starts",
    setup: [
      register({ rate: { count: 1, periodMs: minute, burst: 1 } }),
      register({ name: "b" }),
      start(1, 1),
      later(1),
    ],
    waits: [executionRow],
    errors: [50409],
    callers: [[start(7, 1, { name: "b" })], [start(7, 1)]],
    ends: (end) => allOf(isAny(end.answers[0]?.[0], "started"), heldTokens(end, 2)),
  },
];
