// Schedules with their next and last runs; paused and resumed here.

import { call, inPath, send } from "./api.js";
import {
  act,
  byId,
  drawBadge,
  formatDuration,
  formatInstant,
  keepLines,
  makeButton,
  makeCells,
  setText,
} from "./draw.js";

const schedulesMax = 1_000;

/** Asks and draws. */
export async function lookAtSchedules() {
  const { schedules } = await call(`schedules?max=${schedulesMax}`);
  const table = byId("schedule-table");
  keepLines(table.tBodies[0], {
    items: schedules,
    keyOf: ({ id }) => id,
    make: (schedule) => makeSchedule(table, schedule),
    none: "No definition has a schedule.",
  });
}

function makeSchedule(table, { definition, name }) {
  const cells = makeCells(table, 7);
  const line = document.createElement("tr");
  line.append(...cells);
  const [title, cron, zone, next, last, missed, control] = cells;
  cron.classList.add("control");
  control.classList.add("control");
  const place = `schedule ${name} of ${definition}`;
  const pause = makeButton("pause", `pause ${place}`, () => change({ definition, name }, "pause"));
  const resume = makeButton("resume", `resume ${place}`, () =>
    change({ definition, name }, "resume"),
  );
  control.append(pause, resume);
  const fill = (schedule) => {
    setText(title, name === definition ? name : `${definition} / ${name}`);
    if (schedule.paused) title.append(" ", drawBadge("paused"));
    setText(cron, schedule.cron);
    setText(zone, schedule.timeZone);
    setText(next, describeNext(schedule));
    next.classList.toggle("bad", isLate(schedule));
    setText(last, schedule.lastRunAt === null ? "never" : formatInstant(schedule.lastRunAt));
    setText(missed, schedule.missed);
    pause.hidden = schedule.paused;
    resume.hidden = !schedule.paused;
  };
  return { line, fill };
}

/** Later than the safety net's tick makes it. */
const lateMs = 90_000;

function isLate({ inMs, paused }) {
  return !paused && inMs !== null && inMs < -lateMs;
}

function describeNext({ runAt, inMs, paused }) {
  if (paused) return "paused: nothing is made up for";
  if (runAt === null || inMs === null) return "never again";
  const distance =
    inMs < 0 ? `due for ${formatDuration(-inMs)}` : `in ${formatDuration(Math.max(0, inMs))}`;
  return `${formatInstant(runAt)}, ${distance}`;
}

async function change({ definition, name }, what) {
  await act(
    () =>
      send("POST", `definitions/${inPath(definition)}/schedules/${what}`, {
        schedule: name,
        reason: "status page",
      }),
    () => `Schedule ${name} of ${definition} is ${what === "pause" ? "paused" : "resumed"}.`,
  );
  await lookAtSchedules();
}
