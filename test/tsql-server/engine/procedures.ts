import type { TableData } from "../storage/table";
import type { Parameter } from "../syntax/ast-statements";
import type { SqlType, SqlValue } from "../values";
import type { Binder } from "./bind/binder";
import type { FunctionObject, ProcedureObject } from "./catalog";
import { printName } from "./catalog";
import type { Connection } from "./connection";
import { converterOf } from "./convert";
import { declareTyped, scalarTypeOf } from "./declarations";
import type { Frame } from "./frame";
import { newFrame, programOf } from "./modules";
import type { Program } from "./program";
import { enterContext } from "./principals";
import { SqlError } from "./sql-error";
import type { Steps } from "./steps";

/** What a caller hands over: by name, or by position where the name is empty. */
export interface GivenArgument {
  readonly name: string;
  readonly isOutput: boolean;
  /** DEFAULT was asked for. */
  readonly usesDefault: boolean;
  readonly value: { readonly type: SqlType; readonly value: SqlValue } | TableData | undefined;
}

export interface ProcedureResult {
  readonly returnStatus: number;
  /** Values of output parameters, by lower-case name. */
  readonly outputs: ReadonlyMap<
    string,
    { readonly name: string; readonly type: SqlType; readonly value: SqlValue }
  >;
}

const depthMax = 32;

/** Runs a procedure in its caller's transaction. SET options are the caller's again when it ends. */
export function* callProcedure(
  procedure: ProcedureObject,
  given: readonly GivenArgument[],
  connection: Connection,
): Steps<ProcedureResult> {
  const { definition } = procedure;
  const name = printName(procedure);
  const program = procedureProgram(procedure, connection);
  const frame = newFrame(connection, program);
  setParameters({ name, parameters: definition.parameters, given }, program, frame);
  const before = { settings: { ...connection.settings }, count: connection.transactionCount };
  enter(connection);
  const leave = enterContext(connection);
  try {
    yield* program.run(frame);
  } finally {
    leave();
    connection.procedureDepth -= 1;
    connection.settings = before.settings;
  }
  refuseCountChange(before.count, connection);
  return {
    returnStatus: Number(frame.returnValue ?? 0),
    outputs: outputsOf(definition.parameters, program, frame),
  };
}

export function procedureProgram(procedure: ProcedureObject, connection: Connection): Program {
  const { definition, fileName, schema } = procedure;
  return programOf(connection.world, definition, () => ({
    name: printName(procedure),
    fileName,
    schema,
    body: definition.body,
    declare: (binder) => {
      declareParameters(definition.parameters, binder);
    },
  }));
}

export function declareParameters(parameters: readonly Parameter[], binder: Binder): void {
  for (const parameter of parameters) declareTyped(parameter.name, parameter.type, binder);
}

function enter(connection: Connection): void {
  if (connection.procedureDepth >= depthMax) {
    throw new SqlError(
      217,
      "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).",
    );
  }
  connection.procedureDepth += 1;
}

/**
 * Error 266 [doc: Transact-SQL errors, 266]. Not for a transaction that IMPLICIT_TRANSACTIONS has begun: drivers with it on call
 * procedures and commit afterwards [doc: cTDS, Transactions].
 */
export function refuseCountChange(before: number, connection: Connection): void {
  const now = connection.transactionCount;
  if (now === before || (connection.settings.isImplicit && before === 0 && now === 1)) return;
  throw new SqlError(
    266,
    `Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = ${before}, current count = ${now}.`,
    { state: 2 },
  );
}

interface Call {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly given: readonly GivenArgument[];
}

function setParameters(call: Call, program: Program, frame: Frame): void {
  const chosen = matchArguments(call);
  call.parameters.forEach((parameter, place) => {
    const argument = chosen[place];
    if (parameter.type.kind === "named") {
      setTable(call.name, { parameter, argument, program }, frame);
      return;
    }
    const type = scalarTypeOf(parameter.type);
    const variable = program.binder.variable(parameter.name);
    frame.variables[variable.place] = valueOf(call.name, { parameter, argument, type });
  });
}

