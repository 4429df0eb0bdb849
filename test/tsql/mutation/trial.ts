import { loadScript } from "../../tsql-server/engine/load";
import { shippedWorld } from "../shipped/shipped-world";
import type { EngineOptions } from "../../tsql-server/engine/options";
import { Plans } from "../../tsql-server/engine/catalog";
import { SimulationError } from "../../tsql-server/engine/sql-error";
import type { World } from "../../tsql-server/engine/world";
import { CheckOrder } from "./check";
import type { Check, Noticed } from "./check";
import { moduleOf } from "./coverage";
import { readMutant } from "./mutants";
import type { Mutant } from "./mutants";
import { statementsNaming } from "./naming";
import { preparePasses } from "./passes";
import type { Depth, Pass, Prepared, ShippedRun } from "./passes";
import { whyEquivalent } from "./rules";
import type { Source } from "./source";
import type { Verdict } from "./verdict";

/** Tries mutants against the checks that run what they change, the quickest first. */
export class Trial {
  readonly #sources: readonly Source[];
  readonly #passes: readonly Pass[];
  readonly #order = new CheckOrder();
  /** What the shipped files do. */
  readonly known: ShippedRun;

  private constructor(sources: readonly Source[], { passes, known }: Prepared) {
    this.#sources = sources;
    this.#passes = passes;
    this.known = known;
  }

  /** Runs the suite on the shipped files. */
  static async prepare(sources: readonly Source[], depth: Depth): Promise<Trial> {
    return new Trial(sources, await preparePasses(sources, depth));
  }

  async try(mutant: Mutant, isExplained: boolean): Promise<Verdict> {
    const reading = readMutant(mutant);
    if (reading.kind === "equal") return reading;
    if (reading.kind === "unreadable") return { kind: "unreadable", why: reading.reason };
    const rule = whyEquivalent(mutant);
    if (rule !== undefined) return { kind: "equivalent", why: rule };
    const wanted = this.#statementsOf(mutant);
    let tried = 0;
    for (const pass of this.#passes) {
      if (!pass.isFor(mutant, isExplained)) continue;
      const template = mutated(mutant, reading.text, pass.options);
      if (template instanceof Error) {
        return killed("loading it", { by: "engine", why: template.message });
      }
      for (const check of await this.#choose(mutant, wanted, pass)) {
        tried += 1;
        const noticed = await check.run(template);
        if (noticed === undefined) continue;
        this.#order.note(mutant, check);
        return killed(check.title, noticed);
      }
    }
    return { kind: "survived", tried };
  }

  /** Those that run what the mutant changes, within what the pass allows, in the order in which they are tried. */
  async #choose(mutant: Mutant, wanted: Wanted, pass: Pass): Promise<Check[]> {
    const checks = await pass.checks(mutant);
    const running = checks.filter(({ ran }) => wanted?.some((key) => ran.has(key)) ?? true);
    const isUnseen = running.length === 0 && pass.isByOrder === true;
    const fitting = (isUnseen ? runningModule(checks, mutant) : running).sort(
      (a, b) => a.size - b.size,
    );
    const sizeMax = pass.sizeMax?.(mutant) ?? Number.POSITIVE_INFINITY;
    let size = 0;
    const affordable = fitting.filter((check, place) => {
      size += check.size;
      return place === 0 || size <= sizeMax;
    });
    return this.#order.sort(mutant, affordable);
  }

  /** What must run for a mutant to show; of a view it is unknown, since statements of tests read it, too. */
  #statementsOf({ source, statementId }: Mutant): Wanted {
    const module = moduleOf(source);
    const isCounted = this.known.covers.some(({ file }) => file === source.name);
    if (module !== undefined && isCounted) {
      const isOne = source.statements.some(
        ({ statement }) =>
          statement.statementId === statementId && statement.kind !== "createProcedure",
      );
      if (isOne) return [`${module}#${String(statementId)}`];
      return source.statements.map(({ statement }) => `${module}#${statement.statementId}`);
    }
    return source.name.startsWith("views/") ? undefined : statementsNaming(source, this.#sources);
  }
}

/** Those that run something of the mutant's module. */
function runningModule(checks: readonly Check[], { source }: Mutant): Check[] {
  const prefix = `${moduleOf(source) ?? ""}#`;
  return checks.filter(({ ran }) => [...ran].some((key) => key.startsWith(prefix)));
}

/** Statements as `module#id`, of which one must run; undefined: unknown. */
type Wanted = readonly string[] | undefined;

/** A world with the mutant in place, or why it can't be. */
function mutated(mutant: Mutant, text: string, options: EngineOptions): World | Error {
  const world = shippedWorld(options);
  const { plans } = world.catalog;
  try {
    loadScript(world, text, mutant.source.name);
  } catch (error) {
    if (error instanceof SimulationError) return error;
    throw error;
  }
  // Callers look a procedure up when they call it, so the compiled text of the others still holds.
  if (mutant.source.name.startsWith("procedures/")) {
    const copy = new Plans();
    for (const [tree, plan] of plans.modules) copy.modules.set(tree, plan);
    world.catalog.plans = copy;
  }
  return world;
}

function killed(where: string, { by, why }: Noticed): Verdict {
  return { kind: "killed", by, where, why: why.replaceAll(/\s+/g, " ").slice(0, 300) };
}
