import type { Entry, Index } from "../storage/index";
import type { AccessRecorder, Sight } from "../storage/recorder";
import type { SqlValue } from "../values";

/** Bounds of a walk, as values. Inclusive unless said; undefined: open. */
export interface RangeBounds {
  readonly equal: readonly SqlValue[];
  readonly low: { readonly value: SqlValue; readonly isExclusive: boolean } | undefined;
  readonly high: { readonly value: SqlValue; readonly isExclusive: boolean } | undefined;
  readonly isBackward: boolean;
}

/** A part of an index that is walked entry by entry, while entries come and go. */
export class KeyRange {
  readonly index: Index;
  readonly #bounds: RangeBounds;
  #changes = -1;
  #start = 0;
  #end = 0;
  /** Where `#last` stood when the index was as `#changes` says. */
  #place = 0;
  #last: Entry | undefined;
  /** Whose recorder is told each time that the walk looks. */
  readonly #world: { readonly recorder: AccessRecorder | undefined } | undefined;
  /** What the walk can tell. */
  sight: Sight = "all";

  constructor(
    index: Index,
    bounds: RangeBounds,
    world?: { readonly recorder: AccessRecorder | undefined },
  ) {
    this.index = index;
    this.#bounds = bounds;
    this.#world = world;
  }

  /** Where the walk stands, to come back to it. */
  save(): Entry | undefined {
    return this.#last;
  }

  restore(last: Entry | undefined): void {
    if (this.#last === last) return;
    this.#last = last;
    this.#locate();
  }

  /** The entry after the last one that was passed. */
  peek(): Entry | undefined {
    this.#world?.recorder?.reads(this.index, this.#bounds.equal, this.sight);
    if (this.#changes !== this.index.changes) this.#locate();
    if (this.#place < this.#start || this.#place >= this.#end) return undefined;
    return this.index.entries[this.#place];
  }

  /** Goes on behind an entry. */
  pass(entry: Entry): void {
    const isHere =
      this.#changes === this.index.changes && this.index.entries[this.#place] === entry;
    this.#last = entry;
    if (isHere) this.#place += this.#bounds.isBackward ? -1 : 1;
    else this.#locate();
  }

  /** Is it still there, and still in the range? */
  contains(entry: Entry): boolean {
    if (this.#changes !== this.index.changes) this.#locate();
    const at = this.index.lowerBound(entry.key, entry.row.id);
    return this.index.entries[at] === entry && at >= this.#start && at < this.#end;
  }

  /** The lock of the first key beyond, whose gap the range's end lies in. */
  boundary(): string {
    this.#world?.recorder?.reads(this.index, [], "all");
    if (this.#changes !== this.index.changes) this.#locate();
    const next = this.index.entries[this.#end];
    return next === undefined ? this.index.infinity : this.index.resourceOfEntry(next);
  }

  #locate(): void {
    this.#changes = this.index.changes;
    [this.#start, this.#end] = this.#span();
    const { isBackward } = this.#bounds;
    if (this.#last === undefined) {
      this.#place = isBackward ? this.#end - 1 : this.#start;
      return;
    }
    const { key, row } = this.#last;
    const place = isBackward
      ? this.index.lowerBound(key, row.id) - 1
      : this.index.lowerBound(key, row.id + 1);
    this.#place = isBackward ? place : Math.max(place, this.#start);
  }

  /** Places in the index's own order. NULL is in no range, only in an equality that asks for it. */
  #span(): [number, number] {
    const { equal, low, high } = this.#bounds;
    const { index } = this;
    if (low === undefined && high === undefined) {
      return [index.lowerBound(equal, -1), index.upperBound(equal)];
    }
    const isDescending = index.schema.isDescending[equal.length] === true;
    const afterNull = index.upperBound([...equal, null]);
    const beforeNull = index.lowerBound([...equal, null], -1);
    const [first, last] = isDescending ? [high, low] : [low, high];
    const start = first === undefined ? undefined : [...equal, first.value];
    const end = last === undefined ? undefined : [...equal, last.value];
    const open = isDescending
      ? [index.lowerBound(equal, -1), beforeNull]
      : [afterNull, index.upperBound(equal)];
    return [
      start === undefined
        ? (open[0] ?? 0)
        : first?.isExclusive === true
          ? index.upperBound(start)
          : index.lowerBound(start, -1),
      end === undefined
        ? (open[1] ?? 0)
        : last?.isExclusive === true
          ? index.lowerBound(end, -1)
          : index.upperBound(end),
    ];
  }
}
