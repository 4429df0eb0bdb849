import { describe, expect, test } from "@jest/globals";
import { allCases } from "../cases/list/all";
import { exploreCase } from "../cases/explore-case";
import { plainVariant } from "../cases/variants";
import { plant } from "./planted-bug";
import { plantedBugs } from "./planted-bugs";

/* A search that finds nothing in sound code proves little unless it finds the errors of faulty code. */
describe("planted bugs", () => {
  test("the planted bugs are fifteen at least, each with a name of its own", () => {
    const names = new Set(plantedBugs.map(({ name }) => name));

    expect(names.size).toBe(plantedBugs.length);
    expect(names.size).toBeGreaterThanOrEqual(15);
  });

  test.each(plantedBugs.map((bug) => [bug.name, bug] as const))(
    "the planted bug is found: %s",
    (_name, bug) => {
      const model = allCases.find(({ name }) => name === bug.foundBy);
      if (model === undefined) throw new Error(`There is no case ${bug.foundBy}`);
      const { finding } = exploreCase(model, { ...plainVariant(bug.engine), edit: plant(bug) });

      expect(finding?.problem).toMatch(bug.finding);
    },
  );
});
