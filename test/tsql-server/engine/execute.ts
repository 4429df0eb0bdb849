import type { ObjectName } from "../syntax/ast";
import type { Execute, ExecuteArgument, ExecuteText } from "../syntax/ast-statements";
import { parseStatements } from "../syntax/parser";
import type { Binder } from "./bind/binder";
import { convertTo } from "./bind/conversions";
import { bindExpression } from "./bind/expressions";
import { Scope } from "./bind/scope";
import { printName } from "./catalog";
import type { Connection } from "./connection";
import { converterOf } from "./convert";
import type { Frame } from "./frame";
import { newFrame, programOf } from "./modules";
import type { GivenArgument, ProcedureResult } from "./procedures";
import { callProcedure } from "./procedures";
import type { Runner } from "./program";
import { enterContext } from "./principals";
import { requireExecute } from "./rights";
import { SimulationError, SqlError, sqlErrors } from "./sql-error";
import type { Steps } from "./steps";
import { findSystemProcedure } from "./system-procedures";
import { textMax } from "./types";
import type { SqlType, SqlValue } from "../values";

/** EXEC of a procedure, of a system procedure, or of a text. */
export function compileExecute(statement: Execute | ExecuteText, binder: Binder): Runner {
  if (statement.kind === "executeText") return compileText(statement, binder);
  const give = statement.arguments.map((argument) => bindArgument(argument, binder));
  const take = statement.arguments.map((argument) => bindOutput(argument, binder));
  const result = statement.result === undefined ? undefined : binder.variable(statement.result);
  const nameOf = bindName(statement.procedure, binder);
  const { owner } = binder;
  return function* (frame) {
    const given = give.map((one) => one(frame));
    const procedure = nameOf(frame);
    const answer = yield* callNamed(procedure, { given, caller: owner }, frame);
    if (result !== undefined) {
      frame.variables[result.place] = converterOf(
        { name: "int" },
        result.type,
      )(answer.returnStatus);
    }
    const names = parameterNames(procedure, frame);
    statement.arguments.forEach((argument, place) => {
      const name = (argument.name ?? names[place] ?? "").toLowerCase();
      const output = answer.outputs.get(name);
      if (output !== undefined) take[place]?.(frame, output.type, output.value);
    });
    return "next";
  };
}

/** A name that stands there, or the one that a variable holds [doc: EXECUTE, @module_name_var]. */
function bindName(procedure: Execute["procedure"], binder: Binder): (frame: Frame) => ObjectName {
  if (!("variable" in procedure)) return () => procedure;
  const { place } = binder.variable(procedure.variable);
  return (frame) => {
    const parts = String(frame.variables[place]).split(".");
    return { schema: parts.at(-2), name: parts.at(-1) ?? "", line: 0 };
  };
}

function* callNamed(
  procedure: ObjectName,
  call: { readonly given: readonly GivenArgument[]; readonly caller: string | undefined },
  frame: Frame,
): Steps<ProcedureResult> {
  const { connection } = frame;
  const { given, caller } = call;
  const object = connection.world.catalog.find(procedure);
  if (object?.kind === "procedure") {
    requireExecute(object, caller, connection);
    return yield* callProcedure(object, given, connection);
  }
  const system = findSystemProcedure(procedure);
  if (system === undefined) throw sqlErrors.unknownProcedure(printName(procedure));
  return yield* system.run(given, connection);
}

function parameterNames(procedure: ObjectName, frame: Frame): readonly string[] {
  const object = frame.connection.world.catalog.find(procedure);
  if (object?.kind === "procedure")
    return object.definition.parameters.map((parameter) => parameter.name);
  return findSystemProcedure(procedure)?.parameters ?? [];
}

function bindArgument(argument: ExecuteArgument, binder: Binder): (frame: Frame) => GivenArgument {
  const shape = { name: argument.name ?? "", isOutput: argument.isOutput };
  const { value } = argument;
  if (value === undefined) return () => ({ ...shape, usesDefault: true, value: undefined });
  const table = value.kind === "variable" ? binder.findTable(value.name) : undefined;
  if (table !== undefined) {
    return (frame) => ({ ...shape, usesDefault: false, value: frame.table(table.place) });
  }
  const scalar = bindExpression(value, new Scope(binder));
  const { type } = scalar;
  if (type.name === "datetimeoffset")
    throw new SimulationError("An argument of datetimeoffset isn't modelled");
  return (frame) => ({
    ...shape,
    usesDefault: false,
    value: { type, value: scalar.evaluate(frame) },
  });
}

/** Puts an output's value into the caller's variable. */
function bindOutput(
  argument: ExecuteArgument,
  binder: Binder,
): ((frame: Frame, type: SqlType, value: SqlValue) => void) | undefined {
  if (!argument.isOutput) return undefined;
  if (argument.value?.kind !== "variable") {
    throw new SqlError(
      179,
      "Cannot use the OUTPUT option when passing a constant to a stored procedure.",
      { class: 15 },
    );
  }
  const variable = binder.variable(argument.value.name);
  return (frame, type, value) => {
    frame.variables[variable.place] = converterOf(type, variable.type)(value);
  };
}

function compileText(statement: ExecuteText, binder: Binder): Runner {
  const text = convertTo(bindExpression(statement.text, new Scope(binder)), textMax);
  return function* (frame) {
    yield* runText(String(text.evaluate(frame) ?? ""), frame.connection);
    return "next";
  };
}

/** A batch of its own inside another: no variables are shared, SET options end with it. */
function* runText(text: string, connection: Connection): Steps<void> {
  const body = parseStatements(text, "");
  const program = programOf(connection.world, body, () => ({
    name: "",
    fileName: "",
    schema: "",
    body,
  }));
  const settings = { ...connection.settings };
  const leave = enterContext(connection);
  try {
    yield* program.run(newFrame(connection, program));
  } finally {
    leave();
    connection.settings = settings;
  }
}
