import { explore } from "../../tsql-server/schedule/explore";
import { exploreReduced } from "../../tsql-server/schedule/reduction";
import type { Run, Scenario } from "../../tsql-server/schedule/run";
import type { Bounds } from "../../tsql-server/schedule/state-graph";
import { tablesAsText } from "./table-rows";

/** All ends of a scenario, by the answers of all callers and the rows of the tables; undefined: not all were found. */
function endsOf(
  scenario: Scenario,
  search: typeof explore,
  bounds: Bounds,
): readonly string[] | undefined {
  const ends = new Set<string>();
  const atEnd = (run: Run): undefined => {
    const answers = run.callers.map((caller) => caller.answers.map((answer) => answer.objects()));
    const text = JSON.stringify(answers, (_key, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
    ends.add(`${text}\n${tablesAsText(run.world)}`);
  };
  const { isComplete } = search({ ...scenario, atEnd }, { bounds });
  return isComplete ? [...ends].sort() : undefined;
}

/**
 * Ends that only one of the two searches comes to, the one that leaves orders out or the one that doesn't: of either, that
 * would be a fault of the searches. undefined: a bound ended one of them.
 */
export function differentEnds(
  scenario: Scenario,
  bounds: Bounds,
): { readonly same: number; readonly different: readonly string[] } | undefined {
  const full = endsOf(scenario, explore, bounds);
  const reduced = full && endsOf(scenario, exploreReduced, bounds);
  if (full === undefined || reduced === undefined) return undefined;
  const [inFull, inReduced] = [new Set(full), new Set(reduced)];
  return {
    same: full.filter((end) => inReduced.has(end)).length,
    different: [
      ...full.filter((end) => !inReduced.has(end)),
      ...reduced.filter((end) => !inFull.has(end)),
    ],
  };
}
