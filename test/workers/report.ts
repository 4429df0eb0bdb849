import type { Plant } from "./plant";
import type { SimulationResult } from "./simulation";

/** What to print of a seed that failed, with the command that shows it again. */
export function describeFailure(result: SimulationResult, plant: Plant | null = null): string {
  const bug = plant === null ? "" : ` --bug ${plant.name}`;
  const [first] = result.violations;
  const when = first === undefined ? "" : ` at ${(first.atMs / 1_000).toFixed(3)} s`;
  return [
    `seed ${String(result.seed)}: ${result.violations.map(({ promise, text }) => `${promise} ${text}`).join("\n  ")}${when}`,
    `again: npm run simulate:workers -- --seed ${String(result.seed)} --runs 1${bug}`,
    ...result.trace.map((line) => `  ${line.slice(0, 300)}`),
  ].join("\n");
}
