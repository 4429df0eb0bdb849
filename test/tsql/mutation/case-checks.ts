import { exploreReduced } from "../../tsql-server/schedule/reduction";
import { explore } from "../../tsql-server/schedule/explore";
import type { Exploration } from "../../tsql-server/schedule/explore";
import { sample } from "../../tsql-server/schedule/sample";
import { switchOnce } from "../../tsql-server/schedule/switches";
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
 * The cases of several callers (cases/list) as checks of mutants, in two ways. "switches": each caller is interrupted once, behind
 * each of its steps, by the others; long cases, too. "part": of those that `npm test` searches to the end a part of that search,
 * always the same one, and some orders by seed, since the search begins with orders that differ late.
 */

export type CaseSearch = "switches" | "part";

const bounds = { statesMax: 300, msMax: Number.POSITIVE_INFINITY };
const seeds = { seed: 1, count: 12 };

/** The cases of one engine that may run a module; all of them where that isn't known. Each is made when it is first wanted. */
export function caseChecks(
  engine: EngineName,
  sources: readonly Source[],
): (module: string | undefined, search: CaseSearch) => Check[] {
  const reach = new Reach(sources);
  const cases = [...allCases, ...cutCases].map((model) => {
    let made: Record<CaseSearch, Check> | undefined;
    const reached = reach.of(textsOf(model));
    return { model, reached, check: () => (made ??= checksOf(model, engine, reached)) };
  });
  return (module, search) => {
    const name = bareName(module);
    return cases
      .filter(({ reached }) => name === undefined || reached.has(name))
      .filter(({ model }) => isSearched(model, engine, search))
      .map(({ check }) => check()[search]);
  };
}

function isSearched(model: ModelCase, engine: EngineName, search: CaseSearch): boolean {
  return search === "switches" ? model.cut === undefined : !isLongOn(model, engine);
}

/** All that its setup and its callers may call, and the check of its end. */
function textsOf(model: ModelCase): string[] {
  return [...model.setup, ...model.callers.flat(), checkInvariants].flatMap((step) => {
    if (step.kind === "later") return [];
    return step.kind === "dependent" ? step.names : [...namesOf(step), textOf(step)];
  });
}

function checksOf(
  model: ModelCase,
  engine: EngineName,
  reached: ReadonlySet<string>,
): Record<CaseSearch, Check> {
  const shipped = shippedWorld(engines[engine]);
  const watch = new CoverageWatch(shipped);
  const scenario = scenarioOf(model, plainVariant(engine));
  const watchOfCallers = new CoverageWatch(shipped);
  const { steps } = sample(scenario, { seed: seeds.seed, count: 3 });
  const ran = watch.ran();
  const other = [...ran].find((key) => !reached.has(bareName(key.split("#")[0]) ?? ""));
  if (other !== undefined) throw new Error(`${model.name} runs ${other}, which nothing names`);
  const checkOf = (search: CaseSearch, statements: ReadonlySet<string>): Check => {
    let isSound: boolean | undefined;
    return {
      title: `${model.name} (${engine}, ${search})`,
      ran: statements,
      // Orders grow with the steps of both callers.
      size: steps ** 2,
      run: (template) => {
        const noticed = tryCase(model, { scenario, search }, template);
        if (noticed !== undefined) {
          isSound ??= problemIn(model, scenario, search) === undefined;
          if (!isSound) throw new Error(`${model.name} (${engine}) fails on the shipped files`);
        }
        return Promise.resolve(noticed);
      },
    };
  };
  // An interrupted caller notices a mutant that callers run; a setup runs alone.
  return { switches: checkOf("switches", watchOfCallers.ran()), part: checkOf("part", ran) };
}

/** The same callers in a world with the mutant. What the setup must have been answered is what shipped files answer. */
function tryCase(
  model: ModelCase,
  shipped: { scenario: Scenario; search: CaseSearch },
  template: World,
): Noticed | undefined {
  try {
    const prepared = setUp(model.setup, template);
    const scenario = { ...shipped.scenario, world: () => bounded(prepared.fork()) };
    const why = problemIn(model, scenario, shipped.search);
    return why === undefined ? undefined : { by: "case", why };
  } catch (error) {
    if (error instanceof SimulationError) return { by: "engine", why: error.message };
    throw error;
  }
}

/** The findings in a part of all orders. */
function problemIn(model: ModelCase, scenario: Scenario, search: CaseSearch): string | undefined {
  const finding =
    search === "switches"
      ? switchOnce(scenario).finding
      : (sample(scenario, seeds).finding ?? explorationOf(model, scenario).finding);
  return finding?.problem;
}

function explorationOf({ cut }: ModelCase, scenario: Scenario): Exploration {
  return cut === undefined ? exploreReduced(scenario, { bounds }) : explore(scenario, { bounds });
}
