import type {
  AssignmentOperator,
  Cte,
  DataType,
  Expression,
  Literal,
  Node,
  NullLiteral,
  ObjectName,
  Predicate,
  Query,
  QueryHint,
  SelectItem,
  Source,
  StatementNode,
  SystemVariable,
  TableHints,
  VariableReference,
} from "./ast";
import type { CreateMode, ObjectDefinition, TableDefinition } from "./ast-definitions";
import type { Piece } from "./pieces";

/** The text between two lines GO; `text` is sent to a server as it is, and starts at `line` of the file. */
export interface Batch {
  readonly text: string;
  readonly line: number;
  readonly statements: readonly Statement[];
  /** Where each statement stands in the file, by its id; without a ; behind it. */
  readonly spans: ReadonlyMap<number, Span>;
  /** Where parts of statements stand in the file, inner ones first. */
  readonly pieces: readonly Piece[];
}

/** From the first character to behind the last one, counted from 0. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type Statement =
  | Block
  | Declare
  | SetVariable
  | SetOptions
  | SetLockTimeout
  | SetDeadlockPriority
  | SetIsolation
  | SetIdentityInsert
  | If
  | While
  | LoopJump
  | TryCatch
  | Throw
  | RaiseError
  | Print
  | Return
  | TransactionStatement
  | SelectStatement
  | Insert
  | Update
  | Delete
  | Execute
  | ExecuteText
  | ExecuteAs
  | Revert
  | Definition;

/** Statements that make, change or drop objects. */
export type Definition = ObjectDefinition | CreateProcedure | CreateFunction;

/** EXECUTE AS USER = '..': who acts from now on. */
export interface ExecuteAs extends StatementNode {
  readonly kind: "executeAs";
  readonly user: string;
}

/** Back to who acted before the last EXECUTE AS. */
export interface Revert extends StatementNode {
  readonly kind: "revert";
}

export interface Block extends StatementNode {
  readonly kind: "block";
  readonly body: readonly Statement[];
}

export interface Declare extends StatementNode {
  readonly kind: "declare";
  readonly declarations: readonly Declaration[];
}

/** A type of our own (kind `named`) is a table type. */
export type Declaration =
  | (Node & {
      readonly kind: "scalar";
      readonly name: string;
      readonly type: DataType;
      readonly value: Expression | undefined;
    })
  | (Node & {
      readonly kind: "table";
      readonly name: string;
      readonly definition: TableDefinition;
    });

export interface SetVariable extends StatementNode {
  readonly kind: "setVariable";
  readonly variable: string;
  readonly operator: AssignmentOperator;
  readonly value: Expression;
}

/** SET a, b ON: NOCOUNT, XACT_ABORT, and what else has no effect here but must be a known name. */
export interface SetOptions extends StatementNode {
  readonly kind: "setOptions";
  readonly options: readonly SessionOption[];
  readonly isOn: boolean;
}

export type SessionOption =
  | "ANSI_NULLS"
  | "ANSI_NULL_DFLT_ON"
  | "ANSI_PADDING"
  | "ANSI_WARNINGS"
  | "ARITHABORT"
  | "CONCAT_NULL_YIELDS_NULL"
  | "CURSOR_CLOSE_ON_COMMIT"
  | "IMPLICIT_TRANSACTIONS"
  | "NOCOUNT"
  | "NUMERIC_ROUNDABORT"
  | "QUOTED_IDENTIFIER"
  | "XACT_ABORT"
  /** Those below take a word or a number in place of ON and OFF; `isOn` is true. */
  | "DATEFIRST"
  | "DATEFORMAT"
  | "LANGUAGE"
  | "TEXTSIZE";

/** -1: without end. */
export interface SetLockTimeout extends StatementNode {
  readonly kind: "setLockTimeout";
  readonly milliseconds: number;
}

/** LOW is -5, NORMAL 0, HIGH 5; -10 to 10. */
export interface SetDeadlockPriority extends StatementNode {
  readonly kind: "setDeadlockPriority";
  readonly priority: number;
}

export interface SetIsolation extends StatementNode {
  readonly kind: "setIsolation";
  readonly level: IsolationLevel;
}

export type IsolationLevel =
  | "READ UNCOMMITTED"
  | "READ COMMITTED"
  | "REPEATABLE READ"
  | "SERIALIZABLE"
  | "SNAPSHOT";

export interface SetIdentityInsert extends StatementNode {
  readonly kind: "setIdentityInsert";
  readonly table: ObjectName;
  readonly isOn: boolean;
}

export interface If extends StatementNode {
  readonly kind: "if";
  readonly condition: Predicate;
  readonly then: Statement;
  readonly otherwise: Statement | undefined;
}

export interface While extends StatementNode {
  readonly kind: "while";
  readonly condition: Predicate;
  readonly body: Statement;
}

export interface LoopJump extends StatementNode {
  readonly kind: "break" | "continue";
}

export interface TryCatch extends StatementNode {
  readonly kind: "tryCatch";
  readonly body: readonly Statement[];
  readonly handler: readonly Statement[];
}

/** Without arguments: the caught error once more. */
export interface Throw extends StatementNode {
  readonly kind: "throw";
  readonly error:
    | {
        readonly number: Literal | VariableReference;
        readonly message: Literal | VariableReference;
        readonly state: Literal | VariableReference;
      }
    | undefined;
}

