import { expect, test } from "@jest/globals";
import { progressBar, tokenBar } from "../../../shared/terminal/bars";

test.each([
  [0, 4, "....  0/4"],
  [1, 4, "#...  1/4"],
  [4, 4, "####  4/4"],
  [6, 4, "######  6/4"],
  [0, 0, "0/0"],
  [10, 100, `##${".".repeat(18)}  10/100`],
  [1, 1_000, `#${".".repeat(19)}  1/1000`],
])("%s tokens of %s are drawn as %s", (held, limit, text) => {
  expect(tokenBar(held, limit)).toBe(text);
});

test("a bar shows the tokens that others hold of a shared limit behind the own ones", () => {
  expect(tokenBar(1, 4, 2)).toBe("#++.  1/4");
  expect(tokenBar(2, 4, 4)).toBe("##++++  2/4");
  expect(tokenBar(1, 100, 99)).toBe(`#${"+".repeat(19)}  1/100`);
});

test.each([
  [0, "0, no limit"],
  [3, "###  3, no limit"],
  [50, `${"#".repeat(20)}  50, no limit`],
])("%s tokens without a limit are drawn as %s", (held, text) => {
  expect(tokenBar(held, null)).toBe(text);
});

test.each([
  [0, 6, "[----]"],
  [0.5, 6, "[##--]"],
  [1, 6, "[####]"],
  [7, 6, "[####]"],
  [-1, 6, "[----]"],
  [1, 0, "[#]"],
])("a share of %s in %s cells is %s", (share, width, text) => {
  expect(progressBar(share, width)).toBe(text);
});
