// The overview: totals, definitions with their limits, dead letters, executions, results of the sample.

import { call, inPath, send } from "./api.js";
import {
  act,
  byId,
  drawBadge,
  drawCut,
  drawHeld,
  element,
  formatCount,
  formatLimit,
  keepLines,
  makeButton,
  makeCells,
  setText,
} from "./draw.js";

const resultsEveryMs = 2_000;
const deadLettersMax = 50;
const limitMax = 1_000;

function formatLease(ms) {
  return ms === null ? "-" : `${Math.max(0, Math.round(ms / 1_000))} s`;
}

// ---- totals

function drawTotals({ totals, expired }) {
  const toBeRun = totals.ready + totals.scheduled + totals.waiting;
  const entries = [
    ["running", totals.running, ""],
    ["prefetched", totals.prefetched, ""],
    ["to be run", toBeRun, ""],
    ["tokens held", totals.held, ""],
    ["executions", totals.executions, ""],
    ["dead letters", totals.dead, totals.dead > 0 ? "bad" : ""],
    ...(expired > 0 ? [["dead executions", expired, "bad"]] : []),
  ];
  byId("totals").replaceChildren(
    ...entries.map(([name, count, mood]) => {
      const tile = element("div", { class: `tile ${mood}` });
      tile.append(element("b", {}, formatCount(count)), element("span", {}, name));
      return tile;
    }),
  );
}

// ---- definitions: rows are kept, so that a limit that is being typed stays

function drawDefinitions(definitions) {
  const table = byId("definitions");
  keepLines(table.tBodies[0], {
    items: definitions,
    keyOf: ({ name }) => name,
    make: ({ name }) => makeRow(table, name),
    none: "No definition is registered.",
  });
}

const tasksPlace = (definition, state) =>
  `#tasks?definition=${inPath(definition)}&state=${inPath(state)}`;

/** Columns, and the list of tasks that each leads to. */
const countStates = {
  ready: "ready",
  scheduled: "scheduled",
  waiting: "waiting",
  running: "claimed",
  prefetched: "claimed",
  done: "done",
  dead: "dead",
};
const countNames = Object.keys(countStates);

function makeRow(table, name) {
  const cells = makeCells(table, 3 + countNames.length);
  const [title, bar, control, ...counts] = cells;
  const line = element("tr", {}, ...cells);
  const row = { name, title, bar, counts, limit: null };
  const lower = () => changeLimit(row, Math.max(0, (row.limit ?? 1) - 1));
  const raise = () => changeLimit(row, Math.min(limitMax, (row.limit ?? 0) + 1));
  const less = makeButton("\u2212", `lower the limit of ${name}`, lower);
  const more = makeButton("+", `raise the limit of ${name}`, raise);
  const label = `limit of ${name}`;
  row.input = element("input", { inputmode: "numeric", size: "4", "aria-label": label });
  row.input.addEventListener("change", () => changeLimit(row, readLimit(row.input.value)));
  row.reset = makeButton("reset", `reset the limit of ${name}`, () => changeLimit(row, "code"));
  row.reset.className = "quiet";
  bar.classList.add("tokens");
  control.classList.add("control", "limit");
  control.append(less, row.input, more, row.reset);
  counts.forEach((cell, at) =>
    cell.append(element("a", { href: tasksPlace(name, countStates[countNames[at]]) })),
  );
  return { line, fill: (definition) => fillRow(row, definition) };
}

/** An empty field or "none" means no limit. Any other text goes to the API as it is, whose answer names the expected form. */
function readLimit(text) {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === "" || trimmed === "none") return null;
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}

function fillRow(row, definition) {
  const { limit, held, limitSource, codeLimit, paused } = definition;
  row.limit = limit;
  row.title.textContent = definition.name;
  if (paused) row.title.append(" ", drawBadge("paused"));
  drawHeld(row.bar, held, limit);
  if (document.activeElement !== row.input)
    row.input.value = limit === null ? "none" : String(limit);
  row.input.readOnly = document.body.classList.contains("read-only");
  row.reset.hidden = limitSource === "code";
  row.reset.title = `back to the code's: ${codeLimit === null ? "none" : String(codeLimit)}`;
  countNames.forEach((name, at) => {
    const cell = row.counts[at];
    setText(cell.firstChild, formatCount(definition[name]));
    cell.className = `number ${definition[name] === 0 ? "none" : name === "dead" ? "bad" : ""}`;
  });
}

async function changeLimit(row, limit) {
  row.input.blur();
  const path = `definitions/${inPath(row.name)}/limit`;
  await act(
    () => send("PUT", path, { limit, reason: "status page" }),
    (report) => {
      const over =
        report.overLimit > 0 ? `; ${report.overLimit} tokens come back as their tasks end` : "";
      return `The limit of ${row.name} is ${formatLimit(report.newLimit)} now${over}.`;
    },
  );
  await lookAtOverview();
}

// ---- dead letters

/** By definition: how many there were when they were last asked for, and which. */
const dead = new Map();

