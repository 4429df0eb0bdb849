// The life of a task as a line of time: when it was created, each attempt with its worker and error, where it stands.

import { badge, element, keepLines, redraw, setText } from "./dom.js";
import { formatDuration, formatInstant } from "./format.js";

const moods = { failed: "bad", lost: "warn", cancelled: "calm", continued: "calm", done: "good" };

/** A list that `fill(facts)` draws. */
export function makeTimeline() {
  const node = element("ol", { class: "timeline" });
  const fill = (facts) =>
    keepLines(node, {
      items: eventsOf(facts),
      keyOf: ({ key }) => key,
      make: makeEvent,
      none: () => element("li", {}, "Nothing yet."),
    });
  return { node, fill };
}

/** `{ key, at, title, mood, worker, lastedMs, error }` of each, oldest first. */
function eventsOf(facts) {
  // By fence, a number that grows with each claim: the API lists the newest first.
  const inOrder = facts.attempts.toSorted(
    (left, right) => Number(left.fence) - Number(right.fence),
  );
  const attempts = inOrder.map((attempt, at) => ({
    key: `attempt ${attempt.fence}`,
    at: attempt.claimedAt,
    title: `attempt ${at + 1}`,
    outcome: attempt.outcome,
    worker: attempt.worker,
    lastedMs: attempt.durationMs,
    error: attempt.error,
  }));
  const events = [{ key: "created", at: facts.createdAt, title: "created" }, ...attempts];
  const next = `attempt ${attempts.length + 1}`;
  if (facts.claim !== undefined) {
    const { claimedAt, worker, standing } = facts.claim;
    const at = standing === "prefetched" ? "prefetched" : next;
    events.push({ key: "claim", at: claimedAt, title: at, outcome: standing, worker });
  }
  const { state, endedAt, worker, durationMs } = facts;
  if (endedAt !== undefined && state === "done")
    events.push({
      key: "end",
      at: endedAt,
      title: next,
      outcome: "done",
      worker,
      lastedMs: durationMs,
    });
  else if (endedAt !== undefined) {
    // What an attempt said is told there; of a task that was cancelled while it waited this is the reason.
    const isTold = attempts.some(({ error }) => error === facts.error);
    const error = isTold ? null : facts.error;
    events.push({ key: "end", at: endedAt, title: state, error });
  } else if (facts.claim === undefined)
    events.push({ key: "now", at: null, title: `now: ${state}`, error: null });
  return events;
}

function makeEvent() {
  const when = element("time");
  const title = element("b");
  const state = element("span");
  const who = element("span", { class: "who" });
  const error = element("pre", { tabindex: "0" });
  const line = element("li", {}, element("p", {}, when, " ", title, " ", state, " ", who), error);
  const fill = (event) => {
    setText(when, event.at === null ? "" : formatInstant(event.at));
    when.hidden = event.at === null;
    when.title = event.at ?? "";
    setText(title, event.title);
    line.className = moods[event.outcome] ?? "";
    redraw(state, event.outcome ?? "", () =>
      event.outcome === undefined ? [] : [badge(event.outcome, moods[event.outcome] ?? "busy")],
    );
    setText(who, describeWho(event));
    error.hidden = event.error == null;
    if (event.error != null) setText(error, event.error);
  };
  return { line, fill };
}

function describeWho({ worker, lastedMs }) {
  const parts = [];
  if (worker != null) parts.push(`on ${worker}`);
  if (lastedMs != null) parts.push(`for ${formatDuration(lastedMs)}`);
  return parts.join(", ");
}
