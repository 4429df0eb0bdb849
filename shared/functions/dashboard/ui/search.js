// What a name may mean: definitions, groups, batches, schedules. Numbers and whole names of definitions are gone to at once.

import { call, inPath, slowly } from "./api.js";
import { element, keepLines, makeEmpty, section, setText } from "./dom.js";
import { placeOf } from "./place.js";
import { shownName } from "./shown-limit.js";

const everyMs = 5_000;
const batchesMax = 100;
const schedulesMax = 200;
const shownMax = 50;

export const search = {
  title: () => "Search",
  make(main) {
    const about = element("p", {});
    const list = element("ul", { class: "found" });
    const limits = element(
      "p",
      { class: "cut" },
      `Looked at: parts of names of definitions, of the newest ${batchesMax} batches and of the first ${schedulesMax} schedules; whole keys of groups. A task is found by its number.`,
    );
    main.append(section("Found", about, list, limits));
    const asked = slowly(everyMs, find);
    return async ({ query }) => {
      const text = query.get("q") ?? "";
      setText(about, `Names with \u201c${text}\u201d`);
      const found = await asked(text);
      keepLines(list, {
        items: found.slice(0, shownMax),
        keyOf: ({ kind, href }) => `${kind} ${href}`,
        make: ({ kind, href, name }) => ({
          line: element(
            "li",
            {},
            element("span", { class: "kind" }, kind),
            element("a", { href }, name),
          ),
          fill: () => undefined,
        }),
        none: () => element("li", {}, makeEmpty("Nothing has this name.")),
      });
    };
  },
};

async function find(text) {
  const part = text.toLowerCase();
  const has = (name) => name.toLowerCase().includes(part);
  const [{ definitions }, { groups }, { batches }, { schedules }] = await Promise.all([
    call("definitions"),
    text === "" ? { groups: [] } : call(`groups?key=${inPath(text)}`),
    call(`batches?max=${batchesMax}`),
    call(`schedules?max=${schedulesMax}`),
  ]);
  return [
    ...definitions
      .filter(({ name }) => has(name) || has(shownName(name)))
      .map(({ name }) => ({
        kind: "definition",
        name: shownName(name),
        href: placeOf.definition(name),
      })),
    ...groups.map(({ definition, key }) => ({
      kind: "group",
      name: `${key} of ${definition ?? "all definitions"}`,
      href: placeOf.groups(definition, key),
    })),
    ...batches
      .filter(({ name }) => has(name))
      .map(({ batch, name }) => ({
        kind: "batch",
        name: `${name} (${batch})`,
        href: placeOf.batch(batch),
      })),
    ...schedules
      .filter(({ name }) => has(name))
      .map(({ definition, name }) => ({
        kind: "schedule",
        name: `${name} of ${definition}`,
        href: placeOf.definition(definition),
      })),
  ];
}
