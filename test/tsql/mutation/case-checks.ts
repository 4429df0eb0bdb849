import { exploreReduced } from "../../tsql-server/schedule/reduction";
import { explore } from "../../tsql-server/schedule/explore";
import type { Exploration } from "../../tsql-server/schedule/explore";
import { sample } from "../../tsql-server/schedule/sample";
import type { Scenario } from "../../tsql-server/schedule/run";
import { allCases } from "../cases/list/all";
import { cutCases } from "../cases/list/kills";
import { checkInvariants, namesOf, textOf } from "../cases/calls";
import type { ModelCase } from "../cases/model-case";
import { scenarioOf } from "../cases/scenario";
import { isLongOn, plainVariant } from "../cases/variants";
import { shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import type { EngineName } from "../../tsql-server/engine/options";
import { SimulationError } from "../../tsql-server/engine/sql-error";
import type { World } from "../../tsql-server/engine/world";
import { CoverageWatch } from "./check";
import type { Check, Noticed } from "./check";
import { Reach, bareName } from "./reach";
import { bounded, setUp } from "./set-up";
import type { Source } from "./source";

/*
 * The cases of several callers (cases/list) as checks of mutants: those that `npm test` searches to the end. A mutant is
 * given a part of that search, always the same one, and some orders by seed, since the search begins with those that
 * differ late.
 */

const bounds = { statesMax: 300, msMax: Number.POSITIVE_INFINITY };
const seeds = { seed: 1, count: 12 };

/** The cases of one engine that may run a module; all of them where that isn't known. Each is made when it is first wanted. */
export function caseChecks(
  engine: EngineName,
  sources: readonly Source[],
): (module: string | undefined) => Check[] {
  const reach = new Reach(sources);
  const searched = allCases.filter((model) => !isLongOn(model, engine));
  const cases = [...searched, ...cutCases].map((model) => {
    let made: Check | undefined;
    const reached = reach.of(textsOf(model));
    return { reached, check: () => (made ??= caseCheck(model, engine, reached)) };
  });
  return (module) => {
    const name = bareName(module);
    const wanted = cases.filter(({ reached }) => name === undefined || reached.has(name));
    return wanted.map(({ check }) => check());
  };
}

/** All that its setup and its callers may call, and the check of its end. */
function textsOf(model: ModelCase): string[] {
  return [...model.setup, ...model.callers.flat(), checkInvariants].flatMap((step) => {
    if (step.kind === "later") return [];
    return step.kind === "dependent" ? step.names : [...namesOf(step), textOf(step)];
  });
}

function caseCheck(model: ModelCase, engine: EngineName, reached: ReadonlySet<string>): Check {
  const shipped = shippedWorld(engines[engine]);
  const watch = new CoverageWatch(shipped);
  const scenario = scenarioOf(model, plainVariant(engine));
  const { steps } = sample(scenario, { seed: seeds.seed, count: 3 });
  const ran = watch.ran();
  const other = [...ran].find((key) => !reached.has(bareName(key.split("#")[0]) ?? ""));
  if (other !== undefined) throw new Error(`${model.name} runs ${other}, which nothing names`);
  let isSound: boolean | undefined;
  return {
    title: `${model.name} (${engine})`,
    ran,
    // Orders grow with the steps of both callers.
    size: steps ** 2,
    run: (template) => {
      const noticed = tryCase(model, scenario, template);
      if (noticed !== undefined) {
        isSound ??= search(model, scenario) === undefined;
        if (!isSound) throw new Error(`${model.name} (${engine}) fails on the shipped files`);
      }
      return Promise.resolve(noticed);
    },
  };
}

/** The same callers in a world with the mutant. What the setup must have been answered is what shipped files answer. */
function tryCase(model: ModelCase, shipped: Scenario, template: World): Noticed | undefined {
  try {
    const prepared = setUp(model.setup, template);
    const why = search(model, { ...shipped, world: () => bounded(prepared.fork()) });
    return why === undefined ? undefined : { by: "case", why };
  } catch (error) {
    if (error instanceof SimulationError) return { by: "engine", why: error.message };
    throw error;
  }
}

/** The findings in a part of all orders. */
function search(model: ModelCase, scenario: Scenario): string | undefined {
  return (
    sample(scenario, seeds).finding?.problem ?? explorationOf(model, scenario).finding?.problem
  );
}

function explorationOf({ cut }: ModelCase, scenario: Scenario): Exploration {
  return cut === undefined ? exploreReduced(scenario, { bounds }) : explore(scenario, { bounds });
}
