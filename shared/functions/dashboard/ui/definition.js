// One definition: limit and rate, running tasks, pace, failures and changes.

import { askIfThere, call, inPath, send, slowly } from "./api.js";
import { change } from "./change.js";
import { makeControls } from "./definition-controls.js";
import { makeLists } from "./definition-lists.js";
import { makePace } from "./definition-pace.js";
import { makeStatistics } from "./definition-statistics.js";
import { badge, button, element, fillTiles, redraw, showOne } from "./dom.js";
import { formatDuration } from "./format.js";
import { placeOf } from "./place.js";
import { isCalls, shownName } from "./shown-limit.js";
import { makeLegend, makeSlots } from "./slots.js";
import { drawTrend, note } from "./trend.js";
import { describeTrouble, readSince } from "./trouble.js";

const paceEveryMs = 3_000;
/** Tasks on tokens that are asked for where the app has no route for the pace. */
const runningMax = 50;

const counts = [
  ["ready", "ready"],
  ["scheduled", "scheduled"],
  ["waiting", "waiting"],
  ["running", "claimed"],
  ["prefetched", "claimed"],
  ["dead", "dead", "bad"],
  ["done", "done"],
  ["cancelled", "cancelled"],
];

export const definition = {
  title: shownName,
  make(main, { id: name }) {
    const head = element("p", { class: "head" });
    const pausing = makePausing(name);
    const slots = makeSlots();
    const tiles = element("ul", { class: "tiles" });
    const trend = element("div", { class: "trend-box" });
    const controls = makeControls(name);
    const pace = makePace();
    const lists = makeLists(name);
    const top = element(
      "section",
      { class: "sheet", "aria-label": "Tokens" },
      slots.node,
      makeLegend(),
      trend,
    );
    const left = element("div", {}, controls.node, pace.node);
    const columns = element("div", { class: "columns" }, left, pace.running);
    const statistics = makeStatistics(name);
    main.append(head, pausing.node, top, tiles, statistics.node, columns, lists.node);
    if (isCalls(name)) {
      top.append(describeCalls(name));
      for (const part of [tiles, statistics.node, pace.node, pace.running]) part.remove();
    }
    const asked = slowly(paceEveryMs, () => askPace(name));
    return async () => {
      const [read, known] = await Promise.all([
        call(`definitions/${inPath(name)}`),
        asked(),
        lists.look(),
        statistics.look(),
      ]);
      note(`ready of ${name}`, read.ready);
      fillHead(head, read, known.pace);
      pausing.fill(read);
      slots.fill(read, read.held === 0 ? [] : known.running);
      fillTiles(tiles, tilesOf(name, read));
      drawTrend(trend, `ready of ${name}`, "Ready tasks", { hasCaption: true });
      controls.fill(read);
      pace.fill(known);
    };
  },
};

/** In place of counts of tasks. */
function describeCalls(name) {
  return element(
    "p",
    {},
    "Functions hold these tokens in their invocations. Such a call is no task, so it is in no count and no list. Commands and the API name this definition ",
    element("code", {}, name),
    ".",
  );
}

/** The pace, or null where the app can't tell it; and the tasks that run. */
async function askPace(name) {
  const path = `definitions/${inPath(name)}`;
  const pace = await askIfThere("definitions/{name}/pace", `${path}/pace`);
  if (pace !== null) return { pace, running: pace.running.filter(isRunning) };
  const { tasks } = await call(`${path}/tasks?state=claimed&max=${runningMax}`);
  const running = tasks
    .filter(isRunning)
    .map((task) => ({ ...task, sinceMs: readSince(task), isSlow: false }));
  return { pace, running };
}

const isRunning = ({ state }) => state === "running";

function fillHead(head, read, pace) {
  const troubles = describeTrouble(read, pace?.oldestReady?.ageMs);
  const shared = read.sharedLimits.map(
    (limit) => `${limit.name} ${limit.held} of ${limit.limit ?? "no limit"}`,
  );
  redraw(head, [troubles, shared, read.app], () => [
    ...(troubles.length === 0 ? [badge("nothing in its way", "calm")] : []),
    ...troubles.map(([text, mood]) => badge(text, mood)),
    ...shared.map((text) => badge(`shares ${text}`, "calm")),
    ...(read.app === null ? [] : [badge(`app ${read.app}`, "calm")]),
    badge(`lease ${formatDuration(read.leaseMs)}`, "calm"),
    ...(isCalls(read.name) ? [] : [badge(`${read.retryAttempts} attempts`, "calm")]),
  ]);
}

const tilesOf = (name, read) =>
  counts.map(([count, state, mood]) => [count, read[count], placeOf.tasks(name, state), mood]);

function makePausing(name) {
  const pause = button("Pause ..", `pause ${name}`, () => void setPaused(read, true));
  const resume = button(
    "Resume ..",
    `resume ${name}`,
    () => void setPaused(read, false),
    "primary",
  );
  const audit = element("a", { href: placeOf.audit(name) }, "Audit");
  const tasks = element("a", { href: placeOf.tasks(name, "ready") }, "Tasks");
  const buttons = element("span", { class: "buttons changes" }, pause, resume);
  const node = element("p", { class: "buttons" }, buttons, tasks, audit);
  let read = null;
  const fill = (shown) => {
    read = shown;
    showOne(shown.paused, resume, pause);
  };
  return { node, fill };
}

function effectOfPause(name) {
  return isCalls(name)
    ? "No invocation of its functions runs its handler any more. Messages that become tasks run as those: a shared limit of 0 holds them, too."
    : "No further task of it starts. Running tasks go on to their end; new tasks wait.";
}

/** `shown`: the definition as the page tells it when the dialog opens. */
function setPaused(shown, isPaused) {
  const { name } = shown;
  const what = isPaused ? "pause" : "resume";
  return change({
    title: `${isPaused ? "Pause" : "Resume"} ${name}?`,
    body: [isPaused ? effectOfPause(name) : "Its tasks start again as its limit and rate allow."],
    verb: isPaused ? "Pause it" : "Resume it",
    doIt: (reason) => send("POST", `definitions/${inPath(name)}/${what}`, reason, shown),
    sentence: ({ status }) =>
      status === "exists" ? `${name} was so already.` : `${name} is ${status}.`,
  });
}
