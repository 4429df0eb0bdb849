// A run of a schedule out of turn: what it adds, a second press, then the new task on its way.

import { call, inPath, newOperationId, send } from "./api.js";
import { change, keepNotice, makePreview } from "./change.js";
import { element, setText } from "./dom.js";
import { formatCount, formatInstant } from "./format.js";
import { placeOf } from "./place.js";

const everyMs = 1_000;
/** A task that goes on for longer is looked at on its own page. */
const looksMax = 60;
const ended = ["done", "dead", "cancelled"];
const states = { claimed: "running", waiting: "waiting for its group" };

/** Asks whether `schedule` shall add its task now, and follows the task. */
export function runNow(schedule) {
  const { definition, name } = schedule;
  const operationId = newOperationId();
  const preview = makePreview({
    start: "Looking at it ..",
    failed: "It can't be looked at",
    ask: async () => {
      const read = await call(`definitions/${inPath(definition)}`);
      return [foretell(schedule, read), true];
    },
  });
  return change({
    title: `Run schedule ${name} of ${definition} now?`,
    body: [describeTask(schedule), preview.node],
    verb: "Run it now",
    asksReason: false,
    canAct: preview.canAct,
    doIt: () =>
      send("POST", `definitions/${inPath(definition)}/schedules/run`, {
        schedule: name,
        operationId,
      }),
    sentence: (answer) => follow(schedule, answer),
  });
}

function describeTask({ kind, group, runAt }) {
  const inGroup = group === null ? "" : ` and group \u201c${group}\u201d`;
  const next = runAt === null ? "" : ` The next run stays as it is: ${formatInstant(runAt)}.`;
  return `It adds one task of kind ${kind}, with the payload${inGroup} of the schedule.${next}`;
}

/** What the task meets. */
function foretell({ paused: isOff }, { name, paused, limit, held, ready }) {
  const parts = [];
  if (isOff) parts.push("The schedule stays paused.");
  if (paused) parts.push(`${name} is paused: the task waits until it is resumed.`);
  else if (limit === 0) parts.push(`The limit of ${name} is 0: the task waits for a higher one.`);
  else if (limit !== null && held >= limit)
    parts.push(`All ${formatCount(limit)} tokens of ${name} are held: the task waits for one.`);
  else parts.push("It starts as soon as a worker takes it.");
  if (ready > 0) parts.push(`${formatCount(ready)} tasks are ready already.`);
  return parts.join(" ");
}

/** The notice: a link to the task, and its state while the notice is there. */
function follow({ name, definition }, { task }) {
  const link = element("a", { href: placeOf.task(task) }, `Task ${task}`);
  const state = element("b", {}, "added");
  void watch(task, state);
  return [link, ` of schedule ${name} of ${definition}: `, state];
}

async function watch(task, state) {
  for (let looks = 0; looks < looksMax; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    if (!state.isConnected) return;
    try {
      const { facts } = await call(`tasks/${task}`);
      const now = facts?.state ?? "done";
      setText(state, states[now] ?? now);
      keepNotice(state);
      if (ended.includes(now)) return;
    } catch {
      // The page tells that the connection is lost; the next look may find it again.
    }
  }
}
