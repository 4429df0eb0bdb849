// The status page: asks the API every second and draws what it says. No library, no build step; texts from tasks are
// only ever set as text, never as HTML.

const lookEveryMs = 1_000;
const resultsEveryMs = 2_000;
const noticeMs = 4_000;
/** The API counts up to here. */
const countMax = 10_000;
/** Cells of a bar; larger limits share them. */
const cellsMax = 40;
const deadLettersMax = 50;
const limitMax = 1_000;
const keyName = "taskgate-function-key";

/** Addresses are relative to the page, api/dashboard: the part before `api` may be anything. */
async function call(path, init = {}) {
  const headers = { accept: "application/json", ...init.headers };
  const key = window.sessionStorage.getItem(keyName);
  if (key !== null) headers["x-functions-key"] = key;
  const response = await fetch(path, { ...init, headers, cache: "no-store" });
  if (response.status === 401 || response.status === 403) throw new KeyWanted();
  const body = await response.json();
  if (!response.ok) throw new Error(describeProblem(body));
  return body;
}

class KeyWanted extends Error {}

function describeProblem(body) {
  const problems = (body.problems ?? []).map(
    (entry) => `${entry.field}: expected ${entry.expected}`,
  );
  return problems.length > 0
    ? problems.join("; ")
    : (body.detail ?? body.title ?? "no reason given");
}

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; texts become text nodes. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  // Strings become text nodes, numbers first become strings.
  made.append(...children.map(String));
  return made;
}

function formatCount(count) {
  return count >= countMax ? `${countMax.toLocaleString("en")}+` : count.toLocaleString("en");
}

function formatLease(ms) {
  return ms === null ? "-" : `${Math.max(0, Math.round(ms / 1_000))} s`;
}

/** A build numbers itself by its time, unless the deployment gave it a number of its own. */
function describeBuild(build) {
  if (build < 1e12) return `build ${build}`;
  return `built ${new Date(build).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

// ---- totals

function drawTotals({ totals, expired }) {
  const waiting = totals.ready + totals.scheduled + totals.waiting;
  const entries = [
    ["claimed", totals.claimed, ""],
    ["waiting", waiting, ""],
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

const rows = new Map();

function drawDefinitions(definitions) {
  const body = byId("definitions").tBodies[0];
  for (const definition of definitions) {
    let row = rows.get(definition.name);
    if (row === undefined) {
      row = makeRow(definition.name);
      rows.set(definition.name, row);
    }
    fillRow(row, definition);
  }
  const wanted = definitions.map(({ name }) => rows.get(name).line);
  const isSame =
    wanted.length === body.rows.length && wanted.every((line, at) => body.rows[at] === line);
  if (!isSame) body.replaceChildren(...wanted);
}

const countNames = ["ready", "scheduled", "waiting", "claimed", "done", "dead"];

function makeRow(name) {
  const line = element("tr");
  const title = element("th", { scope: "row" }, name);
  const bar = element("td", { class: "tokens" });
  const control = element("td", { class: "limit" });
  const less = element(
    "button",
    { type: "button", "aria-label": `lower the limit of ${name}` },
    "\u2212",
  );
  const input = element("input", {
    inputmode: "numeric",
    size: "4",
    "aria-label": `limit of ${name}`,
  });
  const more = element(
    "button",
    { type: "button", "aria-label": `raise the limit of ${name}` },
    "+",
  );
  const reset = element("button", { type: "button", class: "quiet" }, "reset");
  control.append(less, input, more, reset);
  const counts = countNames.map(() => element("td", { class: "number" }));
  line.append(title, bar, control, ...counts);
  const row = { name, line, title, bar, input, reset, counts, limit: null };
  less.addEventListener("click", () => changeLimit(row, Math.max(0, (row.limit ?? 1) - 1)));
  more.addEventListener("click", () => changeLimit(row, Math.min(limitMax, (row.limit ?? 0) + 1)));
  reset.addEventListener("click", () => changeLimit(row, "code"));
  input.addEventListener("change", () => changeLimit(row, readLimit(input.value)));
  return row;
}

/** An empty field or "none" means no limit. What isn't a number goes to the API as it is: it says what is expected. */
function readLimit(text) {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === "" || trimmed === "none") return null;
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}

function fillRow(row, definition) {
  const { limit, held, limitSource, codeLimit, paused } = definition;
  row.limit = limit;
  row.title.textContent = definition.name;
  if (paused) row.title.append(" ", element("span", { class: "badge" }, "paused"));
  row.bar.replaceChildren(
    drawBar(held, limit),
    element("span", { class: "held" }, describeHeld(held, limit)),
  );
  if (document.activeElement !== row.input)
    row.input.value = limit === null ? "none" : String(limit);
  row.reset.hidden = limitSource === "code";
  row.reset.title = `back to the code's: ${codeLimit === null ? "none" : String(codeLimit)}`;
  countNames.forEach((name, at) => {
    const cell = row.counts[at];
    cell.textContent = formatCount(definition[name]);
    cell.className = `number ${definition[name] === 0 ? "none" : name === "dead" ? "bad" : ""}`;
  });
}

function describeHeld(held, limit) {
  return limit === null ? `${held}, no limit` : `${held} of ${limit}`;
}

