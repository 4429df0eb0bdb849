import { take } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import { looks } from "../admin/sentences";
import type { Durations, PeriodReport, StatisticsReport } from "../admin/statistics-report";
import { readStatisticsQuery, statisticWindows } from "../admin/statistics-requests";
import { nameParameter, report } from "./command";
import type { Command } from "./command";
import {
  renderFacts,
  renderTable,
  showCount,
  showDuration,
  showInstant,
  showLimit,
} from "../terminal/output";
import type { Column } from "../terminal/output";

/** `taskgate statistics NAME` */
export const statisticsCommand: Command = {
  name: "statistics",
  alias: "stats",
  group: "look",
  parameters: [nameParameter],
  options: {
    window: {
      valueName: "WINDOW",
      values: statisticWindows,
      sentence: "hour (by minute; the default), day (by ten minutes) or week (by hour).",
    },
  },
  sentence: `${looks.statistics}.`,
  details: [
    "RAN and WAITED are the durations of half and of 99 in 100 tasks that ended well, from a sample.",
    "HELD is the tokens held on average, and the limit. Tokens are short where HELD is near it and READY is above 0.",
    "The sweep counts once a minute; a period without work has no line.",
  ].join("\n"),
  examples: [
    { line: "taskgate statistics greet", sentence: "The last hour, minute by minute." },
    {
      line: "taskgate statistics greet --window week --json",
      sentence: "A week by hour, for a tool.",
    },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { window } = take(readStatisticsQuery({ window: context.options["window"] }));
    const answer = await context.admin().statistics({ definition, window });
    report(context, answer, () => {
      const facts = renderFacts(factsOf(answer), context.output.columns);
      if (answer.periods.length === 0) return facts;
      return `${facts}\n\n${renderTable(answer.periods, columns, context.output)}`;
    });
  },
};

function factsOf({ total, window, countedAt }: StatisticsReport): [string, string][] {
  const { done, failed, dead, lost, perMinute, ran, waited, tokenUse } = total;
  return [
    [
      "window",
      `the last ${window}, ${countedAt === null ? "not counted yet" : `counted until ${showInstant(countedAt)}`}`,
    ],
    ["done", `${showExact(done)} (${String(perMinute)} per minute)`],
    ["failed", `${showExact(failed)} attempts, ${showExact(dead)} dead, ${showExact(lost)} lost`],
    ["ran", showDurations(ran)],
    ["waited", showDurations(waited)],
    [
      "tokens",
      tokenUse === null
        ? "none was held"
        : `ran tasks that ended well for ${String(Math.round(tokenUse * 100))} % of the time held`,
    ],
  ];
}

function showDurations({ p50Ms, p95Ms, p99Ms }: Durations): string {
  if (p50Ms === null) return "not measured";
  const show = (ms: number | null): string => showDuration(ms ?? 0);
  return `half ${show(p50Ms)}, 95 % ${show(p95Ms)}, 99 % ${show(p99Ms)}`;
}

/** Not cut as counts of the database are: these are sums. */
function showExact(count: number): string {
  return count.toLocaleString("en");
}

function showPair({ p50Ms, p99Ms }: Durations): string {
  if (p50Ms === null || p99Ms === null) return "-";
  return `${showDuration(p50Ms)} / ${showDuration(p99Ms)}`;
}

const columns: readonly Column<PeriodReport>[] = [
  { title: "since", value: (row) => showInstant(row.at) },
  { title: "done", value: (row) => showExact(row.done), isNumber: true, tone: () => "strong" },
  {
    title: "failed",
    value: (row) => showExact(row.failed),
    isNumber: true,
    tone: (row) => (row.failed > 0 ? "bad" : undefined),
  },
  {
    title: "lost",
    value: (row) => showExact(row.lost),
    isNumber: true,
    tone: (row) => (row.lost > 0 ? "bad" : undefined),
  },
  {
    title: "held",
    value: (row) => `${String(row.held)}/${showLimit(row.limit)}`,
    isNumber: true,
  },
  { title: "ready", value: (row) => showCount(row.ready), isNumber: true },
  {
    title: "next waits",
    value: (row) => (row.nextAgeMs === 0 ? "-" : showDuration(row.nextAgeMs)),
    isNumber: true,
  },
  { title: "ran", value: (row) => showPair(row.ran), isNumber: true },
  { title: "waited", value: (row) => showPair(row.waited), isNumber: true, isSpare: true },
];
