import { expect, test } from "@jest/globals";
import { eventKey } from "../../shared/functions/event-key";

function keyOf(source: string, id: string, { kind = "k", index = 0 } = {}): string {
  return eventKey({ source, id, type: "t", subject: "", time: null, data: {} }, { kind, index });
}

test("a key is readable where source, id and kind can be read back from it", () => {
  expect(keyOf("/shops/eu", "17", { kind: "import", index: 2 })).toBe(
    "event:/shops/eu/17/import/2",
  );
});

test("two tasks of an event have one key only when their kinds are the same", () => {
  const kinds = ["k", "l", "k/l", `${"k".repeat(190)}1`, `${"k".repeat(190)}2`];
  const keys = kinds.flatMap((kind) => [
    keyOf("a", "b", { kind }),
    keyOf("a", "b", { kind, index: 1 }),
  ]);
  expect(new Set(keys).size).toBe(2 * kinds.length);
  expect(keyOf("a", "b/k", { kind: "l" })).not.toBe(keyOf("a", "b", { kind: "k/l" }));
});

test("two events have one key only when source and id are the same", () => {
  const long = "s".repeat(300);
  const events: [source: string, id: string][] = [
    ["a", "b/c"],
    ["a/b", "c"],
    ["a/b/c", "0"],
    ["a", "b/c/0"],
    [`${long}1`, "7"],
    [`${long}2`, "7"],
    ["a", `1${long}`],
    ["a", `2${long}`],
  ];
  const keys = events.flatMap(([source, id]) => [
    keyOf(source, id),
    keyOf(source, id, { index: 1 }),
  ]);
  expect(new Set(keys).size).toBe(2 * events.length);
  expect(events.map(([source, id]) => keyOf(source, id))).toEqual(
    keys.filter((_, at) => at % 2 === 0),
  );
});

test("a key is never longer than 200 characters, the longest that the database takes", () => {
  for (const length of [1, 100, 187, 188, 189, 190, 191, 192, 193, 2_000])
    expect(keyOf("s".repeat(length), "7", { index: 9_999 }).length).toBeLessThanOrEqual(200);
});

test("half a character gets into no key, and is not another half", () => {
  const [one, other] = [keyOf("queue", "\ud800"), keyOf("queue", "\udc00")];
  expect([one, other].every((key) => key.isWellFormed())).toBe(true);
  expect(one).not.toBe(other);
});
