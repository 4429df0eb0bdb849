import type { Case } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import type { Collation, Condition, Scalar } from "../expression";
import {
  combineCollations,
  databaseCollation,
  scalarOf,
  steppedScalar,
  truthOf,
  unite,
  valueOf,
} from "../expression";
import { SqlError } from "../sql-error";
import type { ValueType } from "../types";
import { commonType, isText } from "../types";
import { convertTo } from "./conversions";
import { bindExpression } from "./expressions";
import { bindPredicate, compareScalars } from "./predicates";
import type { Scope } from "./scope";

interface Branch {
  readonly when: Condition;
  readonly then: Scalar;
}

/** CASE in both forms, and IIF: only the branch that is chosen is evaluated. */
export function bindCase(node: Case, scope: Scope): Scalar {
  const branches = bindBranches(node, scope);
  const otherwise =
    node.otherwise === undefined ? undefined : bindExpression(node.otherwise, scope);
  return choose(branches, otherwise);
}

function bindBranches(node: Case, scope: Scope): Branch[] {
  if (node.kind === "searchedCase") {
    return node.branches.map((branch) => ({
      when: bindPredicate(branch.when, scope),
      then: bindExpression(branch.then, scope),
    }));
  }
  const input = bindExpression(node.input, scope);
  return node.branches.map((branch) => ({
    when: compareScalars(input, bindExpression(branch.when, scope), "="),
    then: bindExpression(branch.then, scope),
  }));
}

/** The type of the highest precedence, not that of the branch that is taken; untyped NULLs have no say. */
export function resultType(values: readonly Scalar[]): ValueType {
  const typed = values.filter((value) => !value.isUntyped).map((value) => value.type);
  const [first, ...rest] = typed;
  if (first === undefined) {
    throw new SqlError(
      8133,
      "At least one of the result expressions in a CASE specification must be an expression other than the NULL constant.",
    );
  }
  return rest.reduce(commonType, first);
}

export function resultCollation(values: readonly Scalar[], operation: string): Collation {
  const texts = values.filter((value) => isText(value.type) && !value.isUntyped);
  return texts.length === 0 ? databaseCollation : combineCollations(texts, operation);
}

function choose(branches: readonly Branch[], otherwise: Scalar | undefined): Scalar {
  const values = [
    ...branches.map((branch) => branch.then),
    ...(otherwise === undefined ? [] : [otherwise]),
  ];
  const type = resultType(values);
  const collation = resultCollation(values, "CASE");
  const fitted = branches.map((branch) => ({
    when: branch.when,
    then: convertTo(branch.then, type),
  }));
  const last = otherwise === undefined ? undefined : convertTo(otherwise, type);
  const shape = {
    type,
    collation,
    isNullable: last === undefined || values.some((value) => value.isNullable),
    uses: unite([...branches.map((branch) => branch.when), ...values]),
  };
  const isStepped = fitted.some(
    (branch) => branch.when.run !== undefined || branch.then.run !== undefined,
  );
  if (isStepped || last?.run !== undefined) {
    return steppedScalar(shape, function* (frame) {
      for (const branch of fitted) {
        if ((yield* truthOf(branch.when, frame)) === true)
          return yield* valueOf(branch.then, frame);
      }
      return last === undefined ? null : yield* valueOf(last, frame);
    });
  }
  return scalarOf(shape, (frame) => {
    for (const branch of fitted) {
      if (branch.when.test(frame) === true) return branch.then.evaluate(frame);
    }
    return last === undefined ? null : last.evaluate(frame);
  });
}

/** COALESCE: the first that isn't NULL; the rest is left alone. */
export function firstPresent(parts: readonly Scalar[]): Scalar {
  const type = resultType(parts);
  const collation = resultCollation(parts, "COALESCE");
  const fitted = parts.map((part) => convertTo(part, type));
  const shape = {
    type,
    collation,
    isNullable: parts.every((part) => part.isNullable),
    uses: unite(parts),
  };
  if (fitted.some((part) => part.run !== undefined)) {
    return steppedScalar(shape, function* (frame) {
      let value: SqlValue = null;
      for (const part of fitted) {
        value = yield* valueOf(part, frame);
        if (value !== null) break;
      }
      return value;
    });
  }
  return scalarOf(shape, (frame) => {
    for (const part of fitted) {
      const value = part.evaluate(frame);
      if (value !== null) return value;
    }
    return null;
  });
}
