import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { renderFlamesPage } from "../bench/peers-launcher/flames/flames-page";
import { nodeStacks } from "../bench/peers-launcher/flames/node-stacks";
import { perfStacks } from "../bench/peers-launcher/flames/perf-stacks";
import { svgFlames } from "../bench/peers-launcher/flames/svg-flames";
import { goalsOf, ratiosToBest } from "../bench/peers-launcher/goals";
import { installProblem } from "../bench/peers-launcher/install";
import { parseOptions } from "../bench/peers-launcher/options";
import { overlap } from "../bench/peers-launcher/overlap";
import { renderPage } from "../bench/peers-launcher/page";
import { summarize } from "../bench/peers-launcher/results";
import type { Entry, Results } from "../bench/peers-launcher/results";
import { scenarioNames, scenariosWithFlames } from "../bench/peers-launcher/scenario-names";
import { scenariosOf } from "../bench/peers-launcher/scenarios";

/*
 * Nothing is installed or measured here: what `npm run bench:peers` reads, decides and writes, from a stored sample of
 * results. own-packages.test.ts looks at its package.
 */

const root = join(__dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const sample = JSON.parse(read("test/static/fixtures/peers-results.json")) as Results;

describe("options", () => {
  test("a full run writes the page; quick or partial ones write none unless asked", () => {
    expect(parseOptions([], "docs")).toEqual({
      isQuick: false,
      only: scenarioNames,
      rounds: 5,
      json: null,
      page: join("docs", "peers.md"),
      isInstalled: false,
      areFlames: false,
    });
    expect(parseOptions(["--flames"], "docs")).toMatchObject({
      page: join("docs", "flames.md"),
      only: scenariosWithFlames,
    });
    expect(parseOptions(["--quick"], "docs")).toMatchObject({ page: null, rounds: 1 });
    const some = ["--only", "idle,drain-1", "--page", "a.md", "--json", "a.json", "--rounds", "2"];
    expect(parseOptions(some, "docs")).toMatchObject({
      only: ["idle", "drain-1"],
      page: "a.md",
      json: "a.json",
      rounds: 2,
    });
  });

  test.each([
    [
      ["--only", "drain-2"],
      "--only: expected names of scenarios, got `drain-2`. Did you mean drain-1?",
    ],
    [["--rounds", "0"], "--rounds: expected a whole number in 1..99, got `0`"],
    [["--fast"], "Unknown option '--fast'"],
    [
      ["--flames", "--quick"],
      "--page: expected a file for the pictures of some scenarios, got none",
    ],
  ])("%j is refused", (words, message) => {
    expect(() => parseOptions(words, "docs")).toThrow(message);
  });

  test("each name is a scenario, and Taskgate stands once in each, with done tasks kept", () => {
    const scenarios = scenariosOf(scenarioNames);
    expect(scenarios.map(({ name }) => name)).toEqual(scenarioNames);
    for (const { name, variants } of scenarios) {
      const own = variants.filter(({ system }) => system === "taskgate");
      const kept = own.filter(({ keeps }) => keeps !== false).map(({ label }) => label);
      expect([name, ...kept]).toEqual([name, undefined]);
      for (const { label } of own.slice(1)) expect([name, label]).toEqual([name, "nothing kept"]);
    }
  });
});

describe("figures", () => {
  test("the figures are median, lowest and highest, and rounds without the figure don't count", () => {
    expect(summarize([3, Number.NaN, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(summarize([4, 1])).toEqual({ median: 2.5, min: 1, max: 4 });
    expect(summarize([Number.NaN])).toBeNull();
  });

  test("tasks that began beyond the limit are counted, and how long tokens idled", () => {
    const fine = overlap({ begins: [0, 0, 10.5, 12], ends: [10, 11, 20, 21] }, 2);
    expect(fine).toEqual({ violations: 0, atMost: 2, idleMs: [0.5, 1] });
    // The third begins while two run; the last of them never ended.
    const broken = overlap({ begins: [0, 1, 2, 30], ends: [10, 11, 12] }, 2);
    expect(broken).toEqual({ violations: 1, atMost: 3, idleMs: [20] });
  });

  test("ratios are those of medians, to peers that were measured and kept the limit", () => {
    const [drain, , limit, latency] = sample.scenarios.map(ratiosToBest);
    expect(drain?.all).toBeCloseTo(84_000 / 24_700);
    expect(drain?.sqlNothingKept).toBeCloseTo(4);
    expect(latency?.sqlNothingKept).toBeNull();
    expect(limit?.all).toBeCloseTo(196 / 188);
    expect(limit?.sql).toBeNull();
    expect(latency?.all).toBeCloseTo(1.5);
  });
});

describe("goals", () => {
  const goals = new Map(goalsOf(sample).map((goal) => [goal.text, goal]));

  test.each([
    ["batched drain, one process, to the best peer", "3.40 times (4.00 with nothing kept)", false],
    ["batched drain, four processes, to the best peer", null, null],
    ["8 in flight, to graphile-worker on as many connections", "5.15 times", true],
    ["8 in flight, to graphile-worker at its best", "2.24 times", false],
    ["8 in flight, to pg-boss", null, null],
    ["limit 4 over three processes: share of the ideal, by tasks", "99.0 %", true],
    ["limit 4 over three processes: violations", "0", true],
    ["limit 4 over three processes: a token idles, p50", "0.07 ms", true],
    ["limit 4 over three processes: a token idles, p99", "1.85 ms", false],
    ["limit 16 over three processes: violations", null, null],
  ])("the goal of %s is told with %j, met: %j", (text, got, isMet) => {
    expect(goals.get(text)).toMatchObject({ got, isMet });
  });
});

describe("the page", () => {
  const page = renderPage(sample);
  const cells = page
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .map((cell) => cell.trim())
        .slice(1, -1),
    );

  test.each([
    ["taskgate", "84,000 (80,000..90,000)", "1", "0.500"],
    ["pg-boss", "23,700 (23,000..24,000)", "1", "0.500"],
    ["bare, the ideal", "198", "0", "", "", "0.300", "", "0.500"],
    ["8 in flight, to pg-boss", "6 times", "not measured", ""],
    ["limit 4 over three processes: a token idles, p99", "0.60 ms", "1.85 ms", "**missed**"],
    ["Batched drain, one process", "3.40", "3.40", "4.00"],
    ["Latency with 8 waiting workers", "1.50", "1.50", ""],
    ["date", "2026-11-25"],
  ])("the page has the row of %s: %s", (...row) => {
    expect(cells).toContainEqual(row);
  });

  test("the page says what wasn't measured, and why, in a line", () => {
    expect(page).toContain("- bullmq: not measured: no redis-server here\n");
    expect(page).toContain("- pg-boss: not measured: open: Error: no such table\n");
    expect(page).toContain("- pg-boss: as it is; stopped with 1 of 2 done\n");
    expect(page).not.toContain("quick run");
    expect(renderPage({ ...sample, isQuick: true })).toContain("A quick run");
  });

  test("the page has tables whose rows have as many cells as their heads", () => {
    const tables = page.split("\n\n").filter((part) => part.startsWith("|"));
    expect(tables).toHaveLength(3 + sample.scenarios.length);
    for (const text of tables) {
      const widths = new Set(
        text
          .trimEnd()
          .split("\n")
          .map((line) => line.split("|").length),
      );
      expect([...widths]).toHaveLength(1);
    }
  });
});

describe("flame graphs", () => {
  const call = (functionName: string, url = "") => ({ functionName, url });
  const profile = {
    nodes: [
      { id: 1, callFrame: call("(root)"), children: [2, 3, 4, 6] },
      { id: 2, callFrame: call("(idle)") },
      { id: 3, callFrame: call("(garbage collector)") },
      {
        id: 4,
        callFrame: call("run", "file:///a/node_modules/taskgate/lib/run.js"),
        children: [5],
      },
      { id: 5, callFrame: call("", "/a/node_modules/@azure/functions/x.js") },
      { id: 6, callFrame: call("startProfile", "file:///a/profile.ts"), children: [7] },
      { id: 7, callFrame: call("post", "node:inspector") },
    ],
    samples: [2, 3, 5, 4, 5, 7],
    timeDeltas: [900, 10, 20, 5, 20, 70],
  };
  const run = { name: "run", origin: "taskgate" };

  test("a flame graph of Node has each stack once, without idle time and without the profiler's own", () => {
    expect(nodeStacks(profile)).toEqual([
      { frames: [{ name: "(garbage collector)", origin: "V8" }], weight: 10 },
      { frames: [run, { name: "(anonymous)", origin: "@azure/functions" }], weight: 40 },
      { frames: [run], weight: 5 },
    ]);
  });

  const printed = [
    "\t55d0 heap_insert+0x1f (/usr/lib/postgres)",
    "\t55d1 [unknown] (/usr/lib/postgres)",
    "\t55d2 exec_stmts.isra.0 (/usr/lib/plpgsql.so)",
    "\t7fe1 __libc_start_main@@GLIBC_2.34 (/usr/lib/x86_64-linux-gnu/libc.so.6)",
    "",
    "\tffff1 deepest ([kernel.kallsyms])",
    ...[5, 4, 3, 2, 1].map((n) => `\tffff2 call${n} ([kernel.kallsyms])`),
    "\t55d2 PostgresMain (/usr/lib/postgres)",
    "\t55d3 main (/usr/lib/postgres)",
  ];

  test("a flame graph of the server has the names without what the linker adds, and four calls of the kernel", () => {
    const insert = [
      { name: "exec_stmts", origin: "plpgsql" },
      { name: "heap_insert", origin: "postgres" },
    ];
    const main = { name: "PostgresMain", origin: "postgres" };
    const kernel = [1, 2, 3, 4].map((n) => ({ name: `call${n}`, origin: "kernel" }));
    expect(perfStacks([...printed, "", ...printed.slice(0, 4), ""].join("\n"))).toEqual([
      { frames: insert, weight: 2 },
      { frames: [main, ...kernel], weight: 1 },
    ]);
  });

  test("a flame graph draws each call as wide as its part, on its caller, and a function that calls itself once", () => {
    const picture = svgFlames("a < b", [
      { frames: [run, run, { name: "fn<T>", origin: "pg" }], weight: 3 },
      { frames: [run], weight: 1 },
      { frames: [{ name: "rare", origin: "pg" }], weight: 0.001 },
    ]);
    const boxes = [
      ...picture.matchAll(/<title>(.*?)<\/title><rect x="(\S+)" y="(\d+)" width="(\S+)"/g),
    ].map(([, title, x, y, width]) => [title, Number(x), Number(y), Number(width)]);
    expect(boxes).toEqual([
      ["run (taskgate): 100.0 %", 0.3, 63, 1199.2],
      ["fn&lt;T&gt; (pg): 75.0 %", 0.3, 46, 899.3],
    ]);
    expect(picture).toContain('aria-label="a &lt; b"');
    expect(picture).toContain(">pg 75.0 %</text>");
    expect(picture).toContain(">taskgate 25.0 %</text>");
  });

  test("a flame graph stands on its page with the server's share, or with the reason why it isn't seen", () => {
    const [scenario] = scenariosOf(["drain-1"]);
    if (scenario === undefined) throw new Error("there is no such scenario");
    const { title, about } = scenario;
    const reading = { figures: {}, serverCpuS: 3, clientsCpuS: 1, tasks: 1, note: "" };
    const entry: Entry = {
      ...{ label: "taskgate", settings: "", problem: "", readings: [reading] },
      system: "taskgate",
      outcome: "measured",
    };
    const clients = [
      { frames: [run], weight: 3 },
      { frames: [{ name: "parse", origin: "pg" }], weight: 1 },
    ];
    const drawn = { scenario: { name: "drain-1", title, about }, entry } as const;
    const told = { computer: "a computer", versions: { taskgate: "1.2.3" } };
    const page = renderFlamesPage([{ ...drawn, taken: { server: clients, clients } }], {
      problem: null,
      ...told,
    });
    expect(page).toContain(`| ${title} | 75 %`);
    expect(page).toContain("![Flame graph of PostgreSQL](flames/drain-1-server.svg)");
    expect(page).toContain("in the function itself: `run` 75.0 %, `parse` 25.0 %.");
    const unseen = renderFlamesPage([{ ...drawn, taken: { server: null, clients } }], {
      problem: "no perf",
      ...told,
    });
    expect(unseen).toContain("The server isn't seen: no perf.");
    expect(unseen).not.toContain("drain-1-server.svg");
    expect(unseen).toContain("drain-1-clients.svg");
  });
});

test("an install without a network says so, and what to do", () => {
  const offline =
    "npm error code ENOTFOUND\nnpm error request to https://registry.npmjs.org failed";
  expect(installProblem(offline)).toMatch(/can't reach its registry \(ENOTFOUND\).*--installed/);
  expect(installProblem("npm error code E404")).toBe(
    "npm could not install the packages: npm error code E404",
  );
});
