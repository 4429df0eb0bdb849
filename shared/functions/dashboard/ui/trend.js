// Numbers of the last minutes as a line. They are those that this page has seen: the line begins when the page was opened.

import { element, redraw } from "./dom.js";
import { formatCount, formatDuration } from "./format.js";
import { makePicture, makeShape } from "./svg.js";

const samplesMax = 300;
const everyMs = 900;
const size = { width: 120, height: 28 };

/** By name: `{ atMs, value }`, oldest first. */
const series = new Map();

/** Notes a number, about one a second. */
export function note(name, value) {
  const samples = series.get(name) ?? [];
  const atMs = window.performance.now();
  if (samples.length > 0 && atMs - samples.at(-1).atMs < everyMs) return;
  samples.push({ atMs, value });
  if (samples.length > samplesMax) samples.shift();
  series.set(name, samples);
}

/** Draws the numbers noted so far; nothing before the third number, or while they are all the same. `what` are its words. */
export function drawTrend(node, name, what, { hasCaption = false } = {}) {
  const samples = series.get(name) ?? [];
  const isNothing = samples.length < 3 || samples.every(({ value }) => value === samples[0].value);
  redraw(node, isNothing ? null : [samples.length, samples.at(-1)], () => {
    if (isNothing) return [];
    const words = describe(samples, what);
    const caption = hasCaption ? [element("p", { class: "cut" }, `${words}.`)] : [];
    return [makeLine(samples, words), ...caption];
  });
}

/** `Ready tasks of greet, last 5 min: now 3, at most 20`. */
function describe(samples, what) {
  const over = formatDuration(samples.at(-1).atMs - samples[0].atMs);
  const top = Math.max(...samples.map(({ value }) => value));
  return `${what}, last ${over}: now ${formatCount(samples.at(-1).value)}, at most ${formatCount(top)}`;
}

function makeLine(samples, words) {
  const [first, last] = [samples[0], samples.at(-1)];
  const top = Math.max(1, ...samples.map(({ value }) => value));
  const place = ({ atMs, value }) => {
    const x = ((atMs - first.atMs) / (last.atMs - first.atMs)) * size.width;
    // The greatest number is a little below the edge: a line along it would look like a frame.
    const y = size.height - 1 - (value / top) * (size.height * 0.8);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  };
  const points = samples.map(place).join(" ");
  const area = `0,${size.height} ${points} ${size.width},${size.height}`;
  const shapes = [makeShape("polygon", { points: area }), makeShape("polyline", { points })];
  return makePicture(size, { className: "trend", words }, shapes);
}
