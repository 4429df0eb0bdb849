/**
 * Lock modes and their two tables: what fits together, and what two locks of one owner add up to. Nothing else.
 * L1 [doc: Transaction locking and row versioning guide, "Lock compatibility"], L2 [doc: the same guide, "Key-range locking"].
 */

/** Modes of keys, tables, transactions, application locks, and of definitions (Sch-S, Sch-M). */
export type LockMode =
  | "Sch-S"
  | "IS"
  | "IX"
  | "S"
  | "U"
  | "SIX"
  | "X"
  | "RangeS-S"
  | "RangeS-U"
  | "RangeX-X"
  | "RangeI-N"
  | "RangeI-S"
  | "RangeI-U"
  | "RangeI-X"
  | "RangeX-S"
  | "RangeX-U"
  | "Sch-M";

type RowPart = "N" | "Sch-S" | "IS" | "IX" | "S" | "U" | "SIX" | "X" | "Sch-M";
type RangePart = "0" | "S" | "I" | "X";

/** L2: a key-range mode is a mode of the range before the key, and one of the key itself. */
const parts: Record<LockMode, readonly [RangePart, RowPart]> = {
  "Sch-S": ["0", "Sch-S"],
  IS: ["0", "IS"],
  IX: ["0", "IX"],
  S: ["0", "S"],
  U: ["0", "U"],
  SIX: ["0", "SIX"],
  X: ["0", "X"],
  "RangeS-S": ["S", "S"],
  "RangeS-U": ["S", "U"],
  "RangeX-X": ["X", "X"],
  "RangeI-N": ["I", "N"],
  "RangeI-S": ["I", "S"],
  "RangeI-U": ["I", "U"],
  "RangeI-X": ["I", "X"],
  "RangeX-S": ["X", "S"],
  "RangeX-U": ["X", "U"],
  "Sch-M": ["0", "Sch-M"],
};

const rowFits: Record<RowPart, readonly RowPart[]> = {
  N: ["N", "Sch-S", "IS", "IX", "S", "U", "SIX", "X", "Sch-M"],
  "Sch-S": ["N", "Sch-S", "IS", "IX", "S", "U", "SIX", "X"],
  IS: ["N", "Sch-S", "IS", "IX", "S", "U", "SIX"],
  IX: ["N", "Sch-S", "IS", "IX"],
  S: ["N", "Sch-S", "IS", "S", "U"],
  U: ["N", "Sch-S", "IS", "S"],
  SIX: ["N", "Sch-S", "IS"],
  X: ["N", "Sch-S"],
  "Sch-M": ["N"],
};

const rangeFits: Record<RangePart, readonly RangePart[]> = {
  "0": ["0", "S", "I", "X"],
  S: ["0", "S"],
  I: ["0", "I"],
  X: ["0"],
};

const rowStrength: Record<RowPart, number> = {
  N: 0,
  "Sch-S": 1,
  IS: 2,
  IX: 3,
  S: 3,
  U: 4,
  SIX: 5,
  X: 6,
  "Sch-M": 7,
};

export const lockModes = Object.keys(parts) as LockMode[];

function computeFits(left: LockMode, right: LockMode): boolean {
  const [leftRange, leftRow] = parts[left];
  const [rightRange, rightRow] = parts[right];
  return rangeFits[leftRange].includes(rightRange) && rowFits[leftRow].includes(rightRow);
}

/** IX with S or U makes SIX (U counts as S there: update locks are for rows, intents for tables). */
function combineRows(left: RowPart, right: RowPart): RowPart {
  const pair = new Set([left, right]);
  if (pair.has("IX") && (pair.has("S") || pair.has("U"))) return "SIX";
  return rowStrength[left] >= rowStrength[right] ? left : right;
}

/** The held and the requested mode of a gap: an insert where the session has read takes the gap for itself alone. */
function combineRanges(left: RangePart, right: RangePart): RangePart {
  if (left === right || right === "0") return left;
  return left === "0" ? right : "X";
}

/** L2 [doc: Transaction locking and row versioning guide, "Conversion locks"]. */
function computeCombined(left: LockMode, right: LockMode): LockMode {
  if (left === right) return left;
  const [leftRange, leftRow] = parts[left];
  const [rightRange, rightRow] = parts[right];
  const row = combineRows(leftRow, rightRow);
  const range = combineRanges(leftRange, rightRange);
  if (range === "0") return modeOf(range, row);
  // Of a read gap with an exclusive key there is no mode but the strongest.
  if (row === "X" || row === "Sch-M") return range === "I" ? "RangeI-X" : "RangeX-X";
  return modeOf(
    range,
    row === "U" || row === "SIX" || row === "IX" ? "U" : row === "N" ? "N" : "S",
  );
}

function modeOf(range: RangePart, row: RowPart): LockMode {
  const found = lockModes.find((mode) => parts[mode][0] === range && parts[mode][1] === row);
  if (found === undefined) throw new Error(`No lock mode Range${range}-${row}`);
  return found;
}

type ModeTable<Value> = Record<LockMode, Record<LockMode, Value>>;

function tabulate<Value>(compute: (left: LockMode, right: LockMode) => Value): ModeTable<Value> {
  const rows = lockModes.map((left) => [
    left,
    Object.fromEntries(lockModes.map((right) => [right, compute(left, right)])),
  ]);
  return Object.fromEntries(rows) as ModeTable<Value>;
}

const fitTable = tabulate(computeFits);
const combinedTable = tabulate(computeCombined);

/** May two owners hold these at the same time on one resource? */
export function areCompatible(left: LockMode, right: LockMode): boolean {
  return fitTable[left][right];
}

/** The weakest mode that grants what both grant. */
export function combineModes(held: LockMode | undefined, wanted: LockMode): LockMode {
  return held === undefined ? wanted : combinedTable[held][wanted];
}

/** Is `wanted` part of what is held already? */
export function isCovered(held: LockMode | undefined, wanted: LockMode): boolean {
  return held !== undefined && combinedTable[held][wanted] === held;
}
