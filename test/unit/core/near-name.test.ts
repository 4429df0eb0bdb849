import { expect, test } from "@jest/globals";
import { didYouMean, nearName, nearNames } from "../../../shared/core/near-name";

const commands = ["status", "definitions", "executions", "explain", "limit"];

test.each([
  ["stauts", "status"],
  ["Status", "status"],
  ["limt", "limit"],
  ["explian", "explain"],
  ["exeuctions", "executions"],
])("nearName finds what `%s` was meant to be", (typed, meant) => {
  expect(nearName(typed, commands)).toBe(meant);
});

test.each(["purge", "", "s", "x".repeat(5_000)])("nearName finds nothing near `%s`", (typed) => {
  expect(nearName(typed, commands)).toBeNull();
  expect(didYouMean(typed, commands)).toBe("");
});

test("nearName answers the nearest first and at most as many as asked", () => {
  const names = ["resize-images", "resize-image", "resize-imago"];
  expect(nearNames("resize-image", names, 2)).toEqual(["resize-image", "resize-images"]);
  expect(didYouMean("resize-imag", names)).toBe(" Did you mean `resize-image`?");
});

test("nearName finds swaps and edits as far as one in three letters, and nothing farther", () => {
  const name = "abcdefghijklmnopqrstuvwxyz0123";
  const swapped = name.replaceAll(/(.)(.)/g, "$2$1");
  expect(nearName(swapped.slice(0, 18) + name.slice(18), [name])).toBe(name);
  expect(nearName(swapped.slice(0, 20) + name.slice(20), [name])).toBe(name);
  expect(nearName(swapped.slice(0, 22) + name.slice(22), [name])).toBeNull();
  expect(nearName(name.slice(10), [name])).toBeNull();
  expect(nearName(name.slice(8), [name])).toBeNull();
  expect(nearName(name.slice(7), [name])).toBe(name);
});
