import type { Conjunct } from "./conjunct";
import type { Condition } from "./expression";
import type { Frame } from "./frame";
import type { Emit, Source, WantedOrder } from "./source";
import { emitted, guard } from "./source";
import type { Steps } from "./steps";

/** Nested loops, left to right, as OPTION (FORCE ORDER, LOOP JOIN) asks for. */

abstract class TwoSources implements Source {
  readonly slots: ReadonlySet<number>;
  protected readonly left: Source;
  protected readonly right: Source;
  readonly #isOuter: boolean;
  /** Conditions on the right side of an outer join that aren't part of its ON: tested behind it. */
  readonly #after: Condition[] = [];

  constructor(left: Source, right: Source, isOuter: boolean) {
    this.left = left;
    this.right = right;
    this.#isOuter = isOuter;
    this.slots = new Set([...left.slots, ...right.slots]);
  }

  get isSingleRow(): boolean {
    return this.left.isSingleRow && this.right.isSingleRow;
  }

  place(conjunct: Conjunct): void {
    const uses = [...conjunct.condition.uses].filter((slot) => this.slots.has(slot));
    if (uses.every((slot) => this.left.slots.has(slot))) this.left.place(conjunct);
    else if (this.#isOuter) this.#after.push(conjunct.condition);
    else this.right.place(conjunct);
  }

  /** The left side's order, unless that is a single row. */
  serveOrder(order: readonly WantedOrder[]): boolean {
    return this.left.isSingleRow ? this.right.serveOrder(order) : this.left.serveOrder(order);
  }

  setMissing(frame: Frame): void {
    this.left.setMissing(frame);
    this.right.setMissing(frame);
  }

  *run(frame: Frame, emit: Emit): Steps<boolean> {
    const guarded = guard(this.#after, frame, emit);
    const each = this.#isOuter
      ? (): Steps<boolean> => this.#runOuter(frame, guarded)
      : (): Steps<boolean> => this.right.run(frame, guarded);
    return yield* this.left.run(frame, each);
  }

  *#runOuter(frame: Frame, emit: Emit): Steps<boolean> {
    const hasMatch = { value: false };
    const isStopped = yield* this.right.run(frame, () => {
      hasMatch.value = true;
      return emit();
    });
    if (isStopped || hasMatch.value) return isStopped;
    this.right.setMissing(frame);
    return yield* emitted(emit());
  }
}

export class JoinSource extends TwoSources {
  readonly #keepsLeft: boolean;

  constructor(left: Source, right: Source, isLeft: boolean) {
    super(left, right, isLeft);
    this.#keepsLeft = isLeft;
  }

  /** A condition of ON: in an outer join it decides about the right side only. */
  placeOn(conjunct: Conjunct): void {
    if (this.#keepsLeft) this.right.place(conjunct);
    else this.place(conjunct);
  }
}

export class ApplySource extends TwoSources {}
