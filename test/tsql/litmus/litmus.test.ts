import { describe, expect, test } from "@jest/globals";
import { engines } from "../shipped/engines";
import type { EngineName, EngineOptions } from "../../tsql-server/engine/options";
import { litmusCases } from "./cases/all-cases";
import { raceCases } from "./cases/races";
import { expectedResults, runInModel } from "./run-in-model";

/* The model against documents and reports: each case names its own. The same cases can be run on a server. */
const engineNames = Object.keys(engines) as EngineName[];
const all = Object.values(litmusCases).flat();

test("the litmus cases are many, each with a title of its own, and each says where its outcome stands", () => {
  expect(all.length).toBeGreaterThanOrEqual(100);
  expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
  for (const { source, rules } of all) {
    expect(source.length).toBeGreaterThan(10);
    expect(rules.length).toBeGreaterThan(0);
  }
});

test("every rule of locking has one", () => {
  const rules = [...all, ...raceCases].flatMap((litmus) => litmus.rules);
  const expected = Array.from({ length: 23 }, (_, index) => `L${String(index + 1)}`);
  expect(expected.filter((rule) => !rules.includes(rule))).toEqual([]);
});

describe.each(Object.entries(litmusCases))("%s", (_, cases) => {
  describe.each(engineNames)("%s", (engine) => {
    const here = cases.filter(({ engines: only }) => only?.includes(engine) ?? true);

    test.each(here.map((litmus) => [litmus.title, litmus] as const))("%s", (_title, litmus) => {
      expect(runInModel(litmus, engine)).toEqual(expectedResults(litmus, engine));
    });
  });
});

describe("documented behaviour doesn't depend on a switch for undocumented behaviour", () => {
  const switches: readonly Partial<EngineOptions>[] = [
    { keepsRejected: false },
    { hasWideUpdates: false },
    { skipsLiveTransactions: false },
    { pipelinesWrites: true },
    { victim: "last" },
    { keepsGhosts: true },
  ];
  const certain = all.filter(({ unverified }) => unverified === undefined);

  test.each(switches.map((one) => [JSON.stringify(one), one] as const))(
    "the documented cases don't depend on the switch %s",
    (_, one) => {
      const different = engineNames.flatMap((engine) =>
        certain
          .filter(({ engines: only }) => only?.includes(engine) ?? true)
          .filter((litmus) => {
            const seen = JSON.stringify(runInModel(litmus, engine, one));
            return seen !== JSON.stringify(runInModel(litmus, engine));
          })
          .map(({ title }) => `${engine}: ${title}`),
      );
      expect(different).toEqual([]);
    },
  );
});
