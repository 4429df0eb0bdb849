import {
  acquire,
  advance,
  cancelBatch,
  cancel,
  complete,
  createBatch,
  enqueue,
  fail,
  finish,
  fireSchedule,
  heartbeat,
  pause,
  plainTasks,
  progress,
  promote,
  pumpBatch,
  purge,
  reclaim,
  redrive,
  register,
  release,
  releaseSurplus,
  reschedule,
  rollUp,
  resume,
  resumeBatch,
  setGroup,
  setLimit,
  registerApp,
  setOwner,
  setRate,
  setSchedulePaused,
  setSchedules,
  setSharedLimit,
  setStop,
  setWatermark,
  start,
  startBatch,
  together,
  tokensOfBefore,
  work,
} from "../calls";
import { heldTokens, statusOf } from "../endings";
import type { KillCase } from "../kill";
import { later, leaseOver } from "../model-case";
import type { ModelCase, SetupStep } from "../model-case";
import { dedupeKey, definitionRow, groupRow, latch } from "../permitted-waits";
import { doneLongAgo, inAMonth } from "./purges";

/** Task 1 of group g runs, 2 waits for it, 3 is ready, 4 scheduled; another execution has one of four tokens. */
const busy: readonly SetupStep[] = [
  register({ limit: 4 }),
  enqueue([{ group: "g", dedupeKey: "k" }, { group: "g" }, {}, { runInMs: 10 }]),
  start(1, 2),
  start(2, 1),
  work({ execution: 1, call: 1, want: 1 }),
  later(11),
];
const first = { task: 1, fence: 1 };

/** The same with more ready tasks, of which one end is the first one. */
const manyReady = [...busy, enqueue([{ priority: 1 }, {}])];

/** Two stays with tokens of a limit that their definition shares. */
const shared = [
  register({ limit: 4, shared: [{ name: "s", limit: 4 }] }),
  start(1, 2),
  start(2, 1),
];

/** Tasks that may start two at once, and a worker for them. */
const rated = [
  register({ rate: { count: 60, periodMs: 3_600_000, burst: 2 } }),
  enqueue(plainTasks(3)),
  start(1, 2, { needsReady: true }),
];

/** Batch 1: task 1 of its first wave is claimed, the second wave holds another. */
const inWaves = [
  register({ limit: 4 }),
  createBatch(1, 2),
  enqueue([{}], { wave: 1 }),
  enqueue([{}], { wave: 2 }),
  startBatch(1),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
];

/** Schedule 1 is due. */
const due = [register(), setSchedules([{ group: "g" }, { name: "t" }]), later(11)];

