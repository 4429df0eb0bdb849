import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import { migrateStore } from "../../shared/store/open-store";
import { flatCosts } from "./flat-cost";
import type { Measurement } from "./measurement";
import { scenarios } from "./scenarios";

/*
 * npm run bench -- [--quick] [--json FILE] [--db postgres://..] [--only PART OF A SCENARIO'S NAME, such as spread]
 * Durable commits. Believe ratios, not absolute figures: server and clients share the machine.
 */

/** One line of the result file. Peers are measured in the same run once they are there. */
interface Result {
  scenario: string;
  unit: string;
  taskgate: number;
  peers: Record<string, number>;
  ratio: number | null;
  goal: number | null;
  met: boolean | null;
}

function toResult(measurement: Measurement): Result {
  const { scenario, unit, value, goal, isLessBetter = false } = measurement;
  return {
    scenario,
    unit,
    taskgate: Math.round(value * 1_000) / 1_000,
    peers: {},
    ratio: null,
    goal,
    met: goal === null ? null : isLessBetter ? value <= goal : value >= goal,
  };
}

async function withDatabase(
  server: string,
  index: number,
  body: (url: string) => Promise<Measurement[]>,
): Promise<Measurement[]> {
  const name = `bench_${String(index)}`;
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(`drop database if exists ${name} with (force)`);
  await client.query(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  await migrateStore({ url: url.toString() });
  const measurements = await body(url.toString());
  await client.query(`drop database ${name} with (force)`);
  await client.end();
  return measurements;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean" },
      json: { type: "string" },
      db: { type: "string" },
      only: { type: "string", default: "" },
    },
  });
  const scale =
    values.quick === true
      ? { tasks: 4_000, seconds: 3, backlog: 60_000 }
      : { tasks: 100_000, seconds: 15, backlog: 1_000_000 };
  const server =
    values.db === undefined ? await startEmbeddedPostgres({ keep: false, durable: true }) : null;
  const results: Result[] = [];
  const asked = [...scenarios, ...flatCosts].filter(({ name }) => name.includes(values.only));
  for (const [index, scenario] of asked.entries()) {
    const measurements = await withDatabase(values.db ?? server?.url ?? "", index, (url) =>
      scenario(url, scale),
    );
    for (const result of measurements.map(toResult)) {
      results.push(result);
      const goal =
        result.goal === null
          ? ""
          : `   goal ${String(result.goal)}: ${result.met === true ? "met" : "missed"}`;
      console.log(
        `${result.scenario.padEnd(78)} ${result.taskgate.toFixed(3).padStart(12)} ${result.unit}${goal}`,
      );
    }
  }
  await server?.stop();
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
