// Several tasks at once: a preview says what would become of each, then a second press does it.

import { send } from "./api.js";
import { change, makePreview } from "./change.js";
import { counted } from "./format.js";
import { makeRunIn } from "./run-in.js";

/** What becomes of a task: before the change, and behind it. */
const changed = {
  cancelled: ["will end now", "cancelled"],
  requested: ["will be asked to end", "asked to end"],
  redriven: ["will run again", "redriven"],
  rescheduled: ["will get the new time", "rescheduled"],
};

/** Why a task stays as it is. */
const stays = {
  duplicate: "another task holds the key",
  running: "running already",
  blocked: "the wave isn't open",
  busy: "on the move at this moment",
  unfinished: "not ended",
  done: "done",
  unknown: "not known",
};

const isChanged = ({ outcome }) => Object.hasOwn(changed, outcome);
const whyNot = ({ outcome, state }) => (outcome === "gone" ? state : (stays[outcome] ?? outcome));

/** `3 will end now, 1 will stay: done` */
function count(results, wordOf) {
  const counts = new Map();
  for (const result of results) {
    const word = wordOf(result);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, number]) => `${number} ${word}`).join(", ");
}

const foretell = (results) =>
  count(results, (each) =>
    isChanged(each) ? changed[each.outcome][0] : `will stay: ${whyNot(each)}`,
  );

function tell({ tasks }) {
  const did = count(tasks.filter(isChanged), ({ outcome }) => changed[outcome][1]);
  const left = tasks.filter((each) => !isChanged(each));
  const rest = left.length === 0 ? "" : ` Not changed: ${count(left, whyNot)}.`;
  return `${did === "" ? "Nothing was changed" : did}.${rest}`;
}

/** A dialog over `ids` with the preview of the same call; `then()` runs when it was done. */
function ask({ title, body = [], verb, isDanger = false, path, ids, more = () => ({}), then }) {
  const preview = makePreview({
    start: "Looking at them ..",
    failed: "They can't be looked at",
    ask: async () => {
      const { tasks } = await send("POST", path, { tasks: ids, dryRun: true, ...more() });
      return [`Of ${ids.length}: ${foretell(tasks)}.`, tasks.some(isChanged)];
    },
  });
  return change({
    title,
    body: [...body, preview.node],
    verb,
    isDanger,
    canAct: preview.canAct,
    doIt: async (reason) => {
      const answer = await send("POST", path, { tasks: ids, ...more(), ...reason });
      then();
      return answer;
    },
    sentence: tell,
  });
}

const countOf = (ids) => counted(ids.length, "task");

export const cancelAll = (ids, then) =>
  ask({
    title: `Cancel ${countOf(ids)}?`,
    verb: "Cancel them",
    isDanger: true,
    path: "tasks/cancel",
    ids,
    then,
  });

export const redriveAll = (ids, then) =>
  ask({
    title: `Redrive ${countOf(ids)}?`,
    body: ["They keep their numbers and payloads; their counters begin at 0."],
    verb: "Redrive them",
    path: "tasks/redrive",
    ids,
    then,
  });

export function rescheduleAll(ids, then) {
  const runIn = makeRunIn();
  return ask({
    title: `When shall ${countOf(ids)} run?`,
    body: [runIn.node, "0 is as soon as a token is free."],
    verb: "Reschedule them",
    path: "tasks/reschedule",
    ids,
    more: () => ({ runInMs: runIn.ms() }),
    then,
  });
}
