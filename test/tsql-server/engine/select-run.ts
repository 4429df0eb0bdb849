import type { Image, Row } from "../storage/row";
import type { SqlValue } from "../values";
import type { Grouper } from "./bind/grouping";
import type { OrderKey } from "./bind/ordering";
import { compareKeyRows, keysOf } from "./bind/ordering";
import type { Consume } from "./bind/query";
import type { Hoisted, SourceColumn } from "./bind/scope";
import type { KeptRow, WindowSet } from "./bind/windows";
import type { Condition, Scalar } from "./expression";
import { truthOf, valueOf } from "./expression";
import type { Frame } from "./frame";
import { hashKeys } from "./hash-key";
import { SqlError } from "./sql-error";
import type { Source, WantedOrder } from "./source";
import { emitted } from "./source";
import type { Steps } from "./steps";

export interface SelectParts {
  readonly source: Source | undefined;
  /** Conditions about no row: tested once. */
  readonly startup: readonly Condition[];
  /** Queries that are the same for all rows. */
  readonly hoisted: readonly Hoisted[];
  readonly grouper: Grouper | undefined;
  readonly windows: WindowSet | undefined;
  readonly having: Condition | undefined;
  readonly order: readonly OrderKey[];
  readonly wantedOrder: readonly WantedOrder[] | undefined;
  readonly items: readonly Scalar[];
  readonly columns: readonly SourceColumn[];
  readonly isDistinct: boolean;
  readonly top: Scalar | undefined;
  readonly offset: Scalar | undefined;
  readonly fetch: Scalar | undefined;
  readonly slots: readonly number[];
  /** Only whether there is a row counts. */
  readonly asksForAny: boolean;
}

/** Where one run of a SELECT stands. */
interface Progress {
  readonly limit: number;
  readonly skip: number;
  count: number;
  readonly seen: Set<string> | undefined;
}

/**
 * Runs a SELECT: rows of FROM, groups, windows, order, then items. Where the order is served by the index, and there are no
 * groups and windows, rows stream and TOP stops the scan; else all are read, and locked, first (access path, rule 4).
 */
export class SelectRun {
  readonly #parts: SelectParts;
  #isStreaming: boolean | undefined;
  readonly #isPlainProjection: boolean;

  constructor(parts: SelectParts) {
    this.#parts = parts;
    this.#isPlainProjection = parts.items.every((item) => item.run === undefined);
  }

  *run(frame: Frame, consume: Consume): Steps<boolean> {
    const { source, startup, hoisted } = this.#parts;
    const progress = yield* this.#begin(frame);
    if (progress.limit <= 0) return false;
    for (const once of hoisted) yield* once(frame);
    let isOn = true;
    for (const condition of startup) isOn = isOn && (yield* truthOf(condition, frame)) === true;
    if (!isOn && this.#parts.grouper === undefined) return false;
    const isBackwards = this.#isBackwards(frame);
    if (this.#streams && !isBackwards) {
      const emit = (): boolean | Steps<boolean> => this.#emit(frame, progress, consume);
      return source === undefined
        ? yield* emitted(emit())
        : yield* this.#stream(frame, emit, progress);
    }
    const rows = yield* this.#gather(frame, isOn, isBackwards);
    // Groups of rows that come backwards do so already.
    if (isBackwards && this.#parts.grouper === undefined) rows.reverse();
    this.#parts.windows?.compute(rows, frame);
    for (const row of this.#sorted(rows, frame)) {
      row.restore(frame);
      if (this.#parts.windows !== undefined) frame.rows[this.#parts.windows.slot] = row.windows;
      if (yield* emitted(this.#emit(frame, progress, consume))) return true;
      if (progress.count >= progress.limit) return false;
    }
    return false;
  }

  /** Whether a scan was stopped by TOP or by the asker: only the latter is passed on. */
  *#stream(frame: Frame, emit: () => boolean | Steps<boolean>, progress: Progress): Steps<boolean> {
    let isEnough = false;
    const stop = (result: boolean): boolean => {
      isEnough = result;
      return result || progress.count >= progress.limit;
    };
    yield* this.#source.run(frame, () => {
      const result = emit();
      return typeof result === "boolean" ? stop(result) : stopLater(result, stop);
    });
    return isEnough;
  }

  get #source(): Source {
    const { source } = this.#parts;
    if (source === undefined) throw new Error("A SELECT without FROM has no source");
    return source;
  }

  get #streams(): boolean {
    this.#isStreaming ??= this.#canStream();
    return this.#isStreaming;
  }

