import { expect, test } from "@jest/globals";
import { formatDuration, formatExactDuration, readDuration } from "../../../shared/core/duration";

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

test.each([
  [1, "1 ms"],
  [1_500, "1500 ms"],
  [60_000, "1 min"],
  [90_000, "90 s"],
  [86_400_000, "1 d"],
])("%s ms is %s to the millisecond", (ms, text) => {
  expect(formatExactDuration(ms)).toBe(text);
});

test.each([
  ["500ms", 500],
  ["90s", 90_000],
  ["10m", 600_000],
  ["10min", 600_000],
  ["2h", 7_200_000],
  ["1d", 86_400_000],
  ["1h30m", 5_400_000],
  ["0s", 0],
])("`%s` is read as %d ms", (text, ms) => {
  expect(readDuration(text)).toBe(ms);
});

test.each(["", "10", "m", "1.5h", "-1s", "10 m", "1w", "1234567890s", "h1", "1h "])(
  "`%s` is refused as a duration",
  (text) => {
    expect(readDuration(text)).toBeNull();
  },
);
