import type { SqlType } from "../values";
import type {
  Cte,
  DataType,
  Expression,
  Node,
  ObjectName,
  Predicate,
  Query,
  StatementNode,
} from "./ast";

/** Statements that make, change or drop objects, and hold no statements. */
export type ObjectDefinition =
  | CreateTable
  | AlterTableAdd
  | AlterTableDrop
  | AlterTableSet
  | CreateIndex
  | CreateSequence
  | RestartSequence
  | ReseedIdentity
  | CreateType
  | CreateSchema
  | CreateRole
  | AlterRole
  | CreateLogin
  | CreateUser
  | CreateView
  | Permission
  | Drop
  | TruncateTable
  | AlterDatabase;

/** Columns, keys and checks of a table, a table variable or a table type. */
export interface TableDefinition {
  readonly columns: readonly ColumnDefinition[];
  /** PRIMARY KEY, UNIQUE and INDEX, of columns and of the table, in the order of the text. */
  readonly indexes: readonly IndexDefinition[];
  readonly checks: readonly CheckDefinition[];
  readonly foreignKeys: readonly ForeignKeyDefinition[];
}

export interface ColumnDefinition extends Node {
  readonly name: string;
  /** undefined for a computed column. */
  readonly type: DataType | undefined;
  readonly computed: { readonly value: Expression; readonly isPersisted: boolean } | undefined;
  readonly collation: string | undefined;
  /** As written; undefined: nothing is (then null is allowed, outside a primary key). */
  readonly isNullable: boolean | undefined;
  readonly identity: { readonly seed: bigint; readonly increment: bigint } | undefined;
  readonly default: { readonly name: string | undefined; readonly value: Expression } | undefined;
}

export interface IndexColumn {
  readonly name: string;
  readonly isDescending: boolean;
}

export interface IndexDefinition extends Node {
  /** undefined: the server makes one up. */
  readonly name: string | undefined;
  /** A constraint raises 2627, an index 2601. */
  readonly constraint: "primaryKey" | "unique" | undefined;
  readonly isUnique: boolean;
  /** As written or by default: a primary key is clustered unless another index of the table says so. */
  readonly isClustered: boolean;
  readonly columns: readonly IndexColumn[];
  readonly include: readonly string[];
  readonly filter: Predicate | undefined;
  readonly settings: IndexSettings;
}

/** WITH (..) of an index; undefined: not written. */
export interface IndexSettings {
  readonly allowPageLocks: boolean | undefined;
  readonly allowRowLocks: boolean | undefined;
  readonly fillFactor: number | undefined;
  readonly ignoresDuplicates: boolean | undefined;
  readonly dataCompression: "NONE" | "ROW" | "PAGE" | undefined;
  readonly isOnline: boolean | undefined;
  /** Of CREATE INDEX: takes the place of the index of its name. */
  readonly dropsExisting: boolean | undefined;
}

export interface CheckDefinition extends Node {
  readonly name: string | undefined;
  readonly condition: Predicate;
}

export interface ForeignKeyDefinition extends Node {
  readonly name: string | undefined;
  readonly columns: readonly string[];
  readonly table: ObjectName;
  readonly referenced: readonly string[];
  readonly onDelete: "noAction" | "cascade" | "setNull";
}

export interface CreateTable extends StatementNode {
  readonly kind: "createTable";
  readonly name: ObjectName;
  readonly definition: TableDefinition;
}

/** ALTER TABLE .. ADD: columns, constraints or both. */
export interface AlterTableAdd extends StatementNode {
  readonly kind: "alterTableAdd";
  readonly table: ObjectName;
  readonly definition: TableDefinition;
}

export interface AlterTableDrop extends StatementNode {
  readonly kind: "alterTableDrop";
  readonly table: ObjectName;
  readonly what: "column" | "constraint";
  readonly ifExists: boolean;
  readonly names: readonly string[];
}

/** ALTER TABLE .. SET (LOCK_ESCALATION = ..). */
export interface AlterTableSet extends StatementNode {
  readonly kind: "alterTableSet";
  readonly table: ObjectName;
  readonly lockEscalation: "AUTO" | "TABLE" | "DISABLE";
}

