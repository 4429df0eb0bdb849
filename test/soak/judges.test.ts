/* What judges a soak, with planted faults: each must break its verdict, and a good run none. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ruleNames } from "./findings";
import type { Rule } from "./findings";
import { LedgerJudge } from "./judge";
import { formatEntry, openLedger, parseEntry } from "./ledger";
import type { Entry, WorkerNews } from "./ledger";
import { LedgerReader } from "./ledger-reader";
import { readOptions } from "./options";
import { kinds, leaseMs, waves } from "./plan";
import type { KindName } from "./plan";
import type { Sample } from "./sample";
import { svgPlot } from "./svg-plot";
import { claimVerdict, growthVerdicts, isGood, ledgerVerdict, verdictsOf } from "./verdicts";

const scale = { rate: 150, retainMs: 60_000, delayMs: 1_000, doomedMs: 1_000 };
const minuteMs = 60_000;

interface Run {
  readonly task: string;
  readonly fence?: string;
  readonly kind?: KindName;
  readonly worker?: string;
  readonly tag?: string | null;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A handler's run. */
function runOf(run: Run): Entry[] {
  const { task, fence = "1", kind = "plain", worker = "a", tag = null, fromMs, untilMs } = run;
  return [
    { is: "begin", atMs: fromMs, task, fence, kind, worker, tag, waitMs: null },
    { is: "end", atMs: untilMs, task, fence, how: "returned" },
  ];
}

/** A task that is enqueued, runs and is done. */
function lifeOf(run: Run): Entry[] {
  const { task, kind = "plain", tag = null, fromMs, untilMs } = run;
  return [
    { is: "queued", atMs: fromMs - 1, task, kind },
    ...runOf(run),
    { is: "ended", atMs: untilMs + 1, task, kind, outcome: "done", tag },
  ];
}

function brokenRules(entries: readonly Entry[]): Rule[] {
  const { findings } = judged(entries);
  return ruleNames.filter((rule) => findings.count(rule) > 0);
}

function judged(entries: readonly Entry[]): LedgerJudge {
  const judge = new LedgerJudge(scale);
  // Told in pieces, in no order of time.
  judge.tell([...entries].reverse());
  judge.finish();
  return judge;
}

const good: Entry[] = [
  { is: "leg", atMs: 0, what: "started" },
  ...lifeOf({ task: "1", fromMs: 100, untilMs: 200 }),
  ...lifeOf({ task: "2", fromMs: 150, untilMs: 250, worker: "b" }),
  { is: "leg", atMs: 1_000, what: "stopped" },
];

test("the judge of the ledger finds nothing in a good one", () => {
  const judge = judged(good);
  expect(ledgerVerdict(judge.findings)).toMatchObject({ isGood: true });
  expect(judge.lives.counts).toMatchObject({ acknowledged: 2, begun: 2, done: 2 });
});

test("the judge of the ledger finds a lost task", () => {
  const lost: Entry = { is: "queued", atMs: 120, task: "3", kind: "plain" };
  expect(brokenRules([...good, lost])).toEqual(["nothing lost"]);
  const verdict = ledgerVerdict(judged([...good, lost]).findings);
  expect(verdict).toMatchObject({ isGood: false });
  expect(isGood([verdict])).toBe(false);
});

test("the judge of the ledger finds a lease that a worker lost for no reason", () => {
  const news = (atMs: number, what: WorkerNews): Entry => ({
    is: "worker",
    atMs,
    worker: "a",
    what,
  });
  const late = 10 * leaseMs;
  expect(brokenRules([...good, news(late, "late")])).toEqual(["leases"]);
  // Behind a freeze, or another loss of the same time, there is one.
  const frozen = [news(late - leaseMs, "frozen"), news(late - 1, "thawed")];
  expect(brokenRules([...good, ...frozen, news(late, "late"), news(late + 10, "late")])).toEqual(
    [],
  );
  expect(brokenRules([...good, news(leaseMs, "late")])).toEqual([]);
});

