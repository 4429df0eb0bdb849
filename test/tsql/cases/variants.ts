import { engines } from "../shipped/engines";
import type { EngineName, EngineOptions } from "../../tsql-server/engine/options";
import type { CaseOptions, ModelCase } from "./model-case";
import { describePlan, parsePlan } from "./plan-names";
import type { OtherPlan } from "./plan-names";

/*
 * The three engines as they are, and with each doubt of the model decided the other way. There only safety is judged: who
 * waits follows from the documented way.
 */

export interface Variant extends CaseOptions {
  readonly name: string;
}

export const engineNames: readonly EngineName[] = ["locking", "versioned", "azure"];

/** As documents say. */
export function plainVariant(engine: EngineName): Variant {
  return { name: engine, engine, options: engines[engine], checksWaits: true };
}

const switches: Readonly<Record<string, Partial<EngineOptions>>> = {
  "drops rejected locks": { keepsRejected: false },
  "row after row": { hasWideUpdates: false },
  "pipelined writes": { pipelinesWrites: true },
  "waits for live transactions": { skipsLiveTransactions: false },
  "the last one dies": { victim: "last" },
};

/** One doubt each, decided the other way. */
export function switchedVariants(engine: EngineName): Variant[] {
  return Object.entries(switches)
    .filter(([, change]) => !("skipsLiveTransactions" in change) || engine === "azure")
    .map(([name, change]) => ({
      name: `${engine}, ${name}`,
      engine,
      options: { ...engines[engine], ...change },
      checksWaits: false,
      // READPAST that waits may wait in a circle: the reason to run that case on a server.
      ...("skipsLiveTransactions" in change ? { hasCircles: true as const } : {}),
    }));
}

/** One access goes another way. Waits aren't judged, and a circle of waiters may close: safety is. */
export function onPlan(variant: Variant, plan: OtherPlan): Variant {
  return {
    ...variant,
    name: `${variant.name}, ${describePlan(plan)}`,
    options: { ...variant.options, forcedPaths: new Map([[plan.access, plan.path]]) },
    checksWaits: false,
    hasCircles: true,
  };
}

/** Is a case left to long runs on this engine? */
export function isLongOn(model: ModelCase, engine: EngineName): boolean {
  return model.isLong === true || model.isLong?.includes(engine) === true;
}

/** By its name; undefined: there is none. */
export function findVariant(name: string): Variant | undefined {
  const known = engineNames
    .flatMap((engine) => [plainVariant(engine), ...switchedVariants(engine)])
    .find((variant) => variant.name === name);
  return known ?? findPlanVariant(name);
}

/** An engine's name, a comma, and another plan for one access. */
function findPlanVariant(name: string): Variant | undefined {
  const engine = engineNames.find((one) => name.startsWith(`${one}, `));
  if (engine === undefined) return undefined;
  const plan = parsePlan(name.slice(engine.length + 2));
  return plan === undefined ? undefined : onPlan(plainVariant(engine), plan);
}
