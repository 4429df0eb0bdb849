import { parseArgs } from "node:util";
import { newSeed } from "../../../support/builders";
import { postgresSetup } from "../../../support/postgres-setup";
import { simulatedMssqlSetup } from "../../../support/simulated-mssql-setup";
import { startTestPostgres } from "../../../support/test-postgres";
import type { OpenStores } from "./history";
import { openModelStore } from "./model-store";
import { explainFound, saveRegression } from "./saved-histories";
import { search } from "./search";
import { openSqlStore } from "./sql-stores";

/*
 * npm run histories -- [--minutes N] [--seed N [--path N]] [--calls N]
 * Random histories with fresh seeds on the model, PostgreSQL and the T-SQL behind its endpoint. One that differs is
 * shortened, shown, and saved for `npm test`. With --seed: the histories of that seed, with --path: that one of them.
 */

/** Histories of one seed. */
const runsPerSeed = 10;

interface Options {
  readonly minutes: number;
  readonly seed: number | undefined;
  readonly path: string | undefined;
  readonly calls: number;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "5" },
      seed: { type: "string" },
      path: { type: "string" },
      calls: { type: "string", default: "300" },
    },
  });
  return {
    minutes: positive("minutes", values.minutes),
    seed: values.seed === undefined ? undefined : positive("seed", values.seed),
    path: values.path,
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
    return await searchFor(open, options);
  } finally {
    await tsql.close();
    await postgres.close();
    await server.stop();
  }
}

/** Answers how many histories differed. */
async function searchFor(
  open: OpenStores,
  { minutes, seed, path, calls }: Options,
): Promise<number> {
  const endsAt = performance.now() + minutes * 60_000;
  let histories = 0;
  let made = 0;
  let differing = 0;
  const summary = (): string =>
    `${String(histories)} histories with ${String(made)} calls, ${String(differing)} differ`;
  const onRun = ({ calls: all }: { calls: readonly unknown[] }): void => {
    histories += 1;
    made += all.length;
    progress(summary());
  };
  do {
    const next = seed ?? newSeed();
    const place = path === undefined ? { runs: runsPerSeed } : { runs: 1, path };
    const asked = { seed: next, calls, ...place };
    const found = await search(open, { ...asked, onRun });
    if (found === undefined) continue;
    differing += 1;
    process.stdout.write(`\n${explainFound(asked, found)}\n`);
    const { path: where, calls: shortest, difference } = found;
    saveRegression({ seed: next, path: where, found: difference.what, calls: shortest });
  } while (seed === undefined && performance.now() < endsAt);
  process.stdout.write(`${process.stdout.isTTY ? "\r" : ""}${summary()}\n`);
  return differing;
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
