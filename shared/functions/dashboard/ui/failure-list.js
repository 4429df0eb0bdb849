// Failures that are alike, as one: the error, how many, since when, an example, and all of them redriven.

import { askIfThere, call, inPath, send } from "./api.js";
import { change, makePreview } from "./change.js";
import { button, describeCut, element, keepLines, makeEmpty, setText } from "./dom.js";
import { counted, firstLine, formatCount, formatDistance, formatInstant } from "./format.js";
import { placeOf } from "./place.js";
import { makeSelection } from "./selection.js";

const groupsMax = 20;
/** Dead tasks of a definition that are shown one by one where the app doesn't group them. */
const singlesMax = 20;

/** The groups of one definition or, with null, of all; null: this app doesn't group failures. */
export async function askFailures(definition) {
  const only = definition === null ? "" : `definition=${inPath(definition)}&`;
  const found = await askIfThere("failures", `failures?${only}max=${groupsMax}`);
  return found ?? askSingles(definition);
}

/** Each dead task as a group of one. */
async function askSingles(definition) {
  const all = await call("definitions");
  const asked = all.definitions
    .filter(({ name, dead }) => dead > 0 && (definition === null || name === definition))
    .map(async ({ name }) => {
      const path = `definitions/${inPath(name)}/tasks?state=dead&max=${singlesMax}`;
      const { tasks, more } = await call(path);
      return { more, groups: tasks.map((task) => toGroup(name, task)) };
    });
  const lists = await Promise.all(asked);
  return {
    groups: lists.flatMap(({ groups }) => groups),
    more: lists.some(({ more }) => more),
    isWhole: true,
  };
}

function toGroup(definition, { task, kind, error, endedAt }) {
  const at = { firstAt: endedAt, lastAt: endedAt };
  return { definition, kind, error: error ?? "", like: null, count: 1, example: task, ...at };
}

/** A list that `fill(found)` draws; `definition`: all are of this one, whose name isn't repeated. */
export function makeFailures(definition) {
  const list = element("ul", { class: "failures" });
  const bar = makeSelection({
    noun: "group",
    actions: [
      {
        text: "Redrive ..",
        label: "redrive the selected groups",
        act: (items) =>
          void redriveGroups(
            items.map(({ group }) => group),
            () => bar.clear(),
          ),
        className: "primary",
      },
    ],
  });
  const cut = element("p", { class: "cut" });
  const fill = ({ groups, more, isWhole, lookedAt }) => {
    keepLines(list, {
      items: groups,
      keyOf,
      make: (group) => makeGroup(group, { isOfOne: definition !== null, bar }),
      none: () =>
        element(
          "li",
          {},
          makeEmpty(
            "Nothing has failed for good.",
            "A task is dead when it has used up its attempts, or when its handler says that no retry helps. It is kept with its error until it is redriven or its retention is over.",
          ),
        ),
    });
    // An app that doesn't group failures redrives them one by one.
    bar.fill(groups.filter(({ like }) => like !== null).map(toItem));
    const part = isWhole ? "" : ` Counted in the newest ${formatCount(lookedAt)} dead tasks.`;
    setText(cut, `${describeCut(groups.length, more)}${part}`.trim());
  };
  return { node: element("div", {}, bar.node, list, cut), fill };
}

const keyOf = ({ definition, kind, like, example }) =>
  JSON.stringify([definition, kind, like, like ?? example]);

const toItem = (group) => ({
  key: keyOf(group),
  name: `${group.count} of ${group.definition}, ${group.kind}: ${firstLine(group.error)}`,
  group,
});

