import { describe, expect, test } from "@jest/globals";
import { holds } from "./explore-case";
import { allCases } from "./list/all";
import { scenarioOf } from "./scenario";
import type { ModelCase } from "./model-case";
import { findVariant, switchedVariants } from "./variants";
import type { Variant } from "./variants";
import { replay } from "../../tsql-server/schedule/replay";
import { parseSchedule } from "../../tsql-server/schedule/run";
import { fewOf } from "../../support/whole";

/* Safety doesn't depend on what sources leave in doubt. The other cases run so in `npm run simulate:tsql`. */
const names = ["acquire-x-release", "claim-x-complete", "enqueue-x-hand-over", "finish-x-reclaim"];
const cases = allCases.filter(({ name }) => names.includes(name));

describe.each(fewOf(["azure", "locking"] as const))("%s", (engine) => {
  describe.each(switchedVariants(engine).map((variant) => [variant.name, variant] as const))(
    "%s",
    (_variant, variant) => {
      test.each(cases.map((model) => [model.name, model] as const))(
        "%s is safe",
        (_name, model) => {
          expect(holds(model, variant).isComplete).toBe(true);
        },
        120_000,
      );
    },
  );
});

/** A case in a variant. */
function find(name: string, variantName: string): readonly [ModelCase, Variant] {
  const model = allCases.find((one) => one.name === name);
  const variant = findVariant(variantName);
  if (model === undefined || variant === undefined) throw new Error("the case is gone");
  return [model, variant];
}

/** What is wrong in one order of steps. */
function problemOf(model: ModelCase, variant: Variant, steps: string): string {
  return replay(scenarioOf(model, variant), parseSchedule(steps)).problem;
}

test("an index that covers a read shows a row whose own entry is deleted before it, and no lock on it stays", () => {
  const found = find("cancel-x-promote-into-a-group", "locking, row after row");
  // The promotion deletes its row; the cancel reads its index; then both come to the group.
  const steps = "1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 2 2 2 2 1 1 2 2 2 2 2 2 2 2 1";
  expect(problemOf(...found, steps)).toBe("nothing is wrong");
});

test("the last one of a circle dies, where a server ends the cheapest one", () => {
  const [model, variant] = find("log-x-reclaim", "locking, the last one dies");
  // The reader holds a claim and wants its execution, the reclaim the other way round.
  const steps = "2 2 2 2 2 2 1 2 2 2 1 2 1 1 1 1 1 1 1 2";
  expect(problemOf(model, variant, steps)).toBe("nothing is wrong");
  const { victims: _, ...strict } = model;
  expect(problemOf(strict, variant, steps)).toContain("in a circle");
});

test("every case that is named exists", () => {
  expect(cases).toHaveLength(names.length);
});
