// A definition over time: ended tasks, held tokens, run times and waits.

import { askIfThere, inPath, slowly } from "./api.js";
import { makeChart } from "./chart.js";
import { element, redraw, section } from "./dom.js";
import { formatDuration, formatInstant } from "./format.js";

const everyMs = 10_000;
const windows = [
  ["hour", "1 hour"],
  ["day", "24 hours"],
  ["week", "7 days"],
];
const count = (value) => value.toLocaleString("en", { maximumFractionDigits: 1 });

const charts = [
  {
    title: "Tasks",
    lines: [
      { name: "done", mood: "good", of: ({ done }) => done, write: count, isBar: true },
      { name: "failed", mood: "bad", of: ({ failed }) => failed, write: count, isBar: true },
      { name: "lost", mood: "warn", of: ({ lost }) => lost, write: count, isBar: true },
    ],
  },
  {
    title: "Tokens",
    lines: [
      { name: "limit", mood: "calm", of: ({ limit }) => limit, write: count },
      { name: "held", mood: "accent", of: ({ held }) => held, write: count },
    ],
  },
  {
    title: "Run time",
    lines: [
      { name: "99 %", mood: "warn", of: ({ ran }) => ran.p99Ms, write: formatDuration },
      { name: "half", mood: "accent", of: ({ ran }) => ran.p50Ms, write: formatDuration },
    ],
  },
  {
    title: "Wait until the begin",
    lines: [
      { name: "99 %", mood: "warn", of: ({ waited }) => waited.p99Ms, write: formatDuration },
      { name: "next task", mood: "bad", of: ({ nextAgeMs }) => nextAgeMs, write: formatDuration },
      { name: "half", mood: "accent", of: ({ waited }) => waited.p50Ms, write: formatDuration },
    ],
  },
];

/** `look()` asks and draws; the part is hidden where the app has no statistics. */
export function makeStatistics(name) {
  let window = "hour";
  const facts = element("p", { class: "series-facts" });
  const drawn = charts.map(makeChart);
  const choice = makeChoice((chosen) => {
    window = chosen;
    void look();
  });
  const node = section(
    "Over time",
    choice,
    facts,
    element("div", { class: "all-series" }, ...drawn.map((chart) => chart.node)),
  );
  node.hidden = true;
  const asked = slowly(everyMs, (of) =>
    askIfThere(
      "definitions/{name}/statistics",
      `definitions/${inPath(name)}/statistics?window=${of}`,
    ),
  );
  async function look() {
    const report = await asked(window);
    node.hidden = report === null;
    if (report === null) return;
    redraw(facts, report, () => describe(report));
    for (const chart of drawn) chart.fill(report);
  }
  return { node, look };
}

function makeChoice(choose) {
  const buttons = windows.map(([window, text]) => {
    const input = element("input", { type: "radio", name: "window", value: window });
    input.checked = window === "hour";
    input.addEventListener("change", () => choose(window));
    return element("label", { class: "switch" }, input, text);
  });
  return element(
    "div",
    { class: "filters", role: "group", "aria-label": "How far back" },
    ...buttons,
  );
}

function describe({ total, countedAt }) {
  const { done, perMinute, failed, dead, lost, ran, tokenUse } = total;
  const parts = [
    `${count(done)} done, ${count(perMinute)} a minute`,
    `${count(failed)} attempts failed, ${count(dead)} tasks dead, ${count(lost)} attempts lost`,
    ...(ran.p50Ms === null
      ? []
      : [`half ran up to ${formatDuration(ran.p50Ms)}, 99 % up to ${formatDuration(ran.p99Ms)}`]),
    ...(tokenUse === null
      ? []
      : [`tokens ran tasks that ended well for ${Math.round(tokenUse * 100)} % of the time held`]),
    countedAt === null
      ? "not counted yet: the sweep counts once a minute"
      : `counted until ${formatInstant(countedAt)}`,
  ];
  return [parts.join(" · ")];
}
