import { describe, expect, test } from "@jest/globals";
import { holds } from "./explore-case";
import { allCases } from "./list/all";
import { scenarioOf } from "./scenario";
import { findVariant, switchedVariants } from "./variants";
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

test("an index that covers a read shows a row whose own entry is deleted before it, and no lock on it stays", () => {
  const model = allCases.find(({ name }) => name === "cancel-x-promote-into-a-group");
  const variant = findVariant("locking, row after row");
  if (model === undefined || variant === undefined) throw new Error("the case is gone");
  // The promotion deletes its row; the cancel reads its index; then both come to the group.
  const schedule = parseSchedule("1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 2 2 2 2 1 1 2 2 2 2 2 2 2 2 1");
  expect(replay(scenarioOf(model, variant), schedule).problem).toBe("nothing is wrong");
});

test("where the last one of a circle dies it may be another than on a server, which ends the cheapest one", () => {
  const model = allCases.find(({ name }) => name === "log-x-reclaim");
  const variant = findVariant("locking, the last one dies");
  if (model === undefined || variant === undefined) throw new Error("the case is gone");
  // The reader holds a claim and wants its execution, the reclaim the other way round.
  const schedule = parseSchedule("2 2 2 2 2 2 1 2 2 2 1 2 1 1 1 1 1 1 1 2");
  expect(replay(scenarioOf(model, variant), schedule).problem).toBe("nothing is wrong");
  const { victims: _, ...strict } = model;
  expect(replay(scenarioOf(strict, variant), schedule).problem).toContain("in a circle");
});

test("every case that is named exists", () => {
  expect(cases).toHaveLength(names.length);
});
