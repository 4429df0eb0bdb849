import {
  acquire,
  cancel,
  complete,
  createBatch,
  enqueue,
  fail,
  finish,
  heartbeatStarted,
  plainTasks,
  promote,
  purge,
  reclaim,
  redrive,
  register,
  releaseSurplus,
  requestCancel,
  reschedule,
  setGroup,
  setLimit,
  setSharedLimit,
  start,
  startBatch,
  together,
  work,
} from "../cases/calls";
import type { KillCase } from "../cases/kill";
import { later, leaseOver } from "../cases/model-case";
import type { SetupStep } from "../cases/model-case";

/*
 * Situations in which one call meets tasks in every place at once: in groups and without, with keys, in waves that are open
 * and held, running. What such a call locks, and in which order, is most of what it can lock.
 */

/** Tasks that are cancelled, put off and redriven together. */
const several = [2, 3, 4, 5, 6, 7, 9, 10, 11] as const;

/**
 * Task 1 runs, in a group of its own; 2 and 3 have the slots of g, 4 waits there, 5 is in h; 6 and 7 have keys, of 7 for a second only;
 * 8 and 9 stand in the open wave 1, 10 is held in wave 2; 11 is scheduled, 12 to 14 too, which make their group when they are due.
 */
const everywhere: readonly SetupStep[] = [
  register({ limit: 4, groupSlots: 2 }),
  createBatch(1, 2),
  enqueue([
    { group: "own", priority: 1 },
    { group: "g", dedupeKey: "a" },
    { group: "g", dedupeKey: "b" },
    { group: "g" },
    { group: "h" },
    { dedupeKey: "c" },
    { dedupeKey: "d", dedupeMs: 1_000 },
  ]),
  enqueue([{}, {}], { wave: 1 }),
  enqueue([{ dedupeKey: "e" }], { wave: 2 }),
  startBatch(1),
  enqueue([{ runInMs: 60_000 }]),
  together(
    enqueue(
      ["new", "new", "new"].map((group) => ({ group })),
      { joinsTransaction: true },
    ),
  ),
  start(1, 2),
  start(2, 1),
  work({ execution: 1, call: 1, want: 1 }),
];
const first = { task: 1, fence: 1 };

/** The same with those tasks cancelled, the key of one of them over, and 15, of a group of its own, done. */
const cancelled: readonly SetupStep[] = [
  ...everywhere,
  cancel(...several),
  enqueue([{ group: "i", dedupeKey: "f", priority: 0 }]),
  work({ execution: 1, call: 2, want: 1 }),
  work({ execution: 1, call: 3, done: [{ task: 15, fence: 2 }] }),
  later(1_001),
];

/**
 * All that a purge may find, a year later: two waves of which one had tasks, an unused group beside one of each kind that stays
 * (a task is ready and one waits, a dead letter, an operator's), tasks, an execution, keys and answers
 * that are old and others that aren't, and entries of the audit.
 */
const longAgo: readonly SetupStep[] = [
  register({ limit: 4 }),
  setLimit(3, 91),
  setLimit(2, 92),
  createBatch(93, 2),
  enqueue([{}, {}], { wave: 1, operation: 94 }),
  startBatch(1),
  enqueue(["done", "dead", "full", "full", "one"].map((group) => ({ group }))),
  enqueue([{ dedupeKey: "k", dedupeMs: 1_000 }]),
  setGroup("kept", { slots: 2 }),
  start(1, 2),
  work({ execution: 1, call: 1, want: 2 }),
  work({ execution: 1, call: 2, want: 2, done: [first, { task: 2, fence: 1 }] }),
  complete(1, { task: 3, fence: 2 }),
  fail(1, { task: 4, fence: 2, as: "dead" }),
  start(2, 1),
  finish(1),
  later(401 * 86_400_000),
  enqueue([{ dedupeKey: "l", dedupeMs: 1_000 }], { operation: 95 }),
];

/** Two hold all four tokens, a third process was denied: the richer one may give. */
const denied: readonly SetupStep[] = [
  register({ limit: 4 }),
  start(1, 3),
  start(2, 1),
  start(3, 1),
  later(2_001),
];

/** Of two definitions that share a limit of four, one process holds all. */
const sharedByTwo: readonly SetupStep[] = [
  register({ limit: 4, shared: [{ name: "s", limit: 4 }] }),
  register({ name: "b", limit: 4, shared: [{ name: "s" }] }),
  start(1, 2),
  start(2, 2, { name: "b" }),
];

