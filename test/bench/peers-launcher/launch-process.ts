import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { createProgressLine } from "../../../shared/terminal/progress-line";
import type { ProgressLine } from "../../../shared/terminal/progress-line";
import { drawFlames } from "./flames/draw-flames";
import { goalsOf, ratiosToBest } from "./goals";
import { findInstalled, packAndInstall } from "./install";
import { parseOptions, usage } from "./options";
import type { Options } from "./options";
import { renderPage } from "./page";
import { BenchPostgres } from "./postgres";
import { BenchRedis } from "./redis";
import { figureOf } from "./results";
import type { Results, ScenarioResult } from "./results";
import { measureScenario } from "./rounds";
import type { Lab } from "./run";
import { scenariosOf } from "./scenarios";

/* npm run bench:peers: Taskgate, graphile-worker, pg-boss and BullMQ on one computer, in turn (docs/benchmarks/README.md). */

const root = join(__dirname, "../../..");
const peersFolder = join(root, "test/bench/peers");

async function main(): Promise<number> {
  const words = process.argv.slice(2);
  if (words.includes("--help")) {
    console.log(usage);
    return 0;
  }
  let options: Options;
  try {
    options = parseOptions(words, join(root, "docs/benchmarks"));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 2;
  }
  const progress = openProgress();
  const [loadBefore = Number.NaN] = loadavg();
  if (!options.isInstalled) {
    progress.show("install", "packing Taskgate and installing its peers");
    packAndInstall(root, peersFolder);
  }
  const installed = findInstalled(peersFolder);
  const postgres = await BenchPostgres.start();
  const redis = await BenchRedis.start();
  try {
    const lab: Lab = {
      installed,
      postgres,
      redis: typeof redis === "string" ? null : redis,
      isQuick: options.isQuick,
      stacks: null,
    };
    if (options.areFlames && options.page !== null) {
      const { page } = options;
      await drawFlames(lab, scenariosOf(options.only), { page, progress, computer: computer() });
      return 0;
    }
    const results = await measure(lab, options, {
      redis:
        typeof redis === "string"
          ? `BullMQ is skipped: ${redis}`
          : `${redis.version}: ${redis.settings}`,
      loadBefore,
      progress,
    });
    write(results, options);
    return results.scenarios.some(isBroken) ? 1 : 0;
  } finally {
    if (typeof redis !== "string") await redis.stop();
    await postgres.stop();
  }
}

async function measure(
  lab: Lab,
  options: Options,
  told: { readonly redis: string; readonly loadBefore: number; readonly progress: ProgressLine },
): Promise<Results> {
  const { version, settings } = await lab.postgres.describe();
  const scenarios: ScenarioResult[] = [];
  for (const scenario of scenariosOf(options.only)) {
    const result = await measureScenario(lab, scenario, {
      rounds: options.rounds,
      progress: told.progress,
    });
    scenarios.push(result);
    print(result);
  }
  await lab.postgres.drop();
  return {
    date: new Date().toISOString().slice(0, 10),
    isQuick: options.isQuick,
    rounds: options.rounds,
    computer: computer(),
    loadBefore: told.loadBefore,
    node: lab.installed.nodeVersion,
    postgres: version,
    postgresSettings: settings,
    redis: told.redis,
    versions: lab.installed.versions,
    scenarios,
  };
}

function computer(): string {
  const processors = cpus();
  return `${processors.length} cores, ${processors[0]?.model.trim() ?? "unknown"}, ${process.platform}`;
}

function write(results: Results, { json, page }: Options): void {
  for (const { text, wanted, got, isMet } of goalsOf(results))
    if (got !== null)
      console.log(`${isMet === true ? "met   " : "missed"}  ${text}: ${got}, wanted ${wanted}`);
  if (json !== null) writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`);
  if (page !== null) writeFileSync(page, renderPage(results));
}

function print(scenario: ScenarioResult): void {
  const { all } = ratiosToBest(scenario);
  const [figure] = scenario.figures;
  console.log(`${scenario.title}${all === null ? "" : `: ${all.toFixed(2)} times the best peer`}`);
  for (const entry of scenario.entries) {
    const summary = figure === undefined ? null : figureOf(entry, figure.name);
    const value = summary === null ? "" : `${summary.median.toFixed(1)} ${figure?.unit ?? ""}`;
    const notes = entry.readings.map(({ note }) => note).filter((note) => note !== "");
    console.log(`  ${entry.label.padEnd(34)} ${[value, entry.problem, ...notes].join(" ").trim()}`);
  }
}

/** A system that should have been measured wasn't. */
function isBroken({ entries }: ScenarioResult): boolean {
  return entries.some(({ outcome }) => outcome === "failed");
}

function openProgress(): ProgressLine {
  const { stderr } = process;
  const output = {
    line: (text: string) => void process.stdout.write(`${text}\n`),
    error: (text: string) => void stderr.write(`${text}\n`),
    columns: stderr.isTTY ? stderr.columns : null,
  };
  const rewrite = (text: string): void => void stderr.write(`\r\u001b[K${text}`);
  return createProgressLine(stderr.isTTY ? { ...output, rewrite } : output, {
    isJson: false,
    monotonicMs: () => performance.now(),
  });
}

// What the end of this process removes and ends stands in `exit` handlers; a signal alone calls none of them.
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
