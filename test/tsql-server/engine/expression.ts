import { defaultCollation } from "../storage/collation";
import type { SqlValue } from "../values";
import type { Frame } from "./frame";
import { SqlError } from "./sql-error";
import type { Steps } from "./steps";
import type { ValueType } from "./types";

/** Expressions after binding: a static type and a closure. Compiled once per text; nothing of a run is kept in them. */

export type Evaluate = (frame: Frame) => SqlValue;
export type Truth = boolean | null;

/** Where a text's collation comes from [doc: Collation precedence]: a stated one wins over columns, these over the rest. */
export interface Collation {
  readonly name: string;
  readonly rank: "explicit" | "implicit" | "default";
}

export const databaseCollation: Collation = { name: defaultCollation, rank: "default" };

export interface Scalar {
  readonly type: ValueType;
  readonly isNullable: boolean;
  readonly collation: Collation;
  /** Slots of the sources that it reads. */
  readonly uses: ReadonlySet<number>;
  readonly evaluate: Evaluate;
  /** In place of `evaluate` where it contains a query. */
  readonly run: ((frame: Frame) => Steps<SqlValue>) | undefined;
  /** The value of a literal. */
  readonly constant: SqlValue | undefined;
  /** NULL without a type: fits anything. */
  readonly isUntyped: boolean;
  /** A plain column: an index may serve it. */
  readonly column: { readonly slot: number; readonly place: number } | undefined;
}

export interface Condition {
  readonly uses: ReadonlySet<number>;
  readonly test: (frame: Frame) => Truth;
  readonly run: ((frame: Frame) => Steps<Truth>) | undefined;
  /** `operand IN (values)`, where the values are the same for all rows: an index may serve it, one value after the other. */
  readonly membership?: Membership;
}

export interface Membership {
  readonly operand: Scalar;
  /** Has the values' type. */
  readonly item: Scalar;
  readonly values: (frame: Frame) => readonly SqlValue[];
}

const noUses: ReadonlySet<number> = new Set();

const cannotEvaluate: Evaluate = () => {
  throw new Error("An expression with a query must be run in steps");
};

/** What a scalar is besides its evaluation. */
export interface ScalarShape {
  type: ValueType;
  isNullable?: boolean;
  collation?: Collation;
  uses?: ReadonlySet<number>;
  constant?: SqlValue;
  isUntyped?: boolean;
  column?: { slot: number; place: number };
}

export function scalarOf(shape: ScalarShape, evaluate: Evaluate): Scalar {
  return {
    type: shape.type,
    isNullable: shape.isNullable ?? true,
    collation: shape.collation ?? databaseCollation,
    uses: shape.uses ?? noUses,
    evaluate,
    run: undefined,
    constant: shape.constant,
    isUntyped: shape.isUntyped ?? false,
    column: shape.column,
  };
}

export function steppedScalar(shape: ScalarShape, run: (frame: Frame) => Steps<SqlValue>): Scalar {
  return { ...scalarOf(shape, cannotEvaluate), run };
}

export function literal(type: ValueType, value: SqlValue): Scalar {
  return scalarOf({ type, isNullable: value === null, constant: value }, () => value);
}

export function unite(
  parts: readonly { readonly uses: ReadonlySet<number> }[],
): ReadonlySet<number> {
  const first = parts.find((part) => part.uses.size > 0);
  if (first === undefined) return noUses;
  if (parts.every((part) => part === first || part.uses.size === 0)) return first.uses;
  return new Set(parts.flatMap((part) => [...part.uses]));
}

/** The value, in steps where it takes steps. */
export function* valueOf(scalar: Scalar, frame: Frame): Steps<SqlValue> {
  return scalar.run === undefined ? scalar.evaluate(frame) : yield* scalar.run(frame);
}

export function* truthOf(condition: Condition, frame: Frame): Steps<Truth> {
  return condition.run === undefined ? condition.test(frame) : yield* condition.run(frame);
}

type Apply = (values: readonly SqlValue[], frame: Frame) => SqlValue;

