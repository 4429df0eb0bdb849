import type { Span } from "../../tsql-server/syntax/ast-statements";
import { shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import type { EngineName, EngineOptions } from "../../tsql-server/engine/options";
import { caseChecks } from "./case-checks";
import type { CaseSearch } from "./case-checks";
import type { Check } from "./check";
import { little, plenty, runContract } from "./contract-checks";
import { costChecks, costOptions } from "./cost-checks";
import { coverOf, moduleOf } from "./coverage";
import type { ModuleCover } from "./coverage";
import type { Mutant } from "./mutants";
import { failingChecks } from "./failing-locks";
import { heldRowChecks } from "./held-rows";
import { historyChecks } from "./history-checks";
import { largeChecks } from "./large-calls";
import { refusalChecks } from "./refused-calls";
import { settingsChecks } from "./session-settings";
import type { Source } from "./source";
import { isSetting, statementsIn } from "./statements";
import { loadSuite } from "./suite";

/** Checks that run on one engine. */
export interface Pass {
  readonly options: EngineOptions;
  /**
   * Those that may run what a mutant changes; the shipped files are content with all of them. Made when the first mutant
   * comes that needs them.
   */
  readonly checks: (mutant: Mutant) => Promise<readonly Check[]>;
  /** For one mutant: so much of their sizes together; missing: all. */
  readonly sizeMax?: (mutant: Mutant) => number;
  readonly isFor: (mutant: Mutant, isExplained: boolean) => boolean;
  /** What its checks run depends on the order of callers, so one that runs the module may run more of it. */
  readonly isByOrder?: true;
}

/** quick: of the contract no slow tests, and none without row versions; full: all that run what a mutant changes. */
export type Depth = "quick" | "full";

/** This part of the contract's tests, the largest, takes half of the time, and kills little that others don't. */
const slowPart = 0.05;

/** An ORDER BY that gives what the rows' way through an index gives anyway. */
const backwards: EngineOptions = { ...engines.azure, rowsBackwards: true, topsBackwards: true };

/** Of the sizes of cases: some seconds for cases about the order of locks and writes, one for the rest. */
function casesMax({ kind }: Mutant): number {
  return ["hint", "swap", "write", "option"].includes(kind) ? 20_000 : 5_000;
}

/** What shipped files do, and how mutants are tried. */
export interface Prepared {
  readonly passes: readonly Pass[];
  readonly known: ShippedRun;
}

export interface ShippedRun {
  /** What the contract suite covers, and operations that fail at a lock. */
  readonly covers: readonly ModuleCover[];
  /** Tests of the contract that the shipped files fail: they are left out. */
  readonly failures: readonly string[];
}

/**
 * Runs the contract suite on the shipped files. What survives it is tried against what calls cost, the settings that
 * operations wait under, what their callers catch, the contract with rows that come backwards where nothing orders them, and
 * without row versions (where a test that the shipped files fail is left out, since
 * readers may wait), and cases of several callers.
 */
export async function preparePasses(sources: readonly Source[], depth: Depth): Promise<Prepared> {
  const tests = loadSuite();
  const world = shippedWorld(engines.azure);
  const isFull = depth === "full";
  const { checks, failures } = await runContract(tests, world, isFull ? plenty : little);
  const failing = failingChecks();
  const covers = coverOf(sources, world.coverage);
  const casesOnAzure = casesOn("azure", sources);
  const casesWithoutVersions = casesOn("locking", sources);
  const quick = isFull ? Math.ceil(checks.length * (1 - slowPart)) : checks.length;
  const passes: Pass[] = [
    {
      options: engines.azure,
      checks: () => Promise.resolve(checks.slice(0, quick)),
      isFor: () => true,
    },
    {
      options: backwards,
      checks: once(async () => {
        const run = await runContract(tests, shippedWorld(backwards), isFull ? plenty : little);
        return run.checks;
      }),
      isFor: ({ kind }) => kind === "order",
    },
    { options: costOptions, checks: once(costChecks), isFor: () => true },
    {
      options: engines.azure,
      checks: once(() => Promise.resolve(largeChecks())),
      isFor: () => true,
    },
    {
      options: engines.versioned,
      checks: once(() => Promise.resolve(heldRowChecks())),
      isFor: () => true,
    },
    {
      options: engines.locking,
      checks: once(() => Promise.resolve(heldRowChecks("locking"))),
      isFor: isAboutLocks,
    },
    { options: engines.azure, checks: once(historyChecks), isFor: () => true },
    {
      options: engines.azure,
      checks: once(() => Promise.resolve(refusalChecks())),
      isFor: () => true,
    },
    { options: engines.azure, checks: () => Promise.resolve(failing), isFor: isAboutErrors },
    {
      options: engines.locking,
      checks: once(() => Promise.resolve(settingsChecks())),
      isFor: isAboutLocks,
    },
    {
      options: engines.azure,
      checks: casesOnAzure("switches"),
      isFor: isForCases,
      isByOrder: true,
    },
    {
      options: engines.locking,
      checks: casesWithoutVersions("switches"),
      isFor: (mutant, isExplained) =>
        isForCases(mutant, isExplained) && isAboutLocks(mutant, isExplained),
      isByOrder: true,
    },
    {
      options: engines.azure,
      checks: casesOnAzure("part"),
      sizeMax: casesMax,
      isFor: isForCases,
    },
    {
      options: engines.locking,
      checks: casesWithoutVersions("part"),
      sizeMax: casesMax,
      isFor: (mutant, isExplained) =>
        isForCases(mutant, isExplained) && isAboutLocks(mutant, isExplained),
    },
    {
      options: engines.azure,
      checks: () => Promise.resolve(checks.slice(quick)),
      isFor: ({ kind }, isExplained) => isFull && !isExplained && kind !== "number",
    },
    {
      options: engines.locking,
      checks: once(async () => (await runContract(tests, shippedWorld(engines.locking))).checks),
      isFor: (mutant, isExplained) => isFull && isAboutLocks(mutant, isExplained),
    },
  ];
  return { passes, known: { covers, failures } };
}

function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  return () => (made ??= make());
}

