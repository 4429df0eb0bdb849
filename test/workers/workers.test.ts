import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { testSeed } from "../support/builders";
import { plantedBugs } from "./planted-bugs";
import { describeFailure } from "./report";
import { simulate } from "./simulation";
import { stampede } from "./stampede";
import { describeWhole } from "../support/whole";

/*
 * Goal: the shipped worker keeps the promises under any trouble of its process, its clock and its calls. Method: one seeded
 * scheduler owns time, timers and the network; the worker runs unchanged on several hosts over the memory store; each
 * promise is checked from outside, and each check is shown to notice a planted mistake. `npm run simulate:workers` runs
 * longer.
 */
const fixedSeeds = Array.from({ length: 8 }, (_, index) => index + 1);
/** Seeds in which a planted mistake must show itself, where it says no other number. */
const seedsByDefault = 40;

describe("the twelve promises hold", () => {
  test.each(fixedSeeds)("the twelve promises hold with the seed %i", async (seed) => {
    const result = await simulate(seed);
    expect(result.violations.length === 0 ? "" : describeFailure(result)).toBe("");
    expect(result.tasks).toBeGreaterThan(20);
    expect(result.calls).toBeGreaterThan(0);
  });

  test("the twelve promises hold from the seed on that TASKGATE_TEST_SEED names", async () => {
    const first = testSeed();
    for (let seed = first; seed < first + 2; seed += 1) {
      const result = await simulate(seed);
      expect(result.violations.length === 0 ? "" : describeFailure(result)).toBe("");
    }
  });

  test("the same seed is the same run", async () => {
    const [once, again, other] = [await simulate(7), await simulate(7), await simulate(8)];
    expect(again).toEqual(once);
    expect(other.digest).not.toBe(once.digest);
  });
});

describeWhole("a planted mistake is found", () => {
  test.each(plantedBugs.map((plant) => [plant.promise, plant.name, plant] as const))(
    "the planted mistake is found, %s: %s",
    async (promise, name, plant) => {
      const { breaksToo = [], seeds = seedsByDefault } = plant;
      const expected = [promise, ...breaksToo];
      for (let seed = 1; seed <= seeds; seed += 1) {
        const result = await simulate(seed, plant);
        if (!result.violations.some((violation) => expected.includes(violation.promise))) continue;
        expect(describeFailure(result, plant)).toContain(
          `npm run simulate:workers -- --seed ${String(seed)} --runs 1 --bug ${name}`,
        );
        return;
      }
      throw new Error(`${name} was not noticed in ${String(seeds)} seeds`);
    },
  );

  test("a planted mistake stands there for each promise", () => {
    const page = readFileSync(join(__dirname, "../../docs/internals/promises.md"), "utf8");
    const promises = [...page.matchAll(/^## (.+)$/gm)].map((heading) => heading[1]?.toLowerCase());
    expect(promises).toHaveLength(12);
    expect([...new Set(plantedBugs.map((plant) => plant.promise))]).toEqual(promises);
  });
});

describe("a stampede", () => {
  test("a denial among 1,000 hosts at once with limit 4 is one statement that writes nothing (S0.1)", async () => {
    const cost = await stampede({ hosts: 1_000, limit: 4, tasks: 200, seed: 5 });
    expect(cost).toMatchObject({ tasksRun: 200, mostAtOnce: 4, deniedWrites: 0 });
    expect(cost.results.worked + cost.results.limited + cost.results.none).toBe(1_000);
    expect(cost.results.limited).toBeGreaterThan(900);
    // One read each, for every host; and one connection at a time each.
    expect(cost.deniedStatementsMax).toBe(1);
    expect(cost.deniedStatements).toBe(cost.results.limited);
    expect(cost.connectionsMax).toBeLessThanOrEqual(1_000);
    // Denied hosts send no hint: the stampede dies out.
    expect(cost.hints).toBeLessThanOrEqual(3 * cost.results.worked);
    expect(cost.statements - cost.deniedStatements).toBeLessThanOrEqual(3 * 200 + 20);
  });
});
