import type { World } from "../../tsql-server/engine/world";

/** A line of the lock list that the source texts print: who, on which index, how, how many. */
export interface HeldLock {
  readonly who: string;
  readonly table: string;
  /** Empty for a lock of the table itself. */
  readonly index: string;
  readonly type: "KEY" | "TAB" | "XACT";
  readonly mode: string;
  readonly isWaiting: boolean;
  readonly count: number;
}

/** Every lock that is held or waited for, counted as sp_lock's rows are in the text. Pages aren't modelled. */
export function readLocks(world: World, nameOf: (session: number) => string): HeldLock[] {
  const counts = new Map<string, HeldLock>();
  for (const line of world.locks.describe()) {
    const [session = "", mode = "", ...rest] = line.split(" ");
    const isWaiting = /wait#\d+$/.test(line);
    const one = { who: nameOf(Number(session)), mode, isWaiting, ...partsOf(rest.join(" ")) };
    const key = JSON.stringify(one);
    counts.set(key, { ...one, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].sort((left, right) => sortKey(left).localeCompare(sortKey(right)));
}

function sortKey({ who, table, index, mode, isWaiting }: HeldLock): string {
  return [who, table, index === "" ? "~" : index, mode, String(isWaiting)].join(" ");
}

function partsOf(resource: string): Pick<HeldLock, "table" | "index" | "type"> {
  const key = /^KEY (?:\w+\.)?(\w+)\.(\w*)\(/.exec(resource);
  if (key !== null) return { table: key[1] ?? "", index: key[2] ?? "", type: "KEY" };
  const table = /^OBJECT (?:\w+\.)?(\w+)/.exec(resource);
  if (table !== null) return { table: table[1] ?? "", index: "", type: "TAB" };
  return { table: "", index: "", type: "XACT" };
}

/** Locks that change something, as the text's query shows them: `index mode` with their number, waiting or not. */
export function countsOf(locks: readonly HeldLock[], who: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const lock of locks) {
    if (lock.who !== who || lock.mode === "S" || lock.mode === "IS") continue;
    const name = `${lock.index === "" ? lock.table || lock.type : lock.index} ${lock.mode}`;
    counts[name] = (counts[name] ?? 0) + lock.count;
  }
  return counts;
}
