import type { ProgressLine } from "../../../shared/terminal/progress-line";
import type { Entry, Reading, ScenarioResult } from "./results";
import { Run } from "./run";
import type { Lab } from "./run";
import type { Scenario } from "./scenario";
import { labelOf } from "./variant";
import type { Variant } from "./variant";

interface Measured {
  readonly variant: Variant;
  readings: Reading[];
  settings: string;
  outcome: Entry["outcome"];
  problem: string;
}

/**
 * Measures a scenario: in each round every system in turn, in the other order every other round, so that a change of the
 * computer's load meets all. A system that fails once is left out of the scenario, with its reason.
 */
export async function measureScenario(
  lab: Lab,
  scenario: Scenario,
  how: { readonly rounds: number; readonly progress: ProgressLine },
): Promise<ScenarioResult> {
  const rounds = Math.min(how.rounds, scenario.roundsMax ?? how.rounds);
  const measured = scenario.variants.map((variant): Measured => {
    const problem = variant.lacks ?? (needsRedis(variant, lab) ? "no redis-server here" : "");
    const outcome = problem === "" ? "measured" : "skipped";
    return { variant, readings: [], settings: "", outcome, problem };
  });
  for (let round = 0; round < rounds; round += 1) {
    const turn = round % 2 === 0 ? measured : measured.toReversed();
    for (const each of turn) {
      if (each.outcome !== "measured") continue;
      const label = labelOf(each.variant);
      how.progress.show(
        `${scenario.name} ${label}`,
        `${scenario.title}: round ${round + 1} of ${rounds}, ${label}`,
      );
      await measureOnce(lab, scenario, each);
    }
  }
  how.progress.end();
  const { name, title, about, figures } = scenario;
  return { name, title, about, figures, entries: measured.map(toEntry) };
}

async function measureOnce(lab: Lab, scenario: Scenario, each: Measured): Promise<void> {
  let run: Run | null = null;
  try {
    run = await Run.open(lab, scenario, each.variant);
    each.settings = run.settings;
    each.readings.push(await scenario.measure(run));
  } catch (error) {
    each.outcome = "failed";
    each.problem = error instanceof Error ? error.message : String(error);
  }
  await run?.close();
}

function needsRedis(variant: Variant, lab: Lab): boolean {
  return variant.system === "bullmq" && lab.redis === null;
}

function toEntry({ variant, readings, settings, outcome, problem }: Measured): Entry {
  const kept = outcome === "measured" ? readings : [];
  return {
    system: variant.system,
    label: labelOf(variant),
    settings,
    outcome,
    problem,
    readings: kept,
  };
}
