// Limits and rates of definitions, and the limits that they share, which are set here.

import { call, inPath, send } from "./api.js";
import { change } from "./change.js";
import { badge, button, element, makeTable, redraw, section } from "./dom.js";
import { makeLine, makeNumber } from "./fields.js";
import { formatDuration, formatLimit, formatRate } from "./format.js";
import { placeOf } from "./place.js";
import { shownName } from "./shown-limit.js";
import { drawHeld, drawHeldBy } from "./slots.js";

const limitsMax = 200;

export const limits = {
  title: () => "Limits",
  make(main) {
    const shared = makeShared();
    const own = makeOwn();
    const sharedSection = section("Shared limits", shared.node);
    main.append(section("Limits and rates of definitions", own.node), sharedSection);
    return async () => {
      const [{ definitions }, { sharedLimits, more }] = await Promise.all([
        call("definitions"),
        call(`shared-limits?max=${limitsMax}`),
      ]);
      own.fill(
        definitions.slice(0, limitsMax),
        definitions.length > limitsMax ? definitions.length : false,
      );
      shared.fill(sharedLimits, more);
    };
  },
};

function makeOwn() {
  return makeTable({
    label: "Limits and rates of definitions",
    columns: [
      ["definition", "value"],
      ["tokens held", ""],
      ["limit", "value", describeSource],
      ["rate", "value", describeRate],
      ["next start", "", describeNext],
      ["shared limits", "value", describeShared],
    ],
    keyOf: ({ name }) => name,
    row: ({ name }, [title, held]) => {
      const link = element("a", { href: placeOf.definition(name) }, shownName(name));
      const chip = element("span");
      title.append(link, " ", chip);
      return (definition) => {
        redraw(chip, definition.paused, () => (definition.paused ? [badge("paused", "warn")] : []));
        drawHeldBy(held, definition);
      };
    },
    none: ["No definition is registered."],
  });
}

function makeShared() {
  return makeTable({
    label: "Shared limits",
    columns: [
      ["shared limit", "value", ({ name }) => name],
      ["tokens held", ""],
      ["limit", "value", describeSource],
      ["held by", "value", describeUsers],
      ["", "buttons-cell"],
    ],
    keyOf: ({ name }) => name,
    row: (shared, [held, control]) => {
      let read = shared;
      const set = button("Set ..", `set shared limit ${shared.name}`, () => void setShared(read));
      control.append(element("span", { class: "buttons changes" }, set));
      return (next) => {
        read = next;
        drawHeld(held, next.held, next.limit);
      };
    },
    none: [
      "No definition shares a limit with others.",
      "Definitions that call the same partner can draw from one limit: name it in their ",
      element("code", {}, "sharedLimits"),
      ".",
    ],
  });
}

const describeShared = ({ sharedLimits }) => sharedLimits.map(({ name }) => name).join(", ") || "-";

const describeUsers = ({ definitions }) =>
  definitions.map(({ name, held }) => `${shownName(name)} ${held}`).join(", ") ||
  "no definition draws from it";

/** `4`, or `2, by an operator; the code says 4`. */
function describeSource(limited) {
  if (limited.limitSource === "code") return formatLimit(limited.limit);
  return `${formatLimit(limited.limit)}, by an operator; ${describeCode(limited)}`;
}

/** A shared limit may have been made by an operator, for code to come. */
function describeCode({ codeLimit, definitions }) {
  return definitions?.length === 0 ? "no code names it" : `the code says ${formatLimit(codeLimit)}`;
}

function describeRate({ rate, rateSource }) {
  const by = rateSource === "operator" ? ", by an operator" : "";
  return rate === null && by === "" ? "-" : `${formatRate(rate)}${by}`;
}

function describeNext({ rateInMs }) {
  if (rateInMs === null) return "-";
  return rateInMs === 0 ? "now" : `in ${formatDuration(rateInMs)}`;
}

function setShared(shown) {
  const { name, limit, held } = shown;
  const number = makeNumber({
    id: "shared-limit",
    min: "0",
    max: "1000",
    value: limit ?? "",
    placeholder: "none",
  });
  return change({
    title: `Set shared limit ${name}?`,
    body: [
      makeLine("At most", number),
      `An empty field is no limit; ${describeCode(shown)}. ${held} tokens are held now: those above a lower limit come back as their tasks end.`,
    ],
    verb: "Set the limit",
    doIt: (reason) =>
      send(
        "PUT",
        `shared-limits/${inPath(name)}`,
        { limit: number.value === "" ? null : Number(number.value), ...reason },
        shown,
      ),
    sentence: ({ newLimit }) => `Shared limit ${name} is ${formatLimit(newLimit)} now.`,
  });
}
