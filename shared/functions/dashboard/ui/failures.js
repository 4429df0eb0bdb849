// Failures of all definitions, grouped by their errors.

import { call, slowly } from "./api.js";
import { element, section, setText } from "./dom.js";
import { fillSelect, makeFilterForm, makeSelect } from "./fields.js";
import { askFailures, makeFailures } from "./failure-list.js";
import { makePlace } from "./place.js";

const everyMs = 3_000;
const all = ["", "all definitions"];

export const failures = {
  title: () => "Failures",
  make(main) {
    const names = makeSelect({ id: "failures-definition" }, [all]);
    const form = makeFilterForm([["Definition", names]]);
    names.addEventListener("change", () => {
      window.location.hash = makePlace("failures", { definition: names.value });
    });
    const about = element("p", { class: "about" });
    const list = makeFailures(null);
    main.append(section("Dead tasks, grouped by error", about, form, list.node));
    let name = null;
    const asked = slowly(everyMs, (of) => Promise.all([askFailures(of), call("definitions")]));
    return async ({ query }) => {
      name = query.get("definition");
      const [found, { definitions }] = await asked(name);
      fillNames(names, definitions, name);
      setText(
        about,
        "Errors that differ only in numbers and ids are one group; another HTTP status is another group. Find the cause on the example's page, repair it, then redrive the group.",
      );
      list.fill(found);
    };
  },
};

/** Only definitions that have dead tasks, and the one asked for. */
function fillNames(select, definitions, name) {
  const wanted = definitions.filter((each) => each.dead > 0 || each.name === name);
  fillSelect(select, [all, ...wanted.map((each) => [each.name, each.name])]);
  if (document.activeElement !== select) select.value = name ?? "";
}
