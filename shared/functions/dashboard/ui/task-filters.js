// The form that finds tasks of a definition. Its fields stand in the address, so that a link can be sent.

import { element, makeFiller } from "./dom.js";
import { makeFilterForm, makeSelect } from "./fields.js";

/** Members of the address, their titles, and an example. */
const texts = [
  ["key", "Key", "order-4711"],
  ["keyPrefix", "Key begins with", "order-"],
  ["group", "Group", "customer-7"],
  ["batch", "Batch", "17"],
  ["where", "Payload", "customer.id=42"],
];
const times = [
  ["since", "Added within"],
  ["endedSince", "Ended within"],
];
const spans = [
  ["", "any time"],
  ["1", "1 hour"],
  ["24", "24 hours"],
  ["168", "7 days"],
  ["720", "30 days"],
];
const names = [...texts, ...times].map(([name]) => name);

/** The fields of an address that aren't empty. */
export function readFilters(query) {
  const given = names.map((name) => [name, (query.get(name) ?? "").trim()]);
  return Object.fromEntries(given.filter(([, value]) => value !== ""));
}

/** As the query of the API: times are hours in the address, instants there. */
export function toQuery(filters) {
  const asked = Object.entries(filters).map(([name, value]) => {
    if (!times.some(([time]) => time === name)) return [name, value];
    const hours = /^\d{1,5}$/.test(value) ? Number(value) : 0;
    return [name, new Date(Date.now() - hours * 3_600_000).toISOString()];
  });
  return new window.URLSearchParams(asked);
}

/** `go(filters)` is called with what the fields say; `fill(filters)` writes those of an address. */
export function makeFilters(go) {
  const fields = {};
  for (const [name, , example] of texts)
    fields[name] = element("input", { id: `find-${name}`, type: "search", placeholder: example });
  for (const [name] of times) fields[name] = makeSelect({ id: `find-${name}` }, spans);
  const titled = [...texts, ...times].map(([name, title]) => [title, fields[name]]);
  const form = makeFilterForm(titled, {
    more: [element("button", {}, "Find")],
    go: () => {
      const entries = Object.entries(fields).map(([name, field]) => [name, field.value.trim()]);
      go(Object.fromEntries(entries.filter(([, value]) => value !== "")));
    },
  });
  form.setAttribute("aria-label", "Find tasks");
  const node = element("details", { class: "find" }, element("summary", {}, "Find tasks"), form);
  const write = makeFiller(fields);
  const fill = (filters) => {
    // Opened for an address that asks for something, once: then it is the reader's.
    if (write(filters) && Object.keys(filters).length > 0) node.open = true;
  };
  return { node, fill };
}
