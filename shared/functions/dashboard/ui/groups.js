// Groups: the tasks that use their slots and those that wait; paused and resumed here.

import { call, inPath, send } from "./api.js";
import {
  act,
  byId,
  drawBadge,
  drawCut,
  drawHeld,
  element,
  formatCount,
  keepLines,
  makeButton,
  makeCells,
  setText,
} from "./draw.js";

const groupsMax = 500;

/** Asks and draws: those that wait first. */
export async function lookAtGroups() {
  const { groups, more } = await call(`groups?max=${groupsMax}`);
  const table = byId("group-table");
  // A stable sort: among equals the API's order, by definition and key. It lists those with waiters before all others.
  const items = groups.toSorted(
    (left, right) => right.waiting - left.waiting || right.used - left.used,
  );
  drawCut("groups-cut", { shown: items.length, more });
  keepLines(table.tBodies[0], {
    items,
    keyOf: ({ definition, key }) => JSON.stringify([definition, key]),
    make: (group) => makeGroup(table, group),
    none: "No task has a group.",
  });
}

function makeGroup(table, { definition, key }) {
  const cells = makeCells(table, 6);
  const line = element("tr", {}, ...cells);
  const [title, owner, used, waiting, order, control] = cells;
  control.classList.add("control");
  const place = `group ${key} of ${definition ?? "all definitions"}`;
  const pause = makeButton("pause", `pause ${place}`, () => setPaused({ definition, key }, true));
  const resume = makeButton("resume", `resume ${place}`, () =>
    setPaused({ definition, key }, false),
  );
  const why = element("a", { "aria-label": `why does ${place} wait?` }, "why?");
  // A global group is set through one of its definitions: the command line asks for it.
  if (definition !== null) {
    why.setAttribute(
      "href",
      `#tasks?definition=${inPath(definition)}&state=waiting&group=${inPath(key)}&why`,
    );
    control.append(pause, resume, " ", why);
  }
  const fill = (group) => {
    setText(title, key);
    if (group.paused) title.append(" ", drawBadge("paused"));
    setText(owner, definition ?? "(all)");
    drawHeld(used, group.used, group.slots);
    setText(waiting, group.waiting >= 1_000 ? "1,000+" : formatCount(group.waiting));
    setText(order, group.strict ? "strict" : "-");
    pause.hidden = group.paused;
    resume.hidden = !group.paused;
    why.hidden = group.waiting === 0;
  };
  return { line, fill };
}

async function setPaused({ definition, key }, paused) {
  await act(
    () =>
      send("PUT", `definitions/${inPath(definition)}/group`, {
        key,
        paused,
        reason: "status page",
      }),
    () => `Group ${key} of ${definition} is ${paused ? "paused" : "resumed"}.`,
  );
  await lookAtGroups();
}