/** Every changing operation, cut at each of its steps. */
export const killCases: readonly KillCase[] = [
  { name: "register-new", setup: [], call: register() },
  { name: "register-new-in-a-stop", setup: [setStop(true)], call: register() },
  { name: "set-stop", setup: busy, call: setStop(true) },
  { name: "end-stop", setup: [...busy, setStop(true)], call: setStop(false) },
  { name: "register-changed", setup: busy, call: register({ build: 2, limit: 2 }) },
  { name: "set-limit", setup: manyReady, call: setLimit(-1, 1) },
  { name: "set-rate", setup: rated, call: setRate(5) },
  { name: "register-app", setup: [], call: registerApp("x", ["a", "b"]) },
  {
    name: "register-app-changed",
    setup: [registerApp("x", ["a"], "q")],
    call: registerApp("x", ["a", "b"], "r"),
  },
  {
    name: "set-owner",
    setup: [...busy, registerApp("x", ["a"], "q"), registerApp("y", [])],
    call: setOwner("y"),
  },
  { name: "release-owner", setup: [...busy, registerApp("x", ["a"])], call: setOwner(null) },
  { name: "set-shared-limit", setup: shared, call: setSharedLimit("s", 1, 9) },
  { name: "set-shared-limit-new", setup: busy, call: setSharedLimit("s", 1, 9) },
  {
    name: "register-shared",
    setup: shared,
    call: register({ build: 2, shared: [{ name: "t", limit: 1 }] }),
  },
  { name: "start-shared", setup: shared, call: start(3, 1) },
  { name: "start-shared-after-dead-holders", setup: [...shared, leaseOver], call: start(3, 4) },
  { name: "acquire-shared", setup: shared, call: acquire(2, 2) },
  { name: "release-shared", setup: shared, call: release(1, 1) },
  { name: "finish-shared", setup: shared, call: finish(1) },
  { name: "start-rated", setup: rated, call: start(3, 1) },
  {
    name: "work-rated",
    setup: [...rated, work({ execution: 1, call: 1, want: 1 })],
    call: work({ execution: 1, call: 2, want: 2, done: [first] }),
  },
  { name: "pause", setup: manyReady, call: pause },
  { name: "resume", setup: [...manyReady, pause], call: resume },
  { name: "start", setup: busy, call: start(3, 1) },
  { name: "start-after-dead-holders", setup: [...busy, leaseOver], call: start(3, 4) },
  { name: "acquire", setup: busy, call: acquire(2, 2) },
  { name: "acquire-tokens-of-before", setup: [...busy, tokensOfBefore], call: acquire(2, 2) },
  { name: "release", setup: busy, call: release(1, 1) },
  { name: "release-surplus", setup: [...busy, setLimit(1, 1)], call: releaseSurplus(1, 1) },
  {
    name: "work",
    setup: busy,
    call: work({ execution: 1, call: 2, want: 2, done: [first] }),
  },
  { name: "complete", setup: busy, call: complete(1, first) },
  { name: "fail", setup: busy, call: fail(1, { ...first, as: "dead" }) },
  { name: "heartbeat", setup: busy, call: heartbeat(1, 2) },
  { name: "progress", setup: busy, call: progress(1, first) },
  { name: "finish", setup: busy, call: finish(1) },
  { name: "reclaim", setup: [...busy, leaseOver], call: reclaim },
  {
    name: "enqueue",
    setup: busy,
    call: enqueue([{ group: "g" }, { group: "h" }, { dedupeKey: "l" }], { operation: 9 }),
  },
  { name: "promote", setup: busy, call: promote },
  { name: "create-batch", setup: [], call: createBatch(1, 2) },
  {
    name: "enqueue-into-a-wave",
    setup: inWaves.slice(0, 2),
    call: enqueue([{}], { wave: 2, operation: 9 }),
  },
  { name: "start-batch", setup: inWaves.slice(0, 4), call: startBatch(1) },
  { name: "last-of-a-wave", setup: inWaves, call: work({ execution: 1, call: 2, done: [first] }) },
  {
    name: "resume-batch",
    setup: [...inWaves, fail(1, { ...first, as: "dead" })],
    call: resumeBatch(1),
  },
  { name: "cancel-batch", setup: inWaves, call: cancelBatch(1) },
  {
    name: "pump-a-cancelled-batch",
    setup: [register({ limit: 4 }), createBatch(1, 1), enqueue([{}], { wave: 1 }), cancelBatch(1)],
    call: pumpBatch(1, 10),
  },
  { name: "cancel", setup: busy, call: cancel(1, 2, 3, 4) },
  { name: "redrive", setup: [...busy, cancel(2, 3)], call: redrive(2, 3) },
  {
    name: "reschedule",
    setup: busy,
    call: reschedule(60_000, 1, 2, 3, 4),
    // A repeat counts the time from its own moment: the audit tells of both.
    repeatAdds: "CallAudit",
  },
  { name: "set-group", setup: busy, call: setGroup("g", { slots: 3 }) },
  {
    name: "roll-up",
    setup: [...busy, work({ execution: 1, call: 9, done: [first] })],
    call: rollUp(10),
    // A repeat may come in another minute, and says when it has counted.
    repeatAdds: "StatisticRound",
  },
  {
    name: "purge-batches",
    setup: inAMonth(createBatch(1, 2), startBatch(1)),
    call: purge(10),
  },
  {
    name: "purge",
    setup: [
      ...inAMonth(
        register(),
        enqueue([{ dedupeKey: "k", dedupeMs: 1_000 }], { operation: 9 }),
        start(1, 1),
        work({ execution: 1, call: 1, want: 1 }),
        fail(1, { ...first, as: "dead" }),
        finish(1),
      ),
    ],
    call: purge(10),
  },
  { name: "purge-of-a-done-task", setup: doneLongAgo, call: purge(10) },
  {
    name: "purge-of-groups",
    setup: [
      register(),
      enqueue([{ group: "g" }, { group: "h" }]),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
      complete(1, first),
    ],
    call: purge(10),
  },
  {
    name: "enqueue-replacing",
    setup: [
      register(),
      enqueue([{ group: "g" }, { group: "g", dedupeKey: "w" }, { dedupeKey: "r" }]),
      enqueue([{ dedupeKey: "s", runInMs: 60_000 }]),
    ],
    call: enqueue(
      ["w", "r", "s"].map((dedupeKey) => ({ dedupeKey, payload: "[2]", onDuplicate: "replace" })),
    ),
  },
  { name: "set-schedules-new", setup: busy, call: setSchedules([{ group: "g" }, { name: "t" }]) },
  {
    name: "set-schedules-changed",
    setup: due,
    call: setSchedules([{ cron: "1 * * * *" }, { name: "u" }]),
  },
  {
    name: "set-schedules-in-a-stop",
    setup: [...due, setStop(true)],
    call: setSchedules([{ group: "g" }, { name: "t" }, { name: "u" }]),
  },
  { name: "fire-schedule", setup: due, call: fireSchedule() },
  { name: "pause-schedule", setup: due, call: setSchedulePaused(true) },
  {
    name: "resume-schedule",
    setup: [...due, setSchedulePaused(true)],
    call: setSchedulePaused(false),
  },
  {
    name: "advance-new",
    setup: busy,
    call: advance(0, [{ group: "g" }, { group: "h" }, { dedupeKey: "l" }, {}], { operation: 9 }),
  },
  {
    name: "advance",
    setup: [...busy, advance(0, [])],
    call: advance(1, [{}, { dedupeKey: "k" }], { operation: 9 }),
  },
  { name: "set-watermark-new", setup: busy, call: setWatermark(9) },
  { name: "set-watermark", setup: [...busy, advance(0, [])], call: setWatermark(9) },
  { name: "set-group-new", setup: busy, call: setGroup("new", { paused: true }) },
];

