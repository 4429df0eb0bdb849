import { isDeepStrictEqual } from "node:util";
import { measure, worldWithGhosts } from "../costs/measure";
import type { Cost } from "../costs/measure";
import type { Scenario } from "../costs/scenario";
import { allScenarios, keyOf } from "../costs/table";
import type { World } from "../../tsql-server/engine/world";
import { CoverageWatch } from "./check";
import type { Check, Noticed } from "./check";
import { situationChecks } from "./situations";

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
  return [...checks, ...(await situationChecks(shipped))];
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
    run: async (template: World): Promise<Noticed | undefined> => {
      try {
        const found = await measure(template, batch, prepare);
        return isDeepStrictEqual(found, cost)
          ? undefined
          : { by: "cost", why: differs(cost, found) };
      } catch (error) {
        return { by: "cost", why: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

function differs(cost: Cost, found: Cost): string {
  return `expected ${JSON.stringify(cost)}, found ${JSON.stringify(found)}`;
}
