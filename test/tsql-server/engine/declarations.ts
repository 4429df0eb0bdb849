import type { DataType } from "../syntax/ast";
import type { Statement } from "../syntax/ast-statements";
import type { SqlType } from "../values";
import type { Binder } from "./bind/binder";
import { SimulationError } from "./sql-error";
import { resolveTable } from "./table-definition";

/** Variables live as long as the batch or procedure, wherever in it they are declared. */
export function declareVariables(statements: readonly Statement[], binder: Binder): void {
  for (const statement of statements) {
    switch (statement.kind) {
      case "declare":
        for (const declaration of statement.declarations) declareOne(declaration, binder);
        break;
      case "block":
        declareVariables(statement.body, binder);
        break;
      case "while":
        declareVariables([statement.body], binder);
        break;
      case "if":
        declareVariables([statement.then], binder);
        if (statement.otherwise !== undefined) declareVariables([statement.otherwise], binder);
        break;
      case "tryCatch":
        declareVariables([...statement.body, ...statement.handler], binder);
        break;
      default:
    }
  }
}

type Declaration = Extract<Statement, { kind: "declare" }>["declarations"][number];

function declareOne(declaration: Declaration, binder: Binder): void {
  if (declaration.kind === "table") {
    const { name } = declaration;
    const schema = resolveTable(declaration.definition, binder.catalog, {
      schema: "",
      name,
      isLocal: true,
    });
    binder.declareTable(name, schema);
    return;
  }
  declareTyped(declaration.name, declaration.type, binder);
}

/** A variable or parameter: of a type of values, or of a table type. */
export function declareTyped(name: string, type: DataType, binder: Binder): void {
  if (type.kind === "named") {
    const known = binder.catalog.type(type.name, binder.declaredCount + 1);
    binder.needType(known);
    binder.declareTable(name, known.table);
    return;
  }
  binder.declare(name, scalarTypeOf(type));
}

export function scalarTypeOf(type: DataType): SqlType {
  if (type.kind === "scalar") return type.type;
  throw new SimulationError(`A variable or column of type ${type.kind} isn't modelled`);
}
