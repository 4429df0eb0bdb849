import type { Aggregate, Expression } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import type { Scalar } from "../expression";
import { scalarOf, valueOf } from "../expression";
import type { Frame } from "../frame";
import { hashKeys } from "../hash-key";
import { SimulationError } from "../sql-error";
import type { Steps } from "../steps";
import type { AggregatePlan } from "./aggregates";
import { bindAggregate } from "./aggregates";
import { canonicalText } from "./canonical";
import { bindExpression, columnName } from "./expressions";
import type { Grouping, Scope } from "./scope";

/** GROUP BY: rows of the sources become one row per group, of keys and aggregates, in a slot of its own. */
export class Grouper implements Grouping {
  readonly slot: number;
  readonly #scope: Scope;
  readonly #keys: readonly { text: string; scalar: Scalar }[];
  readonly #aggregates: { text: string; plan: AggregatePlan }[] = [];
  /** Arguments that take steps: evaluated per row, before it is added. */
  readonly #prepared: { slot: number; argument: Scalar }[] = [];

  constructor(keys: readonly Expression[], scope: Scope) {
    this.#scope = scope;
    this.slot = scope.binder.newSlot();
    this.#keys = keys.map((key) => {
      const scalar = bindExpression(key, scope);
      if (scalar.run !== undefined) throw new SimulationError("GROUP BY a query isn't modelled");
      return { text: this.#textOf(key), scalar };
    });
  }

  #textOf(node: Expression): string {
    return canonicalText(node, (column) => columnName(column, this.#scope));
  }

  find(text: string): Scalar | undefined {
    const place = this.#keys.findIndex((key) => key.text === text);
    const scalar = this.#keys[place]?.scalar;
    if (scalar === undefined) return undefined;
    const { type, isNullable, collation } = scalar;
    return this.#read({ type, isNullable, collation }, place);
  }

  addAggregate(node: Aggregate): Scalar {
    // Its argument is about the rows, not about the groups.
    const text = this.#textOf(node);
    let place = this.#aggregates.findIndex((aggregate) => aggregate.text === text);
    if (place < 0) {
      const plan = this.#outside(() =>
        bindAggregate(node, this.#scope, (argument) => this.#prepare(argument)),
      );
      place = this.#aggregates.push({ text, plan }) - 1;
    }
    const plan = this.#aggregates[place]?.plan;
    if (plan === undefined) throw new Error("An aggregate got lost");
    const { type, isNullable, collation } = plan;
    return this.#read({ type, isNullable, collation }, this.#keys.length + place);
  }

  #prepare(argument: Scalar): Scalar {
    const slot = this.#scope.binder.newSlot();
    this.#prepared.push({ slot, argument });
    const { type, isNullable, collation } = argument;
    return scalarOf({ type, isNullable, collation }, (frame) => frame.value(slot, 0));
  }

  #outside<Result>(body: () => Result): Result {
    const { grouping, windows } = this.#scope;
    this.#scope.grouping = undefined;
    this.#scope.windows = undefined;
    try {
      return body();
    } finally {
      this.#scope.grouping = grouping;
      this.#scope.windows = windows;
    }
  }

  #read(shape: Pick<Scalar, "type" | "isNullable" | "collation">, place: number): Scalar {
    const { slot } = this;
    return scalarOf({ ...shape, uses: new Set([slot]) }, (frame) => frame.value(slot, place));
  }

  /** Groups of one run: rows are added, then read. Without keys there is one group, even without rows. */
  start(): { add(frame: Frame): boolean | Steps<boolean>; rows(): SqlValue[][] } {
    const groups = new Map<
      string,
      { keys: SqlValue[]; sums: ReturnType<AggregatePlan["start"]>[] }
    >();
    const begin = (
      keys: SqlValue[],
    ): { keys: SqlValue[]; sums: ReturnType<AggregatePlan["start"]>[] } => ({
      keys,
      sums: this.#aggregates.map(({ plan }) => plan.start()),
    });
    const scalars = this.#keys.map((key) => key.scalar);
    const all = scalars.length === 0 ? begin([]) : undefined;
    if (all !== undefined) groups.set("", all);
    const prepared = this.#prepared;
    const groupsOf = {
      add: (frame: Frame): boolean => {
        let group = all;
        if (group === undefined) {
          const keys = scalars.map((scalar) => scalar.evaluate(frame));
          const name = hashKeys(keys, scalars);
          group = groups.get(name) ?? begin(keys);
          groups.set(name, group);
        }
        for (const sum of group.sums) sum.add(frame);
        return false;
      },
      rows: (): SqlValue[][] =>
        [...groups.values()].map(({ keys, sums }) => [...keys, ...sums.map((sum) => sum.result())]),
    };
    if (prepared.length === 0) return groupsOf;
    return {
      ...groupsOf,
      add: function* (frame: Frame): Steps<boolean> {
        for (const { slot, argument } of prepared)
          frame.rows[slot] = [yield* valueOf(argument, frame)];
        return groupsOf.add(frame);
      },
    };
  }
}