/** Making all cases takes longer than trying a mutant: only those that may run what it changes are made. */
function casesOn(
  engine: EngineName,
  sources: readonly Source[],
): (search: CaseSearch) => Pass["checks"] {
  const cases = once(() => Promise.resolve(caseChecks(engine, sources)));
  return (search) =>
    async ({ source }) =>
      (await cases())(moduleOf(source), search);
}

/** Other engines only differ in their waits. */
function isAboutLocks({ kind, source, statementId }: Mutant, isExplained: boolean): boolean {
  const changed = source.statements.find(({ statement }) => statement.statementId === statementId);
  const isSettingChanged = changed !== undefined && isSetting(changed.statement);
  return !isExplained && (kind === "hint" || isSettingChanged);
}

/** What an error leaves behind depends on transactions, what raises errors, and what catches them. */
function isAboutErrors({ source, statementId }: Mutant): boolean {
  const changed = source.statements.find(({ statement }) => statement.statementId === statementId);
  if (changed === undefined) return false;
  const kinds = statementsIn(changed.statement).map(({ kind }) => kind);
  return kinds.some((kind) => errorKinds.includes(kind)) || isInHandler(source, changed.span);
}

const errorKinds: readonly string[] = [
  "begin",
  "commit",
  "rollback",
  "throw",
  "tryCatch",
  "setOptions",
];

function isInHandler(source: Source, { start, end }: Span): boolean {
  return source.batch.statements
    .flatMap(statementsIn)
    .flatMap((statement) => (statement.kind === "tryCatch" ? statement.handler : []))
    .map((statement) => source.spanOf(statement))
    .some((span) => span.start <= start && end <= span.end);
}

/**
 * The cases remember what the check of invariants said of a state, so they judge no mutant of what that check runs; and
 * numbers, which aren't in the score, aren't worth their time.
 */
function isForCases({ kind, source }: Mutant, isExplained: boolean): boolean {
  const name = source.name.replace(/^.*\/|\.sql$/g, "");
  return !isExplained && kind !== "number" && !ranByTheCheck.includes(name);
}

const ranByTheCheck = ["CheckInvariants", "_ReadTokens"];