test("the judge of the ledger finds a lost child", () => {
  const parent = lifeOf({ task: "3", kind: "parent", fromMs: 100, untilMs: 200 });
  const child = lifeOf({ task: "4", kind: "child", tag: "3", fromMs: 300, untilMs: 400 });
  expect(brokenRules([...good, ...parent, ...child])).toEqual([]);
  expect(brokenRules([...good, ...parent])).toEqual(["nothing lost"]);
});

test("the judge of the ledger finds more tasks of a limit than may run", () => {
  const tasks = Array.from({ length: kinds.narrow.limit + 1 }, (_, index) =>
    lifeOf({ task: String(10 + index), kind: "narrow", fromMs: 300 + index, untilMs: 400 }),
  );
  expect(brokenRules([...good, ...tasks.slice(1).flat()])).toEqual([]);
  expect(brokenRules([...good, ...tasks.flat()])).toEqual(["limits"]);
});

test("the judge of the ledger finds more tasks of a group and of a shared limit than may run", () => {
  const grouped = (tag: (index: number) => string, count: number): Entry[] =>
    Array.from({ length: count }, (_, index) =>
      lifeOf({
        ...{ task: String(10 + index), kind: "grouped", tag: tag(index) },
        ...{ fromMs: 300 + index, untilMs: 400 },
      }),
    ).flat();
  expect(brokenRules(grouped(() => "g1", 2))).toEqual([]);
  expect(brokenRules(grouped(() => "g1", 3))).toEqual(["limits"]);
  expect(brokenRules(grouped((index) => `g${String(index)}`, 5))).toEqual(["limits"]);
});

test("the judge of the ledger does not count the run of a frozen worker whose lease may be over", () => {
  const held = [0, 1].flatMap((index) =>
    lifeOf({
      ...{ task: String(10 + index), kind: "narrow", worker: "frozen" },
      ...{ fromMs: 300, untilMs: 400 + 2 * leaseMs },
    }),
  );
  const other = lifeOf({
    task: "12",
    kind: "narrow",
    fromMs: 350 + leaseMs,
    untilMs: 370 + leaseMs,
  });
  const freeze: Entry[] = [
    { is: "worker", atMs: 310, worker: "frozen", what: "frozen" },
    { is: "worker", atMs: 390 + 2 * leaseMs, worker: "frozen", what: "thawed" },
  ];
  expect(brokenRules([...held, ...other])).toEqual(["limits"]);
  expect(brokenRules([...held, ...other, ...freeze])).toEqual([]);
  // The worker tells of it, too, somewhat later.
  const own: Entry = { is: "worker", atMs: 391 + 2 * leaseMs, worker: "frozen", what: "thawed" };
  expect(brokenRules([...held, ...other, ...freeze, own])).toEqual([]);
  const short: Entry[] = [
    { is: "worker", atMs: 310, worker: "frozen", what: "frozen" },
    { is: "worker", atMs: 320, worker: "frozen", what: "thawed" },
  ];
  expect(brokenRules([...held, ...other, ...short])).toEqual(["limits"]);
});

test("the judge of the ledger finds a run after the end, and one without a reason", () => {
  const again = runOf({ task: "1", fence: "2", fromMs: 500, untilMs: 600 });
  expect(brokenRules([...good, ...again])).toEqual(["once"]);
  const twice = [
    ...runOf({ task: "3", fromMs: 300, untilMs: 320 }),
    ...lifeOf({ task: "3", fence: "2", worker: "b", fromMs: 400, untilMs: 420 }),
  ];
  expect(brokenRules(twice)).toEqual(["once"]);
  const killed: Entry = { is: "worker", atMs: 330, worker: "a", what: "killed" };
  expect(brokenRules([...twice, killed])).toEqual([]);
});

test("the judge of the ledger finds a task that runs in two processes", () => {
  const runs = [
    ...runOf({ task: "3", fromMs: 300, untilMs: 450 }),
    ...lifeOf({ task: "3", fence: "2", worker: "b", fromMs: 400, untilMs: 460 }),
  ];
  expect(brokenRules(runs)).toEqual(["one holder"]);
});

