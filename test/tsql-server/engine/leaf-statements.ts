import type {
  SelectStatement,
  SetOptions,
  Statement,
  Throw,
  TransactionStatement,
} from "../syntax/ast-statements";
import type { SelectItem } from "../syntax/ast";
import type { SqlValue } from "../values";
import type { Binder } from "./bind/binder";
import { bindArithmetic } from "./bind/arithmetic";
import { convertTo } from "./bind/conversions";
import { bindExpression } from "./bind/expressions";
import { bindQuery } from "./bind/query";
import { Scope } from "./bind/scope";
import { bindSelect } from "./bind/select";
import { columnInfo } from "./column-info";
import type { Connection } from "./connection";
import { compileDefinition } from "./definitions";
import { compileExecute } from "./execute";
import type { Scalar } from "./expression";
import { scalarOf, steppedScalar, valueOf } from "./expression";
import type { Frame } from "./frame";
import { compileInsert } from "./insert";
import { compileModify } from "./modify";
import { executeAs, requireAlter, revert } from "./principals";
import type { Flow, Runner } from "./program";
import { compilePrint, compileRaiseError } from "./raise-error";
import { SimulationError, SqlError } from "./sql-error";
import { runStatement } from "./statement-run";
import type { Steps } from "./steps";
import { beginTransaction, requireSnapshotStart } from "./transaction-start";
import { commitOne, rollBackAll, saveTransaction } from "./transaction-statements";
import { intType, textMax } from "./types";

/** Statements without statements inside. */
export function compileLeaf(statement: Statement, binder: Binder): Runner {
  switch (statement.kind) {
    case "selectStatement":
      return compileSelect(statement, binder);
    case "insert":
      return compileInsert(statement, binder);
    case "update":
    case "delete":
      return compileModify(statement, binder);
    case "execute":
    case "executeText":
      return compileExecute(statement, binder);
    case "throw":
      return compileThrow(statement, binder);
    case "raiseError":
      return compileRaiseError(statement, binder);
    case "print":
      return compilePrint(statement, binder);
    case "begin":
    case "commit":
    case "rollback":
    case "save":
      return compileTransaction(statement);
    default:
      return compileSetting(statement, binder);
  }
}

function compileSetting(statement: Statement, binder: Binder): Runner {
  switch (statement.kind) {
    case "setOptions":
      return simple((connection) => {
        setOptions(connection, statement);
      });
    case "setLockTimeout":
      return simple((connection) => {
        connection.settings.lockTimeoutMs = statement.milliseconds;
      });
    case "setDeadlockPriority":
      return simple((connection) => {
        connection.settings.deadlockPriority = statement.priority;
      });
    case "setIsolation":
      return simple((connection) => {
        setIsolation(connection, statement.level);
      });
    case "executeAs":
      return simple((connection) => {
        executeAs(statement.user, connection);
      });
    case "revert":
      return simple(revert);
    case "setIdentityInsert":
      return simple((connection) => {
        requireAlter(statement.table, connection);
        const { id } = binder.catalog.table(statement.table);
        connection.identityInsert = statement.isOn ? id : undefined;
      });
    case "block":
    case "declare":
    case "setVariable":
    case "if":
    case "while":
    case "break":
    case "continue":
    case "tryCatch":
    case "return":
    case "throw":
    case "raiseError":
    case "print":
    case "begin":
    case "commit":
    case "rollback":
    case "save":
    case "selectStatement":
    case "insert":
    case "update":
    case "delete":
    case "execute":
    case "executeText":
      throw new Error(`${statement.kind} is compiled elsewhere`);
    default:
      return compileDefinition(statement, binder);
  }
}

function simple(change: (connection: Connection) => void): Runner {
  return (frame): Flow => {
    change(frame.connection);
    frame.connection.rowCount = 0;
    return "next";
  };
}

// ---- SET

/** An option without meaning in the model has no effect; one that would change answers is refused unless it states the default. */
const alwaysOn = new Set([
  "ANSI_DEFAULTS",
  "ANSI_NULLS",
  "ANSI_PADDING",
  "ANSI_WARNINGS",
  "ARITHABORT",
  "CONCAT_NULL_YIELDS_NULL",
  "QUOTED_IDENTIFIER",
]);
const alwaysOff = new Set(["NOEXEC", "NUMERIC_ROUNDABORT"]);

function setOptions(connection: Connection, statement: SetOptions): void {
  const { settings } = connection;
  for (const option of statement.options) {
    if (option === "NOCOUNT") settings.isNoCount = statement.isOn;
    if (option === "XACT_ABORT") settings.isXactAbort = statement.isOn;
    if (option === "IMPLICIT_TRANSACTIONS") settings.isImplicit = statement.isOn;
    const isOther = statement.isOn ? alwaysOff.has(option) : alwaysOn.has(option);
    if (isOther)
      throw new SimulationError(`SET ${option} ${statement.isOn ? "ON" : "OFF"} isn't modelled`);
  }
}

