import type { SqlType, SqlValue } from "../values";

/*
 * The tree of the T-SQL that the simulation reads: a closed vocabulary, one kind per form. Names, values and queries are
 * here, statements in ast-statements.ts, what makes objects in ast-definitions.ts. Procedures and functions hold statements
 * and stand with those. Names keep their written case, and a look-up folds it as the collation says; variables keep their @.
 * `line` counts from 1 in the file. A property that may be absent is present with `undefined`, so that all nodes of a kind
 * have one shape.
 */

/** A name of an object; `schema` is undefined where none is written. */
export interface ObjectName {
  readonly schema: string | undefined;
  readonly name: string;
  readonly line: number;
}

/** A type as written. datetimeoffset exists in conversions only: there are no values of it in tables. */
export type DataType =
  | { readonly kind: "scalar"; readonly type: SqlType }
  | { readonly kind: "datetimeoffset"; readonly scale: number }
  | { readonly kind: "named"; readonly name: ObjectName };

/** What every node has. */
export interface Node {
  readonly line: number;
}

/** `statementId` is unique in what one call of the parser has read, in the order of the text, from 1. */
export interface StatementNode extends Node {
  readonly statementId: number;
}

/** Something with a value. */
export type Expression =
  | Literal
  | NullLiteral
  | VariableReference
  | SystemVariable
  | ColumnReference
  | Unary
  | Arithmetic
  | Collate
  | Case
  | Conversion
  | BuiltinCall
  | DateCall
  | UserCall
  | Aggregate
  | WindowCall
  | NextValue
  | Subquery;

/** A constant with the type that the server gives it: 'a' is varchar(1), 2592000000 is decimal(10, 0). */
export interface Literal extends Node {
  readonly kind: "literal";
  readonly type: SqlType;
  readonly value: Exclude<SqlValue, null>;
}

/** NULL without a type. */
export interface NullLiteral extends Node {
  readonly kind: "null";
}

/** A variable or parameter. */
export interface VariableReference extends Node {
  readonly kind: "variable";
  readonly name: string;
}

/** One of the server's own, in capitals. */
export interface SystemVariable extends Node {
  readonly kind: "systemVariable";
  readonly name:
    | "@@ROWCOUNT"
    | "@@TRANCOUNT"
    | "@@OPTIONS"
    | "@@ERROR"
    | "@@SPID"
    | "@@LOCK_TIMEOUT";
}

/** A column; the qualifier is an alias, a table or inserted / deleted. */
export interface ColumnReference extends Node {
  readonly kind: "column";
  readonly qualifier: string | undefined;
  readonly name: string;
}

/** A sign in front. */
export interface Unary extends Node {
  readonly kind: "unary";
  readonly operator: "-" | "+" | "~";
  readonly operand: Expression;
}

