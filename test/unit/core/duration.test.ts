import { expect, test } from "@jest/globals";
import { formatDuration } from "../../../shared/core/duration";

test.each([
  [0, "0 ms"],
  [999.9, "999 ms"],
  [1_000, "1 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [125_000, "2 min 5 s"],
  [3_600_000, "1 h"],
  [3_780_000, "1 h 3 min"],
  [86_400_000, "1 d"],
  [187_200_000, "2 d 4 h"],
  [-3_000, "3 s"],
])("%s ms is %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