  /** A TOP stops as soon as it has its rows, unless its rows come backwards, too: what is locked depends on it. */
  #isBackwards(frame: Frame): boolean {
    const { source, top, asksForAny } = this.#parts;
    if (source === undefined || asksForAny) return false;
    const { rowsBackwards, topsBackwards } = frame.connection.world.options;
    return top === undefined ? rowsBackwards : topsBackwards;
  }

  #canStream(): boolean {
    const { grouper, windows, order, source, wantedOrder } = this.#parts;
    if (grouper !== undefined || windows !== undefined) return false;
    if (order.length === 0 || source === undefined) return true;
    return wantedOrder !== undefined && source.serveOrder(wantedOrder);
  }

  *#begin(frame: Frame): Steps<Progress> {
    const { top, offset, fetch } = this.#parts;
    const skip = offset === undefined ? 0 : Number(yield* valueOf(offset, frame));
    const count = top ?? fetch;
    const limit =
      count === undefined ? Number.POSITIVE_INFINITY : limitOf(yield* valueOf(count, frame));
    return { limit, skip, count: -skip, seen: this.#parts.isDistinct ? new Set() : undefined };
  }

  // ---- keeping rows

  *#gather(frame: Frame, isOn: boolean, isBackwards: boolean): Steps<KeptRow[]> {
    const { grouper, having, source } = this.#parts;
    if (grouper === undefined) return yield* this.#keepAll(frame);
    const groups = grouper.start();
    const add = (): boolean | Steps<boolean> => groups.add(frame);
    if (isOn && source === undefined) yield* emitted(add());
    if (isOn && source !== undefined && !isBackwards) yield* source.run(frame, add);
    if (isOn && isBackwards) {
      const kept = yield* this.#keepAll(frame);
      for (const row of kept.reverse()) {
        row.restore(frame);
        yield* emitted(add());
      }
    }
    const rows: KeptRow[] = [];
    for (const group of groups.rows()) {
      frame.rows[grouper.slot] = group;
      if (having !== undefined && (yield* truthOf(having, frame)) !== true) continue;
      rows.push(keepOne(grouper.slot, group));
    }
    return rows;
  }

  *#keepAll(frame: Frame): Steps<KeptRow[]> {
    const { source } = this.#parts;
    if (source === undefined) return [this.#keep(frame)];
    const kept: KeptRow[] = [];
    yield* source.run(frame, () => {
      kept.push(this.#keep(frame));
      return false;
    });
    return kept;
  }

  #keep(frame: Frame): KeptRow {
    const { slots } = this.#parts;
    const images: (Image | undefined)[] = slots.map((slot) => frame.rows[slot]);
    const hits: (Row | undefined)[] = slots.map((slot) => frame.hits[slot]);
    return {
      windows: [],
      restore: (to) => {
        slots.forEach((slot, at) => {
          const [image, hit] = [images[at], hits[at]];
          if (image !== undefined) to.rows[slot] = image;
          if (hit !== undefined) to.hits[slot] = hit;
        });
      },
    };
  }

  #sorted(rows: readonly KeptRow[], frame: Frame): readonly KeptRow[] {
    const { order, windows } = this.#parts;
    if (order.length === 0) return rows;
    const keyed = rows.map((row) => {
      row.restore(frame);
      if (windows !== undefined) frame.rows[windows.slot] = row.windows;
      return { row, keys: keysOf(order, frame) };
    });
    keyed.sort((left, right) => compareKeyRows(order, left.keys, right.keys));
    return keyed.map(({ row }) => row);
  }

  // ---- giving rows

  /** True: the asker has enough. The count tells that TOP is reached. */
  #emit(frame: Frame, progress: Progress, consume: Consume): boolean | Steps<boolean> {
    if (!this.#isPlainProjection) return this.#emitInSteps(frame, progress, consume);
    const values = this.#parts.items.map((item) => item.evaluate(frame));
    return this.#give(values, progress, consume);
  }

  *#emitInSteps(frame: Frame, progress: Progress, consume: Consume): Steps<boolean> {
    const values: SqlValue[] = [];
    for (const item of this.#parts.items) values.push(yield* valueOf(item, frame));
    return yield* emitted(this.#give(values, progress, consume));
  }

  #give(values: SqlValue[], progress: Progress, consume: Consume): boolean | Steps<boolean> {
    if (progress.seen !== undefined) {
      const key = hashKeys(values, this.#parts.columns);
      if (progress.seen.has(key)) return false;
      progress.seen.add(key);
    }
    progress.count += 1;
    return progress.count <= 0 ? false : consume(values);
  }
}

function* stopLater(steps: Steps<boolean>, stop: (result: boolean) => boolean): Steps<boolean> {
  return stop(yield* steps);
}

function keepOne(slot: number, row: Image): KeptRow {
  return {
    windows: [],
    restore: (frame) => {
      frame.rows[slot] = row;
    },
  };
}

function limitOf(value: SqlValue): number {
  if (value === null) {
    throw new SqlError(
      1060,
      "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.",
    );
  }
  if (Number(value) < 0) {
    throw new SqlError(1060, "A TOP N or FETCH rowcount value may not be negative.");
  }
  return Number(value);
}
