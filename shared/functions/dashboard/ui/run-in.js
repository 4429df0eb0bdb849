// The field for a time from now.

import { element } from "./dom.js";
import { makeUnitSelect } from "./fields.js";

const units = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 };

/** Its line, and `ms()`: its value in milliseconds. */
export function makeRunIn() {
  const amount = element("input", {
    id: "run-in",
    type: "number",
    min: "0",
    max: "10000",
    value: "10",
    required: "",
  });
  const unit = makeUnitSelect(units);
  const label = element("label", { for: "run-in" }, "Run it in");
  return {
    node: element("p", { class: "field" }, label, amount, unit),
    ms: () => Math.round(Number(amount.value) * units[unit.value]),
  };
}
