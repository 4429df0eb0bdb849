// Batches with their waves: how far they are and when they will end; resumed and cancelled here.

import { call, inPath, send } from "./api.js";
import {
  act,
  byId,
  drawBadge,
  drawCut,
  element,
  formatCount,
  formatDuration,
  formatInstant,
  keepLines,
  makeButton,
  makeSureButton,
  setText,
} from "./draw.js";

const batchesMax = 20;
/** So many of the newest are looked through for those that aren't over. */
const batchesAsked = 50;
/** Batches that need attention, running ones, ended ones. */
const places = ["halted", "running", "draft"];
/** Of a batch with many waves those around the open one are shown. */
const wavesMax = 12;

const moods = { running: "good", done: "calm", draft: "calm", halted: "bad", cancelled: "calm" };

/** Asks and draws. */
export async function lookAtBatches() {
  const { batches, more } = await call(`batches?max=${batchesAsked}`);
  const place = ({ state }) => (places.includes(state) ? places.indexOf(state) : places.length);
  const items = batches.toSorted((left, right) => place(left) - place(right)).slice(0, batchesMax);
  drawCut("batches-cut", { shown: items.length, more: more || batches.length > items.length });
  keepLines(byId("batch-list"), {
    items,
    keyOf: ({ batch }) => batch,
    make: makeBatch,
    none: "There is no batch.",
  });
}

function makeBatch({ batch, name }) {
  const title = element("h3", {});
  const state = element("span", {});
  const resume = makeButton("resume", `resume batch ${batch}, ${name}`, () => resumeBatch(batch));
  const cancel = makeSureButton("cancel", `cancel batch ${batch}, ${name}`, () =>
    cancelBatch(batch),
  );
  const far = element("p", { class: "far" });
  const meter = element("progress", { "aria-label": `batch ${batch}, tasks that have ended` });
  const why = element("p", { class: "why", hidden: "" });
  const waves = element("ol", { class: "waves" });
  const head = element("div", { class: "head" }, title, state, resume, cancel);
  const line = element("section", { class: "batch" }, head, far, meter, why, waves);
  const parts = { title, state, resume, cancel, far, meter, why, waves };
  return { line, fill: (report) => fillBatch(parts, report) };
}

function fillBatch(parts, report) {
  const { batch, name, state, ended, tasks } = report;
  setText(parts.title, `${name} `);
  parts.title.append(element("span", { class: "none" }, `batch ${batch}`));
  if (parts.state.textContent !== state)
    parts.state.replaceChildren(drawBadge(state, moods[state]));
  parts.resume.hidden = state !== "halted";
  parts.cancel.hidden = state === "done" || state === "cancelled";
  setText(parts.far, describeFar(report));
  parts.meter.max = Math.max(1, tasks);
  parts.meter.value = tasks === 0 && state === "done" ? 1 : ended;
  showDead(parts.meter, report.dead);
  const why = describeWhy(report);
  parts.why.hidden = why === "";
  parts.why.classList.toggle("bad", state === "halted");
  setText(parts.why, why);
  const shown = shownWaves(report.waves);
  keepLines(parts.waves, {
    items: shown,
    keyOf: ({ wave }) => wave,
    make: makeWave,
    none: "It has no waves.",
  });
  parts.waves.dataset.hidden = String(report.waves.length - shown.length);
}

/** The end of the filled part is that of dead tasks. Set through the object model: the page's policy forbids styles in attributes. */
function showDead(meter, dead) {
  const share = meter.value === 0 ? 0 : Math.min(1, dead / meter.value);
  meter.style.setProperty("--dead", `${100 * share}%`);
}

/** `88 of 97 tasks have ended, 9 dead; about 12 s left, until 14:03:12`. */
function describeFar({ ended, tasks, dead, estimatedLeftMs, finishedAt, state }) {
  const parts = [`${formatCount(ended)} of ${formatCount(tasks)} tasks have ended`];
  if (dead > 0) parts.push(`${formatCount(dead)} dead`);
  if (finishedAt !== null) parts.push(`over since ${formatInstant(finishedAt)}`);
  else if (state === "running" && estimatedLeftMs !== null) {
    const end = formatInstant(Date.now() + estimatedLeftMs);
    parts.push(`about ${formatDuration(estimatedLeftMs)} left, until ${end}`);
  }
  return parts.join(", ");
}

/** Why no further wave opens, in a sentence; empty: one does, or it is over. */
function describeWhy({ state, waves, failurePolicy }) {
  if (state === "draft") return "It hasn't been started: its maker starts it.";
  if (state !== "halted") return "";
  const wave = waves.findLast((other) => other.state === "done" && other.dead > 0);
  const place = wave === undefined ? "A task" : `Of wave ${wave.ordinal} a task`;
  return `${place} is dead, and the batch's policy is ${failurePolicy}: resume it, or redrive the task first.`;
}

/** All of few; else some before the first that isn't over, and those behind it. */
function shownWaves(waves) {
  if (waves.length <= wavesMax) return waves;
  const current = waves.findIndex((wave) => wave.state !== "done");
  const from = current === -1 ? waves.length - wavesMax : Math.max(0, current - 3);
  return waves.slice(Math.min(from, waves.length - wavesMax)).slice(0, wavesMax);
}

function makeWave({ ordinal }) {
  const title = element("span", { class: "ordinal" }, `wave ${ordinal}`);
  const meter = element("progress", { "aria-label": `wave ${ordinal}, tasks that have ended` });
  const far = element("span", { class: "far" });
  const line = element("li", {}, title, meter, far);
  return { line, fill: (wave) => fillWave({ line, meter, far }, wave) };
}

function fillWave({ line, meter, far }, wave) {
  const tasks = wave.blocked + wave.admitted;
  const ended = wave.admitted - wave.unfinished;
  line.className = wave.state;
  meter.max = Math.max(1, tasks);
  meter.value = wave.state === "done" ? meter.max : ended;
  showDead(meter, wave.dead);
  const dead = wave.dead > 0 ? `, ${formatCount(wave.dead)} dead` : "";
  setText(far, `${formatCount(ended)} of ${formatCount(tasks)}, ${wave.state}${dead}`);
}

const resumed = {
  resumed: "goes on with its next wave",
  again: "is running or done: there is nothing to resume",
  draft: "hasn't been started yet",
  ended: "was cancelled",
};

async function resumeBatch(batch) {
  await act(
    () => send("POST", `batches/${inPath(batch)}/resume`, {}),
    ({ status }) => `Batch ${batch} ${resumed[status]}.`,
  );
  await lookAtBatches();
}

async function cancelBatch(batch) {
  await act(
    () => send("POST", `batches/${inPath(batch)}/cancel`, {}),
    ({ status, tasks }) =>
      status === "done"
        ? `Batch ${batch} had ended before.`
        : `Batch ${batch} is cancelled; ${tasks} tasks ended or are asked to end.`,
  );
  await lookAtBatches();
}
