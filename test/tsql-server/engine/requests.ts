import type { SqlType, SqlValue } from "../values";
import { TableData } from "../storage/table";
import type { Statement } from "../syntax/ast-statements";
import { parseStatements } from "../syntax/parser";
import type { TableSchema } from "../storage/schema";
import { Binder } from "./bind/binder";
import { columnConverter } from "./column-values";
import { printName } from "./catalog";
import type { Connection } from "./connection";
import { endTransaction, settleError, tell } from "./errors";
import { executeSql } from "./execute-sql";
import { splitName } from "./functions/system-functions";
import { Frame } from "./frame";
import { InsertTarget } from "./insert-target";
import { LocalWriter } from "./local-writer";
import { newFrame, programOf } from "./modules";
import type { GivenArgument, ProcedureResult } from "./procedures";
import { callProcedure } from "./procedures";
import { requireExecute } from "./rights";
import { rulesOf } from "./table-rules";
import { CancelledError, SqlError, sqlErrors } from "./sql-error";
import type { Steps } from "./steps";
import { findSystemProcedure } from "./system-procedures";
import { beginTransaction } from "./transaction-start";
import { commitOne, rollBackAll } from "./transaction-statements";
import { newMetrics } from "./metrics";
import type { EngineArgument, EngineRequest } from "../tds/engine-port";

/** What a client asks for, as steps of its connection. The result is in the connection's answer. */

export interface RequestResult {
  returnStatus: number | undefined;
  outputs: { name: string; type: SqlType; value: SqlValue }[];
  isCancelled: boolean;
}

/** A request of a client, or a batch of a file, which keeps its file's lines. */
export type Work =
  | EngineRequest
  | { readonly kind: "file"; readonly fileName: string; readonly statements: readonly Statement[] };

/** Begins a request: errors are told, never raised. */
export function* runRequest(
  request: Work,
  connection: Connection,
  done: (result: RequestResult) => void,
): Steps<void> {
  const result: RequestResult = { returnStatus: undefined, outputs: [], isCancelled: false };
  connection.metrics = newMetrics();
  connection.meter?.beginCall();
  connection.tryDepth = 0;
  connection.procedureDepth = 0;
  connection.caught.length = 0;
  try {
    yield* perform(request, connection, result);
    endDoomed(connection);
  } catch (error) {
    settleRequest(error, connection, result);
  }
  if (connection.transactionCount === 0) endTransaction(connection);
  done(result);
}

function settleRequest(error: unknown, connection: Connection, result: RequestResult): void {
  connection.isInStatement = false;
  if (error instanceof CancelledError) {
    result.isCancelled = true;
    // With XACT_ABORT the transaction goes, too [doc: SET XACT_ABORT; attention].
    if (connection.settings.isXactAbort || connection.isDoomed) endTransaction(connection);
    return;
  }
  if (!(error instanceof SqlError)) throw error;
  connection.tryDepth = 0;
  if (!settleError(connection, error)) tell(connection, error);
  if (connection.isDoomed) endTransaction(connection);
}

/** [doc: error 3998]. */
function endDoomed(connection: Connection): void {
  if (!connection.isDoomed) return;
  endTransaction(connection);
  tell(
    connection,
    new SqlError(
      3998,
      "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.",
    ),
  );
}

function* perform(request: Work, connection: Connection, result: RequestResult): Steps<void> {
  switch (request.kind) {
    case "batch":
      yield* runBody({ fileName: "", statements: parseStatements(request.sql, "") }, connection);
      return;
    case "file":
      yield* runBody(request, connection);
      return;
    case "statement": {
      const given = request.arguments.map((argument) => givenOf(argument, connection));
      const answer = yield* executeSql(
        { sql: request.sql, declaration: request.declaration, given },
        connection,
      );
      take(answer, { given: request.arguments, parameters: [] }, result);
      return;
    }
    case "procedure":
      yield* runProcedure(request, connection, result);
      return;
    case "transaction":
      yield* runTransaction(request, connection);
  }
}