test("the judge of the ledger finds starts beyond the rate", () => {
  const starts = (everyMs: number): Entry[] =>
    Array.from({ length: 400 }, (_, index) => {
      const fromMs = 1_000 + index * everyMs;
      return lifeOf({ task: String(10 + index), kind: "rated", fromMs, untilMs: fromMs + 5 });
    }).flat();
  expect(brokenRules(starts(130))).toEqual([]);
  expect(brokenRules(starts(60))).toEqual(["rate"]);
});

test("the judge of the ledger finds a wave that begins too early", () => {
  const wave = (ordinal: number, firstId: number, fromMs: number): Entry[] =>
    Array.from({ length: waves.tasks }, (_, index) => {
      const atMs = fromMs + 10 * index;
      const tag = `7/${String(ordinal)}`;
      return lifeOf({
        ...{ task: String(firstId + index), kind: "waved", tag, fromMs: atMs, untilMs: atMs + 5 },
      });
    }).flat();
  expect(brokenRules([...wave(1, 10, 100), ...wave(2, 30, 300)])).toEqual([]);
  expect(brokenRules([...wave(1, 10, 100), ...wave(2, 30, 180)])).toEqual(["waves"]);
});

test("the judge of the ledger finds an instant of a schedule that has two tasks or none", () => {
  const instant = (task: string, minute: number, lateMs = 100): Entry[] =>
    lifeOf({
      ...{ task, kind: "scheduled", tag: new Date(minute * minuteMs).toISOString() },
      ...{ fromMs: minute * minuteMs + lateMs, untilMs: minute * minuteMs + lateMs + 10 },
    });
  const start: Entry = { is: "leg", atMs: 1_000, what: "started" };
  const stop: Entry = { is: "leg", atMs: 6 * minuteMs, what: "stopped" };
  const all = [1, 2, 3, 4, 5].map((minute) => instant(String(10 + minute), minute));
  expect(brokenRules([start, stop, ...all.flat()])).toEqual([]);
  expect(brokenRules([start, stop, ...all.flat(), ...instant("20", 3, 500)])).toEqual([
    "schedules",
  ]);
  expect(brokenRules([start, stop, ...all.slice(0, 2).flat(), ...all.slice(3).flat()])).toEqual([
    "schedules",
  ]);
});

test("the judge of the ledger misses no instant of a schedule between two legs", () => {
  const leg = (fromMinute: number): Entry[] => [
    { is: "leg", atMs: fromMinute * minuteMs + 1_000, what: "started" },
    ...[1, 2, 3, 4, 5].flatMap((minute) => {
      const atMs = (fromMinute + minute) * minuteMs;
      return lifeOf({
        ...{ task: String(100 * fromMinute + minute), kind: "scheduled" },
        ...{ tag: new Date(atMs).toISOString(), fromMs: atMs + 100, untilMs: atMs + 110 },
      });
    }),
    { is: "leg", atMs: (fromMinute + 6) * minuteMs, what: "stopped" },
  ];
  const read: Entry = { is: "read", atMs: 60 * minuteMs + 900 };
  expect(brokenRules([...leg(0), read, ...leg(60)])).toEqual([]);
});

test("the judge of the ledger lets what a killed leg had begun run again", () => {
  const entries: Entry[] = [
    { is: "leg", atMs: 0, what: "started" },
    { is: "queued", atMs: 90, task: "1", kind: "narrow" },
    ...runOf({ task: "1", kind: "narrow", fromMs: 100, untilMs: 200 }).slice(0, 1),
    { is: "leg", atMs: 1_000, what: "started" },
    ...lifeOf({
      task: "1",
      fence: "2",
      kind: "narrow",
      worker: "b",
      fromMs: 1_100,
      untilMs: 1_200,
    }),
  ];
  expect(brokenRules(entries)).toEqual([]);
});

