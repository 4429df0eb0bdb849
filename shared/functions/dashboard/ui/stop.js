// One button stops everything; another resumes exactly the same.

import { askIfThere, call, send, slowly } from "./api.js";
import { change, say } from "./change.js";
import { button, byId, element, redraw } from "./dom.js";
import { formatDistance, formatInstant } from "./format.js";

const everyMs = 4_000;

const asked = slowly(everyMs, () => askIfThere("stop"));

/** Shows the button where the app has the route, and the banner while everything is stopped. */
export async function lookAtStop() {
  const answer = await asked();
  const isThere = answer !== null;
  const stop = isThere ? answer.stop : null;
  byId("stop").hidden = !isThere || stop !== null;
  const banner = byId("stopped");
  banner.hidden = stop === null;
  const when = stop === null ? "" : formatInstant(stop.at);
  redraw(banner, [stop, when], () => (stop === null ? [] : drawBanner(stop, when)));
}

function drawBanner(stop, when) {
  const why = stop.reason === null ? "" : ` Reason: ${stop.reason}.`;
  const what = describeWhat(stop);
  const time = element("time", { datetime: stop.at, title: formatDistance(stop.at) }, when);
  const resume = button(
    "Resume what was stopped",
    "resume what was stopped",
    () => resumeAll(stop),
    "changes",
  );
  return [
    element(
      "p",
      {},
      element("b", {}, "Everything is stopped"),
      ` by ${stop.by} since `,
      time,
      `.${why} ${what} Running tasks go on to their end; new tasks wait.`,
    ),
    resume,
  ];
}

function describeWhat({ definitions, schedules }) {
  return `${count(definitions, "definition")} and ${count(schedules, "schedule")} were paused by it.`;
}

const count = (list, noun) => `${list.length} ${noun}${list.length === 1 ? "" : "s"}`;

async function stopAll() {
  const { totals } = await call("status");
  const open = totals.definitions - totals.paused;
  await change({
    title: "Stop everything?",
    body: [
      say(
        `${open} of ${totals.definitions} definitions will be paused, with all schedules that aren't yet: no further task starts until you resume.`,
      ),
      say(
        `${totals.running} running tasks go on to their end. New tasks can still be added: they wait.`,
      ),
    ],
    verb: "Stop everything",
    isDanger: true,
    doIt: (reason) => send("POST", "stop", reason),
    sentence: (answer) =>
      `Stopped: ${count(answer.definitions, "definition")}, ${count(answer.schedules, "schedule")}.`,
  });
}

async function resumeAll(stop) {
  await change({
    title: "Resume what was stopped?",
    body: [
      say(
        `${count(stop.definitions, "definition")} and ${count(stop.schedules, "schedule")} go on. What had been paused before the stop stays paused.`,
      ),
    ],
    verb: "Resume",
    doIt: (reason) => send("POST", "resume", reason),
    sentence: (answer) =>
      `Resumed: ${count(answer.definitions, "definition")}, ${count(answer.schedules, "schedule")}.`,
  });
}

byId("stop").addEventListener("click", () => void stopAll());
