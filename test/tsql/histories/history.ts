import { asyncModelRun } from "fast-check";
import type { AsyncCommand } from "fast-check";
import { Dice } from "../../support/dice";
import type { Call } from "./call";
import { eventsOf } from "./events";
import { Knowledge } from "./knowledge";
import { perform } from "./perform";
import type { Outcome } from "./perform";
import { chooseTaste } from "./random-calls";
import { isSame } from "./same";
import { Side, UnknownName } from "./side";
import type { HistoryStore } from "./side";
import { normalTables, restrictTo } from "./tables";
import type { NormalTables } from "./tables";
import { turnsFor, turnsOf } from "./turn";

/** Opens the stores to compare, all empty; the first is what the others are compared with. */
export type OpenStores = () => Promise<readonly HistoryStore[]>;

/** What happens in a history, one turn after the other. */
export type Turns = Iterable<AsyncCommand<HistoryRun, readonly Side[]>>;

/** Where a store and the first one differ. */
export interface Difference {
  /** The call whose answers differ; undefined: the tables at the end do. */
  readonly call: Call | undefined;
  /** In a few words. */
  readonly what: string;
  readonly sides: Readonly<Record<string, unknown>>;
}

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

/** A history while it runs: the answers so far. */
export class HistoryRun {
  readonly known: Knowledge;
  readonly calls: Call[] = [];
  readonly counts = new Map<string, number>();

  constructor(known: Knowledge) {
    this.known = known;
  }

  /** Makes the call on all stores; throws when they answer differently. Does nothing when it names what isn't there. */
  async make(call: Call, stores: readonly Side[], connection: number): Promise<void> {
    const sides = stores.map((side) => side.through(connection));
    const outcomes = await performAll(sides, call);
    if (outcomes === undefined) return;
    this.calls.push({ ...call, connection });
    compareOutcomes(sides, call, outcomes);
    const [outcome] = outcomes;
    if (outcome === undefined) throw new Error("There is no store to run a history on");
    this.known.learn(call, outcome);
    for (const event of eventsOf(call, outcome)) {
      this.counts.set(event, (this.counts.get(event) ?? 0) + 1);
    }
  }
}

/** Ends a history. */
class AnswersDiffer extends Error {
  readonly difference: Difference;

  constructor(difference: Difference) {
    super(difference.what);
    this.difference = difference;
  }
}

/** undefined: it refers to what isn't there, on all of them. */
async function performAll(sides: readonly Side[], call: Call): Promise<Outcome[] | undefined> {
  try {
    return await Promise.all(sides.map((side) => perform(side, call)));
  } catch (error) {
    if (error instanceof UnknownName) return undefined;
    throw error;
  }
}

function compareOutcomes(sides: readonly Side[], call: Call, outcomes: readonly Outcome[]): void {
  const [first] = outcomes;
  if (outcomes.every((outcome) => isSame(outcome, first))) return;
  const what = `the answer of call ${call.id} (${call.do})`;
  throw new AnswersDiffer({ call, what, sides: titled(sides, outcomes) });
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

function titled(
  sides: readonly Side[],
  values: readonly unknown[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(sides.map((side, index) => [side.target.title, values[index]]));
}
