import type { CreateView } from "../syntax/ast-definitions";
import type { CreateFunction, CreateProcedure } from "../syntax/ast-statements";
import { Binder } from "./bind/binder";
import type { QueryPlan } from "./bind/query";
import { bindInline, bindView } from "./bind/sources";
import { printName } from "./catalog";
import type { Connection } from "./connection";
import { declareVariables } from "./declarations";
import { declareParameters } from "./procedures";
import { SqlError } from "./sql-error";

type Module = CreateProcedure | CreateFunction | CreateView;

/**
 * What CREATE refuses. A view and an inline function are bound when they are made, since their columns are kept with them:
 * 208 for a name that isn't there yet. Procedures and other functions are bound when they run [doc: Deferred name resolution
 * and compilation; kendralittle.com 2021/10/18: the table "object doesn't exist"]. Types must be there in all of them: 2715.
 */
export function checkModule(statement: Module, connection: Connection, fileName: string): void {
  const { world } = connection;
  const schema = statement.name.schema ?? "dbo";
  const name = printName(statement.name);
  const binder = new Binder(world.catalog, world.options, {
    name,
    fileName,
    isStrict: world.options.strictSchemas.includes(schema),
  });
  binder.owner = world.catalog.ownerOf(schema);
  if (statement.kind === "createView") {
    checkColumns(bindView(statement, binder), statement.columns, name);
    return;
  }
  if (statement.kind === "createFunction" && statement.result.kind === "inlineTable") {
    checkColumns(bindInline(statement, binder), undefined, name);
    return;
  }
  declareParameters(statement.parameters, binder);
  if (statement.kind === "createProcedure") declareVariables(statement.body, binder);
  else if (statement.result.kind === "scalar") declareVariables(statement.result.body, binder);
}

/** Each column has a name, and one of its own [doc: CREATE VIEW, column]. */
function checkColumns(plan: QueryPlan, named: readonly string[] | undefined, of: string): void {
  const names = named ?? plan.columns.map((column) => column.name);
  const nameless = names.indexOf("");
  if (nameless >= 0) {
    throw new SqlError(
      4511,
      `Create View or Function failed because no column name was specified for column ${nameless + 1}.`,
    );
  }
  const second = names.find(
    (name, at) => names.findIndex((one) => one.toLowerCase() === name.toLowerCase()) < at,
  );
  if (second === undefined) return;
  throw new SqlError(
    4506,
    `Column names in each view or function must be unique. Column name '${second}' in view or function '${of}' is specified more than once.`,
  );
}
