// What can be done with one task: cancel, redrive, give it another time. Each wants a second press and asks for a reason.

import { send } from "./api.js";
import { change } from "./change.js";
import { button, element } from "./dom.js";
import { makeRunIn } from "./run-in.js";

const ended = ["done", "dead", "cancelled"];

/** Buttons that `fill(facts)` shows or hides; null: there is no such task. */
export function makeActions(id) {
  const label = `task ${id}`;
  const cancel = button("Cancel ..", `cancel ${label}`, () => void cancelTask(id), "danger");
  const redrive = button("Redrive ..", `redrive ${label}`, () => void redriveTask(id), "primary");
  const move = button("Reschedule ..", `reschedule ${label}`, () => void rescheduleTask(id));
  const node = element("p", { class: "buttons changes" }, redrive, move, cancel);
  const fill = (facts) => {
    const state = facts?.state;
    cancel.hidden = facts === null || ended.includes(state) || facts.isCancelRequested === true;
    redrive.hidden = state !== "dead" && state !== "cancelled";
    move.hidden = !["ready", "scheduled", "waiting"].includes(state);
  };
  fill(null);
  return { node, fill };
}

const said = {
  cancelled: "is cancelled",
  requested: "runs: its handler is asked to end",
  redriven: "will run again",
  duplicate: "stays: another task holds its dedupe key",
  rescheduled: "has its new time",
  running: "is running already",
  blocked: "waits for its wave",
  busy: "is locked at this moment: try again",
  unfinished: "hasn't ended",
  done: "is done",
  unknown: "is unknown or was removed",
};

function describe(id, { tasks: [result] }) {
  if (result.outcome === "gone") return `Nothing was changed: task ${id} is ${result.state}.`;
  return `Task ${id} ${said[result.outcome] ?? result.outcome}.`;
}

function cancelTask(id) {
  return change({
    title: `Cancel task ${id}?`,
    body: [
      "If it waits, it ends now. If it runs, its handler is asked to end.",
      "It can be redriven later.",
    ],
    verb: "Cancel the task",
    isDanger: true,
    doIt: (reason) => send("POST", "tasks/cancel", { tasks: [id], ...reason }),
    sentence: (answer) => describe(id, answer),
  });
}

function redriveTask(id) {
  return change({
    title: `Redrive task ${id}?`,
    body: ["It will run again, with the same number and payload; its counters begin at 0."],
    verb: "Redrive the task",
    doIt: (reason) => send("POST", "tasks/redrive", { tasks: [id], ...reason }),
    sentence: (answer) => describe(id, answer),
  });
}

function rescheduleTask(id) {
  const runIn = makeRunIn();
  return change({
    title: `When shall task ${id} run?`,
    body: [runIn.node, "0 is as soon as a token is free."],
    verb: "Reschedule the task",
    doIt: (reason) =>
      send("POST", "tasks/reschedule", { tasks: [id], runInMs: runIn.ms(), ...reason }),
    sentence: (answer) => describe(id, answer),
  });
}
