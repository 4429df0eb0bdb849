// Numbers of the last minutes as a line. They are those that this page has seen: the line begins when the page was opened.

import { redraw } from "./dom.js";
import { formatCount, formatDuration } from "./format.js";

const namespace = "http://www.w3.org/2000/svg";
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

/** Draws what has been noted; nothing before the third number. `what` are the words for those who can't see it. */
export function drawTrend(node, name, what) {
  const samples = series.get(name) ?? [];
  if (samples.length < 3) return;
  redraw(node, [samples.length, samples.at(-1)], () => [makeLine(samples, what)]);
}

function makeLine(samples, what) {
  const [first, last] = [samples[0], samples.at(-1)];
  const top = Math.max(1, ...samples.map(({ value }) => value));
  const place = ({ atMs, value }) => {
    const x = ((atMs - first.atMs) / (last.atMs - first.atMs)) * size.width;
    const y = size.height - 2 - (value / top) * (size.height - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  };
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "trend");
  svg.setAttribute("role", "img");
  const over = formatDuration(last.atMs - first.atMs);
  svg.setAttribute(
    "aria-label",
    `${what} over ${over}: from ${formatCount(first.value)} to ${formatCount(last.value)}, at most ${formatCount(top)}`,
  );
  const line = document.createElementNS(namespace, "polyline");
  line.setAttribute("points", samples.map(place).join(" "));
  svg.append(line);
  return svg;
}