/** One argument per parameter, or none. */
function matchArguments(call: Call): (GivenArgument | undefined)[] {
  const { name, parameters, given } = call;
  if (given.length > parameters.length) {
    throw new SqlError(8144, `Procedure or function ${name} has too many arguments specified.`, {
      state: 2,
    });
  }
  const chosen: (GivenArgument | undefined)[] = parameters.map(() => undefined);
  given.forEach((argument, place) => {
    const at =
      argument.name === ""
        ? place
        : parameters.findIndex(
            (parameter) => parameter.name.toLowerCase() === argument.name.toLowerCase(),
          );
    if (at < 0)
      throw new SqlError(8145, `${argument.name} is not a parameter for procedure ${name}.`, {
        state: 2,
      });
    const parameter = parameters[at];
    if (argument.isOutput && parameter?.isOutput !== true) {
      throw new SqlError(
        8162,
        `The formal parameter "${parameter?.name ?? ""}" was not declared as an OUTPUT parameter, but the actual parameter passed in requested output.`,
        { state: 2 },
      );
    }
    chosen[at] = argument;
  });
  return chosen;
}

function valueOf(
  name: string,
  part: { parameter: Parameter; argument: GivenArgument | undefined; type: SqlType },
): SqlValue {
  const { parameter, argument, type } = part;
  if (argument?.value !== undefined && "type" in argument.value) {
    if (argument.value.value === null) return null;
    return converterOf(argument.value.type, type)(argument.value.value);
  }
  if (argument?.value !== undefined) {
    throw new SqlError(206, `Operand type clash: table is incompatible with ${type.name}`, {
      state: 2,
    });
  }
  if (parameter.default === undefined) {
    throw new SqlError(
      201,
      `Procedure or function '${name}' expects parameter '${parameter.name}', which was not supplied.`,
      { state: 4 },
    );
  }
  if (parameter.default.kind === "null") return null;
  return converterOf(parameter.default.type, type)(parameter.default.value);
}

/** A READONLY table is the caller's own: no statement can write to it. */
function setTable(
  name: string,
  part: { parameter: Parameter; argument: GivenArgument | undefined; program: Program },
  frame: Frame,
): void {
  const { parameter, argument, program } = part;
  if (argument?.value === undefined) return;
  if ("type" in argument.value) {
    throw new SqlError(
      206,
      `Operand type clash: ${argument.value.type.name} is incompatible with ${parameter.name} of ${name}`,
      { state: 2 },
    );
  }
  frame.tables[program.binder.table(parameter.name).place] = argument.value;
}

function outputsOf(
  parameters: readonly Parameter[],
  program: Program,
  frame: Frame,
): ProcedureResult["outputs"] {
  const outputs = new Map<string, { name: string; type: SqlType; value: SqlValue }>();
  for (const { name, isOutput } of parameters) {
    if (!isOutput) continue;
    const { place, type } = program.binder.variable(name);
    outputs.set(name.toLowerCase(), { name, type, value: frame.variables[place] ?? null });
  }
  return outputs;
}

/** Runs a scalar function. Its arguments have their parameters' types already. */
export function* callFunction(
  object: FunctionObject,
  values: readonly SqlValue[],
  connection: Connection,
): Steps<SqlValue> {
  const { definition, fileName, schema } = object;
  const { result, parameters } = definition;
  if (result.kind !== "scalar") throw new Error(`${object.name} gives no single value`);
  const type = scalarTypeOf(result.type);
  const program = programOf(connection.world, definition, () => ({
    name: printName(object),
    fileName,
    schema,
    body: result.body,
    declare: (binder) => {
      binder.returnType = type;
      declareParameters(parameters, binder);
    },
  }));
  const frame = newFrame(connection, program);
  values.forEach((value, place) => {
    frame.variables[place] = value;
  });
  enter(connection);
  connection.meter?.enterFunction();
  try {
    yield* program.run(frame);
  } finally {
    connection.procedureDepth -= 1;
    connection.meter?.leaveFunction();
  }
  return frame.returnValue ?? null;
}