function makeGroup(group, { isOfOne, bar }) {
  const { definition, kind, like } = group;
  const count = element("b", { class: "count" });
  const error = element("pre", { tabindex: "0" });
  const when = element("span", { class: "when" });
  const example = element("a");
  const where = isOfOne
    ? [element("code", {}, kind)]
    : [
        element("a", { href: placeOf.definition(definition) }, definition),
        kind === definition ? "" : ` / ${kind}`,
      ];
  const redrive = button("", "", () => void redriveGroup(current), "primary");
  const buttons = element("span", { class: "buttons changes" }, redrive);
  const about = element("p", { class: "about" }, ...where, " ", when, " ", example);
  const tick = like === null ? null : bar.box(toItem(group));
  const line = element(
    "li",
    {},
    element("span", { class: "tick" }, tick, count),
    element("div", {}, about, error),
    buttons,
  );
  let current = group;
  const fill = (next) => {
    current = next;
    setText(count, formatCount(next.count));
    count.title = `${next.count} alike`;
    setText(error, next.error === "" ? "no reason was given" : shorten(next.error));
    setText(when, describeWhen(next));
    setText(example, `task ${next.example}`);
    example.href = placeOf.task(next.example);
    setText(redrive, `Redrive ${formatCount(next.count)} ..`);
    const what = `redrive ${next.count} of ${definition}, ${kind}: ${firstLine(next.error)}`;
    redrive.setAttribute("aria-label", what);
    redrive.hidden = like === null && next.count > 1;
  };
  return { line, fill };
}

/** The rest is on the page of the example. */
function shorten(error) {
  const lines = error.split("\n");
  return lines.length <= 3 ? error : `${lines.slice(0, 3).join("\n")}\n..`;
}

function describeWhen({ firstAt, lastAt, count }) {
  if (count === 1) return `at ${formatInstant(lastAt)}, ${formatDistance(lastAt)}, `;
  return `from ${formatInstant(firstAt)} to ${formatInstant(lastAt)}, ${formatDistance(lastAt)}, such as`;
}

const manyMore = " There are more: press again afterwards.";

function describeRedriven({ redriven, left, more }) {
  const stay = left > 0 ? `; ${left} are left: press again` : "";
  return `${redriven} redriven${stay}.${more && left === 0 ? manyMore : ""}`;
}

function redriveGroup(group) {
  const { definition, like, example, count, error } = group;
  if (like === null) {
    return change({
      title: `Redrive task ${example}?`,
      body: ["It will run again; its counters begin at 0."],
      verb: "Redrive 1",
      doIt: (reason) => send("POST", "tasks/redrive", { tasks: [example], ...reason }),
      sentence: ({ tasks: [result] }) => `Task ${example}: ${result.outcome}.`,
    });
  }
  return redriveAll([group], {
    title: `Redrive ${formatCount(count)} of ${definition}?`,
    body: element("pre", { tabindex: "0" }, shorten(error)),
    nameOf: (found) => `${formatCount(found)} dead ${found === 1 ? "task" : "tasks"}`,
  });
}

function redriveGroups(groups, then) {
  return redriveAll(groups, {
    title: `Redrive ${counted(groups.length, "group")}?`,
    body: element("ul", {}, ...groups.map((group) => element("li", {}, toItem(group).name))),
    nameOf: (found) => `${formatCount(found)} dead tasks of ${groups.length} groups`,
    then,
  });
}

/** Counts, then redrives, one group after the other: each is a call of its own. */
function redriveAll(groups, { title, body, nameOf, then = () => undefined }) {
  const redrive = async (how) => {
    const sums = { found: 0, redriven: 0, left: 0, more: false };
    for (const { definition, kind, like } of groups) {
      const group = { definition, kind, like };
      const answer = await send("POST", "failures/redrive", { ...group, ...how });
      for (const count of ["found", "redriven", "left"]) sums[count] += answer[count];
      sums.more ||= answer.more;
    }
    return sums;
  };
  const preview = makePreview({
    start: "Counting ..",
    failed: "They can't be counted",
    ask: async () => {
      const { found, more } = await redrive({ dryRun: true });
      if (found === 0)
        return ["None is left: others were faster, or their retention is over.", false];
      const sentence = `${nameOf(found)} will run again, with the same numbers; counters begin at 0.`;
      return [`${sentence}${more ? manyMore : ""}`, true];
    },
  });
  return change({
    title,
    body: [body, preview.node],
    verb: "Redrive them",
    canAct: preview.canAct,
    doIt: async (reason) => {
      const sums = await redrive(reason);
      then();
      return sums;
    },
    sentence: describeRedriven,
  });
}
