// Groups of all definitions or of one, those with waiting tasks first.

import { call } from "./api.js";
import { element, makeFiller, section } from "./dom.js";
import { makeFilterForm } from "./fields.js";
import { makeGroupTable } from "./group-table.js";
import { isPast, makePlace } from "./place.js";

const groupsMax = 100;

export const groups = {
  title: () => "Groups",
  make(main) {
    const definition = element("input", {
      id: "groups-definition",
      type: "search",
      list: "search-names",
    });
    const key = element("input", { id: "groups-key", type: "search" });
    const titled = [
      ["Definition", definition],
      ["Key", key],
    ];
    const form = makeFilterForm(titled, {
      more: [element("button", {}, "Show")],
      go: () => {
        const wanted = { definition: definition.value.trim(), key: key.value.trim() };
        window.location.hash = makePlace("groups", wanted);
      },
    });
    const fill = makeFiller({ definition, key });
    const table = makeGroupTable();
    main.append(section("Those with waiting tasks first", form, table.node));
    return async ({ query }) => {
      const asked = new window.URLSearchParams({ max: String(groupsMax) });
      for (const name of ["definition", "key"])
        if (query.has(name)) asked.set(name, query.get(name));
      fill(Object.fromEntries(query));
      const { groups: found, more } = await call(`groups?${asked}`);
      if (isPast(query)) return;
      // A stable sort: among equals the API's order, by definition and key.
      const sorted = found.toSorted(
        (left, right) => right.waiting - left.waiting || right.used - left.used,
      );
      table.fill(sorted, more);
    };
  },
};
