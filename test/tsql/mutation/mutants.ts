import type { Batch, Span } from "../../tsql-server/syntax/ast-statements";
import type { Token } from "../../tsql-server/syntax/lexer";
import { parseScript } from "../../tsql-server/syntax/parser";
import type { Piece, PieceKind } from "../../tsql-server/syntax/pieces";
import { TsqlSyntaxError } from "../../tsql-server/syntax/syntax-error";
import { applyEdits } from "./edits";
import type { Edit } from "./edits";
import { isIndependent } from "./independence";
import type { PlacedStatement, Source } from "./source";
import { isCompound, isWrite } from "./statements";

/*
 * Every systematic edit of a shipped file. One mutant is one edit; a suite that notices none of its effects has a gap
 * there, or the edit changes nothing visible.
 */

export type MutantKind =
  /** A table hint is dropped, or all of one table. */
  | "hint"
  /** A condition, or one part of it, is taken for granted. */
  | "condition"
  /** An ORDER BY or one item of it is dropped or turned, a TOP is dropped. */
  | "order"
  /** Two neighbouring statements change places. */
  | "swap"
  /** A statement that changes something is dropped. */
  | "write"
  /** < becomes <=, = becomes <>. */
  | "comparison"
  /** NOT is dropped. */
  | "not"
  /** AND becomes OR. */
  | "connective"
  /** A number becomes one more, one less. */
  | "number"
  /** One item of SET, one assigned variable or one initial value is dropped. */
  | "assignment"
  /** One of several options of the session is dropped. */
  | "option"
  /** Not systematic: a developer's own. */
  | "own";

/** A shipped file with one edit. */
export interface Mutant {
  readonly source: Source;
  readonly kind: MutantKind;
  /** Where it begins, for people. */
  readonly line: number;
  readonly edits: readonly Edit[];
  /** The innermost statement that it changes; undefined: something before the first statement. */
  readonly statementId: number | undefined;
}

/** What became of a mutant's text. */
export type Reading =
  | { readonly kind: "read"; readonly text: string; readonly batch: Batch }
  /** The tree is the same as of the shipped file. */
  | { readonly kind: "equal" }
  | { readonly kind: "unreadable"; readonly reason: string };

/** All mutants of a file, in the order of the text. */
export function listMutants(source: Source): Mutant[] {
  const made = [
    ...source.batch.pieces.flatMap((piece) => fromPiece(source, piece)),
    ...source.statements.flatMap((placed) => fromStatement(source, placed)),
  ];
  return made.sort((a, b) => startOf(a) - startOf(b));
}

/** Reads a mutant's text. */
export function readMutant(mutant: Mutant): Reading {
  const { source, edits } = mutant;
  const text = applyEdits(source.text, edits);
  try {
    const [batch] = parseScript(text, source.name);
    if (batch === undefined) return { kind: "unreadable", reason: "nothing is left" };
    if (shapeOf(batch) === shapeOf(source.batch)) return { kind: "equal" };
    return { kind: "read", text, batch };
  } catch (error) {
    if (error instanceof TsqlSyntaxError) return { kind: "unreadable", reason: error.message };
    throw error;
  }
}

function startOf(mutant: Mutant): number {
  return Math.min(...mutant.edits.map((edit) => edit.start));
}

function shapeOf(batch: Batch): string {
  return JSON.stringify(batch.statements, (key, value: unknown) => {
    if (key === "line" || key === "statementId") return undefined;
    return typeof value === "bigint" ? `${String(value)}n` : value;
  });
}

function make(source: Source, kind: MutantKind, edits: readonly Edit[]): Mutant {
  const start = Math.min(...edits.map((edit) => edit.start));
  const end = Math.max(...edits.map((edit) => edit.end));
  const placed = source.statementAt({ start, end });
  return {
    source,
    kind,
    line: source.lineOf(start),
    edits,
    statementId: placed?.statement.statementId,
  };
}

// ---- pieces

type Maker = (source: Source, piece: Piece) => Mutant[];

const makers: Readonly<Record<PieceKind, Maker>> = {
  hint: (source, piece) => dropItem(source, piece, "hint"),
  hints: (source, piece) => [cut(source, piece, "hint")],
  condition: (source, piece) => [make(source, "condition", [{ ...piece, text: "1 = 1" }])],
  conjunct: dropOperand,
  disjunct: dropOperand,
  connective: (source, piece) => {
    const text = source.textOf(piece).toUpperCase() === "AND" ? "OR" : "AND";
    return [make(source, "connective", [{ ...piece, text }])];
  },
  comparison: (source, piece) => {
    const text = opposites.get(source.textOf(piece));
    return text === undefined ? [] : [make(source, "comparison", [{ ...piece, text }])];
  },
  not: (source, piece) => [cut(source, piece, "not")],
  number: changeNumber,
  top: (source, piece) => [make(source, "order", [{ ...piece, text: "TOP (2147483647)" }])],
  orderItem: turnOrDropOrder,
  orderBy: (source, piece) => {
    const isOne = !hasCommaOutside(source.tokensIn(piece));
    return isOne ? [cut(source, piece, "order")] : [];
  },
  setItem: (source, piece) => dropItem(source, piece, "assignment"),
  assignment: (source, piece) => dropItem(source, piece, "assignment"),
  initialValue: (source, piece) => [cut(source, piece, "assignment")],
  option: (source, piece) => dropItem(source, piece, "option"),
};

