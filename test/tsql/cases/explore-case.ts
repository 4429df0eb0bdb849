import type { Exploration } from "../../tsql-server/schedule/explore";
import { exploreReduced } from "../../tsql-server/schedule/reduction";
import type { Bounds } from "../../tsql-server/schedule/state-graph";
import type { Finding } from "../../tsql-server/schedule/replay";
import { printSchedule } from "../../tsql-server/schedule/run";
import type { ModelCase } from "./model-case";
import { scenarioOf } from "./scenario";
import type { Variant } from "./variants";

/** Every order of a case's steps that need be told apart. */
export function exploreCase(model: ModelCase, variant: Variant, bounds?: Bounds): Exploration {
  return exploreReduced(scenarioOf(model, variant), bounds === undefined ? {} : { bounds });
}

/** A finding with the command that shows it again. */
export function describeFinding(model: ModelCase, variant: Variant, finding: Finding): string {
  return [
    `${model.name} (${variant.name}): ${finding.problem}`,
    `npm run locks -- ${model.name} --variant "${variant.name}" --schedule "${printSchedule(finding.schedule)}"`,
    ...finding.trace,
  ].join("\n");
}

/** As tests want it: throws the finding, or that not every order was seen. */
export function holds(model: ModelCase, variant: Variant): Exploration {
  const result = exploreCase(model, variant);
  if (result.finding !== undefined) {
    throw new Error(describeFinding(model, variant, result.finding));
  }
  if (!result.isComplete) throw new Error(`${model.name} has too many states for a test`);
  return result;
}
