import type { IndexSchema, TableSchema } from "../storage/schema";
import type { ForcedPath } from "./options";

/**
 * Which index serves a scan, and how. A rule of the model, not the server's optimizer: pure and deterministic, so that the
 * same text always has the same plan.
 * 1. An index that is named wins. 2. Else, of the clustered one and those whose filter is implied: a whole unique key by
 * equality, without a lookup if there is such; more leading columns by equality; a range on the next one; an order that is
 * wanted; a filter; covering; clustered; name. 3. Plain, as strict modules want it: a whole unique key, or one that is named,
 * or FORCESEEK with exactly one that fits.
 */

/** A condition that an index could serve: on a column of the table, with a value known before. */
export interface PathTerm {
  readonly column: number;
  readonly operator: "=" | "<" | "<=" | ">" | ">=";
  /** An equality with each of several values (IN): one walk per value. */
  readonly hasSeveral: boolean;
}

export interface PathOrder {
  readonly column: number;
  readonly isDescending: boolean;
}

export interface PathQuestion {
  readonly terms: readonly PathTerm[];
  /** By place of the index: may it be used, as far as its filter goes? */
  readonly isFilterImplied: readonly boolean[];
  readonly readColumns: ReadonlySet<number>;
  /** Empty when none is wanted. */
  readonly order: readonly PathOrder[];
  readonly indexName: string | undefined;
  readonly isForceSeek: boolean;
  /** Taken against all hints. */
  readonly forced: ForcedPath | undefined;
}

export interface AccessPath {
  readonly index: IndexSchema;
  /** Places in `terms`: one per leading column of the key. */
  readonly equal: readonly number[];
  readonly low: number | undefined;
  readonly high: number | undefined;
  readonly isBackward: boolean;
  readonly isOrderServed: boolean;
  /** At most one row can qualify. */
  readonly isWholeUniqueKey: boolean;
  /** The row itself need not be read. */
  readonly isCovering: boolean;
}

export type PathAnswer =
  | { readonly kind: "path"; readonly path: AccessPath; readonly isPlain: boolean }
  /** No index of that name (308), or hints that leave no plan (8622). */
  | { readonly kind: "error"; readonly number: 308 | 8622 };

export function choosePath(table: TableSchema, question: PathQuestion): PathAnswer {
  const usable = table.indexes.filter((index) => question.isFilterImplied[index.place] === true);
  if (question.forced !== undefined) return takeForced(usable, question, question.forced);
  if (question.indexName !== undefined) return takeNamed(table, usable, question);
  const paths = usable.map((index) => considerIndex(index, question));
  const fitting = question.isForceSeek ? paths.filter(isSeek) : paths;
  const best = fitting.reduce<AccessPath | undefined>(
    (left, right) => (left === undefined || isBetter(right, left) ? right : left),
    undefined,
  );
  if (best === undefined) return { kind: "error", number: 8622 };
  const isPlain = best.isWholeUniqueKey || (question.isForceSeek && fitting.length === 1);
  return { kind: "path", path: best, isPlain };
}

/** A way that a server's optimizer might take, were it not for the text or for its costs. */
export interface OtherPath extends ForcedPath {
  /** The text leaves it open: no hint forbids it. */
  readonly isAllowed: boolean;
}

/**
 * All ways but the one taken: a seek through each index whose key serves a condition, and a walk from end to end through each
 * one that has all columns. Looking every row of an index up from end to end is no plan: the clustered one is cheaper.
 */
export function otherPaths(
  table: TableSchema,
  question: PathQuestion,
  taken: AccessPath,
): OtherPath[] {
  const named = question.indexName?.toLowerCase();
  return table.indexes
    .filter((index) => question.isFilterImplied[index.place] === true)
    .map((index) => considerIndex(index, question))
    .flatMap((path) => {
      const index = path.index.name;
      const isNamed = named === undefined || named === index.toLowerCase();
      const isTaken = path.index === taken.index;
      const seek = { index, isScan: false, isAllowed: isNamed };
      const scan = { index, isScan: true, isAllowed: isNamed && !question.isForceSeek };
      return [
        ...(isSeek(path) && !(isTaken && isSeek(taken)) ? [seek] : []),
        ...(path.isCovering && !(isTaken && !isSeek(taken)) ? [scan] : []),
      ];
    });
}

