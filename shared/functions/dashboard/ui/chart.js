// Numbers over time as a picture, with the same numbers as a table.

import { element, redraw } from "./dom.js";
import { formatInstant } from "./format.js";
import { makePicture, makeShape } from "./svg.js";

const size = { width: 600, height: 120 };
/** The greatest number is a little below the edge: a line along it would look like a frame. */
const headroom = 0.9;

/**
 * A chart of periods of one length. `lines` are `{ name, mood, of(period), write(number), isBar? }`; bars stand on each other.
 * `fill({ periods, periodMs, periodCount, countedAt })` draws; a period that isn't there counts as nothing.
 */
export function makeChart({ title, lines }) {
  const figure = element("div", { class: "series-box" });
  const key = element("p", { class: "series-key" }, element("b", {}, title), ...lines.map(makeKey));
  const numbers = element("div");
  const details = element("details", {}, element("summary", {}, "Numbers"), numbers);
  const node = element("div", { class: "series" }, key, figure, details);
  const fill = (report) => {
    redraw(figure, report, () => draw(report, lines, title));
    if (details.open) redraw(numbers, report, () => [makeNumbers(report, lines, title)]);
  };
  let last = null;
  details.addEventListener("toggle", () => {
    if (last !== null) fill(last);
  });
  return {
    node,
    fill(report) {
      last = report;
      fill(report);
    },
  };
}

function makeKey({ name, mood }) {
  return element("span", { class: `key ${mood}` }, name);
}

/** By place, oldest first; a place without a period is null. */
function placesOf({ periods, periodMs, periodCount, countedAt }) {
  const endMs = countedAt === null ? Date.now() : Date.parse(countedAt);
  const lastMs = Math.floor(endMs / periodMs) * periodMs;
  const places = Array.from({ length: periodCount }, () => null);
  for (const period of periods) {
    const place = periodCount - 1 - Math.round((lastMs - Date.parse(period.at)) / periodMs);
    if (place >= 0 && place < periodCount) places[place] = period;
  }
  return { places, firstMs: lastMs - (periodCount - 1) * periodMs };
}

function draw(report, lines, title) {
  const { places, firstMs } = placesOf(report);
  const numbers = (line) => places.map((period) => (period === null ? 0 : (line.of(period) ?? 0)));
  const bars = lines.filter(({ isBar }) => isBar);
  const sums = places.map((_, at) => bars.reduce((sum, line) => sum + numbers(line)[at], 0));
  const top = Math.max(0, ...sums, ...lines.filter(({ isBar }) => !isBar).flatMap(numbers));
  if (top === 0) return [element("p", { class: "none" }, "Nothing in this time.")];
  const last = lines.at(-1);
  const words = `${title}, from ${formatInstant(new Date(firstMs).toISOString())}: at most ${last.write(top)}`;
  const below = places.map(() => 0);
  const shapes = lines.flatMap((line) => {
    const values = numbers(line);
    return line.isBar ? drawBars(values, below, top, line) : [drawLine(values, top, line)];
  });
  const ends = element(
    "p",
    { class: "series-ends" },
    element("span", {}, formatInstant(new Date(firstMs).toISOString())),
    element("span", {}, `at most ${last.write(top)}`),
    element("span", {}, formatInstant(report.countedAt)),
  );
  return [makePicture(size, { className: "plot", words }, shapes), ends];
}

function drawBars(values, below, top, { mood }) {
  const width = size.width / values.length;
  return values.flatMap((value, at) => {
    if (value === 0) return [];
    const height = (value / top) * size.height * headroom;
    const y = size.height - below[at] - height;
    below[at] += height;
    return [makeShape("rect", { class: mood, x: at * width, y, width: width * 0.85, height })];
  });
}

function drawLine(values, top, { mood }) {
  const width = size.width / values.length;
  const points = values.map((value, at) => {
    const y = size.height - (value / top) * size.height * headroom;
    return `${((at + 0.5) * width).toFixed(1)},${y.toFixed(1)}`;
  });
  return makeShape("polyline", { class: mood, points: points.join(" ") });
}

/** Newest first. */
function makeNumbers({ periods }, lines, title) {
  const head = ["since", ...lines.map(({ name }) => name)].map((name) =>
    element("th", { scope: "col" }, name),
  );
  const rows = periods.toReversed().map((period) => {
    const cells = lines.map(({ of, write }) => {
      const value = of(period);
      return element("td", { class: "number" }, value === null ? "-" : write(value));
    });
    return element("tr", {}, element("th", { scope: "row" }, formatInstant(period.at)), ...cells);
  });
  return element(
    "div",
    { class: "series-numbers", tabindex: "0", role: "region", "aria-label": `${title}, numbers` },
    element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...rows),
    ),
  );
}

/** A definition's last two hours as small bars, for a line of a list. */
export function drawSparkline(node, name, summary) {
  redraw(node, summary ?? null, () => {
    if (summary === undefined) return [];
    const top = Math.max(...summary.done.map((done, at) => done + summary.failed[at]));
    if (top === 0) return [];
    const sum = summary.done.reduce((all, done) => all + done, 0);
    const words = `${name}: ${sum.toLocaleString("en")} tasks done within two hours`;
    const below = summary.done.map(() => 0);
    const shapes = [
      ...drawBars(summary.done, below, top, { mood: "good" }),
      ...drawBars(summary.failed, below, top, { mood: "bad" }),
    ];
    return [makePicture(size, { className: "plot small", words }, shapes)];
  });
}
