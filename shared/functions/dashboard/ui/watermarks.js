// How far blocks have been made.

import { call } from "./api.js";
import { element, makeTable, section, setText } from "./dom.js";
import { formatDistance, formatInstant } from "./format.js";
import { placeOf } from "./place.js";

const watermarksMax = 200;

export const watermarks = {
  title: () => "Watermarks",
  make(main) {
    const table = makeTable({
      label: "Watermarks",
      columns: [
        ["watermark", "value"],
        ["definition", "value"],
        ["blocks made up to", "value wide"],
        ["version", "number"],
        ["changed", "when"],
      ],
      keyOf: ({ definition, name }) => JSON.stringify([definition, name]),
      row: ({ definition }, [title, owner, value, version, changed]) => {
        owner.append(element("a", { href: placeOf.definition(definition) }, definition));
        return (watermark) => {
          setText(title, watermark.name);
          setText(value, watermark.value === null ? "none" : JSON.stringify(watermark.value));
          setText(version, watermark.version);
          setText(changed, formatInstant(watermark.changedAt));
          changed.title = formatDistance(watermark.changedAt);
        };
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
