import { expect, test } from "@jest/globals";
import { Estimate } from "../../../shared/terminal/estimate";
import { EventView } from "../../../shared/local/dev-events";
import type { DevEvent } from "../../../shared/local/dev-events";
import { describeWork, drawFrame, shareOf } from "../../../shared/local/live-frame";
import type { LiveState } from "../../../shared/local/live-frame";
import { drawLine, PlainView } from "../../../shared/local/plain-view";
import { judge, ProgressReader } from "../../../shared/local/progress";
import type { Progress } from "../../../shared/local/progress";
import type { LocalRun } from "../../../shared/local/local-run";
import { textWidth } from "../../../shared/terminal/text-width";
import { chooseTheme } from "../../../shared/terminal/theme";
import { realRandom } from "../../../shared/platform/real-clock";
import type { DefinitionStatus } from "../../../shared/ports/task-store";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { define, enqueue, operationId, startWorker } from "../../support/builders";

const plain = chooseTheme({ isTTY: false }, {});
const coloured = chooseTheme({ isTTY: true }, { TERM: "xterm" });

function definition(changes: Partial<DefinitionStatus>): DefinitionStatus {
  const settings = {
    leaseMs: 60_000,
    retryAttempts: 5,
    lostMax: 3,
    prefetchMax: 1,
    build: 1,
    tokenFence: "1",
  };
  const limit = { limit: 4, limitSource: "code", codeLimit: 4, paused: false } as const;
  const rate = {
    rate: null,
    rateSource: "code" as const,
    codeRate: null,
    rateInMs: null,
    sharedLimits: [],
  };
  const counts = {
    held: 0,
    executions: 0,
    ready: 0,
    scheduled: 0,
    waiting: 0,
    claimed: 0,
    running: 0,
    prefetched: 0,
    done: 0,
    dead: 0,
  };
  return {
    name: "parse-block",
    ...settings,
    ...limit,
    ...rate,
    ...counts,
    cancelled: 0,
    nextDueMs: null,
    ...changes,
  };
}

function progress(changes: Partial<Progress> = {}): Progress {
  return {
    definitions: [
      definition({ held: 3, ready: 50, claimed: 5, running: 3, prefetched: 2, done: 37 }),
      definition({ name: "check-row", dead: 1 }),
    ],
    deadLetters: [
      {
        definition: "check-row",
        task: "9",
        endedAt: "",
        reason: "the payload is invalid: row 17.origin: no\nat x",
      },
    ],
    paced: { ended: 37, total: 90, isKnown: true, isCut: false, stopped: 0 },
    others: { ended: 100, total: 100 },
    files: { landed: 3, imported: 3 },
    batches: [{ name: "flights.json", wave: 1, waves: 3, total: 80, ended: 37 }],
    isSettled: false,
    ...changes,
  };
}

function state(changes: Partial<LiveState> = {}): LiveState {
  return {
    title: "flights",
    progress: progress(),
    elapsedMs: 12_345,
    leftMs: 17_000,
    pageUrl: "http://127.0.0.1:7071/api/dashboard",
    lastLine: "12:00:01 info  something",
    notice: null,
    workers: [{ name: "local-1", pid: 4711, ends: 0, lastEnd: null }],
    failingTimers: new Map(),
    restarts: 0,
    pacedDefinition: "parse-block",
    hasKeys: true,
    ...changes,
  };
}

