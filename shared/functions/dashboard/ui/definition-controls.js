// The limit and the rate of a definition: set by hand, with a preview of what that changes.

import { inPath, send } from "./api.js";
import { change } from "./change.js";
import { button, element, section, setText } from "./dom.js";
import { formatLimit, formatRate } from "./format.js";
import { makeRateFields } from "./rate-fields.js";
import { limitInForce } from "./shown-limit.js";

const limitMax = 1_000;
/** The slider goes to this, or to twice the limit; larger ones are typed. */
const sliderMax = 20;

/** Both. */
export function makeControls(name) {
  const limit = makeLimit(name);
  const rate = makeRate(name);
  const node = element("div", {}, limit.node, rate.node);
  const fill = (read) => {
    limit.fill(read);
    rate.fill(read);
  };
  return { node, fill };
}

// ---- the limit

function makeLimit(name) {
  const slider = element("input", {
    type: "range",
    min: "0",
    "aria-label": `limit of ${name}, slider`,
  });
  const number = element("input", {
    type: "number",
    min: "0",
    max: String(limitMax),
    step: "1",
    "aria-label": `limit of ${name}`,
  });
  /** `typed`: the text in the field, where it can't be a limit. */
  const state = { read: null, wanted: undefined, typed: null };
  const step = (by) => want((state.wanted ?? state.read?.limit ?? 0) + by);
  const less = button("\u2212", `one token less for ${name}`, () => step(-1));
  const more = button("+", `one token more for ${name}`, () => step(1));
  const none = button("No limit", `no limit for ${name}`, () => want(null));
  const code = button("As in code", `the limit of ${name} as in code`, () => want("code"));
  const source = element("p", {});
  const preview = element("p", { class: "preview", role: "status" });
  const apply = button("Set the limit ..", `set the limit of ${name}`, () => void set(), "primary");
  const back = button("Undo", "back to the limit in force", () => want(undefined));
  const set = async () => {
    const wanted = state.wanted;
    await setLimit(state.read, wanted, () => want(undefined));
  };
  const want = (wanted) => {
    state.wanted = typeof wanted === "number" ? clamp(wanted) : wanted;
    if (state.wanted === state.read?.limit) state.wanted = undefined;
    state.typed = null;
    draw();
  };
  const draw = () => {
    if (state.read === null) return;
    const shown = numberOf(state.read, state.wanted);
    slider.max = String(Math.max(sliderMax, 2 * (state.read.limit ?? 0), shown ?? 0));
    if (document.activeElement !== slider) slider.value = String(shown ?? slider.max);
    if (document.activeElement !== number) {
      number.value = shown === null ? "" : String(shown);
      state.typed = null;
    }
    number.placeholder = "none";
    const isNew = state.wanted !== undefined;
    setText(preview, isNew ? describePreview(state.read, state.wanted) : "");
    if (state.typed !== null)
      setText(preview, `A limit is a whole number in 0..${limitMax}, not ${state.typed}.`);
    apply.disabled = !isNew;
    back.hidden = !isNew && state.typed === null;
    code.hidden = state.read.limitSource === "code";
    setText(source, describeSource(state.read));
  };
  slider.addEventListener("input", () => want(Number(slider.value)));
  number.addEventListener("input", () => {
    // A text that is no number yet, such as `1e`, is an empty value.
    if (number.value === "" && !number.validity.badInput) return;
    if (number.validity.valid) want(Number(number.value));
    else {
      want(undefined);
      state.typed = number.value || "that";
      draw();
    }
  });
  const row = element("div", { class: "stepper changes" }, less, slider, more, number, none, code);
  const buttons = element("p", { class: "buttons changes" }, apply, back);
  return {
    node: section("Limit", source, row, preview, buttons),
    fill: (read) => {
      state.read = read;
      if (state.wanted === read.limit) state.wanted = undefined;
      draw();
    },
  };
}

const clamp = (value) => Math.max(0, Math.min(limitMax, Math.round(value)));

/** What the number field shows; null: no limit. */
function numberOf({ limit, codeLimit }, wanted) {
  if (wanted === undefined) return limit;
  return wanted === "code" ? codeLimit : wanted;
}

