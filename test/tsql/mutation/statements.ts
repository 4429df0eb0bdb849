import type { Statement } from "../../tsql-server/syntax/ast-statements";

/** Every list of statements that run one after the other, and each dependent statement as a list of its own. */
export function siblingsOf(statements: readonly Statement[]): (readonly Statement[])[] {
  return [statements, ...statements.flatMap((statement) => innerLists(statement))];
}

/** The statement and all that it holds. */
export function statementsIn(statement: Statement): Statement[] {
  return [statement, ...listsIn(statement).flat().flatMap(statementsIn)];
}

function innerLists(statement: Statement): (readonly Statement[])[] {
  return listsIn(statement).flatMap(siblingsOf);
}

function listsIn(statement: Statement): (readonly Statement[])[] {
  switch (statement.kind) {
    case "block":
      return [statement.body];
    case "createProcedure":
      return [statement.body];
    case "createFunction":
      return statement.result.kind === "scalar" ? [statement.result.body] : [];
    case "tryCatch":
      return [statement.body, statement.handler];
    case "while":
      return [[statement.body]];
    case "if":
      return [[statement.then], ...(statement.otherwise ? [[statement.otherwise]] : [])];
    default:
      return [];
  }
}

/** Does it hold other statements? */
export function isCompound(statement: Statement): boolean {
  return listsIn(statement).length > 0;
}

/** Does it change rows, variables, settings, the transaction, or where the procedure goes on? */
export function isWrite(statement: Statement): boolean {
  switch (statement.kind) {
    case "insert":
    case "update":
    case "delete":
    case "execute":
    case "executeText":
    case "setVariable":
    case "setOptions":
    case "setIsolation":
    case "setLockTimeout":
    case "setDeadlockPriority":
    case "setIdentityInsert":
    case "begin":
    case "commit":
    case "rollback":
    case "save":
    case "throw":
    case "raiseError":
    case "break":
    case "continue":
      return true;
    case "return":
      return statement.value === undefined;
    case "selectStatement": {
      const { body } = statement.query;
      return body.kind === "select" && body.items.some((item) => item.kind === "assign");
    }
    default:
      return false;
  }
}

/** Does it only change settings of the session? */
export function isSetting(statement: Statement): boolean {
  switch (statement.kind) {
    case "setOptions":
    case "setIsolation":
    case "setLockTimeout":
    case "setDeadlockPriority":
      return true;
    default:
      return false;
  }
}