test("the picture shows the progress, the holders, the dead letters and their reasons", () => {
  const text = drawFrame(state(), { columns: 120, rows: 40 }, plain).join("\n");

  expect(text).toContain("41%  12 s, about 17 s left");
  expect(text).toContain("3 of 3 files, 37 of 90 blocks");
  expect(text).toContain("flights.json  wave 1 of 3  [#########-----------]  37 of 80");
  expect(text).toMatch(/parse-block {2}###\. {2}3\/4 +50 +0 +0 +3 +2 +37 +0/);
  expect(text).toContain("1 dead letter\n  check-row  row 17.origin: no\n");
  expect(text).toContain("keys  + and - change the limit of parse-block, q ends");
});

test("the picture names each worker, and one that ended by itself until it is back and after", () => {
  const workers = [
    { name: "local-1", pid: 4711, ends: 0, lastEnd: null },
    { name: "local-2", pid: null, ends: 1, lastEnd: "SIGKILL" },
    { name: "local-3", pid: 4713, ends: 2, lastEnd: "exit code 1" },
  ];
  const text = drawFrame(state({ workers }), { columns: 150, rows: 40 }, plain).join("\n");
  expect(text).toContain(
    "local-1 (process 4711)  local-2 starting again: SIGKILL  local-3 (process 4713, started again 2 times: exit code 1)",
  );
});

test("the picture names a timer whose last run failed, with the first line of its error", () => {
  const failingTimers = new Map([["sweep", "no kind\n    at sweep"]]);
  const text = drawFrame(state({ failingTimers }), { columns: 120, rows: 40 }, plain).join("\n");
  expect(text).toContain("\nsweep failed: no kind\n");
});

test("each worker that ended by itself has a line, once, and not only every five seconds", () => {
  const lines: string[] = [];
  const view = new PlainView((line) => lines.push(line));
  const worker = { name: "local-2", pid: 1, ends: 0, lastEnd: null };
  view.draw(state({ elapsedMs: 0, workers: [worker] }));
  const dead = { ...worker, pid: null, ends: 1, lastEnd: "SIGKILL" };
  for (const elapsedMs of [300, 600]) view.draw(state({ elapsedMs, workers: [dead] }));
  view.draw(state({ elapsedMs: 900, workers: [{ ...dead, ends: 2, lastEnd: "exit code 1" }] }));
  expect(lines.slice(1)).toEqual([
    "Worker local-2 ended by itself (SIGKILL): it is started again; its tasks come back when its lease is over.",
    "Worker local-2 ended by itself (exit code 1): it is started again; its tasks come back when its lease is over.",
  ]);
});

test("the option --json writes an event each five seconds, and at once when a worker has ended or begins anew", () => {
  const told: DevEvent[] = [];
  const view = new EventView((event) => told.push(event));
  const worker = { name: "local-2", pid: 1, ends: 0, lastEnd: null };
  const at = (elapsedMs: number, changes: Partial<LiveState> = {}) => {
    view.draw(state({ elapsedMs, leftMs: 1.5, workers: [worker], ...changes }));
  };
  for (const elapsedMs of [0.2, 300, 4_999, 5_000.2, 5_300]) at(elapsedMs);
  const workers = [{ ...worker, pid: null, ends: 1, lastEnd: "SIGKILL" }];
  for (const elapsedMs of [5_600, 5_900]) at(elapsedMs, { workers });
  at(6_200, { workers, restarts: 1 });
  expect(told).toMatchObject([
    { event: "progress", elapsedMs: 0, estimatedLeftMs: 2, restarts: 0 },
    { event: "progress", elapsedMs: 5_000, workers: [worker] },
    { event: "progress", elapsedMs: 5_600, workers },
    { event: "progress", elapsedMs: 6_200, restarts: 1 },
  ]);
  const { share, files, definitions } = told[0] as DevEvent & { event: "progress" };
  const { progress: drawn } = state();
  expect({ share, files, definitions }).toEqual({
    share: shareOf(drawn),
    files: drawn.files,
    definitions: drawn.definitions,
  });
});

test("the progress without a sample is that of all tasks, and the keys change no limit", () => {
  const own = progress({
    files: null,
    paced: { ended: 3, total: 12, isKnown: true, isCut: false, stopped: 0 },
  });
  const without = { progress: own, title: "the tasks of this app", pacedDefinition: null };
  const text = drawFrame(state(without), { columns: 120, rows: 40 }, plain).join("\n");
  expect(text).toContain("25%");
  expect(text).toContain("3 of 12 tasks");
  expect(text).toContain("keys  q ends");
  const cut = { ended: 10_007, total: 20_008, isKnown: true, isCut: true, stopped: 0 };
  expect(shareOf(progress({ files: null, paced: cut }))).toBeNull();
  expect(describeWork(progress({ files: null, paced: cut }))).toBe(
    "10000+ tasks have ended, 10000+ to go",
  );
  const idle = progress({
    files: null,
    paced: { ended: 0, total: 0, isKnown: true, isCut: false, stopped: 0 },
  });
  expect(describeWork(idle)).toMatch(/^no tasks yet: npx taskgate enqueue/);
});

test.each([
  [40, 10],
  [80, 24],
  [10, 3],
  [1, 1],
])("the picture fits a terminal of %s x %s, in colours, too", (columns, rows) => {
  for (const theme of [plain, coloured]) {
    const lines = drawFrame(state(), { columns, rows }, theme);
    expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(Math.max(0, columns - 1));
  }
});

test("the text of a dead letter can't move the cursor", () => {
  const evil = [
    { definition: "check-row", task: "9", endedAt: "", reason: "\u001b[2J\u001b[Hgone" },
  ];
  const lines = drawFrame(
    state({ progress: progress({ deadLetters: evil }) }),
    { columns: 80, rows: 40 },
    plain,
  );

  expect(lines.join("")).not.toContain("\u001b");
});

test.each([
  [{}, "", false],
  [{ isTTY: true }, "", true],
  [{ isTTY: true }, "1", false],
])("the colours of %j with NO_COLOR=%j are %s", (stream, noColour, isColoured) => {
  const theme = chooseTheme(stream, { NO_COLOR: noColour });

  expect(theme.bad("x") !== "x").toBe(isColoured);
});

test("a line for outputs without a screen", () => {
  expect(drawLine(state())).toBe(
    "12 s  41%  3 of 3 files, 37 of 90 blocks  flights.json 1/3  parse-block 3/4  1 dead letter, about 17 s left",
  );
});

test("the progress leaves out tasks that no worker starts: those of a pause, of a limit of 0 and of a shared one", async () => {
  const store = new MemoryTaskStore({ clock: { now: () => 0 }, random: realRandom });
  const [free, paused, zero, shared] = [
    await define(store, { limit: 5 }),
    await define(store, {}),
    await define(store, { limit: 0 }),
    await define(store, { limit: 3, sharedLimits: [{ name: "nothing", limit: 0 }] }),
  ];
  await store.pauseDefinition({ name: paused, changedBy: "a test" });
  for (const name of [paused, zero, shared]) await enqueue(store, name, 1);
  await enqueue(store, free, 4);
  const worker = await startWorker(store, free, { want: 2 });
  await worker.complete(await worker.claim(2));
  const run = { store, sample: null, queue: { pending: () => Promise.resolve(0) } };
  const read = await new ProgressReader(run as unknown as LocalRun).read();
  expect(read.paced).toMatchObject({ ended: 2, total: 7, stopped: 3 });
  expect(shareOf(read)).toBe(0.5);
  expect(describeWork(read)).toBe("2 of 7 tasks, 3 don't start: paused, or a limit of 0");
  await worker.complete(await worker.claim(2));
  expect(shareOf(await new ProgressReader(run as unknown as LocalRun).read())).toBe(1);
});

test("the share of the work is mostly that of the tasks that take the time", () => {
  const half = {
    paced: { ended: 40, total: 80, isKnown: true, isCut: false, stopped: 0 },
    others: { ended: 50, total: 100 },
  };

  expect(shareOf(progress(half))).toBeCloseTo(0.9 * 0.5 + 0.1 * 0.5 * 0.5);
  expect(
    shareOf(progress({ paced: { ended: 0, total: 5, isKnown: false, isCut: false, stopped: 0 } })),
  ).toBeNull();
  expect(
    shareOf(progress({ paced: { ended: 5, total: 5, isKnown: true, isCut: false, stopped: 0 } })),
  ).toBe(0.99);
  expect(shareOf(progress({ isSettled: true }))).toBe(1);
});

test("the estimate follows the pace of the last seconds, and starts again when work is added", () => {
  const estimate = new Estimate();
  estimate.note(0, 0);
  estimate.note(2_000, 0.1);
  expect(estimate.leftMs()).toBeNull();
  estimate.note(5_000, 0.5);
  expect(estimate.leftMs()).toBe(5_000);
  for (let atMs = 6_000; atMs <= 30_000; atMs += 1_000) estimate.note(atMs, 0.5);
  expect(estimate.leftMs()).toBeNull();
  estimate.note(31_000, 0.2);
  expect(estimate.leftMs()).toBeNull();
});

test("an estimate tells no time left where nothing is left", () => {
  const estimate = new Estimate();
  for (const [atMs, share] of [
    [0, 0],
    [4_000, 0.5],
    [5_000, 1],
  ] as const)
    estimate.note(atMs, share);
  expect(estimate.leftMs()).toBeNull();
});

const ofPartner = (held: number) => [
  { name: "partner-api", limit: 4, limitSource: "code" as const, held },
];
const limited = (changes: Partial<DefinitionStatus>): DefinitionStatus =>
  definition({ limit: null, sharedLimits: ofPartner(3), ...changes });
const functions = limited({ name: "calls:partner-api", held: 2 });

test("the line and the picture name functions and the shared limit, with the tokens of others", () => {
  const definitions = [functions, limited({ name: "notify", held: 1, running: 1 })];
  const shown = state({ progress: progress({ definitions, files: null }) });
  expect(drawLine(shown)).toContain(
    "functions under partner-api 2/4 (3 by all), notify 1/4 of partner-api (3 by all)",
  );
  const text = drawFrame(shown, { columns: 130, rows: 40 }, plain).join("\n");
  expect(text).toMatch(/functions under partner-api {2}##\+\. {2}2\/4 +- +- +- +- +- +- +-\n/);
  expect(text).toMatch(/notify {2,}#\+\+\. {2}1\/4 of partner-api +0 +0 +0 +1 +0 +0 +0\n/);
});

test("the share of the work isn't known while functions hold tokens, as their messages are in no count", () => {
  const paced = { ended: 4, total: 4, isKnown: true, isCut: false, stopped: 0 };
  const shareWith = (held: number) =>
    shareOf(progress({ definitions: [{ ...functions, held }], paced, files: null }));
  expect([shareWith(2), shareWith(0)]).toEqual([null, 1]);
  expect(
    drawLine(
      state({
        leftMs: null,
        progress: progress({ definitions: [functions], paced, files: null, batches: [] }),
      }),
    ),
  ).toMatch(/^12 s {2}\.\.% {2}4 of 4 tasks {2}functions/);
});

test("a run is good when all files are in and only the expected dead letters exist", () => {
  const expected = [{ definition: "check-row", contains: "row 17.origin" }];

  expect(judge(progress(), { expected, poisoned: 0 })).toEqual({ isGood: true, problems: [] });
});

test("every unexpected result is told", () => {
  const bad = progress({ files: { landed: 3, imported: 2 } });

  const verdict = judge(bad, {
    expected: [{ definition: "check-row", contains: "row 18" }],
    poisoned: 1,
  });

  expect(verdict).toEqual({
    isGood: false,
    problems: [
      "1 of 3 files were not imported.",
      "1 events are in the poison queue: see the log.",
      "A dead letter of check-row is missing: row 18",
      "Task 9 of check-row is a dead letter: the payload is invalid: row 17.origin: no",
    ],
  });
});

test("a run isn't settled while a wave is still to open: blocked tasks are in no definition's counts", async () => {
  const store = new MemoryTaskStore({ clock: { now: () => 0 }, random: realRandom });
  const name = await define(store, {}, "parse-block");
  const input = { operationId: operationId(), name: "f.json", failurePolicy: "halt" } as const;
  const { batchId, waveIds } = await store.createBatch({ ...input, waves: 2 });
  const [first, second] = waveIds;
  const add = (waveId: typeof first, count: number) =>
    store.enqueueTasks({
      name,
      build: 1,
      operationId: null,
      tasks: Array.from({ length: count }, () => ({ payload: null })),
      ...(waveId === undefined ? {} : { waveId }),
    });
  await add(first, 1);
  await add(second, 3);
  await store.startBatch({ batchId, seal: true });
  const sample = {
    definitions: [{ name }],
    intakeDefinition: "import-file",
    pacedDefinition: name,
    importedEvents: () => Promise.resolve(["e"]),
  };
  const landing = { eventIds: new Set(["e"]) };
  const queue = { pending: () => Promise.resolve(0) };
  const reader = new ProgressReader({ store, queue, landing, sample } as unknown as LocalRun);
  // The wave's only task has ended, and the next one isn't open, as far as the counts of definitions say.
  const listDefinitions = store.listDefinitions.bind(store);
  store.listDefinitions = async (ask) => {
    const { definitions } = await listDefinitions(ask);
    return { definitions: definitions.map((row) => ({ ...row, ready: 0 })) };
  };

  expect(await reader.read()).toMatchObject({
    isSettled: false,
    batches: [{ name: "f.json", wave: 1, waves: 2, total: 1, ended: 0 }],
    others: { total: 3 },
  });
});
