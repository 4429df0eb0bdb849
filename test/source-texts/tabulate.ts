import { relative } from "node:path";
import type { Behaviour } from "./read-behaviours";
import { notApplicable, ownStores } from "./not-applicable";
import type { OwnStore } from "./not-applicable";
import { numbersOf, root } from "./read-behaviours";

/** Where a behaviour is shown. */
export const stores = ["memory", "PostgreSQL", "T-SQL", "SQL Server"] as const;
/** One of them: T-SQL is the shipped files in the model of SQL Server, SQL Server a real one. */
export type StoreName = (typeof stores)[number];

/** Which files show it on which store; these are run. The first that fits counts. */
export const places: readonly { readonly path: RegExp; readonly store: StoreName }[] = [
  { path: /^test\/contract\/mssql\.test\.ts$/, store: "SQL Server" },
  { path: /^test\/source-texts\/(scenes|planted)\/memory\.test\.ts$/, store: "memory" },
  { path: /^test\/source-texts\/(scenes|planted)\/postgres\.test\.ts$/, store: "PostgreSQL" },
  { path: /^test\/source-texts\/(scenes|planted)\/tsql\.test\.ts$/, store: "T-SQL" },
  { path: /^test\/contract\/tsql-[a-z]+\.test\.ts$/, store: "T-SQL" },
  { path: /^test\/contract\/memory\.test\.ts$/, store: "memory" },
  { path: /^test\/contract\/([a-z-]+\.)?postgres\.test\.ts$/, store: "PostgreSQL" },
  { path: /^test\/fault\/(limit|spread)\.test\.ts$/, store: "PostgreSQL" },
  { path: /^test\/tsql\/(cases|costs|source-texts)\/.*\.test\.ts$/, store: "T-SQL" },
  { path: /^test\/workers\/.*\.test\.ts$/, store: "memory" },
  {
    path: /^test\/unit\/(core\/token|store\/memory-[a-z-]+|worker\/(worker|children|batches|await-end))\.test\.ts$/,
    store: "memory",
  },
];

