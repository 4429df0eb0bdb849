// How far blocks have been made.

import { call } from "./api.js";
import { byId, element, formatInstant, keepLines, makeCells, setText } from "./draw.js";

const watermarksMax = 1_000;

/** Asks and draws. */
export async function lookAtWatermarks() {
  const { watermarks } = await call(`watermarks?max=${watermarksMax}`);
  const table = byId("watermark-table");
  keepLines(table.tBodies[0], {
    items: watermarks,
    keyOf: ({ definition, name }) => JSON.stringify([definition, name]),
    make: () => makeWatermark(table),
    none: "No blocks have been made.",
  });
}

function makeWatermark(table) {
  const cells = makeCells(table, 5);
  const line = element("tr", {}, ...cells);
  const [title, definition, value, version, changed] = cells;
  value.classList.add("value");
  const fill = (watermark) => {
    setText(title, watermark.name);
    setText(definition, watermark.definition);
    setText(value, watermark.value === null ? "none" : JSON.stringify(watermark.value));
    setText(version, watermark.version);
    setText(changed, formatInstant(watermark.changedAt));
  };
  return { line, fill };
}
