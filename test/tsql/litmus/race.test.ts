import { describe, expect, test } from "@jest/globals";
import type { EngineName } from "../../tsql-server/engine/options";
import { engines } from "../shipped/engines";
import { publishedDeadlocks } from "./cases/published-deadlocks";
import { raceCases } from "./cases/races";
import type { RaceCase } from "./litmus-case";
import { expectedRace, raceInModel } from "./race-in-model";

/* Races: every order of the callers' steps is taken, so "never" is said of all of them, and "possible" of one at least. */
const engineNames = Object.keys(engines) as EngineName[];

function describeRace(race: RaceCase): void {
  const here = engineNames.filter((engine) => race.engines?.includes(engine) ?? true);

  test.each(here)("the race ends as expected on %s", (engine) => {
    const { result, seen } = raceInModel(race, engine);
    expect(result).toEqual(expectedRace(race, engine));
    expect(seen.interleavings).toBeGreaterThan(1n);
  });
}

describe.each(raceCases.map((race) => [race.title, race] as const))("%s", (_, race) => {
  describeRace(race);
});

describe("deadlocks of real servers, from their reports", () => {
  test("the deadlocks of real servers are five at least", () => {
    expect(publishedDeadlocks.length).toBeGreaterThanOrEqual(5);
  });

  describe.each(publishedDeadlocks.map((one) => [one.report, one] as const))("%s", (_, one) => {
    describe(one.asReported.title, () => {
      describeRace(one.asReported);
    });
    describe(`cured: ${one.cured.title}`, () => {
      describeRace(one.cured);
    });
  });
});
