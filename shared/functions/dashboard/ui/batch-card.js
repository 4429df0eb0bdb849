// A batch as a card: state, progress, estimate, the reason why it stands, and its waves as bars. Resumed and cancelled here.

import { inPath, send } from "./api.js";
import { change } from "./change.js";
import { badge, button, element, keepLines, redraw, setText } from "./dom.js";
import { formatCount, formatDistance, formatDuration, formatInstant } from "./format.js";
import { placeOf } from "./place.js";
import { fillProgress, makeProgress } from "./progress.js";

const moods = { running: "busy", done: "good", draft: "calm", halted: "bad", cancelled: "calm" };
/** A running batch without an ended task in this time stands still. */
const stillMs = 20_000;

/** A line for `keepLines`; of a batch with more than `wavesMax` waves those around the open one are shown. */
export function makeBatch({ batch, name }, { wavesMax }) {
  const title = element("h2", {}, element("a", { href: placeOf.batch(batch) }, name));
  const state = element("span");
  const id = element("span", { class: "none" }, `batch ${batch}`);
  const label = `batch ${batch}, ${name}`;
  const resume = button(
    "Resume ..",
    `resume ${label}`,
    () => void resumeBatch(batch, name),
    "primary",
  );
  const cancel = button(
    "Cancel ..",
    `cancel ${label}`,
    () => void cancelBatch(batch, name),
    "danger",
  );
  const buttons = element("span", { class: "buttons changes" }, resume, cancel);
  const far = element("p", { class: "far" });
  const meter = makeProgress();
  const why = element("p", { class: "holds" });
  const waves = element("ol", { class: "waves" });
  const more = element("p", { class: "cut" });
  const head = element("div", { class: "batch-head" }, title, state, id, buttons);
  const line = element("section", { class: "sheet batch" }, head, meter, far, why, waves, more);
  const seen = { ended: -1, atMs: 0 };
  const fill = (report) => {
    redraw(state, [report.state, report.dead], () => drawState(report));
    resume.hidden = report.state !== "halted";
    cancel.hidden = report.state === "done" || report.state === "cancelled";
    fillProgress(meter, "tasks of the batch", partsOf(report));
    setText(far, describeFar(report));
    if (seen.ended !== report.ended)
      Object.assign(seen, { ended: report.ended, atMs: window.performance.now() });
    const holds = describeHolds(report, window.performance.now() - seen.atMs);
    why.hidden = holds === "";
    setText(why, holds);
    const shown = shownWaves(report.waves, wavesMax);
    keepLines(waves, {
      items: shown,
      keyOf: ({ wave }) => wave,
      make: makeWave,
      none: () => element("li", { class: "none" }, "It has no waves."),
    });
    const left = report.waves.length - shown.length;
    setText(more, left > 0 ? `${left} more waves are on the batch's page.` : "");
  };
  return { line, fill };
}

/** A batch that is done is good only without dead tasks. */
function drawState({ state, dead }) {
  if (state === "done" && dead > 0) return [badge(`done, ${formatCount(dead)} dead`, "bad")];
  return [badge(state, moods[state])];
}

/** Dead tasks have ended, but aren't done. */
function partsOf({ waves }) {
  const sum = { done: 0, dead: 0, open: 0, blocked: 0, cancelled: 0 };
  for (const wave of waves) for (const [kind, count] of partsOfWave(wave)) sum[kind] += count;
  return Object.entries(sum);
}

function partsOfWave({ blocked, admitted, unfinished, dead, state }) {
  // Redriven tasks of it run, though the wave has never opened.
  if (state === "cancelled")
    return [
      ["cancelled", blocked + admitted - unfinished],
      ["open", unfinished],
    ];
  return [
    ["done", Math.max(0, admitted - unfinished - dead)],
    ["dead", dead],
    ["open", unfinished],
    ["blocked", blocked],
  ];
}

/** `88 of 97 tasks have ended, 9 of them dead; about 12 s left, until 14:03:12`. */
function describeFar({ ended, tasks, dead, estimatedLeftMs, endedAt, startedAt, state }) {
  const died = dead > 0 ? `, ${formatCount(dead)} of them dead` : "";
  const parts = [`${formatCount(ended)} of ${formatCount(tasks)} tasks have ended${died}`];
  if (endedAt !== null) parts.push(`over since ${formatInstant(endedAt)}`);
  else if (startedAt !== null) parts.push(`started ${formatDistance(startedAt)}`);
  if (state === "running" && estimatedLeftMs !== null && endedAt === null) {
    const end = formatInstant(new Date(Date.now() + estimatedLeftMs).toISOString());
    parts.push(`about ${formatDuration(estimatedLeftMs)} left, until ${end}`);
  }
  return `${parts.join("; ")}.`;
}

