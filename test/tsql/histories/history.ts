import { asyncModelRun } from "fast-check";
import type { AsyncCommand } from "fast-check";
import { Dice } from "../../support/dice";
import type { Call } from "./call";
import { titled } from "./difference";
import type { Difference } from "./difference";
import { AnswersDiffer, HistoryRun } from "./history-run";
import { Knowledge } from "./knowledge";
import { chooseTaste } from "./random-calls";
import { isSame } from "./same";
import { Side } from "./side";
import type { HistoryStore } from "./side";
import { normalTables, restrictTo } from "./tables";
import type { NormalTables } from "./tables";
import { turnsFor, turnsOf } from "./turn";

/** Opens the stores to compare, all empty; the first is what the others are compared with. */
export type OpenStores = () => Promise<readonly HistoryStore[]>;

/** What happens in a history, one turn after the other. */
export type Turns = Iterable<AsyncCommand<HistoryRun, readonly Side[]>>;

/** The outcome of a history. */
export interface HistoryResult {
  /** The calls that were made. */
  readonly calls: readonly Call[];
  readonly difference: Difference | undefined;
  /** How often what happened: `work claimed`, `work: a prefetched claim`. */
  readonly counts: ReadonlyMap<string, number>;
}

/** A random history of so many calls, until answers differ. */
export async function runSeed(
  open: OpenStores,
  { seed, length }: { seed: number; length: number },
): Promise<HistoryResult> {
  const dice = new Dice(seed);
  const known = new Knowledge(chooseTaste(dice));
  return runTurns(open, known, turnsOf(dice, length));
}

/** Given calls once more; those that refer to removed ones are left out. */
export async function runCalls(open: OpenStores, calls: readonly Call[]): Promise<HistoryResult> {
  return runTurns(open, new Knowledge(chooseTaste(new Dice(0))), turnsFor(calls));
}

/** A turn after the other, until answers differ; then what the stores hold in the end. */
export async function runTurns(
  open: OpenStores,
  known: Knowledge,
  turns: Turns,
): Promise<HistoryResult> {
  const stores = await open();
  const sides = await Promise.all(stores.map(async (store) => new Side(store, await store.now())));
  const run = new HistoryRun(known);
  try {
    await asyncModelRun(() => ({ model: run, real: sides }), turns);
    const difference = (await compareTables(sides)) ?? (await findUnsound(sides));
    return { calls: run.calls, difference, counts: run.counts };
  } catch (error) {
    if (!(error instanceof AnswersDiffer)) throw error;
    return { calls: run.calls, difference: error.difference, counts: run.counts };
  }
}

async function compareTables(sides: readonly Side[]): Promise<Difference | undefined> {
  const all = await Promise.all(
    sides.map(async (side) => ({
      isWhole: side.target.isWhole,
      tables: normalTables(side, await side.target.readTables()),
    })),
  );
  const pairs = all.flatMap((left, index) =>
    all.slice(index + 1).map((right) => [left, right] as const),
  );
  for (const [left, right] of pairs) {
    const table = tableThatDiffers(left, right);
    if (table === undefined) continue;
    const rows = all.map(({ tables }) => tables[table] ?? []);
    return { call: undefined, what: `table ${table}`, sides: titled(sides, rows) };
  }
  return undefined;
}

/** Equal isn't enough: both may be equally broken. */
async function findUnsound(sides: readonly Side[]): Promise<Difference | undefined> {
  const answers = await Promise.all(sides.map((side) => side.store.checkInvariants()));
  if (answers.every(({ status }) => status === "sound")) return undefined;
  return { call: undefined, what: "the soundness", sides: titled(sides, answers) };
}

interface Snapshot {
  readonly isWhole: boolean;
  readonly tables: NormalTables;
}

/** Seen with the tables and columns that both have. */
function tableThatDiffers(left: Snapshot, right: Snapshot): string | undefined {
  const a = right.isWhole ? left.tables : restrictTo(left.tables, right.tables);
  const b = left.isWhole ? right.tables : restrictTo(right.tables, left.tables);
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return names.find((name) => !isSame(a[name], b[name]));
}
