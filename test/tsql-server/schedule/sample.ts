import { SeededRandom } from "../engine/random";
import type { Finding } from "./replay";
import { checkEnd, replay, takeChecked } from "./replay";
import type { Choice, Scenario } from "./run";
import { Run } from "./run";

/** What random runs have seen. */
export interface Sample {
  readonly runs: number;
  readonly steps: number;
  readonly waits: number;
  readonly deadlocks: number;
  /** With the seed that shows it again. */
  readonly finding: (Finding & { readonly seed: number }) | undefined;
}

/** Runs a scenario `count` times, each time with the orders of another seed from `seed` on. Ends at the first problem. */
export function sample(scenario: Scenario, about: { seed: number; count: number }): Sample {
  let steps = 0;
  let waits = 0;
  let deadlocks = 0;
  for (let runs = 0; runs < about.count; runs += 1) {
    const seed = about.seed + runs;
    const run = new Run(scenario);
    const problem = runBySeed(run, seed, (waited) => {
      if (waited) waits += 1;
    });
    steps += run.schedule.length;
    deadlocks += run.world.deadlocks;
    if (problem !== undefined) {
      const finding = { ...replay(scenario, run.schedule), problem, seed };
      return { runs: runs + 1, steps, waits, deadlocks, finding };
    }
  }
  return { runs: about.count, steps, waits, deadlocks, finding: undefined };
}

/** Takes a run to its end in an order that the seed decides; answers the error. */
export function runBySeed(
  run: Run,
  seed: number,
  watch: (waited: boolean) => void = () => undefined,
): string | undefined {
  const random = new SeededRandom(seed);
  for (let choices = run.choices(); choices.length > 0; choices = run.choices()) {
    const choice: Choice | undefined = choices[Math.floor(random.fraction() * choices.length)];
    if (choice === undefined) throw new Error("A choice out of range");
    const { report, problem } = takeChecked(run, choice);
    watch(report?.wait !== undefined);
    if (problem !== undefined) return problem;
  }
  return checkEnd(run);
}