/** What `jest --json` writes, as far as it is read here. */
export interface JestResults {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

/** `fail`: also where no test of this store carries the number; `n/a`: it is listed in not-applicable.ts. */
export type CellStatus = "pass" | "fail" | "skipped" | "n/a";

/** One behaviour on one store. */
export interface Cell {
  readonly status: CellStatus;
  /** Why it was skipped, or needn't be shown. */
  readonly reasons: readonly string[];
  /** How many planted faults were found, each of which makes a test of it fail. */
  readonly planted: number;
  readonly tests: readonly {
    readonly title: string;
    readonly file: string;
    readonly status: string;
  }[];
}

/** One behaviour on all stores. */
export interface BehaviourRow {
  readonly number: string;
  readonly behaviour: string;
  readonly status: CellStatus;
  readonly stores: Readonly<Record<StoreName, Cell>>;
}

/** All behaviours, and errors beside failed tests: files that couldn't be run, cells without a test or a fault. */
export interface BehaviourTable {
  readonly summary: Readonly<Record<StoreName, Readonly<Record<CellStatus, number>>>>;
  readonly behaviours: readonly BehaviourRow[];
  readonly problems: readonly string[];
}

interface Shown {
  readonly numbers: readonly string[];
  /** A planted fault that a test has found: by itself it shows nothing. */
  readonly isPlanted: boolean;
  readonly store: StoreName;
  readonly title: string;
  readonly file: string;
  readonly status: string;
  readonly reason: string;
}

/** Puts results by number and store. A test that carries several numbers counts for each. */
export function tabulate(results: JestResults, behaviours: readonly Behaviour[]): BehaviourTable {
  const problems: string[] = [];
  const shown = results.testResults.flatMap((suite) => {
    const file = relative(root, suite.name).replaceAll("\\", "/");
    const store = places.find(({ path }) => path.test(file))?.store;
    if (store === undefined) return [];
    if (suite.status === "failed" && suite.assertionResults.length === 0)
      problems.push(`${file} could not be run: ${(suite.message ?? "").split("\n")[0] ?? ""}`);
    return suite.assertionResults.map((test): Shown => {
      const titles = [...test.ancestorTitles, test.title];
      const isPlanted = titles.some((title) => /^(?:planted, |a planted fault )/.test(title));
      return {
        // A fault says all that it breaks; each of its tests stands for its own numbers.
        numbers: numbersOf(isPlanted ? test.title : titles.join(" / ")),
        isPlanted,
        store,
        file,
        title: test.title,
        status: test.status,
        reason:
          /\(skipped: (.*)\)$/.exec(
            titles.find((title) => title.includes("(skipped: ")) ?? "",
          )?.[1] ?? "no reason given",
      };
    });
  });
  const rows = behaviours.map((behaviour) => tabulateOne(behaviour, shown));
  problems.push(...rows.flatMap(gapsOf));
  return { summary: summarize(rows), behaviours: rows, problems };
}

function tabulateOne(behaviour: Behaviour, shown: readonly Shown[]): BehaviourRow {
  const own = shown.filter((test) => test.numbers.includes(behaviour.number));
  const cell = (store: StoreName): Cell =>
    judge(
      own.filter((test) => test.store === store),
      { reason: reasonOf(behaviour.number, store), isNeeded: store !== "SQL Server" },
    );
  const cells: BehaviourRow["stores"] = {
    memory: cell("memory"),
    PostgreSQL: cell("PostgreSQL"),
    "T-SQL": cell("T-SQL"),
    "SQL Server": cell("SQL Server"),
  };
  return {
    number: behaviour.number,
    behaviour: behaviour.text,
    status: judge(own, { reason: null, isNeeded: true }).status,
    stores: cells,
  };
}

/** Why a store needn't show a behaviour; null: it must. */
function reasonOf(number: string, store: StoreName): string | null {
  if (store === "SQL Server") return null;
  return notApplicable[store]?.[number] ?? null;
}

/** One failure is a failure; one pass without one a pass; a skipped cell tells why. */
function judge(
  all: readonly Shown[],
  { reason, isNeeded }: { reason: string | null; isNeeded: boolean },
): Cell {
  const tests = all.filter(({ isPlanted }) => !isPlanted);
  const planted = all.filter(({ isPlanted }) => isPlanted);
  const has = (status: string): boolean => tests.some((test) => test.status === status);
  const skipped = tests.filter((test) => test.status !== "passed" && test.status !== "failed");
  const isBroken = has("failed") || planted.some(({ status }) => status === "failed");
  const status = (): CellStatus => {
    if (isBroken) return "fail";
    if (has("passed")) return "pass";
    if (reason !== null) return "n/a";
    return tests.length > 0 || !isNeeded ? "skipped" : "fail";
  };
  return {
    status: status(),
    reasons: [
      ...new Set([...skipped.map((test) => test.reason), ...(reason === null ? [] : [reason])]),
    ],
    planted: planted.filter((test) => test.status === "passed").length,
    tests: all.map(({ title, file, status: state }) => ({ title, file, status: state })),
  };
}

/** Cells that no test shows, or none that a planted fault would fail. */
function gapsOf(row: BehaviourRow): string[] {
  return ownStores.flatMap((store: OwnStore) => {
    const { status, planted, tests } = row.stores[store];
    if (status === "n/a") return [];
    if (tests.length === 0) return [`${row.number} has no test on ${store}`];
    return planted === 0 ? [`${row.number} has no planted fault on ${store}`] : [];
  });
}

function summarize(rows: readonly BehaviourRow[]): BehaviourTable["summary"] {
  const count = (store: StoreName): Record<CellStatus, number> => {
    const of = (status: CellStatus): number =>
      rows.filter((row) => row.stores[store].status === status).length;
    return { pass: of("pass"), fail: of("fail"), skipped: of("skipped"), "n/a": of("n/a") };
  };
  return {
    memory: count("memory"),
    PostgreSQL: count("PostgreSQL"),
    "T-SQL": count("T-SQL"),
    "SQL Server": count("SQL Server"),
  };
}

/** The table as people read it: a line per behaviour, then the sums, the reasons and the problems. */
export function printTable(table: BehaviourTable): string {
  const width = Math.max(...table.behaviours.map((row) => row.behaviour.length), 0);
  const line = (number: string, text: string, cells: readonly string[]): string =>
    [number.padEnd(6), text.padEnd(width), ...cells.map((cell) => cell.padEnd(10))]
      .join("  ")
      .trimEnd();
  const cellsOf = (row: BehaviourRow): string[] => stores.map((store) => row.stores[store].status);
  const reasons = new Set(
    table.behaviours.flatMap((row) =>
      stores.flatMap((store) => {
        const { status, reasons: own } = row.stores[store];
        return own.map((reason) => `${status === "n/a" ? "n/a" : "skipped"}: ${reason}`);
      }),
    ),
  );
  return [
    line("", "", stores),
    ...table.behaviours.map((row) => line(row.number, row.behaviour, cellsOf(row))),
    "",
    ...stores.map((store) => `${store}: ${JSON.stringify(table.summary[store])}`),
    ...reasons,
    ...table.problems.map((problem) => `problem: ${problem}`),
  ].join("\n");
}
