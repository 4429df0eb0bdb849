import type { Call } from "./call";
import { perform } from "./perform";
import type { Outcome } from "./perform";
import { isSame } from "./same";
import { Side, UnknownName } from "./side";
import type { HistoryStore } from "./side";
import { normalTables } from "./tables";
import type { NormalTables } from "./tables";

/** What a store said to each call of a history, and its rows at the end. */
export interface Recording {
  readonly calls: readonly Call[];
  readonly outcomes: readonly Outcome[];
  readonly tables: NormalTables;
}

/** Runs given calls on an empty store. */
export async function record(store: HistoryStore, calls: readonly Call[]): Promise<Recording> {
  const side = new Side(store, await store.now());
  const outcomes: Outcome[] = [];
  for (const call of calls) outcomes.push(await perform(side, call));
  return { calls, outcomes, tables: normalTables(side, await store.readTables()) };
}

/** Where another empty store says or holds something else; undefined: nowhere. */
export async function findOther(
  store: HistoryStore,
  { calls, outcomes, tables }: Recording,
): Promise<string | undefined> {
  const side = new Side(store, await store.now());
  for (const [index, call] of calls.entries()) {
    const isEqual = await answersAs(side, call, outcomes[index]);
    if (!isEqual) return `call ${call.id} (${call.do}) is answered otherwise`;
  }
  const found = normalTables(side, await store.readTables());
  const table = Object.keys(tables).find((name) => !isSame(tables[name], found[name]));
  return table === undefined ? undefined : `table ${table} differs at the end`;
}

async function answersAs(side: Side, call: Call, expected: unknown): Promise<boolean> {
  try {
    return isSame(await perform(side, call), expected);
  } catch (error) {
    // It names what an earlier call should have made.
    if (error instanceof UnknownName) return false;
    throw error;
  }
}
