import { describe, expect, test } from "@jest/globals";
import { holds } from "./explore-case";
import { allCases } from "./list/all";
import { switchedVariants } from "./variants";
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

test("every case that is named exists", () => {
  expect(cases).toHaveLength(names.length);
});
