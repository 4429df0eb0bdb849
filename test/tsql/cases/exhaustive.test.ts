import { describe, expect, test } from "@jest/globals";
import type { EngineName } from "../../tsql-server/engine/options";
import { describeWhole } from "../../support/whole";
import { explore } from "../../tsql-server/schedule/explore";
import { printFinding } from "../../tsql-server/schedule/replay";
import { holds } from "./explore-case";
import { killScenario } from "./kill";
import { allCases } from "./list/all";
import { cutCases, killCases } from "./list/kills";
import { scenarioOf } from "./scenario";
import { isLongOn, plainVariant } from "./variants";

/*
 * Every case of two callers on one engine, in every order; and every operation with its connection cut at every step. Azure
 * SQL's engine is what production runs. All are in one file: its process has read, bound and warmed up everything for the
 * second one.
 */
describeEngine("azure");

describeWhole("Row versions without optimized locking", () => {
  describeEngine("versioned");
});

describe("Locks alone", () => {
  describeEngine("locking");
});

function describeEngine(engine: EngineName): void {
  const variant = plainVariant(engine);
  const here = allCases.filter((model) => !isLongOn(model, engine));

  describe(`every order, ${engine}`, () => {
    test.each(here.map((model) => [model.name, model] as const))(
      "the case holds in every order: %s",
      (_name, model) => {
        expect(holds(model, variant).interleavings).toBeGreaterThan(0n);
      },
      120_000,
    );
  });

  describe(`S0.19: in the model, the connection is cut at every step, ${engine}`, () => {
    test.each(killCases.map((kill) => [kill.name, kill] as const))(
      "a cut connection leaves all or nothing: %s",
      (_name, kill) => {
        const { finding, ends } = explore(killScenario(kill, variant));

        expect(finding === undefined ? "" : printFinding(finding)).toBe("");
        expect(ends).toBeGreaterThan(2);
      },
    );

    test.each(cutCases.map((model) => [model.name, model] as const))(
      "a cut connection keeps the case: %s",
      (_name, model) => {
        const { finding, isComplete } = explore(scenarioOf(model, variant));

        expect(finding === undefined ? "" : printFinding(finding)).toBe("");
        expect(isComplete).toBe(true);
      },
    );
  });
}
