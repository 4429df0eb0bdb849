import type { Parameter } from "../syntax/ast-statements";
import { parseStatements } from "../syntax/parser";
import { SimulationError } from "./sql-error";

/** `@a int, @b nvarchar(20) OUTPUT` as sp_executesql gets it: read as the parameters of a procedure. */
export function parseParameters(declaration: string): readonly Parameter[] {
  if (declaration.trim() === "") return [];
  const [statement] = parseStatements(`CREATE PROCEDURE dbo.P ${declaration} AS RETURN;`, "");
  if (statement?.kind !== "createProcedure")
    throw new SimulationError(`Parameters: ${declaration}`);
  return statement.parameters;
}
