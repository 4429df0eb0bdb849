// The dashboard: asks the API every second for what the shown view needs, and draws it. No library, no build step.
// A view is made when its address is gone to, and patched by each look after that.

import { KeyWanted, Refused, call, keepKey } from "./api.js";
import { audit } from "./audit.js";
import { batch, batches } from "./batches.js";
import { definition } from "./definition.js";
import { byId, element, makeEmpty, redraw, setText } from "./dom.js";
import { executions } from "./executions.js";
import { failures } from "./failures.js";
import { formatDuration, formatInstant, readZones, switchZone } from "./format.js";
import { groups } from "./groups.js";
import { limits } from "./limits.js";
import { overview } from "./overview.js";
import { placeOf, readPlace } from "./place.js";
import { areResultsThere, results } from "./results.js";
import { schedules } from "./schedules.js";
import { search } from "./search.js";
import { lookAtStop } from "./stop.js";
import { task } from "./task.js";
import { tasks } from "./tasks.js";
import { watermarks } from "./watermarks.js";

const lookEveryMs = 1_000;
const pauseMsMax = 30_000;

/**
 * Views by their names in the address: `title(id)`, and `make(main, place)`, which builds what stays and answers the look that
 * asks and fills. Those of one object are in `objects`.
 */
const views = {
  overview,
  tasks,
  failures,
  batches,
  schedules,
  limits,
  groups,
  watermarks,
  executions,
  audit,
  results,
  search,
};
const objects = { tasks: task, definitions: definition, batches: batch };

/** An unknown view is the overview. */
function viewOf({ view, id }) {
  if (id !== null && Object.hasOwn(objects, view)) return objects[view];
  return Object.hasOwn(views, view) ? views[view] : overview;
}

/** The page that is shown: its view and object. */
let shown = { key: "", look: () => undefined };

function show(place) {
  const view = viewOf(place);
  const key = JSON.stringify([place.view, place.id]);
  if (shown.key === key) return;
  const isFirst = shown.key === "";
  const main = byId("page");
  main.replaceChildren();
  main.className = "";
  const title = view.title(place.id);
  document.title = `${title} - Taskgate`;
  main.append(element("h1", {}, title));
  main.setAttribute("aria-busy", "true");
  shown = { key, look: view.make(main, place) };
  markView(place.view);
  if (isFirst) return;
  // As a new page would: from its top, and read from there.
  window.scrollTo(0, 0);
  main.focus({ preventScroll: true });
}

function markView(name) {
  const current = Object.hasOwn(views, name) ? name : "overview";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === `#${current}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const link = document.querySelector("nav a[aria-current]");
  setText(byId("menu"), `Menu: ${link?.textContent ?? "Search"}`);
  openMenu(false);
}

function openMenu(isOpen) {
  byId("menu").setAttribute("aria-expanded", String(isOpen));
  byId("views").classList.toggle("open", isOpen);
}

/** Which database, which build, and whether the caller may change something: asked once for each load of the page. */
async function describeApp() {
  const about = byId("about");
  if (about.textContent !== "") return;
  const { dialect, build, operatorApi, definitions } = await call("status");
  document.body.classList.toggle("read-only", !operatorApi);
  const may = operatorApi ? "" : ", read only";
  const database = dialect === "mssql" ? "SQL Server" : "PostgreSQL";
  setText(about, `${database}, ${describeBuild(build)}${may}`);
  const names = definitions.map(({ name }) => element("option", { value: name }));
  byId("search-names").replaceChildren(...names);
  byId("results-link").hidden = !(await areResultsThere());
}

/** A build numbers itself by its time, unless the deployment gave it a number of its own. */
function describeBuild(build) {
  if (build < 1e12) return `build ${build}`;
  return `built ${new Date(build).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

let timer;
/** Counts the looks: one that has been overtaken by another view says nothing of the connection. */
let looks = 0;
/** Of the first look in a row without an answer. */
let silentSince = null;

async function lookAgain() {
  clearTimeout(timer);
  looks += 1;
  const look = looks;
  const begunMs = performance.now();
  const pauseMs = () => pauseAfter(performance.now() - begunMs);
  try {
    // A hidden tab isn't refreshed: no statement reaches the database for it.
    if (!document.hidden) {
      await Promise.all([shown.look(readPlace()), describeApp(), lookAtStop()]);
      if (look === looks) setLive(pauseMs());
      byId("key-form").hidden = true;
    }
  } catch (error) {
    if (look === looks) showProblem(error);
  }
  if (look === looks) timer = setTimeout(lookAgain, pauseMs());
}

/** A database that answers slowly is left alone for longer, so that a page that stays open takes a fifth of its time at most. */
function pauseAfter(lookMs) {
  return Math.min(Math.max(lookEveryMs, 4 * lookMs), pauseMsMax);
}

function showProblem(error) {
  if (error instanceof KeyWanted) {
    byId("key-form").hidden = false;
    setConnection(error.message, "bad");
    return;
  }
  silentSince ??= new Date();
  setConnection(`no answer since ${formatInstant(silentSince)}`, "bad");
  const main = byId("page");
  // A page that has shown something goes on showing it.
  byId("connection").title = error.message;
  if (main.getAttribute("aria-busy") === "false") return;
  const place = main.querySelector(".problem") ?? element("section", { class: "sheet problem" });
  if (place.parentNode === null) main.append(place);
  redraw(place, error.message, () => [makeEmpty(describeProblem(error))]);
}

function describeProblem(error) {
  const start = error instanceof Refused ? "The API refused" : "No answer";
  return `${start}: ${error.message}.`;
}

function setConnection(text, mood) {
  const connection = byId("connection");
  setText(connection, text);
  connection.className = mood;
}

function setLive(pauseMs) {
  setConnection("live", "good");
  silentSince = null;
  byId("connection").title = `asked every ${formatDuration(pauseMs)} while this tab is seen`;
  const main = byId("page");
  main.querySelector(".problem")?.remove();
  main.setAttribute("aria-busy", "false");
}

function goWhereTheAddressSays() {
  // The link that skips to the page isn't a place.
  if (window.location.hash === "#page") return;
  show(readPlace());
  void lookAgain();
}

function showZone() {
  const { zone, other } = readZones();
  const control = byId("zone");
  setText(control, `Times: ${zone}`);
  control.disabled = zone === other;
  control.title = zone === other ? "" : `Show times in ${other}`;
}

byId("zone").addEventListener("click", () => {
  switchZone();
  showZone();
  void lookAgain();
});
byId("menu").addEventListener("click", () =>
  openMenu(byId("menu").getAttribute("aria-expanded") === "false"),
);
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepKey(byId("key").value);
  byId("key").value = "";
  void lookAgain();
});
byId("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("search").value.trim();
  if (text === "") return;
  const names = [...byId("search-names").children].map((option) => option.value);
  const place = /^\d{1,19}$/.test(text)
    ? placeOf.task(text)
    : names.includes(text)
      ? placeOf.definition(text)
      : placeOf.search(text);
  byId("search").value = "";
  window.location.hash = place;
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("page").focus();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void lookAgain();
});

showZone();
window.addEventListener("hashchange", goWhereTheAddressSays);
// A change that was just made is seen at once.
window.addEventListener("taskgate-changed", ({ detail: looks }) => looks.push(lookAgain()));
goWhereTheAddressSays();