async function drawDead(definitions) {
  for (const { name, dead: count } of definitions) {
    if ((dead.get(name)?.count ?? 0) === count) continue;
    const path = `definitions/${inPath(name)}/tasks?state=dead&max=${deadLettersMax}`;
    const { tasks } = await call(path);
    dead.set(name, { count, tasks: tasks.map((task) => ({ ...task, definition: name })) });
  }
  const letters = [...dead.values()]
    .flatMap((entry) => entry.tasks)
    .sort((left, right) => right.finishedAt.localeCompare(left.finishedAt))
    .slice(0, deadLettersMax);
  const count = definitions.reduce((sum, definition) => sum + definition.dead, 0);
  drawCut("dead-cut", { shown: letters.length, more: count > letters.length });
  const list = letters.map((letter) => {
    const [reason = ""] = (letter.error ?? "no reason was given").split("\n", 1);
    const line = element("li");
    const place = `${letter.kind} ${letter.task}, ${new Date(letter.finishedAt).toLocaleTimeString()}`;
    const href = `${tasksPlace(letter.definition, "dead")}&task=${inPath(letter.task)}`;
    line.append(
      element("a", { class: "place", href }, place),
      element("span", { class: "reason" }, reason),
    );
    return line;
  });
  byId("dead").replaceChildren(
    ...(list.length > 0 ? list : [element("li", { class: "none" }, "none")]),
  );
}

// ---- executions

function drawExecutions({ executions, more }) {
  drawCut("executions-cut", { shown: executions.length, more });
  const lines = executions.map((execution) => {
    const line = element("tr", { class: execution.state === "live" ? "" : "bad" });
    const worker =
      execution.state === "live" ? execution.worker : `${execution.worker} (${execution.state})`;
    line.append(element("td", {}, worker), element("td", {}, execution.definition));
    const numbers = [
      execution.tokens,
      execution.running,
      execution.prefetched,
      formatLease(execution.leaseLeftMs),
    ];
    line.append(...numbers.map((value) => element("td", { class: "number" }, value)));
    return line;
  });
  const none = element("tr");
  none.append(element("td", { class: "none", colspan: "6" }, "nobody works"));
  byId("executions").tBodies[0].replaceChildren(...(lines.length > 0 ? lines : [none]));
}

// ---- results of the sample

/** The column whose numbers get bars: the last one that speaks of a mean. */
function chartColumn(columns) {
  return columns.findLastIndex((column) => column.isNumber && column.title.startsWith("mean"));
}

function drawResult({ title, columns, rows: lines }) {
  const charted = chartColumn(columns);
  const max = Math.max(1, ...lines.map((line) => Math.abs(Number(line[charted] ?? 0))));
  const head = element("tr");
  for (const column of columns) {
    head.append(element("th", { class: column.isNumber ? "number" : "" }, column.title));
  }
  if (charted !== -1) head.append(element("th", { class: "chart" }));
  const body = element("tbody");
  for (const line of lines) {
    const row = element("tr");
    line.forEach((value, at) => {
      const isNumber = columns[at].isNumber;
      row.append(
        element(
          "td",
          { class: isNumber ? "number" : "" },
          isNumber ? formatNumber(value, at, lines) : value,
        ),
      );
    });
    if (charted !== -1) row.append(drawChartCell(Number(line[charted]), max));
    body.append(row);
  }
  const table = element("table");
  const top = element("thead");
  top.append(head);
  table.append(top, body);
  const box = element("div", { class: "scroll" });
  box.append(table);
  const section = element("section");
  section.append(element("h3", {}, title), box);
  return section;
}

function formatNumber(value, at, lines) {
  const hasFractions = lines.some((line) => !Number.isInteger(line[at]));
  const digits = hasFractions ? 1 : 0;
  return value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

function drawChartCell(value, max) {
  const bar = element("i", { class: value < 0 ? "early" : "late" });
  // Set through the object model: the page's policy forbids styles in attributes.
  bar.style.width = `${(Math.abs(value) / max) * 100}%`;
  const cell = element("td", { class: "chart" });
  cell.append(bar);
  return cell;
}

function drawResults({ tables }) {
  const filled = tables.filter((table) => table.rows.length > 0);
  byId("results-section").hidden = filled.length === 0;
  byId("results").replaceChildren(...filled.map(drawResult));
}

// ---- all of it

let resultsAtMs = Number.NEGATIVE_INFINITY;
let resultsText = "";

/** Asks and draws. */
export async function lookAtOverview() {
  const [status, executions] = await Promise.all([call("status"), call("executions?max=50")]);
  drawTotals(status);
  drawDefinitions(status.definitions);
  drawExecutions(executions);
  await drawDead(status.definitions);
  if (window.performance.now() - resultsAtMs < resultsEveryMs) return;
  resultsAtMs = window.performance.now();
  const results = await call("sample/results");
  const text = JSON.stringify(results);
  if (text === resultsText) return;
  resultsText = text;
  drawResults(results);
}
