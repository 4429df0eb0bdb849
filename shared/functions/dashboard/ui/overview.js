// The overview: definitions in trouble first, then busy ones, then the rest.

import { askIfThere, call, inPath, slowly } from "./api.js";
import { badge, element, fillTiles, makeTable, redraw, section, setText } from "./dom.js";
import { makeFilterForm } from "./fields.js";
import { formatCount } from "./format.js";
import { placeOf, replacePlace } from "./place.js";
import { isCalls, shownName } from "./shown-limit.js";
import { makeLegend, makeSlots } from "./slots.js";
import { drawSparkline } from "./chart.js";
import { note } from "./trend.js";
import { describeTrouble, readSince, sortByTrouble } from "./trouble.js";

/** So many definitions at the top are asked for the tasks on their tokens, and for their oldest task. */
const detailedMax = 8;
const detailsEveryMs = 3_000;
const summariesEveryMs = 20_000;
const definitionsMax = 50;

const counts = ["ready", "scheduled", "waiting", "running", "prefetched", "dead"];
const listed = { running: "claimed", prefetched: "claimed" };

export const overview = {
  title: () => "Overview",
  make(main, { query }) {
    const tiles = element("ul", { class: "tiles" });
    const filter = element("input", {
      id: "filter",
      type: "search",
      placeholder: "Part of a name",
      autocomplete: "off",
    });
    const only = element("input", { id: "only", type: "checkbox", role: "switch" });
    filter.value = query.get("filter") ?? "";
    only.checked = query.get("only") === "busy";
    const how = () => ({
      filter: filter.value.trim(),
      only: only.checked ? "busy" : "",
    });
    const busyOnly = element("label", { class: "switch" }, only, "Only busy or in trouble");
    const form = makeFilterForm([["Filter", filter]], { more: [busyOnly] });
    const table = makeDefinitions();
    const hidden = element("p", { class: "cut" });
    main.append(tiles, section("Definitions", form, table.node, hidden, makeLegend()));
    const details = slowly(detailsEveryMs, () => askDetails(state.top));
    const summaries = slowly(summariesEveryMs, askSummaries);
    const state = { top: [], order: [] };
    const look = async () => {
      const [status, lately] = await Promise.all([call("status"), summaries()]);
      fillTiles(tiles, tilesOf(status));
      for (const { name, ready } of status.definitions) note(`ready of ${name}`, ready);
      const sorted = sortByTrouble(status.definitions);
      state.top = sorted
        .filter(({ definition }) => isWorthDetails(definition))
        .slice(0, detailedMax);
      const known = await details();
      const wanted = choose(sorted, how());
      const isUsed = table.node.matches(":hover");
      const rows = (isUsed ? keepOrder(wanted, state.order) : wanted).slice(0, definitionsMax);
      state.order = rows.map(({ definition }) => definition.name);
      table.fill(
        rows.map((row) => ({
          ...row,
          ...known.get(row.definition.name),
          summary: lately.get(row.definition.name),
        })),
        wanted.length > rows.length ? wanted.length : false,
      );
      const idle = sorted.length - wanted.length;
      setText(hidden, idle > 0 && rows.length > 0 ? `${idle} more are not shown: the filter.` : "");
    };
    const changed = () => {
      replacePlace("overview", how());
      void look();
    };
    filter.addEventListener("input", changed);
    only.addEventListener("change", changed);
    return look;
  },
};

function choose(sorted, { filter, only }) {
  const part = filter.toLowerCase();
  return sorted
    .filter(({ definition: { name } }) =>
      `${name}\n${shownName(name)}`.toLowerCase().includes(part),
    )
    .filter(({ rank }) => only === "" || rank !== "idle");
}

/** Under the pointer rows stay where they are: new ones come behind. */
function keepOrder(rows, order) {
  const placeIn = ({ definition }) => {
    const at = order.indexOf(definition.name);
    return at === -1 ? order.length : at;
  };
  return rows.toSorted((left, right) => placeIn(left) - placeIn(right));
}

// ---- tiles

function tilesOf({ totals, expired }) {
  return [
    ["running", totals.running, "#executions"],
    ["prefetched", totals.prefetched, "#executions"],
    ["ready", totals.ready],
    ["scheduled", totals.scheduled],
    ["waiting", totals.waiting],
    ["dead", totals.dead, "#failures", "bad"],
    ["paused", totals.paused, undefined, "warn"],
    ["executions", totals.executions, "#executions"],
    ["executions lost", expired, "#executions", "bad"],
  ].filter(([name, count]) => name !== "executions lost" || count > 0);
}

// ---- definitions

function makeDefinitions() {
  return makeTable({
    label: "Definitions, those in trouble first",
    className: "definitions",
    columns: [
      ["definition", "title"],
      ["tokens held", "slots-cell"],
      ...counts.map((name) => [name, "number count"]),
      ["done, 2 hours", "trend-cell"],
    ],
    keyOf: ({ definition }) => definition.name,
    row: makeRow,
    none: [
      "No definition is shown.",
      "A definition is registered by the first run of an app that has it, and shows up here. If there are some, the filter hides them.",
    ],
  });
}

function makeRow({ definition: { name } }, cells, line) {
  const [title, slotsCell, ...rest] = cells;
  const trend = rest.at(-1);
  const link = element("a", { href: placeOf.definition(name) }, shownName(name));
  const chips = element("span", { class: "chips" });
  title.append(link, chips);
  const slots = makeSlots();
  slotsCell.append(slots.node);
  const links = counts.map((count, at) => {
    const made = element("a", { href: placeOf.tasks(name, listed[count] ?? count) });
    rest[at].append(isCalls(name) ? "-" : made);
    return made;
  });
  return ({ definition, rank, tasks, oldest, summary }) => {
    line.className = rank;
    const troubles = describeTrouble(definition, oldest);
    redraw(chips, troubles, () => troubles.map(([text, mood]) => badge(text, mood)));
    slots.fill(definition, definition.held === 0 ? [] : tasks);
    counts.forEach((count, at) => {
      setText(links[at], formatCount(definition[count]));
      links[at].setAttribute("aria-label", `${definition[count]} ${count} of ${name}`);
      const mood = definition[count] === 0 ? "none" : count === "dead" ? "bad" : "";
      rest[at].className = `number count ${mood}`;
    });
    drawSparkline(trend, name, summary);
  };
}

/** Tasks that ended within the last two hours, by definition. */
async function askSummaries() {
  const answer = await askIfThere("statistics");
  return new Map((answer?.definitions ?? []).map((summary) => [summary.definition, summary]));
}

// ---- the tasks on the tokens, and how old the oldest is: only of those at the top

const isWorthDetails = ({ held, ready }) => held > 0 || ready > 0;

async function askDetails(top) {
  const asked = top.map(async ({ definition }) => [definition.name, await askOne(definition)]);
  return new Map(await Promise.all(asked));
}

async function askOne({ name, held, ready }) {
  const path = `definitions/${inPath(name)}`;
  const max = Math.min(50, Math.max(1, held));
  const [running, pace] = await Promise.all([
    held === 0 ? { tasks: [] } : call(`${path}/tasks?state=claimed&max=${max}`),
    ready === 0 ? null : askIfThere("definitions/{name}/pace", `${path}/pace`),
  ]);
  const slow = new Set(
    (pace?.running ?? []).filter(({ isSlow }) => isSlow).map(({ task }) => task),
  );
  const tasks = running.tasks
    .filter(({ state }) => state === "running")
    .map((task) => ({ ...task, sinceMs: readSince(task), isSlow: slow.has(task.task) }));
  return { tasks, oldest: pace?.oldestReady?.ageMs };
}
