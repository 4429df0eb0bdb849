import type { DataType, ObjectName, StatementNode } from "./ast";
import type {
  AlterDatabase,
  AlterTableAdd,
  AlterTableDrop,
  AlterTableSet,
  CreateIndex,
  CreateMode,
  CreateSequence,
  CreateUser,
  CreateView,
  Drop,
  DroppableClass,
  Permission,
  ReseedIdentity,
} from "./ast-definitions";
import type { Definition, Parameter, Statement } from "./ast-statements";
import { TableParser } from "./table-parser";

type Start = Pick<StatementNode, "line" | "statementId">;

const rights = [
  "ALTER",
  "CONTROL",
  "DELETE",
  "EXECUTE",
  "INSERT",
  "REFERENCES",
  "SELECT",
  "UPDATE",
] as const;

const droppable: readonly DroppableClass[] = [
  "table",
  "procedure",
  "function",
  "view",
  "sequence",
  "type",
  "schema",
  "role",
  "user",
  "login",
];

/** Reads statements that make, change or drop objects. */
export abstract class DefinitionParser extends TableParser {
  /** Is this the first statement of its batch? Procedures, functions, views and schemas must be. */
  protected abstract readonly isFirstOfBatch: boolean;
  /** The rest of the batch, as the body of a procedure. */
  protected abstract bodyToEnd(): Statement[];
  /** One BEGIN .. END, as the body of a function. */
  protected abstract bodyInBlock(): Statement[];

  protected isDefinition(): boolean {
    return this.isOneOf(definitionWords);
  }

  protected definition(): Definition {
    const start = this.begin();
    if (this.take("CREATE", "OR", "ALTER")) return this.#module(start, "createOrAlter");
    if (this.take("CREATE")) return this.#create(start);
    if (this.take("ALTER")) return this.#alter(start);
    if (this.take("DROP")) return this.#drop(start);
    if (this.take("DBCC")) return this.#reseed(start);
    if (this.take("TRUNCATE")) {
      this.need("TABLE");
      return { ...start, kind: "truncateTable", table: this.objectName() };
    }
    return this.#permission(start);
  }

  #create(start: Start): Definition {
    if (this.isOneOf(moduleWords)) return this.#module(start, "create");
    if (this.take("TABLE")) {
      const name = this.objectName();
      return { ...start, kind: "createTable", name, definition: this.tableDefinition() };
    }
    if (this.take("SEQUENCE")) return this.#sequence(start);
    if (this.take("TYPE")) {
      const name = this.objectName();
      this.need("AS", "TABLE");
      return { ...start, kind: "createType", name, definition: this.tableDefinition() };
    }
    if (this.take("SCHEMA")) {
      this.#needFirst(start.line, "CREATE SCHEMA");
      return { ...start, kind: "createSchema", name: this.name(), owner: this.#owner() };
    }
    if (this.take("ROLE")) {
      return { ...start, kind: "createRole", name: this.name(), owner: this.#owner() };
    }
    if (this.take("USER")) return this.#user(start);
    if (this.take("LOGIN")) {
      const name = this.name();
      this.need("WITH");
      const password = this.#password();
      // There is no policy here that it could break.
      if (this.take(",")) {
        this.need("CHECK_POLICY", "=");
        this.onOrOff();
      }
      return { ...start, kind: "createLogin", name, password };
    }
    return this.#index(start);
  }

  #owner(): string | undefined {
    return this.take("AUTHORIZATION") ? this.name() : undefined;
  }

