import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ProgressLine } from "../../../../shared/terminal/progress-line";
import { measureScenario } from "../rounds";
import type { Lab } from "../run";
import type { Scenario } from "../scenario";
import { renderFlamesPage } from "./flames-page";
import type { FlamesOfScenario } from "./flames-page";
import { perfProblem } from "./perf";
import { StackTaker } from "./stack-taker";
import { svgFlames } from "./svg-flames";

/** Where a scenario's processor time goes, in pictures: Taskgate alone runs each once. Writes `page`, and the pictures into `flames` beside it. */
export async function drawFlames(
  lab: Lab,
  scenarios: readonly Scenario[],
  { page, progress, computer }: { page: string; progress: ProgressLine; computer: string },
): Promise<void> {
  const problem = perfProblem();
  const folder = join(dirname(page), "flames");
  const temporary = mkdtempSync(join(tmpdir(), "taskgate-flames-"));
  const stacks = new StackTaker(temporary, problem === null);
  const drawn: FlamesOfScenario[] = [];
  mkdirSync(folder, { recursive: true });
  try {
    for (const scenario of scenarios) {
      const own = {
        ...scenario,
        variants: scenario.variants.filter(
          ({ system, keeps }) => system === "taskgate" && keeps !== false,
        ),
      };
      const result = await measureScenario({ ...lab, stacks }, own, { rounds: 1, progress });
      const [entry] = result.entries;
      if (entry === undefined || entry.outcome !== "measured")
        throw new Error(
          `${scenario.name}: ${entry?.problem ?? "Taskgate isn't among its systems"}`,
        );
      const taken = stacks.take();
      const draw = (part: "server" | "clients", title: string): void => {
        writeFileSync(
          join(folder, `${scenario.name}-${part}.svg`),
          svgFlames(`${scenario.title}: ${title}`, taken[part] ?? []),
        );
      };
      if (taken.server !== null) draw("server", "PostgreSQL");
      draw("clients", scenario.processes === 1 ? "the process" : "its processes");
      drawn.push({ scenario, entry, taken });
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  writeFileSync(
    page,
    renderFlamesPage(drawn, { problem, computer, versions: lab.installed.versions }),
  );
}