export interface CreateIndex extends StatementNode {
  readonly kind: "createIndex";
  readonly table: ObjectName;
  readonly index: IndexDefinition;
}

export interface CreateSequence extends StatementNode {
  readonly kind: "createSequence";
  readonly name: ObjectName;
  readonly type: SqlType;
  readonly start: bigint;
  readonly increment: bigint;
  /** undefined: the server's own choice; 0: NO CACHE. */
  readonly cache: number | undefined;
}

/** ALTER SEQUENCE name RESTART WITH value. */
export interface RestartSequence extends StatementNode {
  readonly kind: "restartSequence";
  readonly name: ObjectName;
  readonly value: bigint;
}

/** DBCC CHECKIDENT (N'table', RESEED, value). */
export interface ReseedIdentity extends StatementNode {
  readonly kind: "reseedIdentity";
  readonly table: ObjectName;
  readonly value: bigint;
}

export interface CreateType extends StatementNode {
  readonly kind: "createType";
  readonly name: ObjectName;
  readonly definition: TableDefinition;
}

export interface CreateSchema extends StatementNode {
  readonly kind: "createSchema";
  readonly name: string;
  readonly owner: string | undefined;
}

export interface CreateRole extends StatementNode {
  readonly kind: "createRole";
  readonly name: string;
  readonly owner: string | undefined;
}

export interface AlterRole extends StatementNode {
  readonly kind: "alterRole";
  readonly role: string;
  readonly action: "add" | "drop";
  readonly member: string;
}

/** CREATE LOGIN name WITH PASSWORD = '..'. */
export interface CreateLogin extends StatementNode {
  readonly kind: "createLogin";
  readonly name: string;
  readonly password: string;
}

/** CREATE USER name FOR LOGIN .., WITH PASSWORD = '..', WITH SID = 0x.., TYPE = E, or WITHOUT LOGIN. */
export interface CreateUser extends StatementNode {
  readonly kind: "createUser";
  readonly name: string;
  readonly sid: Uint8Array | undefined;
  readonly type: string | undefined;
  readonly login: string | undefined;
  /** Of a contained user. */
  readonly password: string | undefined;
}

/** How an object is made: CREATE fails where it exists, ALTER where it doesn't. */
export type CreateMode = "create" | "alter" | "createOrAlter";

export interface CreateView extends StatementNode {
  readonly kind: "createView";
  readonly mode: CreateMode;
  readonly name: ObjectName;
  readonly columns: readonly string[] | undefined;
  readonly ctes: readonly Cte[];
  readonly query: Query;
}

/** GRANT, DENY, REVOKE. */
export interface Permission extends StatementNode {
  readonly kind: "grant" | "deny" | "revoke";
  readonly rights: readonly string[];
  /** The schema, object or type that it is about; undefined: the database. */
  readonly on:
    | { readonly class: "object" | "type" | "schema"; readonly name: ObjectName }
    | undefined;
  readonly principals: readonly string[];
}

export type DroppableClass =
  | "table"
  | "procedure"
  | "function"
  | "view"
  | "sequence"
  | "type"
  | "schema"
  | "role"
  | "user"
  | "login";

/** DROP of one or several; an index has its table besides. */
export interface Drop extends StatementNode {
  readonly kind: "drop";
  readonly target:
    | { readonly class: DroppableClass; readonly names: readonly ObjectName[] }
    | { readonly class: "index"; readonly name: string; readonly table: ObjectName };
  readonly ifExists: boolean;
}

export interface TruncateTable extends StatementNode {
  readonly kind: "truncateTable";
  readonly table: ObjectName;
}

/** ALTER DATABASE name | CURRENT SET option ON | OFF [WITH ..]. */
export interface AlterDatabase extends StatementNode {
  readonly kind: "alterDatabase";
  /** undefined: CURRENT. */
  readonly database: string | undefined;
  readonly option: "READ_COMMITTED_SNAPSHOT" | "ALLOW_SNAPSHOT_ISOLATION" | "OPTIMIZED_LOCKING";
  readonly isOn: boolean;
  /** What happens to other sessions; undefined: wait for them. */
  readonly termination: "noWait" | "rollbackImmediate" | undefined;
}