  #needFirst(line: number, what: string): void {
    if (!this.isFirstOfBatch) {
      this.reject(line, `${what} must be the first statement of its batch (error 111)`);
    }
  }

  #index(start: Start): CreateIndex {
    const line = this.line;
    const isUnique = this.take("UNIQUE");
    const isClustered = this.clustering() ?? false;
    this.need("INDEX");
    const name = this.name();
    this.need("ON");
    const table = this.objectName();
    const index = {
      name,
      constraint: undefined,
      isUnique,
      isClustered,
      ...this.indexBody(),
      line,
    };
    return { ...start, kind: "createIndex", table, index };
  }

  #sequence(start: Start): CreateSequence {
    const name = this.objectName();
    this.need("AS");
    const type = this.sqlType();
    this.need("START", "WITH");
    const first = this.signedNumber();
    this.need("INCREMENT", "BY");
    const increment = this.signedNumber();
    const cache = this.take("NO", "CACHE")
      ? 0
      : this.take("CACHE")
        ? this.wholeNumber()
        : undefined;
    return { ...start, kind: "createSequence", name, type, start: first, increment, cache };
  }

  #user(start: Start): CreateUser {
    const head = { ...start, kind: "createUser", name: this.name() } as const;
    const none = { sid: undefined, type: undefined, login: undefined, password: undefined };
    if (this.take("WITHOUT")) {
      this.need("LOGIN");
      return { ...head, ...none };
    }
    if (this.take("FOR") || this.take("FROM")) {
      this.need("LOGIN");
      return { ...head, ...none, login: this.name() };
    }
    this.need("WITH");
    if (!this.take("SID")) return { ...head, ...none, password: this.#password() };
    this.need("=");
    if (this.next.kind !== "binary") this.fail("a SID (0x..)");
    const { value } = this.constant();
    const sid = value instanceof Uint8Array ? value : undefined;
    this.need(",", "TYPE", "=");
    return { ...head, ...none, sid, type: this.needOneOf(["E", "X"], "E or X") };
  }

  #password(): string {
    this.need("PASSWORD", "=");
    return this.text("a password");
  }

  /** A constant text. */
  protected text(what: string): string {
    if (this.next.kind !== "string" && this.next.kind !== "unicode") this.fail(what);
    return String(this.constant().value);
  }

  #module(start: Start, mode: CreateMode): Definition {
    this.#needFirst(start.line, "a procedure, function or view");
    if (this.take("PROCEDURE")) {
      const name = this.objectName();
      const parameters = this.next.kind === "variable" ? this.list(() => this.#parameter()) : [];
      this.need("AS");
      const body = this.bodyToEnd();
      return { ...start, kind: "createProcedure", mode, name, parameters, body };
    }
    if (this.take("VIEW")) return this.#view(start, mode);
    if (!this.take("FUNCTION")) this.fail("PROCEDURE, FUNCTION or VIEW");
    return this.#function(start, mode);
  }

  #view(start: Start, mode: CreateMode): CreateView {
    const name = this.objectName();
    const columns = this.optionalNameGroup();
    this.need("AS");
    const ctes = this.ctes();
    const query = this.query();
    this.#endOfModule();
    return { ...start, kind: "createView", mode, name, columns, ctes, query };
  }

  #function(start: Start, mode: CreateMode): Definition {
    const name = this.objectName();
    this.need("(");
    const parameters = this.is(")") ? [] : this.list(() => this.#parameter());
    this.need(")", "RETURNS");
    const head = { ...start, kind: "createFunction", mode, name, parameters } as const;
    if (this.take("TABLE")) {
      this.need("AS", "RETURN");
      const isInParentheses = this.take("(");
      const ctes = this.ctes();
      const query = this.query();
      if (isInParentheses) this.need(")");
      this.#endOfModule();
      return { ...head, result: { kind: "inlineTable", ctes, query } };
    }
    const type = this.dataType();
    this.need("AS");
    const body = this.bodyInBlock();
    if (body.at(-1)?.kind !== "return") {
      this.reject(this.previous.line, "a function must end with RETURN (error 455)");
    }
    this.#endOfModule();
    return { ...head, result: { kind: "scalar", type, body } };
  }

  #endOfModule(): void {
    this.take(";");
    if (this.next.kind !== "end") this.fail("the end of the batch");
  }

  #parameter(): Parameter {
    const line = this.line;
    const name = this.variable();
    this.take("AS");
    const type: DataType = this.dataType();
    const defaultValue = this.take("=") ? this.numbered(() => this.constantOrNull()) : undefined;
    const isOutput = this.take("OUTPUT") || this.take("OUT");
    const isReadOnly = this.take("READONLY");
    if (isReadOnly !== (type.kind === "named")) {
      this.reject(
        line,
        `${name}: READONLY belongs to parameters of table types, and to all of them`,
      );
    }
    return { name, type, default: defaultValue, isOutput, isReadOnly, line };
  }

  #alter(start: Start): Definition {
    if (this.isOneOf(moduleWords)) return this.#module(start, "alter");
    if (this.take("ROLE")) {
      const role = this.name();
      const action = this.take("ADD") ? "add" : "drop";
      if (action === "drop") this.need("DROP");
      this.need("MEMBER");
      return { ...start, kind: "alterRole", role, action, member: this.name() };
    }
    if (this.take("DATABASE")) return this.#alterDatabase(start);
    if (this.take("SEQUENCE")) {
      const name = this.objectName();
      this.need("RESTART", "WITH");
      return { ...start, kind: "restartSequence", name, value: this.signedNumber() };
    }
    this.need("TABLE");
    return this.#alterTable(start, this.objectName());
  }

  /** The one command of DBCC that changes what statements do; the table's name is a text, as it may have two parts. */
  #reseed(start: Start): ReseedIdentity {
    this.need("CHECKIDENT", "(");
    const { line } = this;
    const written = this.text("a table's name as a text");
    const parts = /^(?:(?:(\w+)|\[([^\]]+)\])\.)?(?:(\w+)|\[([^\]]+)\])$/.exec(written);
    const schema = parts?.[1] ?? parts?.[2];
    const name = parts?.[3] ?? parts?.[4];
    if (name === undefined)
      this.reject(line, `expected \`table\` or \`schema.table\`, found \`${written}\``);
    this.need(",", "RESEED", ",");
    const value = this.signedNumber();
    this.need(")");
    return { ...start, kind: "reseedIdentity", table: { schema, name, line }, value };
  }

  #alterTable(start: Start, table: ObjectName): AlterTableAdd | AlterTableDrop | AlterTableSet {
    if (this.take("ADD")) {
      return { ...start, kind: "alterTableAdd", table, definition: this.addedElements() };
    }
    if (this.take("DROP")) {
      const what = this.needOneOf(["COLUMN", "CONSTRAINT"], "COLUMN or CONSTRAINT");
      const ifExists = this.take("IF", "EXISTS");
      const names = this.list(() => this.name());
      const kind = what === "COLUMN" ? "column" : "constraint";
      return { ...start, kind: "alterTableDrop", table, what: kind, ifExists, names };
    }
    this.need("SET", "(", "LOCK_ESCALATION", "=");
    const modes = ["AUTO", "TABLE", "DISABLE"] as const;
    const lockEscalation = this.needOneOf(modes, "AUTO, TABLE or DISABLE");
    this.need(")");
    return { ...start, kind: "alterTableSet", table, lockEscalation };
  }

  #alterDatabase(start: Start): AlterDatabase {
    const database = this.take("CURRENT") ? undefined : this.name();
    this.need("SET");
    const options = [
      "READ_COMMITTED_SNAPSHOT",
      "ALLOW_SNAPSHOT_ISOLATION",
      "OPTIMIZED_LOCKING",
    ] as const;
    const option = this.needOneOf(options, "an option of the database");
    const hasEquals = this.take("=");
    if (hasEquals !== (option === "OPTIMIZED_LOCKING")) {
      this.reject(this.previous.line, "= stands before the value of OPTIMIZED_LOCKING only");
    }
    const isOn = this.onOrOff();
    let termination: AlterDatabase["termination"];
    if (this.take("WITH", "NO_WAIT")) termination = "noWait";
    else if (this.take("WITH", "ROLLBACK", "IMMEDIATE")) termination = "rollbackImmediate";
    return { ...start, kind: "alterDatabase", database, option, isOn, termination };
  }

  #drop(start: Start): Drop {
    if (this.take("INDEX")) {
      const ifExists = this.take("IF", "EXISTS");
      const name = this.name();
      this.need("ON");
      const target = { class: "index", name, table: this.objectName() } as const;
      return { ...start, kind: "drop", target, ifExists };
    }
    const found = droppable.find((known) => this.take(known.toUpperCase()));
    if (found === undefined) this.fail("what to drop");
    const ifExists = this.take("IF", "EXISTS");
    const names = this.list(() => this.objectName());
    return { ...start, kind: "drop", target: { class: found, names }, ifExists };
  }

  /** GRANT and DENY .. TO, REVOKE .. FROM. */
  #permission(start: Start): Permission {
    const kind = this.take("GRANT") ? "grant" : this.take("DENY") ? "deny" : "revoke";
    if (kind === "revoke") this.need("REVOKE");
    const granted = this.list(() => this.needOneOf(rights, "a right"));
    const on = this.take("ON") ? this.#securable() : undefined;
    this.need(kind === "revoke" ? "FROM" : "TO");
    const principals = this.list(() => (this.take("PUBLIC") ? "public" : this.name()));
    return { ...start, kind, rights: granted, on, principals };
  }

  /** OBJECT::, TYPE:: or SCHEMA:: and a name; the class is written always. */
  #securable(): NonNullable<Permission["on"]> {
    const written = this.needOneOf(["OBJECT", "TYPE", "SCHEMA"], "OBJECT, TYPE or SCHEMA");
    this.need("::");
    const classes = { OBJECT: "object", TYPE: "type", SCHEMA: "schema" } as const;
    return { class: classes[written], name: this.objectName() };
  }
}

const moduleWords: ReadonlySet<string> = new Set(["PROCEDURE", "FUNCTION", "VIEW"]);
const definitionWords: ReadonlySet<string> = new Set([
  "CREATE",
  "ALTER",
  "DROP",
  "TRUNCATE",
  "DBCC",
  "GRANT",
  "DENY",
  "REVOKE",
]);