/** Operators with a value; + also joins texts. */
export interface Arithmetic extends Node {
  readonly kind: "arithmetic";
  readonly operator: ArithmeticOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^";

/** `operand COLLATE collation`. */
export interface Collate extends Node {
  readonly kind: "collate";
  readonly operand: Expression;
  readonly collation: string;
}

/** CASE in both forms; IIF is read as the second. */
export type Case = SimpleCase | SearchedCase;

/** CASE input WHEN value THEN .. */
export interface SimpleCase extends Node {
  readonly kind: "simpleCase";
  readonly input: Expression;
  readonly branches: readonly { readonly when: Expression; readonly then: Expression }[];
  readonly otherwise: Expression | undefined;
}

/** CASE WHEN condition THEN .. */
export interface SearchedCase extends Node {
  readonly kind: "searchedCase";
  readonly branches: readonly { readonly when: Predicate; readonly then: Expression }[];
  readonly otherwise: Expression | undefined;
}

/** CAST, CONVERT and their TRY_ forms; a style only with CONVERT. */
export interface Conversion extends Node {
  readonly kind: "conversion";
  readonly target: DataType;
  readonly operand: Expression;
  readonly style: Expression | undefined;
  readonly isTry: boolean;
}

/** A function of the server with a value per row; the number of arguments has been checked. */
export interface BuiltinCall extends Node {
  readonly kind: "builtin";
  readonly name: BuiltinName;
  readonly arguments: readonly Expression[];
}

export type BuiltinName =
  | "ABS"
  | "CEILING"
  | "CHARINDEX"
  | "CHECKSUM"
  | "COALESCE"
  | "CONCAT"
  | "DATABASE_PRINCIPAL_ID"
  | "DATALENGTH"
  | "DB_ID"
  | "DB_NAME"
  | "ERROR_LINE"
  | "ERROR_MESSAGE"
  | "ERROR_NUMBER"
  | "ERROR_PROCEDURE"
  | "ERROR_SEVERITY"
  | "ERROR_STATE"
  | "FLOOR"
  | "GETDATE"
  | "GETUTCDATE"
  | "HAS_PERMS_BY_NAME"
  | "ISJSON"
  | "ISNULL"
  | "JSON_QUERY"
  | "JSON_VALUE"
  | "LEFT"
  | "LEN"
  | "LOWER"
  | "LTRIM"
  | "NEWID"
  | "NULLIF"
  | "OBJECT_ID"
  | "OBJECT_NAME"
  | "ORIGINAL_LOGIN"
  | "POWER"
  | "QUOTENAME"
  | "REPLACE"
  | "REPLICATE"
  | "RIGHT"
  | "ROUND"
  | "RTRIM"
  | "SCHEMA_ID"
  | "SCHEMA_NAME"
  | "SCOPE_IDENTITY"
  | "SERVERPROPERTY"
  | "SIGN"
  | "STRING_ESCAPE"
  | "SUBSTRING"
  | "SUSER_ID"
  | "SUSER_SNAME"
  | "SWITCHOFFSET"
  | "SYSDATETIME"
  | "SYSUTCDATETIME"
  | "TYPE_ID"
  | "UNICODE"
  | "UPPER"
  | "USER_NAME"
  | "XACT_STATE"
  | "DATABASEPROPERTYEX"
  | "TRIM"
  | "APPLOCK_MODE"
  | "APPLOCK_TEST";

/** A function whose first argument is a part of a date, not a value. */
export interface DateCall extends Node {
  readonly kind: "dateCall";
  readonly name: "DATEADD" | "DATEDIFF" | "DATEDIFF_BIG" | "DATEPART";
  readonly part: DatePart;
  readonly arguments: readonly Expression[];
}

export type DatePart =
  | "YEAR"
  | "MONTH"
  | "DAY"
  | "HOUR"
  | "MINUTE"
  | "SECOND"
  | "MILLISECOND"
  | "MICROSECOND"
  | "NANOSECOND";

/** A scalar function of our own: always with its schema. `undefined` stands for DEFAULT. */
export interface UserCall extends Node {
  readonly kind: "userCall";
  readonly name: ObjectName;
  readonly arguments: readonly (Expression | undefined)[];
}

/** An aggregate, or with `over` an aggregate over a window. `argument` is undefined for COUNT(*). */
export interface Aggregate extends Node {
  readonly kind: "aggregate";
  readonly name: "AVG" | "COUNT" | "COUNT_BIG" | "MAX" | "MIN" | "STRING_AGG" | "SUM";
  readonly argument: Expression | undefined;
  readonly isDistinct: boolean;
  /** Of STRING_AGG. */
  readonly separator: Expression | undefined;
  /** WITHIN GROUP (ORDER BY ..), of STRING_AGG; else empty. */
  readonly withinGroup: readonly OrderItem[];
  readonly over: Window | undefined;
}

/** A function that exists over a window only. */
export interface WindowCall extends Node {
  readonly kind: "windowCall";
  readonly name: "ROW_NUMBER" | "RANK" | "DENSE_RANK";
  readonly over: Window;
}

export interface Window {
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
}

export interface OrderItem extends Node {
  readonly expression: Expression;
  readonly isDescending: boolean;
}

/** NEXT VALUE FOR sequence, with OVER (ORDER BY ..) or an empty `orderBy`. */
export interface NextValue extends Node {
  readonly kind: "nextValue";
  readonly sequence: ObjectName;
  readonly orderBy: readonly OrderItem[];
}

/** A query in parentheses with one column and at most one row. */
export interface Subquery extends Node {
  readonly kind: "subquery";
  readonly query: Query;
}

/** A condition: true, false or unknown. T-SQL keeps these apart from values, and so does the tree. */
export type Predicate =
  | Logic
  | Negation
  | Comparison
  | NullTest
  | Between
  | Like
  | InList
  | InQuery
  | Exists;

export interface Logic extends Node {
  readonly kind: "and" | "or";
  readonly left: Predicate;
  readonly right: Predicate;
}

export interface Negation extends Node {
  readonly kind: "not";
  readonly operand: Predicate;
}

/** != is written <> here. */
export interface Comparison extends Node {
  readonly kind: "comparison";
  readonly operator: "=" | "<>" | "<" | "<=" | ">" | ">=";
  readonly left: Expression;
  readonly right: Expression;
}

export interface NullTest extends Node {
  readonly kind: "isNull";
  readonly operand: Expression;
  readonly isNegated: boolean;
}

export interface Between extends Node {
  readonly kind: "between";
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
  readonly isNegated: boolean;
}

export interface Like extends Node {
  readonly kind: "like";
  readonly operand: Expression;
  readonly pattern: Expression;
  readonly escape: Expression | undefined;
  readonly isNegated: boolean;
}

export interface InList extends Node {
  readonly kind: "inList";
  readonly operand: Expression;
  readonly values: readonly Expression[];
  readonly isNegated: boolean;
}

export interface InQuery extends Node {
  readonly kind: "inQuery";
  readonly operand: Expression;
  readonly query: Query;
  readonly isNegated: boolean;
}

export interface Exists extends Node {
  readonly kind: "exists";
  readonly query: Query;
}

/** A query with its order; the order of a single SELECT also decides what TOP takes. */
export interface Query extends Node {
  readonly body: QueryBody;
  readonly orderBy: readonly OrderItem[];
  /** OFFSET .. ROWS FETCH NEXT .. ROWS ONLY. */
  readonly offset: Expression | undefined;
  readonly fetch: Expression | undefined;
}

export type QueryBody = Select | SetOperation;

export interface SetOperation extends Node {
  readonly kind: "setOperation";
  readonly operator: "union" | "unionAll" | "except" | "intersect";
  readonly left: QueryBody;
  readonly right: QueryBody;
}

export interface Select extends Node {
  readonly kind: "select";
  readonly isDistinct: boolean;
  readonly top: Expression | undefined;
  readonly items: readonly SelectItem[];
  readonly from: Source | undefined;
  readonly where: Predicate | undefined;
  readonly groupBy: readonly Expression[];
  readonly having: Predicate | undefined;
}

/** A column of an answer, all of a source's, or an assignment (then all items are assignments). */
export type SelectItem =
  | ValueItem
  | (Node & { readonly kind: "star"; readonly qualifier: string | undefined })
  | (Node & {
      readonly kind: "assign";
      readonly variable: string;
      readonly operator: AssignmentOperator;
      readonly value: Expression;
    });

/** `alias` is undefined where none is written; a plain column then keeps its own name. */
export interface ValueItem extends Node {
  readonly kind: "value";
  readonly value: Expression;
  readonly alias: string | undefined;
}

export type AssignmentOperator = "=" | "+=" | "-=" | "*=" | "/=" | "%=";

/** `name (columns) AS (query)`. */
export interface Cte extends Node {
  readonly name: string;
  readonly columns: readonly string[] | undefined;
  readonly query: Query;
}

/** Where rows come from. */
export type Source =
  | TableSource
  | TableVariableSource
  | FunctionSource
  | OpenJsonSource
  | DerivedSource
  | ValuesSource
  | Join
  | Apply;

/** A table, a view or the name of a CTE, as the scope decides. */
export interface TableSource extends Node {
  readonly kind: "table";
  readonly name: ObjectName;
  readonly alias: string | undefined;
  readonly hints: TableHints;
}

/** A table variable or a table-valued parameter. */
export interface TableVariableSource extends Node {
  readonly kind: "tableVariable";
  readonly name: string;
  readonly alias: string | undefined;
}

/** A table-valued function of our own. */
export interface FunctionSource extends Node {
  readonly kind: "function";
  readonly name: ObjectName;
  readonly arguments: readonly (Expression | undefined)[];
  readonly alias: string | undefined;
}

/** OPENJSON; without WITH (`columns` undefined) its rows are key, value, type. */
export interface OpenJsonSource extends Node {
  readonly kind: "openJson";
  readonly json: Expression;
  readonly path: Expression | undefined;
  readonly columns: readonly OpenJsonColumn[] | undefined;
  readonly alias: string | undefined;
}

export interface OpenJsonColumn extends Node {
  readonly name: string;
  readonly type: SqlType;
  readonly collation: string | undefined;
  /** `$.name` when none is written. */
  readonly path: string;
  readonly isJson: boolean;
}

export interface DerivedSource extends Node {
  readonly kind: "derived";
  readonly query: Query;
  readonly alias: string;
  readonly columns: readonly string[] | undefined;
}

/** `(VALUES (..), (..)) AS alias (columns)`. */
export interface ValuesSource extends Node {
  readonly kind: "values";
  readonly rows: readonly (readonly Expression[])[];
  readonly alias: string;
  readonly columns: readonly string[];
}

/** A cross join has no condition. `isLoop` is the hint INNER LOOP JOIN. */
export interface Join extends Node {
  readonly kind: "join";
  readonly type: "inner" | "left" | "right" | "full" | "cross";
  readonly isLoop: boolean;
  readonly left: Source;
  readonly right: Source;
  readonly on: Predicate | undefined;
}

export interface Apply extends Node {
  readonly kind: "apply";
  readonly isOuter: boolean;
  readonly left: Source;
  readonly right: Source;
}

export type LockHint =
  | "HOLDLOCK"
  | "NOLOCK"
  | "NOWAIT"
  | "PAGLOCK"
  | "READCOMMITTED"
  | "READCOMMITTEDLOCK"
  | "READPAST"
  | "READUNCOMMITTED"
  | "REPEATABLEREAD"
  | "ROWLOCK"
  | "SERIALIZABLE"
  | "SNAPSHOT"
  | "TABLOCK"
  | "TABLOCKX"
  | "UPDLOCK"
  | "XLOCK";

/** WITH (..) of a table, each hint once. */
export interface TableHints {
  readonly locks: readonly LockHint[];
  /** INDEX (name), INDEX = name, or the index that FORCESEEK (name (columns)) names. */
  readonly index: string | undefined;
  readonly isForceSeek: boolean;
  /** Columns of FORCESEEK (index (columns)). */
  readonly seekColumns: readonly string[] | undefined;
}

/** One hint of OPTION (..). They steer the plan, which the model's own rule fixes; checked, then kept for reports. */
export type QueryHint =
  | { readonly kind: "forceOrder" | "recompile" | "keepFixedPlan" }
  | { readonly kind: "useHint"; readonly values: readonly string[] }
  | { readonly kind: "joins"; readonly algorithms: readonly ("LOOP" | "HASH" | "MERGE")[] }
  | { readonly kind: "maxDop" | "maxRecursion"; readonly value: number }
  | { readonly kind: "optimizeForUnknown" }
  | {
      readonly kind: "optimizeFor";
      readonly values: readonly {
        readonly variable: string;
        /** undefined: UNKNOWN. */
        readonly value: Expression | undefined;
      }[];
    };
