import type { Aggregate, NextValue, WindowCall } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import type { Scalar } from "../expression";
import { scalarOf } from "../expression";
import type { Frame } from "../frame";
import { hashKeys } from "../hash-key";
import { SimulationError } from "../sql-error";
import { bigintType } from "../types";
import type { AggregatePlan } from "./aggregates";
import { bindAggregate } from "./aggregates";
import { bindExpression } from "./expressions";
import type { OrderKey } from "./ordering";
import { bindOrder, compareKeyRows, keysOf } from "./ordering";
import type { Scope, Windows } from "./scope";

/** A row that is kept: setting it again makes its expressions readable. */
export interface KeptRow {
  restore(frame: Frame): void;
  /** What its window functions came to. */
  readonly windows: SqlValue[];
}

interface WindowPlan {
  readonly partition: readonly Scalar[];
  readonly order: readonly OrderKey[];
  compute(rows: readonly SortedRow[], frame: Frame): SqlValue[];
}

interface SortedRow {
  readonly row: KeptRow;
  readonly keys: SqlValue[];
}

/** Window functions: computed once all rows are there, then read from a slot of their own. */
export class WindowSet implements Windows {
  readonly slot: number;
  readonly #scope: Scope;
  readonly #plans: WindowPlan[] = [];

  constructor(scope: Scope) {
    this.#scope = scope;
    this.slot = scope.binder.newSlot();
  }

  get isEmpty(): boolean {
    return this.#plans.length === 0;
  }

  add(node: Aggregate | WindowCall | NextValue): Scalar {
    const place = this.#plans.length;
    const { slot } = this;
    if (node.kind === "nextValue") {
      const { binder } = this.#scope;
      const sequence = binder.catalog.sequence(node.sequence);
      binder.need("UPDATE", sequence);
      this.#plans.push({
        partition: [],
        order: bindOrder(node.orderBy, this.#scope),
        compute: (rows, frame) => {
          const { connection } = frame;
          return rows.map(() => connection.world.nextValue(sequence, connection));
        },
      });
      return this.#read({ type: sequence.type, isNullable: false }, place);
    }
    const over = node.over;
    const partition = (over?.partitionBy ?? []).map((part) => bindExpression(part, this.#scope));
    const order = bindOrder(over?.orderBy ?? [], this.#scope);
    if (node.kind === "windowCall") {
      this.#plans.push({ partition, order, compute: (rows) => number(node.name, rows, order) });
      return this.#read({ type: bigintType, isNullable: false }, place);
    }
    const plan = bindAggregate({ ...node, over: undefined }, this.#scope, refuseSteps);
    this.#plans.push({
      partition,
      order,
      compute: (rows, frame) => accumulate(plan, { rows, order }, frame),
    });
    const { type, isNullable, collation } = plan;
    return scalarOf({ type, isNullable, collation, uses: new Set([slot]) }, (frame) =>
      frame.value(slot, place),
    );
  }

  #read(shape: Pick<Scalar, "type" | "isNullable">, place: number): Scalar {
    const { slot } = this;
    return scalarOf({ ...shape, uses: new Set([slot]) }, (frame) => frame.value(slot, place));
  }

  /** Fills in every row's values. */
  compute(rows: readonly KeptRow[], frame: Frame): void {
    this.#plans.forEach((plan, place) => {
      const partitions = new Map<string, SortedRow[]>();
      for (const row of rows) {
        row.restore(frame);
        const name = hashKeys(
          plan.partition.map((scalar) => scalar.evaluate(frame)),
          plan.partition,
        );
        const sorted = { row, keys: keysOf(plan.order, frame) };
        const partition = partitions.get(name);
        if (partition === undefined) partitions.set(name, [sorted]);
        else partition.push(sorted);
      }
      for (const partition of partitions.values()) {
        partition.sort((left, right) => compareKeyRows(plan.order, left.keys, right.keys));
        const values = plan.compute(partition, frame);
        partition.forEach(({ row }, at) => {
          row.windows[place] = values[at] ?? null;
        });
      }
    });
  }
}

function refuseSteps(): never {
  throw new SimulationError(
    "An aggregate over a window that calls a function of ours isn't modelled",
  );
}

function number(
  name: WindowCall["name"],
  rows: readonly SortedRow[],
  order: readonly OrderKey[],
): SqlValue[] {
  let rank = 0;
  let dense = 0;
  return rows.map((row, at) => {
    const before = rows[at - 1];
    const isSame = before !== undefined && compareKeyRows(order, before.keys, row.keys) === 0;
    if (!isSame) {
      rank = at + 1;
      dense += 1;
    }
    return BigInt(name === "ROW_NUMBER" ? at + 1 : name === "RANK" ? rank : dense);
  });
}

/** Without an order over the whole partition; with one over the rows up to this one and its equals. */
function accumulate(
  plan: AggregatePlan,
  window: { rows: readonly SortedRow[]; order: readonly OrderKey[] },
  frame: Frame,
): SqlValue[] {
  const { rows, order } = window;
  const sum = plan.start();
  const values: SqlValue[] = [];
  for (let at = 0; at < rows.length;) {
    let end = at + 1;
    const first = rows[at];
    while (first !== undefined && end < rows.length) {
      const next = rows[end];
      if (next === undefined || compareKeyRows(order, first.keys, next.keys) !== 0) break;
      end += 1;
    }
    for (const { row } of rows.slice(at, end)) {
      row.restore(frame);
      sum.add(frame);
    }
    const value = sum.result();
    for (; at < end; at += 1) values.push(value);
  }
  return values;
}
