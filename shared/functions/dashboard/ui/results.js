// Tables of the app itself, as its `results` reads them: a page of its own, linked only where there are any.

import { call, slowly } from "./api.js";
import { barPart, element, makeEmpty, redraw, section } from "./dom.js";

const everyMs = 2_000;

async function askResults() {
  const { tables } = await call("results");
  return tables;
}

/** Has this app tables of its own? */
export async function areResultsThere() {
  return (await askResults()).length > 0;
}

export const results = {
  title: () => "Results",
  make(main) {
    const list = element("div", { id: "results", class: "results" });
    const empty = makeEmpty(
      "Nothing has been summed up yet.",
      "These are tables of the app, not of Taskgate: they fill as its tasks end.",
    );
    main.append(section("Tables of this app", empty, list));
    const asked = slowly(everyMs, askResults);
    return async () => {
      const filled = (await asked()).filter((table) => table.rows.length > 0);
      empty.hidden = filled.length > 0;
      redraw(list, filled, () => filled.map(drawResult));
    };
  },
};

/** The column whose numbers get bars: the first one for which the app wants them. */
function chartColumn(columns) {
  return columns.findIndex((column) => column.isNumber && column.hasBars === true);
}

function drawResult({ title, columns, rows: lines }) {
  const charted = chartColumn(columns);
  const max = Math.max(1, ...lines.map((line) => Math.abs(Number(line[charted] ?? 0))));
  const head = element(
    "tr",
    {},
    ...columns.map((column) =>
      element("th", { scope: "col", class: column.isNumber ? "number" : "" }, column.title),
    ),
  );
  if (charted !== -1) head.append(element("td", { class: "chart" }));
  const rows = lines.map((line) => {
    const row = element("tr", {}, ...line.map((_, at) => drawCell(at, { line, columns, lines })));
    if (charted !== -1) row.append(drawChartCell(Number(line[charted]), max));
    return row;
  });
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
  const box = element(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": title },
    table,
  );
  return element("section", {}, element("h3", {}, title), box);
}

function drawCell(at, { line, columns, lines }) {
  if (!columns[at].isNumber) return element("td", {}, line[at]);
  const digits = lines.some((other) => !Number.isInteger(other[at])) ? 1 : 0;
  const how = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return element("td", { class: "number" }, line[at].toLocaleString("en", how));
}

function drawChartCell(value, max) {
  const bar = barPart(value < 0 ? "early" : "late", Math.abs(value) / max);
  return element("td", { class: "chart" }, bar);
}
