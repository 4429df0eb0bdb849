// The fields for a rate: a count per period, and how many may start at once after a pause.

import { element } from "./dom.js";
import { makeLine, makeNumber, makeUnitSelect } from "./fields.js";

const units = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };
const first = { count: 60, periodMs: units.minutes, burst: undefined };

/** Its lines, filled with `rate`, and `read()`: the rate that they tell. */
export function makeRateFields(rate) {
  const { count, periodMs, burst } = rate ?? first;
  const countField = makeNumber({
    id: "rate-count",
    min: "1",
    max: "1000000",
    value: count,
    required: "",
  });
  // The largest unit of which it is a whole number; parts of a second else.
  const [unitName, unitMs] = Object.entries(units).findLast(([, ms]) => periodMs % ms === 0) ?? [
    "seconds",
    units.seconds,
  ];
  const amount = makeNumber({
    id: "rate-period",
    min: "0.001",
    max: "86400",
    step: "0.001",
    value: periodMs / unitMs,
    required: "",
  });
  const unit = makeUnitSelect(units);
  unit.value = unitName;
  const burstField = makeNumber({ id: "rate-burst", min: "1", max: "1000000", value: burst ?? "" });
  return {
    nodes: [
      makeLine("At most", countField, element("label", { for: amount.id }, "per"), amount, unit),
      makeLine("At once after a pause, at most", burstField),
      element("p", {}, "An empty field: as many as refill in 100 ms."),
    ],
    read: () => ({
      count: Number(countField.value),
      periodMs: Math.round(Number(amount.value) * units[unit.value]),
      ...(burstField.value === "" ? {} : { burst: Number(burstField.value) }),
    }),
  };
}
