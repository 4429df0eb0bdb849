// How fast a definition's tasks end, the estimate, and the tasks that run now.

import { badge, element, makeTable, redraw, section } from "./dom.js";
import { formatCount, formatDuration, formatInstant } from "./format.js";
import { placeOf } from "./place.js";

/** `fill({ pace, running })`; the part of the pace is hidden where the app can't tell it. */
export function makePace() {
  const pace = makeNumbers();
  const running = makeRunning();
  const fill = ({ pace: read, running: tasks }) => {
    pace.node.hidden = read === null;
    if (read !== null) pace.fill(read);
    running.fill(read === null ? tasks : read.running);
  };
  return { node: pace.node, running: running.node, fill };
}

// ---- running tasks

function makeRunning() {
  const table = makeTable({
    label: "Running and prefetched tasks",
    columns: [
      ["task", "id"],
      ["kind", "value", ({ kind }) => kind],
      ["for", "number", ({ sinceMs }) => describeMs(sinceMs)],
      ["worker", "value", ({ worker }) => worker ?? "-"],
      ["", ""],
    ],
    keyOf: ({ task }) => task,
    row: ({ task }, [id, mark]) => {
      id.append(element("a", { href: placeOf.task(task) }, task));
      return (entry) => {
        const marks = [
          ...(entry.isSlow ? [["slow", "bad"]] : []),
          ...(entry.state === "running" ? [] : [[entry.state, "calm"]]),
        ];
        redraw(mark, marks, () => marks.map(([text, mood]) => badge(text, mood)));
      };
    },
    none: ["Nothing runs."],
  });
  return { node: section("Running", table.node), fill: (tasks) => table.fill(tasks) };
}

const describeMs = (ms) => (ms == null ? "-" : formatDuration(ms));

// ---- the pace

function makeNumbers() {
  const facts = element("dl", { class: "facts" });
  const kinds = makeKinds();
  const node = section("Pace", facts, kinds.node);
  const fill = (read) => {
    fillFacts(facts, read);
    kinds.fill(read.kinds);
  };
  return { node, fill };
}

function fillFacts(list, { ended, estimatedLeftMs, heldUpBy, oldestReady }) {
  const rows = [
    ["ended well", describeEnded(ended)],
    ["time left", describeLeft(estimatedLeftMs, heldUpBy)],
    ["oldest ready", oldestReady === null ? "none is ready" : describeOldest(oldestReady)],
  ];
  redraw(list, [rows, oldestReady?.task], () =>
    rows.flatMap(([name, value]) => {
      const isLink = name === "oldest ready" && oldestReady !== null;
      const inside = isLink ? element("a", { href: placeOf.task(oldestReady.task) }, value) : value;
      return [element("dt", {}, name), element("dd", {}, inside)];
    }),
  );
}

function describeEnded(ended) {
  if (ended === null) return "none lately";
  const perMinute = ended.perMinute.toLocaleString("en", { maximumFractionDigits: 1 });
  return `${perMinute} a minute (${formatCount(ended.count)} in ${formatDuration(ended.overMs)})`;
}

function describeLeft(estimatedLeftMs, heldUpBy) {
  if (heldUpBy !== null) return `not in sight: ${heldUpBy}`;
  if (estimatedLeftMs === null) return "not known";
  if (estimatedLeftMs === 0) return "none";
  const end = new Date(Date.now() + estimatedLeftMs).toISOString();
  return `about ${formatDuration(estimatedLeftMs)}, until ${formatInstant(end)}`;
}

const describeOldest = ({ task, ageMs }) => `task ${task}, for ${formatDuration(ageMs)}`;

function makeKinds() {
  return makeTable({
    label: "How long tasks run, by kind",
    columns: [
      ["kind", "value", ({ kind }) => kind],
      ["ended well", "number", ({ ended }) => formatCount(ended)],
      ["half within", "number", ({ p50Ms }) => describeMs(p50Ms)],
      ["99 % within", "number", ({ p99Ms }) => describeMs(p99Ms)],
    ],
    keyOf: ({ kind }) => kind,
    none: ["No task has ended well lately: durations show up with the first."],
  });
}