function describeSource(read) {
  const { limit, limitSource, codeLimit, held } = read;
  const by = describeSetter(limitSource, formatLimit(codeLimit));
  const now = limit === null ? "There is no limit of its own" : `At most ${limit} run at once`;
  return `${now}, ${by}. ${held} ${held === 1 ? "token is" : "tokens are"} held.${describeShared(read)}`;
}

/** A definition without a limit of its own may stand under one that it shares. */
function describeShared(read) {
  const { limit, shared, held } = limitInForce(read);
  if (shared === null) return "";
  return ` The shared limit ${shared} holds it at ${limit}: ${held} held by all. The page Limits sets it.`;
}

function describeSetter(source, inCode) {
  return source === "code" ? "as in code" : `set by an operator; the code says ${inCode}`;
}

/** `4 becomes 2: 1 of 3 held tokens comes back as its task ends; no task is stopped.` */
function describePreview({ limit, codeLimit, held, ready }, wanted) {
  const next = numberOf({ limit, codeLimit }, wanted);
  const start = `${formatLimit(limit)} becomes ${formatLimit(next)}: `;
  if (next === 0)
    return `${start}nothing starts any more; ${held} running tasks go on to their end.`;
  if (next !== null && held > next) {
    const over = held - next;
    return `${start}${over} of ${held} held tokens ${over === 1 ? "comes" : "come"} back as tasks end; no task is stopped.`;
  }
  const free = next === null ? ready : Math.min(ready, next - held);
  if (limit !== null && (next === null || next > limit))
    return `${start}${free} more ${free === 1 ? "task" : "tasks"} can start at once; ${ready} are ready.`;
  return `${start}no held token is above it.`;
}

/** `shown`: the definition as the dialog tells it. */
function setLimit(shown, limit, done) {
  const { name } = shown;
  return change({
    title: `Set the limit of ${name}?`,
    body: [describePreview(shown, limit)],
    verb: "Set the limit",
    doIt: (reason) => send("PUT", `definitions/${inPath(name)}/limit`, { limit, ...reason }, shown),
    sentence: ({ newLimit, overLimit }) => {
      done();
      const over = overLimit > 0 ? `; ${overLimit} tokens come back as their tasks end` : "";
      return `The limit of ${name} is ${formatLimit(newLimit)} now${over}.`;
    },
  });
}

// ---- the rate

function makeRate(name) {
  const now = element("p", {});
  const set = button("Change the rate ..", `change the rate of ${name}`, () => void ask(), "");
  const none = button("No rate ..", `no rate for ${name}`, () => void setRate(read, null));
  const code = button("As in code ..", `the rate of ${name} as in code`, () =>
    setRate(read, "code"),
  );
  let read = null;
  const ask = () => askRate(read);
  const node = section("Rate", now, element("p", { class: "buttons changes" }, set, none, code));
  return {
    node,
    fill: (definition) => {
      read = definition;
      setText(now, describeRate(definition));
      none.hidden = definition.rate === null;
      code.hidden = definition.rateSource === "code";
    },
  };
}

function describeRate({ rate, rateSource, codeRate, rateInMs, ready }) {
  const by = describeSetter(rateSource, formatRate(codeRate));
  if (rate === null) return `Tasks start as fast as the limit lets them: no rate, ${by}.`;
  const next =
    ready === 0
      ? ""
      : rateInMs === 0
        ? " The next may start now."
        : ` The next may start in ${Math.ceil(rateInMs / 1_000)} s.`;
  return `At most ${formatRate(rate)}, ${by}.${next}`;
}

function askRate(shown) {
  const fields = makeRateFields(shown.rate);
  const body = [
    ...fields.nodes,
    "Acts from the next task on. Starts already used count against the new burst.",
  ];
  return setRate(shown, fields.read, body);
}

/** `shown`: the definition as the page tells it when the dialog opens. */
function setRate(shown, rate, body = ["Acts from the next task on."]) {
  const { name } = shown;
  return change({
    title: rate === null ? `Take the rate of ${name} away?` : `Set the rate of ${name}?`,
    body,
    verb: "Set the rate",
    doIt: (reason) =>
      send(
        "PUT",
        `definitions/${inPath(name)}/rate`,
        { rate: typeof rate === "function" ? rate() : rate, ...reason },
        shown,
      ),
    sentence: ({ newRate }) => `The rate of ${name} is ${formatRate(newRate)} now.`,
  });
}
