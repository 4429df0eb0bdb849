import type { Call } from "./call";
import { Dice } from "../../../support/dice";
import { eventsOf } from "./events";
import { Knowledge } from "./knowledge";
import { perform } from "./perform";
import type { Outcome } from "./perform";
import { chooseAction, chooseTaste } from "./random-calls";
import { isSame } from "./same";
import { Side, UnknownName } from "./side";
import type { HistoryStore } from "./side";
import { normalTables, restrictTo } from "./tables";
import type { NormalTables } from "./tables";

/** Opens the stores to compare, all empty; the first is what the others are compared with. */
export type OpenStores = () => Promise<readonly HistoryStore[]>;

/** Where a store and the first one differ. */
export interface Difference {
  /** The call whose answers differ; undefined: the tables at the end do. */
  readonly call: Call | undefined;
  /** The table, when tables differ. */
  readonly table?: string;
  readonly sides: Readonly<Record<string, unknown>>;
}

/** What came of a history. */
export interface HistoryResult {
  /** The calls that were made. */
  readonly calls: readonly Call[];
  readonly difference: Difference | undefined;
  /** How often what happened: `work claimed`, `work: a spare claim`. */
  readonly counts: ReadonlyMap<string, number>;
}

/** A random history of so many calls, until answers differ. */
export async function runRandom(
  open: OpenStores,
  { seed, length }: { seed: number; length: number },
): Promise<HistoryResult> {
  const dice = new Dice(seed);
  const known = new Knowledge(chooseTaste(dice));
  return run(open, (index, before) => {
    if (before !== undefined) known.learn(before.call, before.outcome);
    return index < length ? numbered(String(index + 1), chooseAction(dice, known)) : undefined;
  });
}

function numbered(id: string, action: ReturnType<typeof chooseAction>): Call {
  if (action.do !== "transaction") return { ...action, id };
  return {
    ...action,
    id,
    calls: action.calls.map((call) => ({ ...call, id: `${id}/${call.id}` })),
  };
}

/** Given calls once more; those that refer to what was taken out are left out. */
export async function runCalls(open: OpenStores, calls: readonly Call[]): Promise<HistoryResult> {
  return run(open, (index) => calls[index]);
}

type NextCall = (
  index: number,
  before: { readonly call: Call; readonly outcome: Outcome } | undefined,
) => Call | undefined;

async function run(open: OpenStores, next: NextCall): Promise<HistoryResult> {
  const stores = await open();
  const sides = await Promise.all(stores.map(async (store) => new Side(store, await store.now())));
  const calls: Call[] = [];
  const counts = new Map<string, number>();
  let before: Parameters<NextCall>[1];
  for (let index = 0; ; index += 1) {
    const call = next(index, before);
    if (call === undefined) break;
    before = undefined;
    const outcomes = await performAll(sides, call);
    if (outcomes === undefined) continue;
    calls.push(call);
    const difference = compareOutcomes(sides, call, outcomes);
    if (difference !== undefined) return { calls, difference, counts };
    const [outcome] = outcomes;
    if (outcome === undefined) throw new Error("There is no store to run a history on");
    before = { call, outcome };
    for (const event of eventsOf(call, outcome)) counts.set(event, (counts.get(event) ?? 0) + 1);
  }
  return { calls, difference: await compareTables(sides), counts };
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

function compareOutcomes(
  sides: readonly Side[],
  call: Call,
  outcomes: readonly Outcome[],
): Difference | undefined {
  const [first] = outcomes;
  if (outcomes.every((outcome) => isSame(outcome, first))) return undefined;
  return { call, sides: titled(sides, outcomes) };
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
    return { call: undefined, table, sides: titled(sides, rows) };
  }
  return undefined;
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