const opposites: ReadonlyMap<string, string> = new Map([
  ["<", "<="],
  ["<=", "<"],
  [">", ">="],
  [">=", ">"],
  ["=", "<>"],
  ["<>", "="],
  ["!=", "="],
]);

function fromPiece(source: Source, piece: Piece): Mutant[] {
  return makers[piece.kind](source, piece);
}

function cut(source: Source, span: Span, kind: MutantKind): Mutant {
  return make(source, kind, [{ ...withBlanksBefore(source, span), text: "" }]);
}

function withBlanksBefore(source: Source, { start, end }: Span): Span {
  const before = source.text.slice(0, start);
  return { start: before.trimEnd().length, end };
}

/** One of a list with commas; the only one of a list stays, as its list is dropped as a whole elsewhere. */
function dropItem(source: Source, { start, end }: Span, kind: MutantKind): Mutant[] {
  const before = source.tokenAt(start, -1);
  const behind = source.tokenAt(end);
  if (behind?.text === ",") {
    const next = source.tokenAt(behind.end);
    return next ? [make(source, kind, [{ start, end: next.start, text: "" }])] : [];
  }
  if (before?.text !== ",") return [];
  return [make(source, kind, [{ start: before.start, end, text: "" }])];
}

/** One of those joined by AND or OR, with the word beside it. */
function dropOperand(source: Source, { start, end, kind }: Piece): Mutant[] {
  const word = kind === "conjunct" ? "AND" : "OR";
  const before = source.tokenAt(start, -1);
  if (before?.upper === word) {
    const blank = withBlanksBefore(source, before);
    return [make(source, "condition", [{ start: blank.start, end, text: "" }])];
  }
  const behind = source.tokenAt(end);
  const next = behind && source.tokenAt(behind.end);
  return next ? [make(source, "condition", [{ start, end: next.start, text: "" }])] : [];
}

function changeNumber(source: Source, piece: Piece): Mutant[] {
  const written = source.textOf(piece);
  if (!/^-?\s*\d+$/.test(written) || isNothingSelected(source, piece)) return [];
  const value = BigInt(written.replace(/\s/g, ""));
  return [value + 1n, value - 1n].map((changed) => {
    // Behind a minus sign a second one would begin a comment; arguments of EXEC take no parentheses.
    const isBehindMinus = source.tokenAt(piece.start, -1)?.text === "-";
    const text = isBehindMinus && changed < 0n ? `(${String(changed)})` : String(changed);
    return make(source, "number", [{ ...piece, text }]);
  });
}

/** EXISTS (SELECT 1 ..: the value is never looked at. */
function isNothingSelected(source: Source, { start }: Span): boolean {
  const [exists, open, select] = [-3, -2, -1].map((distance) => source.tokenAt(start, distance));
  return exists?.upper === "EXISTS" && open?.text === "(" && select?.upper === "SELECT";
}

function turnOrDropOrder(source: Source, piece: Piece): Mutant[] {
  const last = source.tokensIn(piece).at(-1);
  if (last === undefined) return [];
  const isDirection = last.upper === "DESC" || last.upper === "ASC";
  const rest = isDirection ? withBlanksBefore(source, last).start : piece.end;
  const text = last.upper === "DESC" ? "" : " DESC";
  const turned = make(source, "order", [{ start: rest, end: piece.end, text }]);
  return [turned, ...dropItem(source, piece, "order")];
}

function hasCommaOutside(tokens: readonly Token[]): boolean {
  let depth = 0;
  for (const { text } of tokens) {
    if (text === "(") depth += 1;
    else if (text === ")") depth -= 1;
    else if (text === "," && depth === 0) return true;
  }
  return false;
}

// ---- statements

/** In place of a dropped statement: it changes nothing, @@ROWCOUNT neither, and may stand anywhere. */
const nothing = "DECLARE @vNothing bit";

function fromStatement(source: Source, placed: PlacedStatement): Mutant[] {
  const { statement, span, next } = placed;
  const mutants: Mutant[] = [];
  if (isWrite(statement)) mutants.push(make(source, "write", [{ ...span, text: nothing }]));
  if (next !== undefined && statement.kind !== "declare" && next.kind !== "declare") {
    const second = source.spanOf(next);
    if (!isIndependent(source, placed)) {
      const edits = [
        { ...span, text: source.textOf(second) },
        { ...second, text: source.textOf(span) },
      ];
      // It shows when either runs, and either runs before the other: the first one stands for both.
      const { statementId } = statement;
      mutants.push({ ...make(source, "swap", edits), statementId });
    }
  }
  return isCompound(statement) && mutants.length === 0 ? [] : mutants;
}