function takeForced(
  usable: readonly IndexSchema[],
  question: PathQuestion,
  forced: ForcedPath,
): PathAnswer {
  const index = usable.find((one) => one.name === forced.index);
  if (index === undefined) return { kind: "error", number: 8622 };
  const path = considerIndex(index, forced.isScan ? { ...question, terms: [] } : question);
  return { kind: "path", path, isPlain: true };
}

function takeNamed(
  table: TableSchema,
  usable: readonly IndexSchema[],
  question: PathQuestion,
): PathAnswer {
  const wanted = question.indexName?.toLowerCase();
  const index = usable.find((one) => one.name.toLowerCase() === wanted);
  if (index === undefined) {
    const isKnown = table.indexes.some((one) => one.name.toLowerCase() === wanted);
    return { kind: "error", number: isKnown ? 8622 : 308 };
  }
  const path = considerIndex(index, question);
  if (question.isForceSeek && !isSeek(path)) return { kind: "error", number: 8622 };
  return { kind: "path", path, isPlain: true };
}

function isSeek(path: AccessPath): boolean {
  return path.equal.length > 0 || path.low !== undefined || path.high !== undefined;
}

function isBetter(left: AccessPath, right: AccessPath): boolean {
  const [one, other] = [rank(left), rank(right)];
  for (const [at, value] of one.entries()) {
    const difference = value - (other[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return left.index.name < right.index.name;
}

function rank(path: AccessPath): number[] {
  return [
    path.isWholeUniqueKey,
    // One row is one row: what matters is whether it must be looked up.
    path.isWholeUniqueKey && path.isCovering,
    path.equal.length,
    path.low !== undefined || path.high !== undefined,
    path.isOrderServed,
    path.index.filter !== undefined,
    path.isCovering,
    path.index.isClustered,
  ].map(Number);
}

function considerIndex(index: IndexSchema, question: PathQuestion): AccessPath {
  const equal: number[] = [];
  let hasSeveral = false;
  for (const column of index.keyColumns) {
    const fits = (term: PathTerm): boolean => term.column === column && term.operator === "=";
    let place = question.terms.findIndex((term) => fits(term) && !term.hasSeveral);
    if (place < 0 && !hasSeveral) {
      place = question.terms.findIndex(fits);
      hasSeveral = place >= 0;
    }
    if (place < 0) break;
    equal.push(place);
  }
  const next = index.keyColumns[equal.length];
  const find = (sign: string): number | undefined => {
    const place = question.terms.findIndex(
      (term) => term.column === next && term.operator.startsWith(sign),
    );
    return place < 0 ? undefined : place;
  };
  const served = serveOrder(index, question.order, equal.length);
  return {
    index,
    equal,
    low: next === undefined ? undefined : find(">"),
    high: next === undefined ? undefined : find("<"),
    isBackward: served === "backward" && !hasSeveral,
    isOrderServed: served !== undefined && question.order.length > 0 && !hasSeveral,
    isWholeUniqueKey: index.isUnique && equal.length >= index.declaredCount,
    isCovering:
      index.isClustered || [...question.readColumns].every((column) => index.covered.has(column)),
  };
}

/** Columns bound by equality don't count; columns behind a whole unique key don't either. */
function serveOrder(
  index: IndexSchema,
  order: readonly PathOrder[],
  equalCount: number,
): "forward" | "backward" | undefined {
  const bound = new Set(index.keyColumns.slice(0, equalCount));
  let at = equalCount;
  let isBackward: boolean | undefined;
  for (const item of order) {
    if (bound.has(item.column)) continue;
    if (index.isUnique && at >= index.declaredCount) break;
    if (index.keyColumns[at] !== item.column) return undefined;
    const turns = item.isDescending !== index.isDescending[at];
    if (isBackward !== undefined && isBackward !== turns) return undefined;
    isBackward = turns;
    at += 1;
  }
  return isBackward === true ? "backward" : "forward";
}
