import type { Expression, ObjectName, UserCall } from "../../syntax/ast";
import type { CreateFunction, Parameter } from "../../syntax/ast-statements";
import type { Query } from "../../syntax/ast";
import { printName } from "../catalog";
import type { Scalar } from "../expression";
import { literal, steppedScalar, unite, valueOf } from "../expression";
import { callFunction } from "../procedures";
import { SqlError, sqlErrors } from "../sql-error";
import type { SqlValue } from "../../values";
import { convertTo } from "./conversions";
import { bindExpression, valueTypeOf } from "./expressions";
import type { Scope } from "./scope";

/** A call of our own scalar function: in steps, since it may read tables. */
export function bindUserCall(node: UserCall, scope: Scope): Scalar {
  const object = scope.binder.catalog.find(node.name);
  if (object?.kind !== "function" || object.definition.result.kind !== "scalar") {
    throw sqlErrors.unknownFunction(node.name.schema ?? "dbo", node.name.name);
  }
  scope.binder.need("EXECUTE", object);
  const { parameters, result } = object.definition;
  const values = bindParameters(node.name, { parameters, arguments: node.arguments }, scope);
  const type = valueTypeOf(result.type, scope);
  return steppedScalar({ type, uses: unite(values) }, function* (frame) {
    const given: SqlValue[] = [];
    for (const value of values) given.push(yield* valueOf(value, frame));
    return yield* callFunction(object, given, frame.connection);
  });
}

/** Arguments in the types of their parameters; DEFAULT and what isn't given by the declaration. */
export function bindParameters(
  name: ObjectName,
  call: {
    parameters: readonly Parameter[];
    arguments: readonly (Expression | undefined)[];
  },
  scope: Scope,
): Scalar[] {
  if (call.arguments.length > call.parameters.length) {
    throw new SqlError(
      8144,
      `Procedure or function ${printName(name)} has too many arguments specified.`,
      {
        state: 3,
      },
    );
  }
  return call.parameters.map((parameter, place) => {
    const argument = call.arguments[place];
    const type = valueTypeOf(parameter.type, scope);
    if (argument !== undefined) return convertTo(bindExpression(argument, scope), type);
    if (parameter.default === undefined || place >= call.arguments.length) {
      throw new SqlError(
        313,
        `An insufficient number of arguments were supplied for the procedure or function ${printName(name)}.`,
        { state: 3 },
      );
    }
    return parameter.default.kind === "null"
      ? literal(type, null)
      : convertTo(literal(parameter.default.type, parameter.default.value), type);
  });
}

/** The query of an inline function, with its CTEs in sight. */
export function returnedQuery(
  result: Extract<CreateFunction["result"], { kind: "inlineTable" }>,
  scope: Scope,
): Query {
  for (const cte of result.ctes) scope.addCte(cte, scope);
  return result.query;
}