/** [doc: SET TRANSACTION ISOLATION LEVEL]: not to SNAPSHOT inside a transaction that has touched a table otherwise (3951). */
function setIsolation(connection: Connection, level: Connection["settings"]["isolation"]): void {
  if (level === "SNAPSHOT") requireSnapshotStart(connection);
  connection.settings.isolation = level;
}

// ---- SELECT

function compileSelect(statement: SelectStatement, binder: Binder): Runner {
  const from = binder.scans.length;
  const scope = new Scope(binder);
  for (const cte of statement.ctes) scope.addCte(cte, scope);
  const { query } = statement;
  const { body } = query;
  const assigns = body.kind === "select" && body.items.some((item) => item.kind === "assign");
  const plan = assigns
    ? bindSelect({ select: body, query, bindAssignment }, scope)
    : bindQuery(query, scope);
  plan.columns.forEach((_column, place) => {
    plan.noteRead(place);
  });
  const scans = binder.scans.splice(from);
  const columns = plan.columns.map(columnInfo);
  const run = function* (frame: Frame): Steps<Flow> {
    const { connection } = frame;
    let count = 0;
    if (!assigns) connection.requireAnswer().columns(columns);
    yield* plan.run(frame, (row) => {
      count += 1;
      if (!assigns) connection.requireAnswer().row(row);
      return false;
    });
    connection.rowCount = count;
    if (!assigns)
      connection.requireAnswer().endRows(connection.settings.isNoCount ? undefined : count);
    return "next";
  };
  return (frame) => runStatement(frame, scans, () => run(frame));
}

/** `@v = value`, from left to right: items further right see it. */
function bindAssignment(
  item: Extract<SelectItem, { kind: "assign" }>,
  scope: Scope,
): { name: string; scalar: Scalar } {
  const { place, type } = scope.binder.variable(item.variable);
  const value = bindExpression(item.value, scope);
  const whole =
    item.operator === "="
      ? value
      : bindArithmetic(item.operator.charAt(0) as "+", [
          bindExpression({ kind: "variable", name: item.variable, line: item.line }, scope),
          value,
        ]);
  const typed = convertTo(whole, type);
  const assign = (frame: Frame, result: SqlValue): SqlValue => {
    frame.variables[place] = result;
    return result;
  };
  const shape = { type, uses: typed.uses };
  const scalar =
    typed.run === undefined
      ? scalarOf(shape, (frame) => assign(frame, typed.evaluate(frame)))
      : steppedScalar(shape, function* (frame) {
          return assign(frame, yield* valueOf(typed, frame));
        });
  return { name: item.variable, scalar };
}

// ---- THROW

/** THROW reads % in its text as a format: a double one is a single sign [doc: THROW]. */
function compileThrow(statement: Throw, binder: Binder): Runner {
  const { error } = statement;
  if (error === undefined) {
    return (frame) => {
      throw again(frame.connection);
    };
  }
  const scope = new Scope(binder);
  const number = convertTo(bindExpression(error.number, scope), intType);
  const message = convertTo(bindExpression(error.message, scope), textMax);
  const state = convertTo(bindExpression(error.state, scope), intType);
  return (frame) => {
    const text = String(message.evaluate(frame) ?? "").slice(0, 2048);
    const thrown = new SqlError(Number(number.evaluate(frame)), text.replaceAll("%%", "%"), {
      state: Number(state.evaluate(frame)),
    });
    if (thrown.number < 50_000) {
      throw new SqlError(
        35100,
        `Error number ${thrown.number} in the THROW statement is outside the valid range. Specify an error number in the valid range of 50000 to 2147483647.`,
      );
    }
    thrown.isThrown = true;
    throw thrown;
  };
}

/** The same error once more, from where it was raised first. */
function again(connection: Connection): SqlError {
  const caught = connection.caught.at(-1);
  if (caught === undefined) {
    return new SqlError(
      10704,
      "To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside a CATCH block, or add error parameters to the THROW statement.",
    );
  }
  const copy = new SqlError(caught.number, caught.message, {
    state: caught.state,
    class: caught.class,
  });
  copy.line = caught.line;
  copy.procedure = caught.procedure;
  copy.isThrown = true;
  return copy;
}

// ---- transactions

function compileTransaction(statement: TransactionStatement): Runner {
  switch (statement.kind) {
    case "begin":
      return simple((connection) => {
        // The unseen one comes first [doc: SET IMPLICIT_TRANSACTIONS].
        if (connection.settings.isImplicit && connection.transactionCount === 0)
          beginTransaction(connection);
        beginTransaction(connection);
      });
    case "commit":
      return function* (frame) {
        yield* commitOne(frame.connection);
        frame.connection.rowCount = 0;
        return "next";
      };
    case "rollback":
      return function* (frame) {
        yield* rollBackAll(frame.connection, statement.savepoint);
        frame.connection.rowCount = 0;
        return "next";
      };
    case "save":
      return simple((connection) => {
        saveTransaction(connection, statement.savepoint ?? "");
      });
  }
}