test("an entry of the ledger is read as it was written", () => {
  const folder = mkdtempSync(join(tmpdir(), "taskgate-soak-ledger-"));
  const entries: Entry[] = [
    ...good,
    { is: "worker", atMs: 5, worker: "1.2", what: "killed" },
    { is: "redriven", atMs: 6, task: "9" },
    { is: "read", atMs: 7 },
    { is: "wrong", atMs: 8, text: "event k was task 1, then 2" },
  ];
  for (const entry of entries) expect(parseEntry(formatEntry(entry))).toEqual(entry);
  const write = openLedger(folder, "a");
  const reader = new LedgerReader(folder);
  for (const entry of entries.slice(0, 3)) write(entry);
  expect([...reader.read()].flat()).toEqual(entries.slice(0, 3));
  for (const entry of entries.slice(3)) write(entry);
  expect([...reader.read()].flat()).toEqual(entries.slice(3));
  rmSync(folder, { recursive: true });
  expect(() => parseEntry("nothing 1")).toThrow("Expected a line of the ledger, got `nothing 1`");
});

const tablesAt = (minute: number): Sample["tables"] => ({
  task: { bytes: 5e6, live: 500, dead: 2_000 },
  dedupe: { bytes: 5e6, live: 3_000, dead: 100 },
  operation: { bytes: 1e6 + minute * 1e6, live: 1_000 + minute * 1_000, dead: 0 },
});

/** A sample a minute; `change` plants what isn't as it should be. */
function samplesOf(minutes: number, change: (minute: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: minutes }, (_, index) => ({
    atMs: index * minuteMs,
    leg: 1,
    ranMs: (index + 1) * minuteMs,
    memory: {
      ...{ elderRss: 1e8, elderHeap: 2e7, workerRss: 1e8, workerHeap: 2e7 },
      ...{ server: 2e8, soak: 1e8 },
    },
    connections: 20,
    databaseBytes: 1e8,
    tables: tablesAt(index),
    indexes: {
      pk_task: { table: "task", bytes: 5e6 },
      pk_operation: { table: "operation", bytes: 1e6 + index * 5e5 },
    },
    latency: { p50: 5, p99: 50, count: 5_000 },
    claim: {
      ...{ calls: 2_000, blocksPerCall: 50, blocksPerTask: 25 },
      ...{ msPerCall: 1, rowsPerTask: 30 },
    },
    oldestReadyMs: 100,
    waiting: { ready: 10, scheduled: 100, grouped: 10, blocked: 50, unfinished: 200 },
    retained: 40_000,
    counts: { acknowledged: 1, begun: 1, done: 1 },
    violations: 0,
    ...change(index),
  }));
}

const brokenGrowth = (samples: readonly Sample[]): string[] =>
  growthVerdicts(samples)
    .filter((verdict) => verdict.isGood === false)
    .map(({ text }) => text);

test("the verdict on growth lets rows grow that wait, or are kept for days", () => {
  const steady = samplesOf(120, () => ({}));
  expect(verdictsOf(steady, judged(good).findings).map((verdict) => verdict.isGood)).toEqual(
    Array.from({ length: 5 }, () => true),
  );
  const waiting = { ready: 0, scheduled: 0, grouped: 0, blocked: 0 };
  const more = samplesOf(120, (minute) => ({
    waiting: { ...waiting, unfinished: 200 + minute * 1_000 },
    tables: {
      ...tablesAt(minute),
      task: { bytes: 5e6 + minute * 1e5, live: 200 + minute * 1_000, dead: 0 },
    },
  }));
  expect(brokenGrowth(more)).toEqual([]);
  const kept = samplesOf(120, (minute) => ({
    tables: {
      ...tablesAt(minute),
      statistic_time: { bytes: 5e6 + minute * 1e5, live: 5_000 + minute * 100, dead: 0 },
    },
  }));
  expect(brokenGrowth(kept)).toEqual([]);
});

