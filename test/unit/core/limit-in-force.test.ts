import { expect, test } from "@jest/globals";
import { callsDefinition, shownName } from "../../../shared/core/calls-definition";
import { limitInForce } from "../../../shared/core/limit-in-force";

const shared = [
  { name: "any", limit: null, held: 9 },
  { name: "database", limit: 20, held: 20 },
  { name: "partner", limit: 4, held: 3 },
  { name: "queue", limit: 4, held: 4 },
];

test("the limit in force is the definition's own one where it has one", () => {
  expect(limitInForce({ limit: 8, held: 2, sharedLimits: shared })).toEqual({
    ...{ limit: 8, shared: null, held: 2 },
  });
});

test("the limit in force is the narrowest shared one, the first by name of equal ones, where the definition has none", () => {
  expect(limitInForce({ limit: null, held: 2, sharedLimits: shared })).toEqual({
    ...{ limit: 4, shared: "partner", held: 3 },
  });
  const zero = [...shared, { name: "stop", limit: 0, held: 0 }];
  expect(limitInForce({ limit: null, held: 2, sharedLimits: zero }).shared).toBe("stop");
});

test("the limit in force is none where neither the definition nor a shared limit sets one", () => {
  expect(limitInForce({ limit: null, held: 2, sharedLimits: shared.slice(0, 1) })).toEqual({
    ...{ limit: null, shared: null, held: 2 },
  });
});

test("the name of functions under limits is shown in words, without the number of several limits", () => {
  expect(shownName(callsDefinition(["partner"]))).toBe("functions under partner");
  expect(shownName(callsDefinition(["one", "other"]))).toBe("functions under one & other");
  expect(shownName("partner")).toBe("partner");
});