/** A caller loses its connection while another one needs what it holds: that one goes on. */
export const cutCases: readonly ModelCase[] = [
  {
    name: "start-x-cut-start",
    about: "limit 1: an asker dies at any moment; the token is its own, or the other's",
    setup: [register({ limit: 1 })],
    callers: [[start(1, 1)], [start(2, 1)]],
    waits: [definitionRow],
    cut: [0],
    ends: (end) => heldTokens(end, end.rows("TaskExecution").length),
  },
  {
    name: "fire-x-cut-fire",
    about: "a sweeper dies while it fires a schedule: the other one fires it, or it was fired",
    setup: due,
    callers: [[fireSchedule()], [fireSchedule()]],
    cut: [0],
    ends: (end) => {
      const fired = end.rows("Task").length;
      const last = end.rows("Schedule")[0]?.["LastRunAt"];
      return fired === (last === null ? 0 : 1) ? undefined : `${String(fired)} tasks`;
    },
  },
  {
    name: "claim-x-cut-claim",
    about: "a worker dies while it claims: its tasks are claimed, or ready",
    setup: [register({ limit: 4 }), enqueue(plainTasks(2)), start(1, 1), start(2, 1)],
    callers: [
      [work({ execution: 1, call: 1, want: 1 })],
      [work({ execution: 2, call: 1, want: 1 })],
    ],
    cut: [0],
    ends: (end) =>
      statusOf(end.answers[1]?.[0]) === "claimed" ? undefined : "the other one got nothing",
  },
  {
    name: "enqueue-x-cut-hand-over",
    about: "a worker dies while its group's slot is handed over",
    setup: [
      register(),
      enqueue([{ group: "g" }]),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
    ],
    callers: [[work({ execution: 1, call: 2, done: [first] })], [enqueue([{ group: "g" }])]],
    waits: [groupRow, latch],
    cut: [0],
  },
  {
    name: "advance-x-cut-advance",
    about: "a maker dies at any moment: the blocks are its own, or the other's, never both",
    setup: [register()],
    callers: [[advance(0, plainTasks(2))], [advance(0, plainTasks(2))]],
    waits: [latch],
    cut: [0],
    ends: (end) =>
      end.rows("BlockWatermark").length === 1 && end.rows("Task").length === 2
        ? undefined
        : "expected one watermark with its two blocks",
  },
  {
    name: "enqueue-x-cut-user-transaction",
    about: "a user's connection dies with a key in its transaction: the other one takes it",
    setup: [register()],
    callers: [[together(enqueue([{ dedupeKey: "k" }]))], [enqueue([{ dedupeKey: "k" }])]],
    waits: [latch, dedupeKey],
    cut: [0],
    ends: (end) =>
      end.rows("Dedupe").length === 1 && end.rows("Task").length === 1
        ? undefined
        : "expected one task with its key",
  },
];
