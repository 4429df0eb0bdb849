// How far blocks have been made.

import { call } from "./api.js";
import { element, makeTable, section } from "./dom.js";
import { sayInstant } from "./format.js";
import { placeOf } from "./place.js";

const watermarksMax = 200;
const describeValue = (value) => (value === null ? "none" : JSON.stringify(value));

export const watermarks = {
  title: () => "Watermarks",
  make(main) {
    const table = makeTable({
      label: "Watermarks",
      columns: [
        ["watermark", "value", ({ name }) => name],
        ["definition", "value"],
        ["blocks made up to", "value wide", ({ value }) => describeValue(value)],
        ["version", "number", ({ version }) => version],
        ["changed", "when", ({ changedAt }) => sayInstant(changedAt)],
      ],
      keyOf: ({ definition, name }) => JSON.stringify([definition, name]),
      row: ({ definition }, [owner]) => {
        owner.append(element("a", { href: placeOf.definition(definition) }, definition));
      },
      none: [
        "No blocks have been made.",
        "A watermark remembers how far new data has been cut into tasks, so that each range becomes one task once.",
      ],
    });
    main.append(section("How far blocks have been made", table.node));
    return async () => {
      const { watermarks: found, more } = await call(`watermarks?max=${watermarksMax}`);
      table.fill(found, more);
    };
  },
};