function* runBody(
  batch: { readonly fileName: string; readonly statements: readonly Statement[] },
  connection: Connection,
): Steps<void> {
  const { fileName, statements: body } = batch;
  const program = programOf(connection.world, body, () => ({
    name: "",
    fileName,
    schema: "",
    body,
  }));
  yield* program.run(newFrame(connection, program));
}

function* runProcedure(
  request: Extract<EngineRequest, { kind: "procedure" }>,
  connection: Connection,
  result: RequestResult,
): Steps<void> {
  const given = request.arguments.map((argument) => givenOf(argument, connection));
  const name = splitName(request.name);
  const object = connection.world.catalog.find(name);
  if (object?.kind === "procedure") {
    requireExecute(object, undefined, connection);
    const { parameters } = object.definition;
    take(
      yield* callProcedure(object, given, connection),
      { given: request.arguments, parameters },
      result,
    );
    return;
  }
  const system = findSystemProcedure({ ...name, line: 0 });
  if (system === undefined) throw sqlErrors.unknownProcedure(printName(name));
  take(yield* system.run(given, connection), { given: request.arguments, parameters: [] }, result);
}

/** Level byte of a driver's `begin`: it stays on the connection afterwards. */
const levels = [
  "",
  "READ UNCOMMITTED",
  "READ COMMITTED",
  "REPEATABLE READ",
  "SERIALIZABLE",
  "SNAPSHOT",
] as const;

function* runTransaction(
  request: Extract<EngineRequest, { kind: "transaction" }>,
  connection: Connection,
): Steps<void> {
  switch (request.action) {
    case "begin": {
      const level = levels[request.level];
      if (level !== undefined && level !== "") connection.settings.isolation = level;
      beginTransaction(connection);
      return;
    }
    case "commit":
      yield* commitOne(connection);
      return;
    case "rollback":
      yield* rollBackAll(connection, undefined);
  }
}

function take(
  answer: ProcedureResult,
  call: { given: readonly EngineArgument[]; parameters: readonly { name: string }[] },
  result: RequestResult,
): void {
  const { given, parameters } = call;
  result.returnStatus = answer.returnStatus;
  given.forEach((argument, place) => {
    if (!argument.isOutput) return;
    const name = argument.name === "" ? (parameters[place]?.name ?? "") : argument.name;
    const output = answer.outputs.get(name.toLowerCase());
    if (output !== undefined) result.outputs.push({ ...output, name });
  });
}

function givenOf(argument: EngineArgument, connection: Connection): GivenArgument {
  const { name, isOutput, usesDefault, value } = argument;
  const shape = { name, isOutput, usesDefault };
  if (usesDefault) return { ...shape, value: undefined };
  if (value.kind === "scalar") return { ...shape, value: { type: value.type, value: value.value } };
  return { ...shape, value: tableOf(value, connection) };
}

/** A table-valued parameter: rows in the type's columns, its keys checked. */
function tableOf(
  value: Extract<EngineArgument["value"], { kind: "table" }>,
  connection: Connection,
): TableData {
  const { catalog } = connection.world;
  const type = catalog.type({ ...splitName(value.typeName), line: 0 });
  const data = new TableData(type.table);
  const rules = rulesOf(type.table, catalog);
  const target = new InsertTarget(
    { kind: "tableVariable", name: "@rows", line: 0 },
    undefined,
    rowBinder(type.table, connection),
  );
  const frame = new Frame(connection, "");
  frame.tables[0] = data;
  const writer = new LocalWriter(connection, data);
  for (const row of value.rows) {
    const image = row.map((one, place) => {
      const column = target.columnAt(place);
      return columnConverter(value.columns[place] ?? column.type, column, type.table)(one);
    });
    rules.check(image, connection, "INSERT");
    writer.insert(target.imageOf(image, frame));
  }
  connection.localUndo = [];
  return data;
}

function rowBinder(schema: TableSchema, connection: Connection): Binder {
  const binder = new Binder(connection.world.catalog, connection.world.options, {
    name: "",
    fileName: "",
    isStrict: false,
  });
  binder.declareTable("@rows", schema);
  return binder;
}
