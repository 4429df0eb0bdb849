import { describe, expect, test } from "@jest/globals";
import { jsonTextOf } from "../../../shared/core/json-text";

describe("the depth of a value", () => {
  const nested = (levels: number): unknown =>
    JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);

  test.each([
    ["100 levels", nested(100)],
    ["brackets within texts", { text: "[{".repeat(100), quote: '"'.repeat(3) }],
    ["200 arrays beside each other", Array.from({ length: 200 }, () => [])],
    ["a deep one after texts that end in a backslash", ["\\", '\\"', nested(99)]],
  ])("the depth of a value passes with %s", (_, value) => {
    expect(jsonTextOf("payload", value, "container")).toEqual({ text: JSON.stringify(value) });
  });

  test.each([
    ["101 levels", nested(101)],
    ["101 levels of objects and arrays", { a: nested(100) }],
    ["a deep one after many texts", ["[".repeat(300), nested(100)]],
  ])("the depth of a value is refused with %s, for good", (_, value) => {
    expect(jsonTextOf("payload", value, "container")).toMatchObject({
      problem: expect.stringMatching(/^Expected `payload` to be nested at most 100 levels deep/),
      isFinal: true,
      isTooLarge: false,
    });
  });
});
