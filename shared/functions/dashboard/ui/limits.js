// Limits and rates of definitions, and the limits that they share.

import { call, inPath } from "./api.js";
import {
  byId,
  drawBadge,
  drawHeld,
  element,
  formatDuration,
  formatLimit,
  keepLines,
  makeCells,
  setText,
} from "./draw.js";

const sharedMax = 1_000;

/** Asks and draws. */
export async function lookAtLimits() {
  const [{ definitions }, { sharedLimits }] = await Promise.all([
    call("definitions"),
    call(`shared-limits?max=${sharedMax}`),
  ]);
  const own = byId("own-limits");
  keepLines(own.tBodies[0], {
    items: definitions,
    keyOf: ({ name }) => name,
    make: (definition) => makeOwn(own, definition),
    none: "No definition is registered.",
  });
  const shared = byId("shared-limits");
  keepLines(shared.tBodies[0], {
    items: sharedLimits,
    keyOf: ({ name }) => name,
    make: () => makeShared(shared),
    none: "No definition shares a limit with others.",
  });
}

function makeOwn(table, { name }) {
  const cells = makeCells(table, 7);
  const line = element("tr", {}, ...cells);
  const [title, held, limit, rate, permit, shared, why] = cells;
  const link = element(
    "a",
    {
      href: `#tasks?definition=${inPath(name)}&why`,
      "aria-label": `why doesn't ${name} run more?`,
    },
    "why?",
  );
  why.append(link);
  const fill = (definition) => {
    setText(title, name);
    if (definition.paused) title.append(" ", drawBadge("paused"));
    drawHeld(held, definition.held, definition.limit);
    setText(limit, describeSource(definition));
    setText(rate, describeRate(definition));
    setText(permit, describePermit(definition));
    setText(shared, definition.sharedLimits.map((other) => other.name).join(", ") || "-");
    link.hidden = definition.ready + definition.scheduled + definition.waiting === 0;
  };
  return { line, fill };
}

function makeShared(table) {
  const cells = makeCells(table, 4);
  const line = element("tr", {}, ...cells);
  const [title, held, limit, by] = cells;
  const fill = (shared) => {
    setText(title, shared.name);
    drawHeld(held, shared.held, shared.limit);
    setText(limit, describeSource(shared));
    const users = shared.definitions.map((user) => `${user.name} ${user.held}`);
    setText(by, users.join(", ") || "no definition draws from it");
  };
  return { line, fill };
}

/** `4`, or `2, by an operator; the code says 4`. */
function describeSource({ limit, limitSource, codeLimit }) {
  if (limitSource === "code") return formatLimit(limit);
  return `${formatLimit(limit)}, by an operator; the code says ${formatLimit(codeLimit)}`;
}

function describeRate({ rate, rateSource }) {
  const by = rateSource === "operator" ? ", by an operator" : "";
  if (rate === null) return rateSource === "operator" ? `none${by}` : "-";
  const { count, periodMs, burst } = rate;
  return `${count} per ${formatDuration(periodMs)}, at most ${burst} at once${by}`;
}

function describePermit({ rateInMs }) {
  if (rateInMs === null) return "-";
  return rateInMs === 0 ? "now" : `in ${formatDuration(rateInMs)}`;
}
