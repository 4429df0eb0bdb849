import type { Scalar } from "../expression";
import type { Source } from "../source";
import type { Binder } from "./binder";

/** A query that may be written through: its items and its FROM. */
export interface UpdatableQuery {
  readonly items: readonly Scalar[];
  readonly source: Source | undefined;
}

const queries = new WeakMap<Binder, Map<number, UpdatableQuery>>();

/** Notes the query behind a derived table's slot. */
export function noteUpdatable(binder: Binder, slot: number, query: UpdatableQuery): void {
  let known = queries.get(binder);
  if (known === undefined) {
    known = new Map();
    queries.set(binder, known);
  }
  known.set(slot, query);
}

export function findUpdatable(binder: Binder, slot: number): UpdatableQuery | undefined {
  return queries.get(binder)?.get(slot);
}
