import { isDeepStrictEqual } from "node:util";
import { measure, worldWithGhosts } from "../costs/measure";
import type { Cost } from "../costs/measure";
import type { Scenario } from "../costs/scenario";
import { promotedFigures, waitingFigures } from "../costs/scheduled-figures";
import type { Situation } from "../costs/situation";
import { allScenarios, keyOf } from "../costs/table";
import type { World } from "../../tsql-server/engine/world";
import { CoverageWatch } from "./check";
import type { Check, Noticed } from "./check";

/*
 * What calls cost as checks of mutants: costs/costs.test.ts compares the same figures with those that are recorded, so
 * that a lock more, or a row that is read twice, fails a test.
 */

/** Larger batches cost more time and find nothing else. */
const batchMax = 10;

export const costOptions = worldWithGhosts("azure").options;

/** Every scenario of the table of costs, in small batches. */
export async function costChecks(): Promise<Check[]> {
  const shipped = worldWithGhosts("azure");
  const checks: Check[] = [];
  for (const scenario of allScenarios) {
    for (const batch of scenario.batches.filter((size) => size <= batchMax)) {
      const watch = new CoverageWatch(shipped);
      const cost = await measure(shipped, batch, (scene) => scenario.prepare(scene));
      checks.push(toCheck(scenario, { batch, cost, ran: watch.ran() }));
    }
  }
  for (const [title, read] of Object.entries(situations)) {
    const watch = new CoverageWatch(shipped);
    const figures = await read(shipped);
    checks.push(toSituationCheck(title, read, { figures, ran: watch.ran() }));
  }
  return checks;
}

/** Where deleted entries lie in the way; lists count up to 10,000 from the other end. costs.test.ts has more of them. */
const situations: Readonly<Record<string, (template: World) => Promise<Situation[]>>> = {
  "what is read behind promoted tasks": (template) => promotedFigures(template, [100]),
  "what is read behind claimed tasks": (template) => waitingFigures(template, [10_500]),
};

function toSituationCheck(
  title: string,
  read: (template: World) => Promise<Situation[]>,
  { figures, ran }: { readonly figures: readonly Situation[]; readonly ran: ReadonlySet<string> },
): Check {
  return {
    title,
    ran,
    size: 1_000 * batchMax, // behind all others
    run: (template) =>
      noticeDifference(async () => {
        const found = await read(template);
        return isDeepStrictEqual(found, figures) ? undefined : differs(figures, found);
      }),
  };
}

async function noticeDifference(
  compare: () => Promise<string | undefined>,
): Promise<Noticed | undefined> {
  try {
    const why = await compare();
    return why === undefined ? undefined : { by: "cost", why };
  } catch (error) {
    return { by: "cost", why: error instanceof Error ? error.message : String(error) };
  }
}

interface Shipped {
  readonly batch: number;
  readonly cost: Cost;
  readonly ran: ReadonlySet<string>;
}

function toCheck({ operation, what, prepare }: Scenario, { batch, cost, ran }: Shipped): Check {
  return {
    title: `costs of ${keyOf(operation, what, batch)}`,
    ran,
    size: batch,
    run: (template: World) =>
      noticeDifference(async () => {
        const found = await measure(template, batch, prepare);
        return isDeepStrictEqual(found, cost) ? undefined : differs(cost, found);
      }),
  };
}

function differs(cost: unknown, found: unknown): string {
  return `expected ${JSON.stringify(cost)}, found ${JSON.stringify(found)}`;
}
