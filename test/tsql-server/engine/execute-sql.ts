import { parseParameters } from "./parameter-text";
import { parseStatements } from "../syntax/parser";
import type { SqlType, SqlValue } from "../values";
import type { Connection } from "./connection";
import { converterOf } from "./convert";
import { scalarTypeOf } from "./declarations";
import { newFrame, programOf } from "./modules";
import type { GivenArgument, ProcedureResult } from "./procedures";
import { declareParameters, refuseCountChange } from "./procedures";
import { enterContext } from "./principals";
import { SqlError } from "./sql-error";
import type { Steps } from "./steps";

/** sp_executesql from T-SQL: @statement, @params, then values. */
export function* runParameterised(
  given: readonly GivenArgument[],
  connection: Connection,
): Steps<ProcedureResult> {
  const [statement, declaration, ...rest] = given;
  const text = textOf(statement);
  return yield* executeSql(
    { sql: text, declaration: textOf(declaration), given: rest },
    connection,
  );
}

function textOf(argument: GivenArgument | undefined): string {
  const value = argument?.value;
  return value !== undefined && "type" in value && typeof value.value === "string"
    ? value.value
    : "";
}

/** A text in a scope of its own: parameters as declared, SET options and @@TRANCOUNT checked like a procedure's. */
export function* executeSql(
  request: { sql: string; declaration: string; given: readonly GivenArgument[] },
  connection: Connection,
): Steps<ProcedureResult> {
  const body = parseStatements(request.sql, "");
  const parameters = parseParameters(request.declaration);
  // The same text with other parameters is another program.
  const key = keyOf(body, request.declaration);
  const program = programOf(connection.world, key, () => ({
    name: "",
    fileName: "",
    schema: "",
    body,
    declare: (binder) => {
      declareParameters(parameters, binder);
    },
  }));
  const frame = newFrame(connection, program);
  parameters.forEach((parameter, place) => {
    const argument = request.given.find((one, at) =>
      one.name === "" ? at === place : one.name.toLowerCase() === parameter.name.toLowerCase(),
    );
    if (argument?.value === undefined) {
      throw new SqlError(
        8178,
        `The parameterized query '(${request.declaration})${request.sql}' expects the parameter '${parameter.name}', which was not supplied.`.slice(
          0,
          2000,
        ),
      );
    }
    if (!("type" in argument.value)) {
      frame.tables[program.binder.table(parameter.name).place] = argument.value;
      return;
    }
    const type = scalarTypeOf(parameter.type);
    frame.variables[program.binder.variable(parameter.name).place] = converterOf(
      argument.value.type,
      type,
    )(argument.value.value);
  });
  const before = { settings: { ...connection.settings }, count: connection.transactionCount };
  const leave = enterContext(connection);
  try {
    yield* program.run(frame);
  } finally {
    leave();
    connection.settings = before.settings;
  }
  refuseCountChange(before.count, connection);
  const outputs = new Map<string, { name: string; type: SqlType; value: SqlValue }>();
  for (const { name, isOutput } of parameters) {
    if (!isOutput) continue;
    const { place, type } = program.binder.variable(name);
    outputs.set(name.toLowerCase(), { name, type, value: frame.variables[place] ?? null });
  }
  return { returnStatus: Number(frame.returnValue ?? 0), outputs };
}

const keys = new WeakMap<object, Map<string, object>>();

function keyOf(body: object, declaration: string): object {
  let known = keys.get(body);
  if (known === undefined) {
    known = new Map();
    keys.set(body, known);
  }
  let key = known.get(declaration);
  if (key === undefined) {
    key = { declaration };
    known.set(declaration, key);
  }
  return key;
}
