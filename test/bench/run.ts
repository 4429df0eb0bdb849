import { writeFileSync } from "node:fs";
import { Client } from "pg";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import { migrateStore } from "../../shared/store/open-store";
import { bigReads } from "./big-reads";
import { flatCosts } from "./flat-cost";
import type { Measurement } from "./measurement";
import { scenarios } from "./scenarios";
import { watchedDrain } from "./watched-drain";
import { worstInput } from "./worst-input";
import { parseOptions, usage } from "./options";
import { readOptions } from "../support/script-words";

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

/** Databases of their own for one scenario, made when asked for and dropped at its end. */
async function withDatabases<Result>(
  server: string,
  body: (openDatabase: () => Promise<string>) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: server });
  await client.connect();
  const names: string[] = [];
  const result = await body(async () => {
    const name = `bench_${String(names.length)}`;
    names.push(name);
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name}`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    await migrateStore({ url: url.toString() });
    return url.toString();
  });
  for (const name of names) await client.query(`drop database ${name} with (force)`);
  await client.end();
  return result;
}

async function main(): Promise<void> {
  const { isQuick, json, db, only } = readOptions(usage, parseOptions);
  const scale = isQuick
    ? { tasks: 4_000, seconds: 3, backlog: 60_000 }
    : { tasks: 100_000, seconds: 15, backlog: 1_000_000 };
  const server =
    db === null ? await startEmbeddedPostgres({ keep: false, isSuperuser: true }) : null;
  const results: Result[] = [];
  const asked = [...scenarios, ...flatCosts, worstInput, watchedDrain, bigReads].filter(
    ({ name }) => name.includes(only),
  );
  for (const scenario of asked) {
    const measurements = await withDatabases(db ?? server?.url ?? "", async (open) =>
      scenario(await open(), scale, open),
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
  if (json !== null) writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