/** Two shared limits, of which the later one comes first by name. */
const opposite: readonly SetupStep[] = [
  register({ shared: [{ name: "t" }] }),
  register({ name: "b", shared: [{ name: "s" }] }),
];

/** One holds three tokens of a limit that is two by now. */
const lowered: readonly SetupStep[] = [
  register({ limit: 4, shared: [{ name: "s", limit: 4 }] }),
  start(1, 3),
  setSharedLimit("s", 2, 9),
];

/** Tasks without a group, of two priorities. */
const ofTwoPriorities: readonly SetupStep[] = [
  register({ limit: 4 }),
  enqueue([{ priority: 1 }, { priority: 1 }, { priority: 2 }]),
  start(1, 3),
];

/** Task 1 may start, 2 of a group is due; two may start at once. */
const ratedAndDue: readonly SetupStep[] = [
  register({ rate: { count: 60, periodMs: 3_600_000, burst: 2 } }),
  enqueue([{}, { group: "g", runInMs: 10 }]),
  start(1, 2, { needsReady: true }),
  later(11),
];

/** Execution 1 has one token and three claims. */
const withSpare: readonly SetupStep[] = [
  register({ limit: 4, prefetchMax: 2 }),
  enqueue(plainTasks(3)),
  start(1, 1),
  work({ execution: 1, call: 1, want: 3 }),
];

/** What a dead execution has lost is lost once too often: one task has a key and a slot that another one waits for. */
const lostForGood: readonly SetupStep[] = [
  register({ limit: 4, lostMax: 0 }),
  enqueue([{ group: "g", dedupeKey: "k" }, { group: "g" }, {}]),
  start(1, 2),
  work({ execution: 1, call: 1, want: 2 }),
  leaseOver,
];

/**
 * First tasks of keys, one in each place. Group 1 has none; 1 has the slot of group 2, for which 2 waits; 3 is held in a wave; 4 has the
 * slot of group 3, for which 5 waits; 6 has the slot of group 4, of which 7 is scheduled, so is 8; 9 is to be cancelled.
 */
const keyed: readonly SetupStep[] = [
  register({ limit: 4 }),
  setGroup("empty", { slots: 1 }),
  enqueue([{ group: "g" }, { group: "g", dedupeKey: "waits" }]),
  createBatch(1, 1),
  enqueue([{ dedupeKey: "held" }], { wave: 1 }),
  enqueue([{ group: "h" }, { group: "h", dedupeKey: "waits too" }]),
  enqueue([
    { group: "i", dedupeKey: "ready" },
    { group: "i", dedupeKey: "later of i", runInMs: 60_000 },
    { dedupeKey: "later", runInMs: 60_000 },
    { dedupeKey: "asked to end" },
  ]),
  requestCancel(9),
];
const keys = [
  "waits",
  "held",
  "waits too",
  "ready",
  "later of i",
  "later",
  "asked to end",
] as const;

/** Other payloads for the tasks with these keys. */
function replacing(...some: readonly string[]): ReturnType<typeof enqueue> {
  return enqueue(
    some.map((dedupeKey) => ({ dedupeKey, payload: "[2]", onDuplicate: "replace" as const })),
  );
}

/** Three are due, in groups that had to be made when they were put off. Two of these have been made since. */
const madeMeanwhile: readonly SetupStep[] = [
  register({ limit: 4 }),
  together(
    enqueue(
      ["made", "made too", "new"].map((group) => ({ group })),
      { joinsTransaction: true },
    ),
  ),
  enqueue([{ group: "made" }, { group: "made too" }]),
  later(1),
];

/** Task 1 waits for its retry and keeps the slot of its strict group, for which 2 waits. */
const strictRetry: readonly SetupStep[] = [
  register({ groupStrict: true }),
  enqueue([{ group: "g" }, { group: "g" }]),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
  fail(1, { task: 1, fence: 1, retryInMs: 60_000 }),
];