/** Why no further wave opens, in a sentence; empty: one does, or it is over. */
function describeHolds({ batch, state, waves, failurePolicy, paused }, stillForMs) {
  if (state === "draft") return "It hasn't been started: its maker starts it.";
  if (state === "running") return describeOpen(waves, paused, stillForMs);
  if (state !== "halted") return "";
  const again = waves.find((other) => other.state === "open");
  if (again !== undefined)
    return `Redriven tasks of wave ${again.ordinal} run, ${formatCount(again.unfinished)} in all. Resume the batch, and it goes on when they have ended.`;
  const wave = waves.findLast((other) => other.state === "done" && other.dead > 0);
  if (wave === undefined) return "It halted at a dead task, and none is left: resume it.";
  return `Of wave ${wave.ordinal} a task is dead, and the batch's policy is ${failurePolicy}: resume it, or redrive the task first. taskgate failures --batch ${batch} names the definitions of the dead tasks.`;
}

function describeOpen(waves, paused, stillForMs) {
  const wave = waves.find((other) => other.state === "open" || other.state === "opening");
  if (wave === undefined) return "No wave is open: the next sweep opens one.";
  const open = formatCount(wave.unfinished);
  const sentence = `Wave ${wave.ordinal} is open: ${open} of its tasks ${wave.unfinished === 1 ? "hasn't" : "haven't"} ended yet.`;
  if (!wave.sealed) return `${sentence} It isn't sealed: more tasks may be added to it.`;
  if (stillForMs < stillMs) return sentence;
  const still = `${sentence} None has ended for ${formatDuration(stillForMs)}.`;
  if (paused.length === 0) return still;
  return `${still} Paused: ${paused.join(", ")}; tasks of ${paused.length === 1 ? "it" : "these"} don't start.`;
}

/** All of few; else some before the first that isn't over, and those behind it. */
function shownWaves(waves, max) {
  if (waves.length <= max) return waves;
  const current = waves.findIndex((wave) => wave.state !== "done");
  const from = current === -1 ? waves.length - max : Math.max(0, current - 3);
  return waves.slice(Math.min(from, waves.length - max)).slice(0, max);
}

function makeWave({ ordinal }) {
  const title = element("span", { class: "ordinal" }, `Wave ${ordinal}`);
  const meter = makeProgress();
  const far = element("span", { class: "far" });
  const line = element("li", {}, title, meter, far);
  const fill = (wave) => {
    const tasks = wave.blocked + wave.admitted;
    const ended = wave.admitted - wave.unfinished;
    line.className = wave.state;
    fillProgress(meter, `tasks of wave ${ordinal}`, partsOfWave(wave));
    const dead = wave.dead > 0 ? `, ${formatCount(wave.dead)} dead` : "";
    setText(far, `${formatCount(ended)} of ${formatCount(tasks)}, ${wave.state}${dead}`);
  };
  return { line, fill };
}

const resumed = {
  resumed: "goes on with its next wave",
  again: "is running or done: there is nothing to resume",
  draft: "hasn't been started yet",
  ended: "was cancelled",
};

function resumeBatch(batch, name) {
  return change({
    title: `Resume batch ${batch}, ${name}?`,
    body: ["Its next wave opens, although tasks of an earlier one are dead. Those stay dead."],
    verb: "Resume the batch",
    doIt: (reason) => send("POST", `batches/${inPath(batch)}/resume`, reason),
    sentence: ({ status }) => `Batch ${batch} ${resumed[status]}.`,
  });
}

function cancelBatch(batch, name) {
  return change({
    title: `Cancel batch ${batch}, ${name}?`,
    body: [
      "No further wave opens. Waiting tasks end, running ones are asked to end.",
      "A cancelled batch can't be resumed.",
    ],
    verb: "Cancel the batch",
    isDanger: true,
    doIt: (reason) => send("POST", `batches/${inPath(batch)}/cancel`, reason),
    sentence: ({ status, tasks }) =>
      status === "done"
        ? `Batch ${batch} had ended before.`
        : `Batch ${batch} is cancelled; ${tasks} tasks ended or are asked to end.`,
  });
}
