import type { Image } from "../storage/row";
import type { QueryPlan } from "./bind/query";
import type { Conjunct } from "./conjunct";
import type { Condition, Scalar } from "./expression";
import { valueOf } from "./expression";
import type { Frame } from "./frame";
import { hashKey } from "./hash-key";
import type { Emit, Source, WantedOrder } from "./source";
import { emitted, guard } from "./source";
import type { Steps } from "./steps";

/** Sources that lock nothing themselves. */

abstract class OneSource implements Source {
  readonly slot: number;
  readonly slots: ReadonlySet<number>;
  readonly conditions: Condition[] = [];

  constructor(slot: number) {
    this.slot = slot;
    this.slots = new Set([slot]);
  }

  get isSingleRow(): boolean {
    return false;
  }

  abstract run(frame: Frame, emit: Emit): Steps<boolean>;

  place(conjunct: Conjunct): void {
    this.conditions.push(conjunct.condition);
  }

  serveOrder(order: readonly WantedOrder[]): boolean {
    return order.length === 0;
  }

  setMissing(frame: Frame): void {
    frame.rows[this.slot] = [];
  }
}

/** Rows that are computed at once: VALUES, OPENJSON, system views. */
export class RowsSource extends OneSource {
  readonly #compute: (frame: Frame) => Iterable<Image>;

  constructor(slot: number, compute: (frame: Frame) => Iterable<Image>) {
    super(slot);
    this.#compute = compute;
  }

  *run(frame: Frame, emit: Emit): Steps<boolean> {
    const guarded = guard(this.conditions, frame, emit);
    for (const row of this.#compute(frame)) {
      frame.rows[this.slot] = row;
      if (yield* emitted(guarded())) return true;
    }
    return false;
  }
}

interface Lookup {
  /** Of the derived table. */
  readonly own: Scalar;
  /** Known before. */
  readonly other: Scalar;
}

interface Spool {
  readonly rows: readonly Image[];
  /** By the value of the lookup's own side. */
  readonly byKey: Map<string, Image[]> | undefined;
}

/** A query in FROM. One that depends on nothing around it runs once per statement, and is looked up by key where it can be. */
export class DerivedSource extends OneSource {
  readonly #plan: QueryPlan;
  readonly #cell: number;
  #lookup: Lookup | undefined;

  constructor(plan: QueryPlan, slot: number, cell: number) {
    super(slot);
    this.#plan = plan;
    this.#cell = cell;
  }

  override get isSingleRow(): boolean {
    return this.#plan.isSingleRow;
  }

  get plan(): QueryPlan {
    return this.#plan;
  }

  override place(conjunct: Conjunct): void {
    super.place(conjunct);
    const { comparison } = conjunct;
    if (this.#lookup !== undefined || comparison?.operator !== "=") return;
    this.#lookup =
      this.#lookupOf(comparison.left, comparison.right) ??
      this.#lookupOf(comparison.right, comparison.left);
  }

  /** Only between values of one kind, so that equal ones have equal keys. */
  #lookupOf(own: Scalar, other: Scalar): Lookup | undefined {
    const isOwn = own.column?.slot === this.slot && other.run === undefined;
    if (!isOwn || other.uses.has(this.slot) || other.uses.size === 0) return undefined;
    const isAlike =
      own.type.name === other.type.name && own.collation.name === other.collation.name;
    return isAlike ? { own, other } : undefined;
  }

  *run(frame: Frame, emit: Emit): Steps<boolean> {
    const guarded = guard(this.conditions, frame, emit);
    if (this.#plan.uses.size > 0 || this.#lookup === undefined) {
      return yield* this.#plan.run(frame, (row) => {
        frame.rows[this.slot] = row;
        return guarded();
      });
    }
    const spool = yield* this.#spool(frame, this.#lookup);
    const key = hashKey(this.#lookup.other.evaluate(frame), this.#lookup.other);
    for (const row of spool.byKey?.get(key) ?? []) {
      frame.rows[this.slot] = row;
      if (yield* emitted(guarded())) return true;
    }
    return false;
  }

  *#spool(frame: Frame, lookup: Lookup): Steps<Spool> {
    const known = frame.cells[this.#cell];
    if (known?.turn === frame.turn) return known.value as Spool;
    const rows: Image[] = [];
    const byKey = new Map<string, Image[]>();
    yield* this.#plan.run(frame, (row) => {
      frame.rows[this.slot] = row;
      rows.push(row);
      const key = hashKey(lookup.own.evaluate(frame), lookup.own);
      const group = byKey.get(key);
      if (group === undefined) byKey.set(key, [row]);
      else group.push(row);
      return false;
    });
    const spool = { rows, byKey };
    frame.cells[this.#cell] = { turn: frame.turn, value: spool };
    return spool;
  }
}

/** Sets the parameters of an inline function, then runs its query. */
export class ParameterSource implements Source {
  readonly #source: Source;
  readonly #slot: number;
  readonly #values: readonly Scalar[];

  constructor(source: Source, slot: number, values: readonly Scalar[]) {
    this.#source = source;
    this.#slot = slot;
    this.#values = values;
  }

  get slots(): ReadonlySet<number> {
    return this.#source.slots;
  }

  get isSingleRow(): boolean {
    return this.#source.isSingleRow;
  }

  place(conjunct: Conjunct): void {
    this.#source.place(conjunct);
  }

  serveOrder(): boolean {
    return false;
  }

  setMissing(frame: Frame): void {
    this.#source.setMissing(frame);
  }

  *run(frame: Frame, emit: Emit): Steps<boolean> {
    const row = [];
    for (const value of this.#values) row.push(yield* valueOf(value, frame));
    frame.rows[this.#slot] = row;
    return yield* this.#source.run(frame, emit);
  }
}
