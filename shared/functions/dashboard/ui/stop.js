// One button stops everything; another resumes exactly the same.

import { askIfThere, call, send, slowly } from "./api.js";
import { change } from "./change.js";
import { button, byId, element, redraw } from "./dom.js";
import { counted, formatDistance, formatInstant } from "./format.js";

const everyMs = 4_000;

const asked = slowly(everyMs, () => askIfThere("stop"));

/** Does a stop that this page made still miss some? The same request again takes them up. */
let isPartial = false;

/** Shows the button where the app has the route, and the banner while everything is stopped. */
export async function lookAtStop() {
  const answer = await asked();
  const isThere = answer !== null;
  const stop = isThere ? answer.stop : null;
  byId("stop").hidden = !isThere || (stop !== null && !isPartial);
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

const count = (list, noun) => counted(list.length, noun);

const leftOf = ({ left }) => left?.length ?? 0;

/** What a stop or its end did; some may have been locked at that moment. */
function describeDone(answer) {
  const done = `${count(answer.definitions, "definition")}, ${count(answer.schedules, "schedule")}.`;
  return leftOf(answer) === 0 ? done : `${done} ${leftOf(answer)} were locked: press again.`;
}

async function stopAll() {
  const { totals } = await call("status");
  const open = totals.definitions - totals.paused;
  await change({
    title: "Stop everything?",
    body: [
      `${open} of ${totals.definitions} definitions will be paused, with all schedules that aren't yet: no further task starts until you resume.`,
      `${totals.running} running tasks go on to their end. New tasks can still be added: they wait.`,
    ],
    verb: "Stop everything",
    isDanger: true,
    doIt: (reason) => send("POST", "stop", reason),
    sentence: (answer) => {
      isPartial = leftOf(answer) > 0;
      return `Stopped: ${describeDone(answer)}`;
    },
  });
}

async function resumeAll(stop) {
  await change({
    title: "Resume what was stopped?",
    body: [
      `${count(stop.definitions, "definition")} and ${count(stop.schedules, "schedule")} go on. What had been paused before the stop stays paused.`,
    ],
    verb: "Resume",
    doIt: (reason) => send("POST", "resume", reason),
    sentence: (answer) => {
      isPartial = false;
      return `Resumed: ${describeDone(answer)}`;
    },
  });
}

byId("stop").addEventListener("click", () => void stopAll());