test("the verdict on growth finds a table, an index, rows and memory that grow", () => {
  const table = samplesOf(120, (minute) => ({
    tables: { ...tablesAt(minute), dedupe: { bytes: 5e6 + minute * 1e5, live: 3_000, dead: 100 } },
  }));
  expect(brokenGrowth(table).join()).toMatch(/table dedupe from [\d,]+ to [\d,]+/u);
  const index = samplesOf(120, (minute) => ({
    indexes: { pk_task: { table: "task", bytes: 5e6 + minute * 1e5 } },
  }));
  expect(brokenGrowth(index).join()).toContain("index pk_task");
  const bloat = samplesOf(120, (minute) => ({
    tables: { ...tablesAt(minute), operation: { bytes: 1e6 + minute * 1e5, live: 1_000, dead: 0 } },
  }));
  expect(brokenGrowth(bloat).join()).toContain("table operation");
  const rows = samplesOf(120, (minute) => ({
    tables: { ...tablesAt(minute), dedupe: { bytes: 5e6, live: 3_000 + minute * 100, dead: 100 } },
  }));
  expect(brokenGrowth(rows).join()).toContain("rows of dedupe");
  const memory = samplesOf(120, (minute) => ({
    memory: {
      ...{ elderRss: 1e8, elderHeap: 2e7 + minute * 2e5, workerRss: 1e8, workerHeap: 2e7 },
      ...{ server: 2e8, soak: 1e8 },
    },
  }));
  expect(brokenGrowth(memory).join()).toContain("heap of the undisturbed worker");
});

function costing(minutes: number, blocksPerCall: (minute: number) => number): Sample[] {
  const rest = { calls: 2_000, blocksPerTask: 25, msPerCall: 1, rowsPerTask: 30 };
  return samplesOf(minutes, (minute) => ({
    claim: { ...rest, blocksPerCall: blocksPerCall(minute) },
  }));
}

test("the verdict on the cost of a claim compares each hour with the first", () => {
  expect(claimVerdict(costing(240, () => 50))).toMatchObject({ isGood: true });
  expect(claimVerdict(costing(240, (minute) => (minute < 180 ? 50 : 75)))).toMatchObject({
    isGood: false,
    text: expect.stringContaining("1.50 times"),
  });
  expect(claimVerdict(costing(30, (minute) => (minute < 20 ? 50 : 75)))).toMatchObject({
    isGood: false,
  });
  expect(claimVerdict(costing(5, () => 50))).toMatchObject({ isGood: null });
  // Of many samples, but of seconds: the tables have no size yet.
  const seconds = costing(24, (minute) => (minute < 12 ? 25 : 56)).map((sample) => ({
    ...sample,
    ranMs: sample.ranMs / 60,
  }));
  expect(claimVerdict(seconds)).toMatchObject({ isGood: null });
  expect(growthVerdicts(costing(5, () => 50))).toMatchObject([{ isGood: null }]);
});

test("a plot has a line per series, and a gap where a figure is missing", () => {
  const series = [
    {
      name: "a < b",
      points: [[0, 1] as const, [1, null] as const, [2, 3] as const, [3, 4] as const],
    },
  ];
  const svg = svgPlot({ title: "Sizes", xUnit: "hours", yUnit: "MiB", series });
  expect(svg.match(/<path d="(?<path>[^"]+)"/u)?.groups?.["path"]?.match(/[ML]/gu)).toEqual([
    ...["M", "M", "L"],
  ]);
  expect(svg).toContain("a &lt; b");
});

test("the options name what is wrong", () => {
  expect(readOptions(["--minutes", "20"])).toMatchObject({ hours: 1 / 3, rate: 75, workers: 4 });
  expect(readOptions(["--help"])).toBeUndefined();
  expect(() => readOptions([])).toThrow("Expected one of --hours and --minutes");
  expect(() => readOptions(["--hours", "x"])).toThrow("Expected --hours to be 0.01..1000, got `x`");
  expect(() => readOptions(["--hours", "1", "--fast"])).toThrow("--fast");
});

test("the package has a script for the program", () => {
  const root = join(__dirname, "../..");
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  expect(scripts["soak"]).toContain("test/soak/soak-process.ts");
});
