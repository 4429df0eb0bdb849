import type { ObjectName } from "../syntax/ast";
import type { SqlType, SqlValue } from "../values";
import { releaseAppLock, takeAppLock } from "./app-locks";
import type { Connection } from "./connection";
import { runParameterised } from "./execute-sql";
import type { GivenArgument, ProcedureResult } from "./procedures";
import { SqlError } from "./sql-error";
import type { Steps } from "./steps";

/** The server's own procedures, as far as they are called. */
export interface SystemProcedure {
  readonly parameters: readonly string[];
  readonly run: (given: readonly GivenArgument[], connection: Connection) => Steps<ProcedureResult>;
}

type Values = ReadonlyMap<string, SqlValue>;

/** Arguments by name, in lower case. */
function read(
  given: readonly GivenArgument[],
  parameters: readonly string[],
  name: string,
): Values {
  const values = new Map<string, SqlValue>();
  given.forEach((argument, place) => {
    const parameter = argument.name === "" ? parameters[place] : argument.name;
    if (parameter === undefined || !parameters.includes(parameter.toLowerCase())) {
      throw new SqlError(8145, `${argument.name} is not a parameter for procedure ${name}.`, {
        state: 2,
      });
    }
    if (argument.value !== undefined && "type" in argument.value) {
      values.set(parameter.toLowerCase(), argument.value.value);
    }
  });
  return values;
}

function status(returnStatus: number): ProcedureResult {
  return {
    returnStatus,
    outputs: new Map<string, { name: string; type: SqlType; value: SqlValue }>(),
  };
}

function simple(
  name: string,
  parameters: readonly string[],
  run: (values: Values, connection: Connection) => Steps<number>,
): SystemProcedure {
  return {
    parameters,
    run: function* (given, connection) {
      return status(yield* run(read(given, parameters, name), connection));
    },
  };
}

const procedures: Readonly<Record<string, SystemProcedure>> = {
  sp_getapplock: simple(
    "sp_getapplock",
    ["@resource", "@lockmode", "@lockowner", "@locktimeout", "@dbprincipal"],
    takeAppLock,
  ),
  sp_releaseapplock: simple(
    "sp_releaseapplock",
    ["@resource", "@lockowner", "@dbprincipal"],
    releaseAppLock,
  ),
  sp_executesql: {
    parameters: ["@statement", "@params"],
    run: runParameterised,
  },
};

/** Known with and without the schema sys. */
export function findSystemProcedure(name: ObjectName): SystemProcedure | undefined {
  const isSystem = name.schema === undefined || name.schema.toLowerCase() === "sys";
  return isSystem ? procedures[name.name.toLowerCase()] : undefined;
}
