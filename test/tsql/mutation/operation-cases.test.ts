import { describe, expect, test } from "@jest/globals";
import { namesOf } from "../cases/calls";
import { shippedFiles, shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import { caughtAtLocks } from "./failing-locks";
import { joiningCases, operationCases } from "./operation-cases";
import { refusalNumbers, refusalOf, refusedCases, unrefused } from "./refused-calls";
import { expectedSettings, settingsAtLocks } from "./session-settings";

const cases = operationCases().map((operation) => [operation.name, operation] as const);
const headers = new Map(
  shippedFiles().map(({ name, text }) => [name, text.slice(0, text.indexOf("CREATE OR ALTER"))]),
);

function mayTimeOut(procedure: string): boolean {
  return headers.get(`procedures/${procedure}.sql`)?.includes("1222") === true;
}

/** Rows tell by 1222, keys by 50423: in both cases nothing is left open. */
const toldOutside: ReadonlySet<string> = new Set(["1222,0,0", "50423,0,0"]);

/** They only try for the turn to promote, and go on without it. */
const tries: ReadonlySet<string> = new Set(["Work", "PromoteScheduled"]);

test("every operation is among them", () => {
  const named = new Set(cases.flatMap(([, { call }]) => namesOf(call)));
  const shipped = [...headers.keys()].flatMap(
    (name) => /^procedures\/(\w+)\.sql$/.exec(name)?.[1] ?? [],
  );

  expect([...named].sort()).toEqual(shipped.filter((name) => !name.startsWith("_")).sort());
});

describe("in a session with other settings an operation waits under its own", () => {
  test.each(cases)(
    "the operation %s waits under its own settings in a session with others",
    (_name, operation) => {
      const found = settingsAtLocks(operation, shippedWorld(engines.locking));

      const isLimited = namesOf(operation.call).some(mayTimeOut);
      // A key that is only tried for waits for 0 ms, with any setting of the session.
      const waits = found.filter(({ lockTimeoutMs }) => lockTimeoutMs !== 0);
      expect(waits).toEqual([expectedSettings(operation, isLimited)]);
    },
  );
});

describe("an operation that fails at any of its locks", () => {
  const azure = shippedWorld(engines.azure);

  test.each(cases)(
    "the operation %s tells its caller when it fails at a lock, and leaves no transaction",
    (_name, operation) => {
      const found = caughtAtLocks(operation, azure, false);

      const goesOn = namesOf(operation.call).some((name) => tries.has(name));
      const odd = found.filter((caught) => !toldOutside.has(String(caught)));
      expect(odd.filter((caught) => caught !== "none" || !goesOn)).toEqual([]);
    },
  );

  test.each(joiningCases().map((operation) => [operation.name, operation] as const))(
    "the operation %s leaves the user's transaction to the user when it fails at a lock",
    (_name, operation) => {
      const found = caughtAtLocks(operation, azure, true);

      expect(found.filter(([number]) => number !== 50_423)).toEqual([[1222, -1, 1]]);
      for (const caught of found) expect(caught.slice(1)).toEqual([-1, 1]);
    },
  );
});

describe("an operation that refuses an argument", () => {
  const azure = shippedWorld(engines.azure);
  const refusals = refusedCases().map((operation) => [operation.name, operation] as const);

  test("the operations that refuse an argument are each of those that have any to refuse", () => {
    const refusing = new Set(refusals.flatMap(([, { call }]) => namesOf(call)));
    const all = new Set(cases.flatMap(([, { call }]) => namesOf(call)));

    expect([...all].filter((name) => !refusing.has(name)).sort()).toEqual(unrefused());
  });

  test.each(refusals)(
    "the operation %s says that it refuses, and has done nothing",
    (_name, operation) => {
      const { errors, hasChanged } = refusalOf(operation, azure);

      expect(refusalNumbers).toContain(errors[0]);
      expect(errors).toHaveLength(1);
      expect(hasChanged).toBe(false);
    },
  );
});