export const manyPlaces: readonly KillCase[] = [
  { name: "replace-everywhere", setup: keyed, call: replacing(...keys) },
  { name: "replace-of-ready-and-held-ones", setup: keyed, call: replacing("ready", "held") },
  { name: "cancel-everywhere", setup: everywhere, call: cancel(1, ...several, 12, 99) },
  {
    name: "cancel-of-a-keyed-task-before-its-group",
    setup: [register(), enqueue([{ group: "g", dedupeKey: "k", runInMs: 60_000 }])],
    call: cancel(1),
  },
  {
    name: "cancel-of-a-keyed-task-that-waits",
    setup: [register(), enqueue([{ group: "g" }, { group: "g", dedupeKey: "k" }])],
    call: cancel(2),
  },
  { name: "redrive-everywhere", setup: cancelled, call: redrive(1, ...several, 15, 99) },
  {
    name: "redrive-of-a-duplicate",
    setup: [
      register(),
      enqueue([{ group: "g", dedupeKey: "k" }]),
      cancel(1),
      enqueue([{ dedupeKey: "k" }]),
    ],
    call: redrive(1),
  },
  { name: "reschedule-everywhere", setup: everywhere, call: reschedule(60_000, 1, ...several, 12) },
  {
    name: "fail-everywhere",
    setup: [...everywhere, work({ execution: 1, call: 2, want: 2 })],
    call: fail(1, first, { task: 2, fence: 2, as: "dead" }, { task: 5, fence: 3, retryInMs: 5 }),
  },
  {
    name: "work-everywhere",
    setup: [...everywhere, work({ execution: 1, call: 2, want: 2 })],
    call: work({ execution: 1, call: 3, want: 2, done: [first, { task: 2, fence: 2 }] }),
  },
  {
    name: "enqueue-everywhere",
    setup: everywhere,
    call: enqueue(
      [
        { group: "g" },
        ...["made", "made", "made"].map((group) => ({ group })),
        { group: "later", runInMs: 60_000 },
        {},
        { dedupeKey: "a" },
        { dedupeKey: "c", onDuplicate: "replace", payload: "[2]" },
        { dedupeKey: "z" },
      ],
      { operation: 9 },
    ),
  },
  { name: "heartbeat-of-started", setup: withSpare, call: heartbeatStarted(1, 2) },
  { name: "finish-without-claims", setup: everywhere, call: finish(2) },
  { name: "reclaim-of-the-lost-for-good", setup: lostForGood, call: reclaim },
  {
    name: "finish-with-claims",
    setup: [...everywhere, work({ execution: 1, call: 2, want: 2 })],
    call: finish(1),
  },
  {
    name: "reclaim-everywhere",
    setup: [...everywhere, work({ execution: 1, call: 2, want: 2 }), leaseOver],
    call: reclaim,
  },
  { name: "promote-everywhere", setup: [...everywhere, later(60_001)], call: promote },
  { name: "purge-everywhere", setup: longAgo, call: purge(10) },
  { name: "pause-a-group", setup: everywhere, call: setGroup("g", { paused: true, slots: 3 }) },
  { name: "give", setup: denied, call: releaseSurplus(1, 0) },
  {
    name: "ask-again-after-a-gift",
    setup: [...denied, releaseSurplus(1, 0)],
    call: start(4, 1, { worker: 1 }),
  },
  { name: "surplus-of-a-shared-limit", setup: lowered, call: releaseSurplus(1, 0) },
  { name: "ask-after-a-gift", setup: [...denied, releaseSurplus(1, 0)], call: start(4, 1) },
  { name: "acquire-after-a-gift", setup: [...denied, releaseSurplus(1, 0)], call: acquire(2, 4) },
  {
    name: "register-beside-shared-limits",
    setup: opposite,
    call: register({ name: "c", shared: [{ name: "s" }, { name: "t" }] }),
  },
  { name: "acquire-of-a-full-shared-limit", setup: sharedByTwo, call: acquire(1, 4) },
  { name: "share-after-dead-holders", setup: [...sharedByTwo, leaseOver], call: start(9, 3) },
];

/**
 * Claims of a call that reports nothing, a promotion that makes groups, an enqueue into known ones, a strict group's retry. The first have no list to be refused, promotion
 * has settings of its own on the way, and the rest is in other situations, too, so these are about rows only.
 */
export const claimsAlone: readonly KillCase[] = [
  { name: "promote-of-groups-made-meanwhile", setup: madeMeanwhile, call: promote },
  {
    name: "enqueue-into-known-groups",
    setup: everywhere,
    call: enqueue([{ group: "h" }, { group: "g" }]),
  },
  { name: "cancel-of-a-strict-retry", setup: strictRetry, call: cancel(1) },
  { name: "reschedule-of-a-strict-retry", setup: strictRetry, call: reschedule(60_000, 1) },
  {
    name: "work-with-nothing-done",
    setup: everywhere,
    call: work({ execution: 2, call: 1, want: 1 }),
  },
  {
    name: "work-after-a-place",
    setup: ofTwoPriorities,
    call: work({
      execution: 1,
      call: 1,
      want: 3,
      after: { priority: 1, rank: -1, task: 0 },
    }),
  },
  {
    name: "work-rated-and-due",
    setup: ratedAndDue,
    call: work({ execution: 1, call: 1, want: 2 }),
  },
];
