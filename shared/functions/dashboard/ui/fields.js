// Fields, choices, and forms of filters.

import { element } from "./dom.js";

/** A choice of options, which are `[value, text]`. */
export function makeSelect(attributes, options) {
  const made = element("select", attributes);
  fillSelect(made, options);
  return made;
}

/** Gives a choice its options; the same ones stay, so that an open choice isn't disturbed. */
export function fillSelect(select, options) {
  const isSame =
    options.length === select.options.length &&
    options.every(([value], at) => select.options[at].value === value);
  if (isSame) return;
  select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
}

/** A field for a number. */
export function makeNumber({ value, ...attributes }) {
  return element("input", { type: "number", value: String(value), ...attributes });
}

/** A line of a dialog: a field with its label, then `more`. */
export function makeLine(title, field, ...more) {
  return element(
    "p",
    { class: "field" },
    element("label", { for: field.id }, title),
    field,
    ...more,
  );
}

/** A choice of units of time, by their names. */
export const makeUnitSelect = (units) =>
  makeSelect(
    { "aria-label": "unit" },
    Object.keys(units).map((name) => [name, name]),
  );

/**
 * A form of filters: fields as `[title, field]`, each with its label, then `more`. It is never sent: `go()`, if it is given, acts
 * where a browser would send it.
 */
export function makeFilterForm(fields, { more = [], go } = {}) {
  const labelled = fields.flatMap(([title, field]) => [
    element("label", { for: field.id }, title),
    field,
  ]);
  const form = element("form", { class: "filters" }, ...labelled, ...more);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go?.();
  });
  return form;
}
