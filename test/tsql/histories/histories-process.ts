import { explainRun, saveRun } from "../../parallel/saved-runs";
import { partiesMax, search as searchParallel, stepsMax } from "../../parallel/search";
import type { OpenStore } from "../../parallel/search";
import { newSeed } from "../../support/builders";
import { postgresSetup } from "../../support/postgres-setup";
import { simulatedMssqlSetup } from "../../support/simulated-mssql-setup";
import { startTestPostgres } from "../../support/test-postgres";
import type { OpenStores } from "./history";
import { openModelStore } from "./memory-store";
import { explainFound, saveRegression } from "./saved-histories";
import { search } from "./search";
import { openSqlStore } from "./sql-stores";
import { readWords } from "../../support/script-words";

const usage = `npm run histories -- [--minutes N] [--seed N [--path N]] [--calls N] [--parallel]

Random histories with fresh seeds on the memory store, PostgreSQL and the T-SQL behind its endpoint. One that differs is
shortened, shown, and saved for \`npm test\`. With --seed: the histories of that seed, with --path: that one of them.
With --parallel: runs of several connections of PostgreSQL at the same time (test/parallel) instead.`;

/** Histories of one seed. */
const runsPerSeed = 10;

interface Options {
  readonly minutes: number;
  readonly seed: number | undefined;
  readonly path: string | undefined;
  readonly calls: number;
  readonly isParallel: boolean;
}

function readOptions(): Options {
  const { values } = readWords(usage, {
    options: {
      minutes: { type: "string", default: "5" },
      seed: { type: "string" },
      path: { type: "string" },
      calls: { type: "string", default: "300" },
      parallel: { type: "boolean", default: false },
    },
  });
  return {
    minutes: positive("minutes", values.minutes),
    seed: values.seed === undefined ? undefined : positive("seed", values.seed),
    path: values.path,
    calls: positive("calls", values.calls),
    isParallel: values.parallel,
  };
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  throw new Error(`Expected --${name} to be a number above 0, got \`${text}\``);
}

/** Tries a seed, saves what it finds and tells of it; `onRun` is told how many calls a run had. */
type Hunt = (
  at: { readonly seed: number; readonly path: string | undefined },
  onRun: (calls: number) => void,
) => Promise<string | undefined>;

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
    const hunt = options.isParallel
      ? huntParallel(() => openSqlStore(postgres, partiesMax))
      : huntHistories(open, options.calls);
    return await huntFor(hunt, options);
  } finally {
    await tsql.close();
    await postgres.close();
    await server.stop();
  }
}

function huntHistories(open: OpenStores, calls: number): Hunt {
  return async ({ seed, path }, onRun) => {
    const place = path === undefined ? { runs: runsPerSeed } : { runs: 1, path };
    const asked = { seed, calls, ...place };
    const found = await search(open, {
      ...asked,
      onRun: (result) => {
        onRun(result.calls.length);
      },
    });
    if (found === undefined) return undefined;
    const { path: where, calls: shortest, difference } = found;
    saveRegression({ seed, path: where, found: difference.what, calls: shortest });
    return explainFound(asked, found);
  };
}

function huntParallel(open: OpenStore): Hunt {
  return async ({ seed, path }, onRun) => {
    const place = path === undefined ? { runs: runsPerSeed } : { runs: 1, path };
    const found = await searchParallel(open, {
      seed,
      steps: stepsMax,
      onRun: (result) => {
        onRun(result.calls.flat().length);
      },
      ...place,
    });
    if (found === undefined) return undefined;
    saveRun(seed, found);
    return explainRun(seed, found);
  };
}

/** Answers how many were found. */
async function huntFor(hunt: Hunt, { minutes, seed, path }: Options): Promise<number> {
  const endsAt = performance.now() + minutes * 60_000;
  let runs = 0;
  let calls = 0;
  let finds = 0;
  const summary = (): string =>
    `${String(runs)} histories with ${String(calls)} calls, ${String(finds)} found`;
  const onRun = (more: number): void => {
    runs += 1;
    calls += more;
    progress(summary());
  };
  do {
    const text = await hunt({ seed: seed ?? newSeed(), path }, onRun);
    if (text === undefined) continue;
    finds += 1;
    process.stdout.write(`\n${text}\n`);
  } while (seed === undefined && performance.now() < endsAt);
  process.stdout.write(`${process.stdout.isTTY ? "\r" : ""}${summary()}\n`);
  return finds;
}

function progress(line: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${line}`);
}

main().then(
  (finds) => process.exit(finds === 0 ? 0 : 1),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
