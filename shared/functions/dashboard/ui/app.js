// The status page: asks the API every second for what the shown view needs, and draws it. No library, no build step.
// A view's name is the address's part behind `#`.

import { KeyWanted, call, keepKey } from "./api.js";
import { lookAtBatches } from "./batches.js";
import { byId, setText } from "./draw.js";
import { lookAtGroups } from "./groups.js";
import { lookAtLimits } from "./limits.js";
import { lookAtOverview } from "./overview.js";
import { lookAtSchedules } from "./schedules.js";
import { listenToForms, lookAtTasks } from "./tasks.js";
import { lookAtWatermarks } from "./watermarks.js";

const lookEveryMs = 1_000;

const views = {
  overview: lookAtOverview,
  batches: lookAtBatches,
  schedules: lookAtSchedules,
  limits: lookAtLimits,
  groups: lookAtGroups,
  watermarks: lookAtWatermarks,
  tasks: lookAtTasks,
};

/** What the address asks for; an unknown view is the overview. */
function place() {
  const [name, query = ""] = window.location.hash.slice(1).split("?", 2);
  const view = Object.hasOwn(views, name) ? name : "overview";
  return { view, query: new window.URLSearchParams(query) };
}

function show(view) {
  for (const name of Object.keys(views)) byId(name).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === `#${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Which database, which build, and whether operators may change something: asked once for each load of the page. */
async function describeApp() {
  const about = byId("about");
  if (about.textContent !== "") return;
  const { dialect, build, operatorApi } = await call("status");
  document.body.classList.toggle("read-only", !operatorApi);
  setText(about, `${dialect === "mssql" ? "SQL Server" : "PostgreSQL"}, ${describeBuild(build)}`);
}

/** A build numbers itself by its time, unless the deployment gave it a number of its own. */
function describeBuild(build) {
  if (build < 1e12) return `build ${build}`;
  return `built ${new Date(build).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

let timer;
/** Counts the looks: one that has been overtaken by another view says nothing of the connection. */
let looks = 0;

async function lookAgain() {
  clearTimeout(timer);
  looks += 1;
  const look = looks;
  const { view, query } = place();
  try {
    // A hidden tab isn't refreshed: no statement reaches the database for it.
    if (!document.hidden) {
      await Promise.all([views[view](query), describeApp()]);
      if (look === looks) setConnection(`live, ${new Date().toLocaleTimeString()}`, "good");
      byId("key-form").hidden = true;
    }
  } catch (error) {
    if (error instanceof KeyWanted) byId("key-form").hidden = false;
    const reason = error instanceof KeyWanted ? error.message : `no answer: ${error.message}`;
    if (look === looks) setConnection(reason, "bad");
  }
  if (look === looks) timer = setTimeout(lookAgain, lookEveryMs);
}

function setConnection(text, mood) {
  const connection = byId("connection");
  setText(connection, text);
  connection.className = mood;
}

function goWhereTheAddressSays() {
  show(place().view);
  void lookAgain();
}

byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepKey(byId("key").value);
  byId("key").value = "";
  void lookAgain();
});

listenToForms();
window.addEventListener("hashchange", goWhereTheAddressSays);
goWhereTheAddressSays();
