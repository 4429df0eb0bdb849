// The field for a time from now.

import { makeLine, makeNumber, makeUnitSelect } from "./fields.js";

const units = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 };

/** Its line, and `ms()`: its value in milliseconds. */
export function makeRunIn() {
  const amount = makeNumber({ id: "run-in", min: "0", max: "10000", value: 10, required: "" });
  const unit = makeUnitSelect(units);
  return {
    node: makeLine("Run it in", amount, unit),
    ms: () => Math.round(Number(amount.value) * units[unit.value]),
  };
}
