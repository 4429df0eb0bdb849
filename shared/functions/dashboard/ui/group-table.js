// Groups: the tasks that use their slots and those that wait; paused and resumed here.

import { inPath, send } from "./api.js";
import { change } from "./change.js";
import { badge, button, element, makeTable, redraw, setText, showOne } from "./dom.js";
import { formatCount } from "./format.js";
import { makePlace, placeOf } from "./place.js";
import { drawHeld } from "./slots.js";

const waitingMax = 1_000;
const describeWaiting = (count) => (count >= waitingMax ? "1,000+" : formatCount(count));

/** Those with waiting tasks first, as the API lists them. `isOfOne`: all are of one definition, which isn't repeated. */
export function makeGroupTable({ isOfOne = false } = {}) {
  return makeTable({
    className: isOfOne ? "of-one" : "",
    label: "Groups",
    columns: [
      ["group", "value"],
      ["definition", "value"],
      ["slots used", ""],
      ["waiting", "number", ({ waiting }) => describeWaiting(waiting)],
      ["order", "", ({ strict }) => (strict ? "strict" : "by priority")],
      ["", "buttons-cell"],
    ],
    keyOf: ({ definition, key }) => JSON.stringify([definition, key]),
    row: makeRow,
    none: [
      "No task has a group.",
      "Tasks of one group, such as those of one customer, run one after the other: give them a ",
      element("code", {}, "group"),
      " when they are added.",
    ],
  });
}

function makeRow({ definition, key }, [title, owner, used, control]) {
  const place = `group ${key} of ${definition ?? "all definitions"}`;
  let shown = null;
  const pause = button("Pause ..", `pause ${place}`, () => void setPaused(shown, true));
  const resume = button("Resume ..", `resume ${place}`, () => void setPaused(shown, false));
  const why = element("a", { "aria-label": `why does ${place} wait?` }, "Why?");
  // A global group is set through one of its definitions: the command line asks for it.
  if (definition !== null) {
    const query = { definition, state: "waiting", group: key };
    why.setAttribute("href", makePlace("tasks", query));
    control.append(why, element("span", { class: "buttons changes" }, pause, resume));
    owner.append(element("a", { href: placeOf.definition(definition) }, definition));
  } else setText(owner, "(all)");
  return (group) => {
    shown = group;
    redraw(title, [key, group.paused], () => [
      key,
      ...(group.paused ? [" ", badge("paused", "warn")] : []),
    ]);
    drawHeld(used, group.used, group.slots);
    showOne(group.paused, resume, pause);
    why.hidden = group.waiting === 0;
  };
}

function setPaused(shown, paused) {
  const { definition, key } = shown;
  return change({
    title: `${paused ? "Pause" : "Resume"} group ${key}?`,
    body: [
      paused
        ? "None of its waiting tasks starts. Running ones go on."
        : "Its tasks start again as its slots allow.",
    ],
    verb: paused ? "Pause the group" : "Resume the group",
    doIt: (reason) =>
      send("PUT", `definitions/${inPath(definition)}/group`, { key, paused, ...reason }, shown),
    sentence: () => `Group ${key} of ${definition} is ${paused ? "paused" : "resumed"}.`,
  });
}
