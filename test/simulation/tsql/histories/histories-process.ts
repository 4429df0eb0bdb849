import { parseArgs } from "node:util";
import { newSeed } from "../../../support/builders";
import { postgresSetup } from "../../../support/postgres-setup";
import { simulatedMssqlSetup } from "../../../support/simulated-mssql-setup";
import { startTestPostgres } from "../../../support/test-postgres";
import { runRandom } from "./history";
import type { OpenStores } from "./history";
import { openModelStore } from "./model-store";
import { explainDifference, saveRegression, titleOf } from "./saved-histories";
import { shrink } from "./shrink";
import { openSqlStore } from "./sql-stores";

/*
 * npm run histories -- [--minutes N] [--seed N] [--calls N]
 * Random histories with fresh seeds on the model, PostgreSQL and the T-SQL behind its endpoint. One that differs is
 * shortened, shown, and saved for `npm test`. With --seed: that history only.
 */

interface Options {
  readonly minutes: number;
  readonly seed: number | undefined;
  readonly calls: number;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "5" },
      seed: { type: "string" },
      calls: { type: "string", default: "150" },
    },
  });
  return {
    minutes: positive("minutes", values.minutes),
    seed: values.seed === undefined ? undefined : positive("seed", values.seed),
    calls: positive("calls", values.calls),
  };
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  throw new Error(`Expected --${name} to be a number above 0, got \`${text}\``);
}

async function main(): Promise<number> {
  const options = readOptions();
  const server = await startTestPostgres();
  process.env["TASKGATE_TEST_POSTGRES"] = server.url;
  const postgres = postgresSetup();
  const tsql = simulatedMssqlSetup();
  const open: OpenStores = async () => [
    openModelStore(),
    await openSqlStore(postgres),
    await openSqlStore(tsql),
  ];
  try {
    return await search(open, options);
  } finally {
    await tsql.close();
    await postgres.close();
    await server.stop();
  }
}

/** Answers how many histories differed. */
async function search(open: OpenStores, { minutes, seed, calls }: Options): Promise<number> {
  const endsAt = performance.now() + minutes * 60_000;
  let histories = 0;
  let differing = 0;
  const summary = (count: number): string =>
    `${String(count)} histories of ${String(calls)} calls, ${String(differing)} differ`;
  do {
    const next = seed ?? newSeed();
    const result = await runRandom(open, { seed: next, length: calls });
    histories += 1;
    if (result.difference !== undefined) {
      differing += 1;
      await tell(open, next, result);
    }
    progress(summary(histories));
  } while (seed === undefined && performance.now() < endsAt);
  process.stdout.write(`${process.stdout.isTTY ? "\r" : ""}${summary(histories)}\n`);
  return differing;
}

async function tell(
  open: OpenStores,
  seed: number,
  result: Awaited<ReturnType<typeof runRandom>>,
): Promise<void> {
  const { calls, difference } = await shrink(open, result);
  if (difference === undefined) throw new Error(`Seed ${String(seed)}: the difference is gone`);
  process.stdout.write(
    `\nseed ${String(seed)}, ${String(calls.length)} of ${String(result.calls.length)} calls:\n` +
      `${calls.map((call) => `  ${JSON.stringify(call)}`).join("\n")}\n${explainDifference(difference)}\n`,
  );
  saveRegression({ seed, found: titleOf(difference), calls });
}

function progress(line: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${line}`);
}

main().then(
  (differing) => process.exit(differing === 0 ? 0 : 1),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
