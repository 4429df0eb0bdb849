// Slots of a limit: a cell for each token, with the task that runs on it.

import { barPart, element, keepLines, redraw, setText } from "./dom.js";
import { formatDuration } from "./format.js";
import { placeOf } from "./place.js";
import { isCalls, limitInForce } from "./shown-limit.js";

/** Cells of a limit; larger limits are a bar. */
const cellsMax = 40;

/** `2 of 4`; in the cells' place for who can't see them, too. */
function describeHeld(held, limit) {
  return limit === null ? `${held}, no limit` : `${held} of ${limit}`;
}

/** `1 of 4 of partner-api, 3 by all` where the limit is a shared one. */
function describeInForce(own, { limit, shared, held }) {
  if (shared === null) return describeHeld(own, limit);
  return `${describeHeld(own, limit)} of ${shared}${held > own ? `, ${held} by all` : ""}`;
}

const classOf = ({ shared }) => (shared === null ? "held" : "held shared");

/** Cells without tasks: of shared limits, of groups. */
export function drawHeld(node, held, limit) {
  redraw(node, [held, limit], () => [
    makeBar(held, { limit }),
    element("span", { class: "held" }, describeHeld(held, limit)),
  ]);
}

/** The same of a definition, which may have its limit from a shared one. */
export function drawHeldBy(node, { held, ...definition }) {
  const inForce = limitInForce({ held, ...definition });
  redraw(node, [held, inForce], () => [
    makeBar(held, { limit: inForce.limit, others: inForce.held - held }),
    element("span", { class: classOf(inForce) }, describeInForce(held, inForce)),
  ]);
}

/** `others`: tokens of a shared limit that other definitions hold. */
function makeBar(held, { limit, others = 0 }) {
  const count = Math.max(limit ?? held, held + others);
  const bar = element("span", { class: "cells", "aria-hidden": "true" });
  if (count > cellsMax) {
    bar.classList.add("long");
    bar.append(barPart("full", held / count));
    return bar;
  }
  for (let at = 0; at < count; at += 1)
    bar.append(element("i", { class: kindOf(at, held, { limit, others }) }));
  return bar;
}

/** Tokens above a lowered limit come back as their tasks end. */
function kindOf(at, held, { limit, others }) {
  if (at >= held + others) return "free";
  if (limit !== null && at >= limit) return "over";
  return at >= held ? "others" : "held";
}

/**
 * Slots of a definition. `fill(definition, tasks)`: `tasks` are those that run on the tokens, each `{ task, kind, worker,
 * sinceMs, isSlow }`; undefined: they aren't known, and the cells are without links.
 */
export function makeSlots() {
  const list = element("ul", { class: "slots" });
  const text = element("span", { class: "held" });
  const node = element("div", { class: "tokens" }, list, text);
  const fill = (definition, tasks) => {
    const { name, held } = definition;
    const inForce = limitInForce(definition);
    const limits = { limit: inForce.limit, others: Math.max(0, inForce.held - held) };
    setText(text, describeInForce(held, inForce));
    text.className = classOf(inForce);
    const count = Math.max(inForce.limit ?? held, held + limits.others);
    if (count > cellsMax || tasks === undefined) {
      list.hidden = true;
      node.classList.add("plain");
      if (node.bar === undefined) node.prepend((node.bar = element("span")));
      redraw(node.bar, [held, limits], () => [makeBar(held, limits)]);
      return;
    }
    list.hidden = false;
    node.classList.remove("plain");
    node.bar?.remove();
    node.bar = undefined;
    const items = Array.from({ length: count }, (_, at) => ({
      at,
      kind: kindOf(at, held, limits),
      isCall: isCalls(name),
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
    ["held", "a task or a function runs"],
    ["slow", "runs longer than usual"],
    ["idle", "held, between two tasks"],
    ["others", "held by others of a shared limit"],
    ["free", "free"],
    ["over", "above a lowered limit"],
  ];
  const entries = kinds.map(([kind, text]) =>
    element("li", {}, element("i", { class: kind, "aria-hidden": "true" }), text),
  );
  return element("ul", { class: "legend", "aria-label": "What the cells mean" }, ...entries);
}

const titles = { free: "a free token", others: "a token that others of the shared limit hold" };
const titleOfIdle = "a token that is held, between two tasks";

function makeSlot({ task }) {
  const line = element("li");
  if (task === undefined) {
    const fill = ({ kind, isCall }) => {
      line.className = kind === "held" && !isCall ? "idle" : kind;
      line.title = titles[kind] ?? (isCall ? "a function runs" : titleOfIdle);
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
