import type { Conjunct } from "./conjunct";
import type { Condition } from "./expression";
import { truthOf } from "./expression";
import type { Frame } from "./frame";
import type { Steps } from "./steps";
import { isSteps } from "./steps";

/** Called for each row, which stands in the frame. True: enough. In steps where what follows may wait. */
export type Emit = () => boolean | Steps<boolean>;

export interface WantedOrder {
  readonly slot: number;
  readonly column: number;
  readonly isDescending: boolean;
}

/** A node of FROM: gives rows to what follows, by setting the slots of its sources. */
export interface Source {
  readonly slots: ReadonlySet<number>;
  /** There is never more than one row. */
  readonly isSingleRow: boolean;
  run(frame: Frame, emit: Emit): Steps<boolean>;
  /** Takes over a condition whose other slots are set before this node runs. */
  place(conjunct: Conjunct): void;
  /** Can it give its rows in this order by itself? Asked once all is bound. */
  serveOrder(order: readonly WantedOrder[]): boolean;
  /** For the missing side of an outer join. */
  setMissing(frame: Frame): void;
}

export function* emitted(result: boolean | Steps<boolean>): Steps<boolean> {
  return isSteps(result) ? yield* result : result;
}

/** Lets pass only rows for which all conditions are true. */
export function guard(conditions: readonly Condition[], frame: Frame, emit: Emit): Emit {
  if (conditions.length === 0) return emit;
  if (conditions.every((condition) => condition.run === undefined)) {
    return () => (passes(conditions, frame) ? emit() : false);
  }
  return () => guardInSteps(conditions, frame, emit);
}

export function passes(conditions: readonly Condition[], frame: Frame): boolean {
  for (const condition of conditions) {
    if (condition.test(frame) !== true) return false;
  }
  return true;
}

function* guardInSteps(conditions: readonly Condition[], frame: Frame, emit: Emit): Steps<boolean> {
  for (const condition of conditions) {
    if ((yield* truthOf(condition, frame)) !== true) return false;
  }
  return yield* emitted(emit());
}
