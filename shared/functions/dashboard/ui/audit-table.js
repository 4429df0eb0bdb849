// Who changed what, when and why.

import { element, makeTable, redraw } from "./dom.js";
import { formatCount, sayInstant } from "./format.js";
import { placeOf } from "./place.js";

/** Tasks of an entry that are named one by one. */
const tasksMax = 5;

export function makeAuditTable() {
  return makeTable({
    label: "Changes, newest first",
    columns: [
      ["when", "when", ({ at }) => sayInstant(at)],
      ["who", "value", ({ actor }) => actor],
      ["what", "value", describeWhat],
      ["of", "value"],
      ["change", "value wide"],
      ["reason", "value wide", ({ reason }) => reason ?? ""],
    ],
    keyOf: (entry) =>
      JSON.stringify([entry.at, entry.action, entry.definition, entry.object, entry.setting]),
    row:
      (_, [of, changed]) =>
      (entry) => {
        redraw(of, [entry.definition, entry.object], () => drawObject(entry));
        redraw(changed, [entry.old, entry.new, entry.tasks], () => drawChange(entry));
      },
    none: [
      "No change is recorded.",
      "Limits, rates, pauses, cancelled and redriven tasks stand here with who did it and why, whether by this page, the command line or the API.",
    ],
  });
}

/** `set limit`, `cancel tasks`; a definition's settings by their names. */
function describeWhat({ action, setting }) {
  const words = action.replaceAll("_", " ");
  if (setting === null) return words;
  const name = setting
    .replace(/^own_group_/, "")
    .replace(/_override$/, "")
    .replaceAll("_", " ");
  return words.includes(name) || words.includes(name.replace(/d$/, ""))
    ? words
    : `${words}: ${name}`;
}

function drawObject({ definition, object }) {
  const parts = [];
  if (definition !== null)
    parts.push(element("a", { href: placeOf.definition(definition) }, definition));
  if (object !== null && object !== definition)
    parts.push(parts.length > 0 ? ` / ${object}` : object);
  return parts.length > 0 ? parts : ["-"];
}

function drawChange({ old, new: next, tasks, taskCount, setting }) {
  if (tasks !== null && tasks.length > 0) {
    const named = tasks
      .slice(0, tasksMax)
      .flatMap((id, at) => [at === 0 ? "" : ", ", element("a", { href: placeOf.task(id) }, id)]);
    const rest = taskCount - Math.min(tasksMax, tasks.length);
    return ["task ", ...named, rest > 0 ? ` and ${formatCount(rest)} more` : ""];
  }
  if (old === null && next === null) return [];
  const absent = (setting ?? "").endsWith("_override") ? "as in code" : "none";
  const write = (value) => value ?? absent;
  return [`${write(old)} \u2192 ${write(next)}`];
}