function drawBar(held, limit) {
  const count = Math.max(limit ?? held, held);
  const cells = Math.min(count, cellsMax);
  const full = held === 0 ? 0 : Math.max(1, Math.round((held / count) * cells));
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  for (let at = 0; at < cells; at += 1) {
    // Tokens above a lowered limit come back as their tasks end.
    const isSurplus = limit !== null && at >= limit && at < full;
    bar.append(element("i", { class: isSurplus ? "surplus" : at < full ? "held" : "free" }));
  }
  return bar;
}

let noticeTimer;

function notify(text, mood = "") {
  const notice = byId("notice");
  notice.textContent = text;
  notice.className = mood;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => {
    notice.textContent = "";
  }, noticeMs);
}

async function changeLimit(row, limit) {
  row.input.blur();
  try {
    const path = `definitions/${encodeURIComponent(row.name)}/limit`;
    const body = JSON.stringify({ limit, reason: "status page" });
    const headers = { "content-type": "application/json" };
    const report = await call(path, { method: "PUT", headers, body });
    const surplus =
      report.surplus > 0 ? `; ${report.surplus} tokens come back as their tasks end` : "";
    notify(`The limit of ${row.name} is ${report.newLimit ?? "none"} now${surplus}.`);
    await look();
  } catch (error) {
    notify(`The limit was not changed: ${error.message}.`, "bad");
  }
}

// ---- dead letters

/** By definition: how many there were when they were last asked for, and which. */
const dead = new Map();

async function drawDead(definitions) {
  for (const { name, dead: count } of definitions) {
    if ((dead.get(name)?.count ?? 0) === count) continue;
    const path = `definitions/${encodeURIComponent(name)}/tasks?state=dead&most=${deadLettersMax}`;
    const { tasks } = await call(path);
    dead.set(name, { count, tasks: tasks.map((task) => ({ ...task, definition: name })) });
  }
  const letters = [...dead.values()]
    .flatMap((entry) => entry.tasks)
    .sort((left, right) => right.finishedAt.localeCompare(left.finishedAt))
    .slice(0, deadLettersMax);
  const list = letters.map((letter) => {
    const [reason = ""] = (letter.error ?? "no reason was given").split("\n", 1);
    const line = element("li");
    const place = `${letter.kind} ${letter.task}, ${new Date(letter.finishedAt).toLocaleTimeString()}`;
    line.append(
      element("span", { class: "place" }, place),
      element("span", { class: "reason" }, reason),
    );
    return line;
  });
  byId("dead").replaceChildren(
    ...(list.length > 0 ? list : [element("li", { class: "none" }, "none")]),
  );
}

// ---- executions

function drawExecutions(executions) {
  const lines = executions.map((execution) => {
    const line = element("tr", { class: execution.state === "live" ? "" : "bad" });
    const worker =
      execution.state === "live" ? execution.worker : `${execution.worker} (${execution.state})`;
    line.append(element("td", {}, worker), element("td", {}, execution.definition));
    const numbers = [execution.tokens, execution.claimed, formatLease(execution.leaseLeftMs)];
    line.append(...numbers.map((value) => element("td", { class: "number" }, value)));
    return line;
  });
  const none = element("tr");
  none.append(element("td", { class: "none", colspan: "5" }, "nobody works"));
  byId("executions").tBodies[0].replaceChildren(...(lines.length > 0 ? lines : [none]));
}

// ---- results of the sample

/** The column whose numbers get bars: the last one that speaks of a mean. */
function chartColumn(columns) {
  return columns.findLastIndex((column) => column.isNumber && column.title.startsWith("mean"));
}

function drawResult({ title, columns, rows: lines }) {
  const charted = chartColumn(columns);
  const most = Math.max(1, ...lines.map((line) => Math.abs(Number(line[charted] ?? 0))));
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
    if (charted !== -1) row.append(drawChartCell(Number(line[charted]), most));
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

function drawChartCell(value, most) {
  const bar = element("i", { class: value < 0 ? "early" : "late" });
  // Set through the object model: the page's policy forbids styles in attributes.
  bar.style.width = `${(Math.abs(value) / most) * 100}%`;
  const cell = element("td", { class: "chart" });
  cell.append(bar);
  return cell;
}

function drawResults({ tables }) {
  const filled = tables.filter((table) => table.rows.length > 0);
  byId("results-section").hidden = filled.length === 0;
  byId("results").replaceChildren(...filled.map(drawResult));
}

// ---- the clock of the page

let resultsAtMs = Number.NEGATIVE_INFINITY;
let resultsText = "";

async function look() {
  const [status, { executions }] = await Promise.all([call("status"), call("executions?most=50")]);
  byId("about").textContent =
    `${status.dialect === "mssql" ? "SQL Server" : "PostgreSQL"}, ${describeBuild(status.build)}`;
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

async function lookAgain() {
  try {
    // Nobody looks at a hidden tab: no statement reaches the database for it.
    if (!document.hidden) {
      await look();
      setConnection(`live, ${new Date().toLocaleTimeString()}`, "good");
      byId("key-form").hidden = true;
    }
  } catch (error) {
    if (error instanceof KeyWanted) byId("key-form").hidden = false;
    const reason =
      error instanceof KeyWanted ? "a function key is wanted" : `no answer: ${error.message}`;
    setConnection(reason, "bad");
  }
  setTimeout(lookAgain, lookEveryMs);
}

function setConnection(text, mood) {
  const connection = byId("connection");
  connection.textContent = text;
  connection.className = mood;
}

byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  window.sessionStorage.setItem(keyName, byId("key").value);
  byId("key").value = "";
});

void lookAgain();