/** RAISERROR (message, severity, state, arguments). */
export interface RaiseError extends StatementNode {
  readonly kind: "raiseError";
  readonly message: Expression;
  readonly severity: Expression;
  readonly state: Expression;
  readonly arguments: readonly Expression[];
}

export interface Print extends StatementNode {
  readonly kind: "print";
  readonly message: Expression;
}

export interface Return extends StatementNode {
  readonly kind: "return";
  readonly value: Expression | undefined;
}

/** BEGIN, COMMIT, ROLLBACK and SAVE TRANSACTION; only savepoints have names, to save and to roll back to. */
export interface TransactionStatement extends StatementNode {
  readonly kind: "begin" | "commit" | "rollback" | "save";
  readonly savepoint: string | undefined;
}

export interface SelectStatement extends StatementNode {
  readonly kind: "selectStatement";
  readonly ctes: readonly Cte[];
  readonly query: Query;
  readonly options: readonly QueryHint[];
}

/** What a statement writes to: a table, an alias of its FROM or a CTE (as the scope decides), or a table variable. */
export type Target =
  | { readonly kind: "named"; readonly name: ObjectName; readonly hints: TableHints }
  | { readonly kind: "tableVariable"; readonly name: string; readonly line: number };

export interface Insert extends StatementNode {
  readonly kind: "insert";
  readonly ctes: readonly Cte[];
  readonly top: Expression | undefined;
  readonly target: Target;
  /** undefined: all columns. */
  readonly columns: readonly string[] | undefined;
  readonly output: Output | undefined;
  readonly source: InsertSource;
  readonly options: readonly QueryHint[];
}

/** In a row of VALUES `undefined` stands for DEFAULT. */
export type InsertSource =
  | {
      readonly kind: "rows";
      readonly rows: readonly (readonly (Expression | undefined)[])[];
    }
  | { readonly kind: "query"; readonly query: Query }
  | { readonly kind: "defaults" }
  | { readonly kind: "execute"; readonly execute: Execute | ExecuteText };

export interface Update extends StatementNode {
  readonly kind: "update";
  readonly ctes: readonly Cte[];
  readonly top: Expression | undefined;
  readonly target: Target;
  readonly assignments: readonly Assignment[];
  readonly output: Output | undefined;
  readonly from: Source | undefined;
  readonly where: Predicate | undefined;
  readonly options: readonly QueryHint[];
}

/** `SET column = value`, `SET @v = value`, both in one: `SET @v = column = value`, or `SET column.WRITE (value, offset, length)`. */
export interface Assignment extends Node {
  readonly variable: string | undefined;
  readonly column: string | undefined;
  readonly operator: AssignmentOperator;
  /** undefined: DEFAULT. */
  readonly value: Expression | undefined;
  /** Of a `max` value: which part of it becomes `value`. */
  readonly part: { readonly offset: Expression; readonly length: Expression } | undefined;
}

export interface Delete extends StatementNode {
  readonly kind: "delete";
  readonly ctes: readonly Cte[];
  readonly top: Expression | undefined;
  readonly target: Target;
  readonly output: Output | undefined;
  readonly from: Source | undefined;
  readonly where: Predicate | undefined;
  readonly options: readonly QueryHint[];
}

/** OUTPUT to the client, or INTO a table or table variable. */
export interface Output extends Node {
  readonly items: readonly SelectItem[];
  readonly into:
    | { readonly target: Target; readonly columns: readonly string[] | undefined }
    | undefined;
}

export interface Execute extends StatementNode {
  readonly kind: "execute";
  /** Or a variable that holds its name [doc: EXECUTE, @module_name_var]. */
  readonly procedure: ObjectName | ModuleVariable;
  /** EXEC @result = procedure. */
  readonly result: string | undefined;
  readonly arguments: readonly ExecuteArgument[];
}

export interface ModuleVariable {
  readonly variable: string;
}

export interface ExecuteArgument extends Node {
  /** undefined: by position. */
  readonly name: string | undefined;
  /** undefined: DEFAULT. */
  readonly value: Literal | NullLiteral | VariableReference | SystemVariable | undefined;
  readonly isOutput: boolean;
}

/** EXEC (text). */
export interface ExecuteText extends StatementNode {
  readonly kind: "executeText";
  readonly text: Expression;
}

export interface CreateProcedure extends StatementNode {
  readonly kind: "createProcedure";
  readonly mode: CreateMode;
  readonly name: ObjectName;
  readonly parameters: readonly Parameter[];
  readonly body: readonly Statement[];
}

export interface CreateFunction extends StatementNode {
  readonly kind: "createFunction";
  readonly mode: CreateMode;
  readonly name: ObjectName;
  readonly parameters: readonly Parameter[];
  readonly result:
    | { readonly kind: "scalar"; readonly type: DataType; readonly body: readonly Statement[] }
    | { readonly kind: "inlineTable"; readonly ctes: readonly Cte[]; readonly query: Query };
}

export interface Parameter extends Node {
  readonly name: string;
  /** A type of our own (kind `named`) is a table type; then `isReadOnly`. */
  readonly type: DataType;
  readonly default: Literal | NullLiteral | undefined;
  readonly isOutput: boolean;
  readonly isReadOnly: boolean;
}
