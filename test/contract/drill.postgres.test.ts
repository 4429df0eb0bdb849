import { describe, expect, test } from "@jest/globals";
import { runDrill } from "../drill/drill";
import { testSeed } from "../support/builders";
import { openContention } from "../support/contention";

/* A few seconds of what `npm run drill` does for as long as one likes. */
describe("all operations at once, at random, on few rows", () => {
  const seed = testSeed();

  test(`a drill makes no deadlock and no error, and leaves everything sound and at its end (seed ${String(seed)})`, async () => {
    const scene = await openContention();
    try {
      const report = await runDrill(scene, { seed, ms: 5_000 });
      expect({ deadlocks: report.deadlocks, left: report.left }).toEqual({
        deadlocks: 0,
        left: [],
      });
      expect(await scene.openStore(1).checkInvariants()).toEqual({ status: "sound", findings: [] });
      // Lots of everything must really have happened.
      const expected = ["done", "cancelled", "redriven", "retry", "slow transaction", "swept"];
      expect([...report.seen.keys()]).toEqual(expect.arrayContaining(expected));
    } finally {
      await scene.close();
    }
  }, 60_000);
});
