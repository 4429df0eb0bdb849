/** A piece of a statement that a tool may cut out or change: the tree has no places, the texts do. */
export interface Piece {
  readonly kind: PieceKind;
  /** From its first character to behind the last one, counted from 0 in the file. */
  readonly start: number;
  readonly end: number;
}

export type PieceKind =
  /** A whole condition that isn't joined by AND or OR. */
  | "condition"
  /** One of those joined by AND, and by OR. */
  | "conjunct"
  | "disjunct"
  /** The word AND or OR between them. */
  | "connective"
  /** The sign of a comparison. */
  | "comparison"
  /** The word NOT: before a condition, in IS NOT NULL, NOT IN, NOT BETWEEN, NOT LIKE. */
  | "not"
  /** A number among values, arguments of EXEC and defaults of parameters, and the number of THROW. */
  | "number"
  /** One table hint, and WITH (..) around them. */
  | "hint"
  | "hints"
  | "top"
  /** One of those to sort by, and ORDER BY with all of them. */
  | "orderItem"
  | "orderBy"
  /** One of SET of an UPDATE. */
  | "setItem"
  /** `@v = value` in a SELECT. */
  | "assignment"
  /** `= value` in a DECLARE. */
  | "initialValue"
  /** One of SET .., .. ON. */
  | "option";
