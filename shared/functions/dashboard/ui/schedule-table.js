// Schedules with their next and last runs; run out of turn, paused and resumed here.

import { inPath, send } from "./api.js";
import { change } from "./change.js";
import { badge, button, element, makeTable, redraw, showOne } from "./dom.js";
import { formatDuration, formatInstant, sayInstant } from "./format.js";
import { placeOf } from "./place.js";
import { runNow } from "./schedule-run.js";

/** Later than the safety net's tick makes it. */
const lateMs = 90_000;
const missedTexts = { skip: "left out", once: "made up for once", all: "all made up for" };

/** `isOfOne`: all are of one definition, which isn't repeated. */
export function makeScheduleTable({ isOfOne = false } = {}) {
  return makeTable({
    className: isOfOne ? "of-one" : "",
    label: "Schedules",
    columns: [
      ["schedule", "value"],
      ["definition", "value"],
      ["next run", "when", describeNext],
      ["cron", "cron", ({ cron }) => cron],
      ["cron's zone", "", ({ timeZone }) => timeZone],
      ["last run", "when", ({ lastRunAt: at }) => (at === null ? ["never", ""] : sayInstant(at))],
      ["missed runs", "", ({ missed }) => missedTexts[missed] ?? missed],
      ["", "buttons-cell"],
    ],
    keyOf: ({ id }) => id,
    row: makeRow,
    none: [
      "No definition has a schedule.",
      "A schedule adds a task at fixed times. It is written in code, with ",
      element("code", {}, "schedules"),
      " of a definition, and shows up here after the next run of the app.",
    ],
  });
}

function makeRow({ definition, name }, [title, owner, control]) {
  const place = `schedule ${name} of ${definition}`;
  let shown = null;
  const pause = button("Pause ..", `pause ${place}`, () => void setPaused(shown, true));
  const resume = button("Resume ..", `resume ${place}`, () => void setPaused(shown, false));
  const run = button("Run now ..", `run now: ${place}`, () => void runNow(shown));
  control.append(element("span", { class: "buttons changes" }, run, pause, resume));
  owner.append(element("a", { href: placeOf.definition(definition) }, definition));
  return (schedule) => {
    shown = schedule;
    const { paused } = schedule;
    redraw(title, [name, paused, isLate(schedule)], () => [
      name,
      ...(paused ? [" ", badge("paused", "warn")] : []),
      ...(isLate(schedule) ? [" ", badge("late", "bad")] : []),
    ]);
    showOne(paused, resume, pause);
  };
}

function isLate({ inMs, paused }) {
  return !paused && inMs !== null && inMs < -lateMs;
}

function describeNext({ runAt, inMs, paused }) {
  if (paused) return "none while it is paused";
  if (runAt === null || inMs === null) return "never again";
  const distance = inMs < 0 ? `due for ${formatDuration(-inMs)}` : `in ${formatDuration(inMs)}`;
  return `${formatInstant(runAt)}, ${distance}`;
}

function setPaused(shown, isPaused) {
  const { definition, name } = shown;
  const what = isPaused ? "pause" : "resume";
  return change({
    title: `${isPaused ? "Pause" : "Resume"} schedule ${name} of ${definition}?`,
    body: [
      isPaused
        ? "It adds no task until it is resumed. Instants that pass meanwhile aren't made up for."
        : "It goes on with its next instant from now.",
    ],
    verb: isPaused ? "Pause the schedule" : "Resume the schedule",
    doIt: (reason) =>
      send(
        "POST",
        `definitions/${inPath(definition)}/schedules/${what}`,
        { schedule: name, ...reason },
        shown,
      ),
    sentence: () => `Schedule ${name} of ${definition} is ${isPaused ? "paused" : "resumed"}.`,
  });
}
