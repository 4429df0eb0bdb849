import type { OtherPath } from "../../tsql-server/engine/access-path";
import type { TableScan } from "../../tsql-server/engine/table-scan";
import { exploreReduced } from "../../tsql-server/schedule/reduction";
import type { Bounds } from "../../tsql-server/schedule/state-graph";
import type { Finding } from "../../tsql-server/schedule/replay";
import type { Scenario } from "../../tsql-server/schedule/run";
import type { ModelCase } from "./model-case";
import type { OtherPlan } from "./plan-names";
import { scenarioOf } from "./scenario";
import { onPlan } from "./variants";
import type { Variant } from "./variants";

/*
 * The same cases on other plans. The model takes a plan by a rule, the server's optimizer by costs; so every access of a
 * case is also run by each other way to the same rows, one at a time. Safety must hold on all that the text leaves open; of
 * those that a hint forbids it is told what the hint is for. The absence of waits may depend on a plan: that is told, too.
 */

export interface OpenPlan extends OtherPlan {
  /** No hint of the text forbids it. */
  readonly isAllowed: boolean;
}

/** The outcome of a case on another plan. */
export type PlanVerdict =
  | { readonly kind: "alike" }
  /** A caller waits that doesn't on the rule's plan, or a circle of waiters closes; limits hold, nothing is lost. */
  | { readonly kind: "waits"; readonly problem: string }
  /** A hint forbids this plan, and without it the case would come to something else than it expects, or break a promise. */
  | { readonly kind: "hinted"; readonly problem: string; readonly breaksPromise: boolean }
  | { readonly kind: "unsafe"; readonly finding: Finding }
  | { readonly kind: "incomplete" };

/** Everything that a case's callers read of shared tables, in any order of their steps, with the other ways to it. */
export function otherPlansOf(model: ModelCase, variant: Variant, bounds: Bounds): OpenPlan[] {
  const scans = new Map<string, TableScan>();
  const scenario = scenarioOf(model, variant);
  const watched: Scenario = {
    ...scenario,
    world: () => {
      const world = scenario.world();
      world.onScan = (scan): void => {
        if (!scan.accessName.startsWith("batch:")) scans.set(scan.accessName, scan);
      };
      return world;
    },
  };
  exploreReduced(watched, { bounds });
  return [...scans]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([access, scan]) =>
      othersOf(scan).map(({ index, isScan, isAllowed }) => ({
        access,
        path: { index, isScan },
        isAllowed,
      })),
    );
}

/** A walk through the thousand rows of Number would be a search of its own for each of them, and tell nothing. */
function othersOf(scan: TableScan): OtherPath[] {
  return scan.others.filter(({ isScan }) => !(isScan && scan.schema.name === "Number"));
}

/** First as if the plan were the rule's; if a caller waits for it, once more for everything else. */
export function judgePlan(
  { model, variant }: { readonly model: ModelCase; readonly variant: Variant },
  plan: OpenPlan,
  bounds: Bounds,
): PlanVerdict {
  const lenient = onPlan(variant, plan);
  const strict: Variant = { ...variant, options: lenient.options };
  const first = exploreReduced(scenarioOf(model, strict), { bounds });
  if (first.finding === undefined) return { kind: first.isComplete ? "alike" : "incomplete" };
  const second = exploreReduced(scenarioOf(model, lenient), { bounds });
  if (second.finding !== undefined) return judgeFinding(second.finding, plan);
  const { problem } = first.finding;
  return second.isComplete ? { kind: "waits", problem } : { kind: "incomplete" };
}

/** What begins so is about promises; the rest a case says of its own end, and there an order may be wanted. */
const promises = /^(?:P\d|S0|error|the check of invariants|a lock|the transaction|\d+ tokens)/;

/** A server obeys a hint, or refuses the statement (error 8622): a forbidden plan shows what the hint is for. */
function judgeFinding(finding: Finding, { isAllowed }: OpenPlan): PlanVerdict {
  if (isAllowed) return { kind: "unsafe", finding };
  const { problem } = finding;
  return { kind: "hinted", problem, breaksPromise: promises.test(problem) };
}
