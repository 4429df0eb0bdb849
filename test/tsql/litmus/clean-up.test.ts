import { describe, expect, test } from "@jest/globals";
import { loadScript } from "../../tsql-server/engine/load";
import { World } from "../../tsql-server/engine/world";
import { litmusCases } from "./cases/all-cases";
import { publishedDeadlocks } from "./cases/published-deadlocks";
import { raceCases } from "./cases/races";
import { cleanUpOf } from "./clean-up";

const setups = [
  ...Object.values(litmusCases).flat(),
  ...raceCases,
  ...publishedDeadlocks.flatMap(({ asReported, cured }) => [asReported, cured]),
].map(({ setup }) => setup);

describe("what a case makes", () => {
  test("a case's objects can be made again after its clean-up, for every case", () => {
    const world = new World();
    for (const setup of new Set(setups)) {
      loadScript(world, setup, "setup");
      loadScript(world, cleanUpOf(setup).join("\nGO\n"), "clean-up");
      expect([...world.tables]).toEqual([]);
    }
  });

  test("a case makes nothing that the clean-up doesn't know", () => {
    expect(() => cleanUpOf("CREATE LOGIN L WITH PASSWORD = 'x';")).toThrow("found createLogin");
  });
});