/** A function of its arguments' values, all of which are evaluated, left to right. */
export function apply(shape: ScalarShape, parts: readonly Scalar[], compute: Apply): Scalar {
  const uses = unite(parts);
  if (parts.some((part) => part.run !== undefined)) {
    return steppedScalar({ ...shape, uses }, function* (frame) {
      const values: SqlValue[] = [];
      for (const part of parts) values.push(yield* valueOf(part, frame));
      return compute(values, frame);
    });
  }
  const evaluations = parts.map((part) => part.evaluate);
  return scalarOf({ ...shape, uses }, (frame) =>
    compute(
      evaluations.map((evaluate) => evaluate(frame)),
      frame,
    ),
  );
}

/** A function of one value that isn't NULL; NULL gives NULL. */
export function applyOne(
  shape: ScalarShape,
  part: Scalar,
  compute: (value: Exclude<SqlValue, null>, frame: Frame) => SqlValue,
): Scalar {
  const whole = { isNullable: part.isNullable, ...shape, uses: part.uses };
  if (part.run !== undefined) {
    return steppedScalar(whole, function* (frame) {
      const value = yield* valueOf(part, frame);
      return value === null ? null : compute(value, frame);
    });
  }
  const { evaluate } = part;
  return scalarOf(whole, (frame) => {
    const value = evaluate(frame);
    return value === null ? null : compute(value, frame);
  });
}

type ComputeTwo = (left: Exclude<SqlValue, null>, right: Exclude<SqlValue, null>) => SqlValue;

/** A function of two values that aren't NULL; NULL in either gives NULL. */
export function applyTwo(
  shape: ScalarShape,
  parts: readonly [Scalar, Scalar],
  compute: ComputeTwo,
): Scalar {
  const [left, right] = parts;
  const whole = { isNullable: left.isNullable || right.isNullable, ...shape, uses: unite(parts) };
  if (left.run !== undefined || right.run !== undefined) {
    return steppedScalar(whole, function* (frame) {
      const one = yield* valueOf(left, frame);
      const other = yield* valueOf(right, frame);
      return one === null || other === null ? null : compute(one, other);
    });
  }
  const evaluateLeft = left.evaluate;
  const evaluateRight = right.evaluate;
  return scalarOf(whole, (frame) => {
    const one = evaluateLeft(frame);
    if (one === null) return null;
    const other = evaluateRight(frame);
    return other === null ? null : compute(one, other);
  });
}

/** A condition on two values; unknown when either is NULL. */
export function compareTwo(
  parts: readonly [Scalar, Scalar],
  compute: (left: Exclude<SqlValue, null>, right: Exclude<SqlValue, null>) => Truth,
): Condition {
  const [left, right] = parts;
  const uses = unite(parts);
  if (left.run !== undefined || right.run !== undefined) {
    return steppedCondition(uses, function* (frame) {
      const one = yield* valueOf(left, frame);
      const other = yield* valueOf(right, frame);
      return one === null || other === null ? null : compute(one, other);
    });
  }
  const evaluateLeft = left.evaluate;
  const evaluateRight = right.evaluate;
  const test = (frame: Frame): Truth => {
    const one = evaluateLeft(frame);
    if (one === null) return null;
    const other = evaluateRight(frame);
    return other === null ? null : compute(one, other);
  };
  return { uses, test, run: undefined };
}

export function steppedCondition(
  uses: ReadonlySet<number>,
  run: (frame: Frame) => Steps<Truth>,
): Condition {
  const test = (): Truth => {
    throw new Error("A condition with a query must be run in steps");
  };
  return { uses, test, run };
}

/** The collation of a result of several texts; two columns of different ones can't be joined or compared (468). */
export function combineCollations(parts: readonly Scalar[], operation: string): Collation {
  let result = databaseCollation;
  for (const { collation } of parts) {
    if (collation.rank === result.rank) {
      if (collation.rank === "default" || collation.name === result.name) continue;
      throw new SqlError(
        468,
        `Cannot resolve the collation conflict between "${result.name}" and "${collation.name}" in the ${operation} operation.`,
        { state: 9 },
      );
    }
    if (rankOf(collation) > rankOf(result)) result = collation;
  }
  return result;
}

function rankOf(collation: Collation): number {
  return collation.rank === "explicit" ? 2 : collation.rank === "implicit" ? 1 : 0;
}
