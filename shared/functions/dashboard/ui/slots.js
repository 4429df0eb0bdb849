// Slots of a limit: a cell for each token, with the task that runs on it.

import { barPart, element, keepLines, redraw, setText } from "./dom.js";
import { formatDuration } from "./format.js";
import { placeOf } from "./place.js";

/** Cells of a limit; larger limits are a bar. */
const cellsMax = 40;

/** `2 of 4`; in the cells' place for who can't see them, too. */
function describeHeld(held, limit) {
  return limit === null ? `${held}, no limit` : `${held} of ${limit}`;
}

/** Cells without tasks: of shared limits, of groups. */
export function drawHeld(node, held, limit) {
  redraw(node, [held, limit], () => [
    makeBar(held, limit),
    element("span", { class: "held" }, describeHeld(held, limit)),
  ]);
}

function makeBar(held, limit) {
  const count = Math.max(limit ?? held, held);
  const bar = element("span", { class: "cells", "aria-hidden": "true" });
  if (count > cellsMax) {
    bar.classList.add("long");
    bar.append(barPart("full", held / count));
    return bar;
  }
  for (let at = 0; at < count; at += 1)
    bar.append(element("i", { class: kindOf(at, held, limit) }));
  return bar;
}

/** Tokens above a lowered limit come back as their tasks end. */
function kindOf(at, held, limit) {
  if (at >= held) return "free";
  return limit !== null && at >= limit ? "over" : "held";
}

/**
 * Slots of a definition. `fill({ held, limit }, tasks)`: `tasks` are those that run on the tokens, each `{ task, kind, worker,
 * sinceMs, isSlow }`; undefined: they aren't known, and the cells are without links.
 */
export function makeSlots() {
  const list = element("ul", { class: "slots" });
  const text = element("span", { class: "held" });
  const node = element("div", { class: "tokens" }, list, text);
  const fill = ({ held, limit }, tasks) => {
    setText(text, describeHeld(held, limit));
    const count = Math.max(limit ?? held, held);
    if (count > cellsMax || tasks === undefined) {
      list.hidden = true;
      node.classList.add("plain");
      if (node.bar === undefined) node.prepend((node.bar = element("span")));
      redraw(node.bar, [held, limit], () => [makeBar(held, limit)]);
      return;
    }
    list.hidden = false;
    node.classList.remove("plain");
    node.bar?.remove();
    node.bar = undefined;
    const items = Array.from({ length: count }, (_, at) => ({
      at,
      kind: kindOf(at, held, limit),
      task: at < held ? tasks[at] : undefined,
    }));
    keepLines(list, {
      items,
      keyOf: ({ at, task }) => (task === undefined ? `free-${at}` : task.task),
      make: makeSlot,
      none: () => element("li", { class: "no-slot" }),
    });
  };
  return { node, fill };
}

/** What the cells mean. */
export function makeLegend() {
  const kinds = [
    ["held", "a task runs"],
    ["slow", "runs longer than usual"],
    ["idle", "held, between two tasks"],
    ["free", "free"],
    ["over", "above a lowered limit"],
  ];
  const entries = kinds.map(([kind, text]) =>
    element("li", {}, element("i", { class: kind, "aria-hidden": "true" }), text),
  );
  return element("ul", { class: "legend", "aria-label": "What the cells mean" }, ...entries);
}

function makeSlot({ task }) {
  const line = element("li");
  if (task === undefined) {
    const fill = ({ kind }) => {
      line.className = kind === "held" ? "idle" : kind;
      line.title = kind === "free" ? "a free token" : "a token that is held, between two tasks";
    };
    return { line, fill };
  }
  const link = element("a", { href: placeOf.task(task.task) });
  line.append(link);
  const fill = ({ kind, task: { task: id, kind: name, worker, sinceMs, isSlow } }) => {
    line.className = isSlow === true ? "slow" : kind;
    const since = sinceMs === undefined ? "" : ` for ${formatDuration(sinceMs)}`;
    const slow = isSlow === true ? ", longer than usual" : "";
    const words = `task ${id}, ${name}, runs on ${worker}${since}${slow}`;
    link.title = words;
    link.setAttribute("aria-label", words);
  };
  return { line, fill };
}
