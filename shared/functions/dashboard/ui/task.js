// One task: why it stands where it stands, what it carries, its attempts, and what can be done with it.

import { Refused, call, inPath } from "./api.js";
import { badge, button, element, keepLines, redraw, section, setText } from "./dom.js";
import { formatDistance, formatDuration, formatInstant } from "./format.js";
import { placeOf } from "./place.js";
import { fillProgress, makeProgress } from "./progress.js";
import { drawSentence } from "./sentence.js";
import { makeActions } from "./task-actions.js";
import { makeTimeline } from "./timeline.js";

const moods = { done: "good", dead: "bad", cancelled: "calm", claimed: "busy" };

export const task = {
  title: (id) => `Task ${id}`,
  make(main, { id }) {
    const state = element("p", { class: "head" });
    const actions = makeActions(id);
    const why = element("ol", { class: "why" });
    const progress = makeProgress();
    const facts = element("dl", { class: "facts" });
    const timeline = makeTimeline();
    const payload = makeJson();
    const result = makeJson();
    const results = section("Result", result.node);
    const known = element(
      "div",
      { class: "columns" },
      section("Attempts", timeline.node),
      element("div", {}, section("Payload", payload.node), results, section("Facts", facts)),
    );
    const whySection = section("Why", why, progress);
    main.append(state, actions.node, whySection, known);
    return async () => {
      const { reasons, facts: read, traceUrl } = await ask(id);
      known.hidden = read === null;
      fillWhy(why, reasons, id);
      actions.fill(read);
      progress.hidden = true;
      if (read === null) return state.replaceChildren();
      fillState(state, read);
      fillMeter(progress, read);
      timeline.fill(read);
      const absent =
        read.state === "done"
          ? "There is none, or none is kept."
          : "It was enqueued without a payload.";
      payload.fill(read.payload, describeHidden(read.payload, read.payloadBytes) ?? absent);
      results.hidden = read.state !== "done";
      result.fill(
        read.result,
        describeHidden(read.result, read.resultBytes) ?? "Its handler returned nothing.",
      );
      fillFacts(facts, read, traceUrl);
      return undefined;
    };
  },
};

/** What the API says of a task that isn't there is an explanation, too. */
async function ask(id) {
  try {
    return await call(`tasks/${inPath(id)}`);
  } catch (error) {
    if (!(error instanceof Refused && error.status === 404)) throw error;
    const sentence = `There is no task ${id}, or its retention is over: ${error.message}.`;
    return { reasons: [{ code: "unknown", decides: true, sentence }], facts: null };
  }
}

function fillWhy(list, reasons, id) {
  keepLines(list, {
    items: reasons.map((reason, at) => ({ ...reason, at })),
    keyOf: ({ code, at }) => `${code} ${at}`,
    make: () => {
      const line = element("li");
      const fill = ({ decides, sentence }) => {
        line.className = decides ? "decides" : "";
        redraw(line, [sentence, formatInstant(new Date(0))], () => drawSentence(sentence, id));
      };
      return { line, fill };
    },
    none: () => element("li", {}, "It is changing its state at this instant."),
  });
}

function fillState(head, read) {
  const name = read.state === "claimed" ? (read.claim?.standing ?? "claimed") : read.state;
  redraw(head, [name, read.kind, read.definition, read.isCancelRequested], () => [
    badge(name, moods[read.state] ?? ""),
    ...(read.isCancelRequested === true ? [badge("asked to end", "warn")] : []),
    " ",
    element("code", {}, read.kind),
    " of ",
    element("a", { href: placeOf.definition(read.definition) }, read.definition),
  ]);
}

function fillMeter(bar, { progress }) {
  if (progress == null || progress.done === null || progress.total === null) return;
  bar.hidden = false;
  const open = Math.max(0, progress.total - progress.done);
  fillProgress(bar, "progress", [
    ["done", progress.done],
    ["open", open],
  ]);
}

/** JSON as people read it, cut where it is long until it is asked for. */
function makeJson() {
  const text = element("pre", { tabindex: "0" });
  const none = element("p", { class: "none" });
  const fill = (json, absent) => {
    text.hidden = json == null;
    none.hidden = json != null;
    setText(none, absent);
    if (json != null) setText(text, indent(json));
  };
  return { node: element("div", {}, text, none), fill };
}

/** Of a text that this caller may not see; null: there is none. */
function describeHidden(text, bytes) {
  if (text != null || bytes == null) return null;
  return `${bytes.toLocaleString("en")} bytes, for callers with the role Taskgate.Payloads.`;
}

/** Numbers that a double would change are only shown as they are, never parsed. */
function indent(json) {
  if (/\d{16}/.test(json)) return json;
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function fillFacts(list, read, traceUrl) {
  const rows = [
    ["created", describeInstant(read.createdAt)],
    ["ended", read.endedAt === undefined ? null : describeInstant(read.endedAt)],
    ["due", read.dueInMs === undefined ? null : describeDue(read.dueInMs)],
    ["ran", read.durationMs == null ? null : formatDuration(read.durationMs)],
    ["worker", read.claim?.worker ?? read.worker ?? null],
    ["priority", `${read.priority} (lower runs first)`],
    ["failed", describeCount(read.failedCount, read.retryAttempts)],
    ["lost", describeCount(read.lostCount, read.lostMax)],
    ["ahead of it", read.readyAhead === undefined ? null : String(read.readyAhead)],
    ["group", read.group?.key ?? null],
    ["dedupe key", read.dedupeKey],
    ["trace", traceOf(read)],
  ].filter(([, value]) => value !== null);
  redraw(list, rows, () =>
    rows.flatMap(([name, value]) => [
      element("dt", {}, name),
      name === "trace" ? showTrace(value, traceUrl) : element("dd", {}, value),
    ]),
  );
}

const describeInstant = (instant) => `${formatInstant(instant)}, ${formatDistance(instant)}`;

function describeDue(ms) {
  return ms >= 0 ? `in ${formatDuration(ms)}` : `${formatDuration(-ms)} ago`;
}

function describeCount(count, max) {
  return max === undefined ? String(count) : `${count} of at most ${max}`;
}

/** The id, linked to its page where the app knows one. */
function showTrace(id, url) {
  const target = { href: url, target: "_blank", rel: "noreferrer" };
  const shown = url?.startsWith("https://") ? element("a", target, id) : id;
  return element("dd", {}, shown, " ", makeCopy(id));
}

/** Where the page isn't from this computer or by TLS a browser has no clipboard: then the id is to be selected. */
function makeCopy(text) {
  const made = button("Copy", "copy the trace's id", () => {
    void window.navigator.clipboard.writeText(text).then(
      () => setText(made, "Copied"),
      () => setText(made, "Not copied"),
    );
  });
  made.hidden = window.navigator.clipboard === undefined;
  return made;
}

/** The second part of a W3C traceparent, as tools for traces want it. */
function traceOf({ traceParent }) {
  return traceParent == null ? null : (traceParent.split("-")[1] ?? null);
}
