import type { DataType, ObjectName } from "./ast";
import type {
  CheckDefinition,
  ColumnDefinition,
  ForeignKeyDefinition,
  IndexColumn,
  IndexDefinition,
  IndexSettings,
  TableDefinition,
} from "./ast-definitions";
import { ModificationParser } from "./modification-parser";

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** The parts of a table read so far. */
interface Draft {
  readonly columns: ColumnDefinition[];
  readonly indexes: (Omit<IndexDefinition, "isClustered"> & { isClustered: boolean | undefined })[];
  readonly checks: CheckDefinition[];
  readonly foreignKeys: ForeignKeyDefinition[];
}

type DraftIndex = Draft["indexes"][number];

const indexSettings = [
  "ALLOW_PAGE_LOCKS",
  "ALLOW_ROW_LOCKS",
  "FILLFACTOR",
  "IGNORE_DUP_KEY",
  "DATA_COMPRESSION",
  "ONLINE",
  "DROP_EXISTING",
] as const;

const noSettings: IndexSettings = {
  allowPageLocks: undefined,
  allowRowLocks: undefined,
  fillFactor: undefined,
  ignoresDuplicates: undefined,
  dataCompression: undefined,
  isOnline: undefined,
  dropsExisting: undefined,
};

/** Reads columns, keys, indexes and checks: of tables, table variables and table types. */
export abstract class TableParser extends ModificationParser {
  /** Everything between the parentheses of a table. */
  protected tableDefinition(): TableDefinition {
    const draft = newDraft();
    this.group(() => {
      this.tableElement(draft);
    });
    return finish(draft);
  }

  /** What follows ALTER TABLE .. ADD. */
  protected addedElements(): TableDefinition {
    const draft = newDraft();
    this.list(() => {
      this.tableElement(draft);
    });
    return finish(draft);
  }

  private tableElement(draft: Draft): void {
    const line = this.line;
    const name = this.take("CONSTRAINT") ? this.name() : undefined;
    if (this.isOneOf(keyWords)) {
      draft.indexes.push(this.#key(name, undefined));
    } else if (this.is("CHECK")) {
      draft.checks.push(this.#check(name));
    } else if (this.take("FOREIGN", "KEY")) {
      draft.foreignKeys.push(this.#foreignKey({ name, columns: this.nameGroup(), line }));
    } else if (name !== undefined) {
      this.fail("PRIMARY KEY, UNIQUE, CHECK or FOREIGN KEY");
    } else if (this.take("INDEX")) {
      draft.indexes.push(this.indexRest({ name: this.name(), line }));
    } else {
      this.#column(draft);
    }
  }

  #column(draft: Draft): void {
    const line = this.line;
    const name = this.name("a column");
    if (this.take("AS")) {
      this.need("(");
      const value = this.expression();
      this.need(")");
      const computed = { value, isPersisted: this.take("PERSISTED") };
      draft.columns.push({ ...newColumn(name, line), computed });
      return;
    }
    const column = newColumn(name, line);
    column.type = this.#columnType();
    while (this.#columnPart(column, draft));
    draft.columns.push(column);
  }

  #columnType(): DataType {
    return { kind: "scalar", type: this.sqlType() };
  }

  /** One property of a column or one constraint on it; false when there is no more. */
  #columnPart(column: Mutable<ColumnDefinition>, draft: Draft): boolean {
    const line = this.line;
    if (this.take("NOT", "NULL")) column.isNullable = this.#once(column.isNullable, false);
    else if (this.take("NULL")) column.isNullable = this.#once(column.isNullable, true);
    else if (this.take("COLLATE")) {
      column.collation = this.#once(column.collation, this.name("a collation"));
    } else if (this.take("IDENTITY")) {
      column.identity = this.#once(column.identity, this.#identity());
    } else return this.#columnConstraint({ column, draft, line });
    return true;
  }

  #columnConstraint(about: {
    column: Mutable<ColumnDefinition>;
    draft: Draft;
    line: number;
  }): boolean {
    const { column, draft, line } = about;
    const name = this.take("CONSTRAINT") ? this.name() : undefined;
    if (this.take("DEFAULT")) {
      column.default = this.#once(column.default, { name, value: this.#defaultValue() });
    } else if (this.isOneOf(keyWords)) {
      draft.indexes.push(this.#key(name, column.name));
    } else if (this.is("CHECK")) {
      draft.checks.push(this.#check(name));
    } else if (this.is("REFERENCES")) {
      draft.foreignKeys.push(this.#foreignKey({ name, columns: [column.name], line }));
    } else if (name !== undefined) {
      this.fail("DEFAULT, PRIMARY KEY, UNIQUE, CHECK or REFERENCES");
    } else return false;
    return true;
  }

  #once<Value>(before: Value | undefined, value: Value): Value {
    if (before !== undefined) this.reject(this.previous.line, "a property is written twice");
    return value;
  }

  #identity(): { seed: bigint; increment: bigint } {
    if (!this.take("(")) return { seed: 1n, increment: 1n };
    const seed = this.signedNumber();
    this.need(",");
    const increment = this.signedNumber();
    this.need(")");
    return { seed, increment };
  }

  #defaultValue(): NonNullable<ColumnDefinition["default"]>["value"] {
    if (!this.is("(")) return this.constantOrNull();
    this.need("(");
    const value = this.expression();
    this.need(")");
    return value;
  }

  #check(name: string | undefined): CheckDefinition {
    const line = this.line;
    this.need("CHECK", "(");
    const condition = this.predicate();
    this.need(")");
    return { name, condition, line };
  }

  #foreignKey(about: {
    name: string | undefined;
    columns: readonly string[];
    line: number;
  }): ForeignKeyDefinition {
    this.need("REFERENCES");
    const table: ObjectName = this.objectName();
    const referenced = this.nameGroup();
    let onDelete: ForeignKeyDefinition["onDelete"] = "noAction";
    if (this.take("ON", "DELETE")) {
      if (this.take("CASCADE")) onDelete = "cascade";
      else if (this.take("SET", "NULL")) onDelete = "setNull";
      else this.need("NO", "ACTION");
    }
    return { ...about, table, referenced, onDelete };
  }

  /** PRIMARY KEY or UNIQUE, of a column or with its columns. */
  #key(name: string | undefined, column: string | undefined): DraftIndex {
    const line = this.line;
    const isPrimary = this.take("PRIMARY", "KEY");
    if (!isPrimary) this.need("UNIQUE");
    const isClustered = this.clustering();
    const columns =
      column === undefined
        ? this.group(() => this.#indexColumn())
        : [{ name: column, isDescending: false }];
    return {
      name,
      constraint: isPrimary ? "primaryKey" : "unique",
      isUnique: true,
      isClustered,
      columns,
      include: [],
      filter: undefined,
      settings: this.indexSettings(),
      line,
    };
  }

  /** As written; undefined: nothing is. */
  protected clustering(): boolean | undefined {
    if (this.take("CLUSTERED")) return true;
    return this.take("NONCLUSTERED") ? false : undefined;
  }

  /** INDEX name [UNIQUE] [CLUSTERED] (columns) .. inside a table. */
  private indexRest(about: { name: string; line: number }): DraftIndex {
    const isUnique = this.take("UNIQUE");
    const isClustered = this.clustering() ?? false;
    return { ...about, constraint: undefined, isUnique, isClustered, ...this.indexBody() };
  }

  /** (columns) INCLUDE (..) WHERE .. WITH (..). */
  protected indexBody(): Pick<IndexDefinition, "columns" | "include" | "filter" | "settings"> {
    const columns = this.group(() => this.#indexColumn());
    const include = this.take("INCLUDE") ? this.nameGroup() : [];
    const filter = this.take("WHERE") ? this.predicate() : undefined;
    return { columns, include, filter, settings: this.indexSettings() };
  }

  #indexColumn(): IndexColumn {
    const name = this.name("a column");
    const isDescending = this.take("DESC");
    if (!isDescending) this.take("ASC");
    return { name, isDescending };
  }

  /** WITH (..), or nothing. */
  protected indexSettings(): IndexSettings {
    if (!this.take("WITH")) return noSettings;
    const settings: Mutable<IndexSettings> = { ...noSettings };
    this.group(() => {
      const setting = this.needOneOf(indexSettings, "a setting of an index");
      this.need("=");
      switch (setting) {
        case "ALLOW_PAGE_LOCKS":
          settings.allowPageLocks = this.#once(settings.allowPageLocks, this.onOrOff());
          break;
        case "ALLOW_ROW_LOCKS":
          settings.allowRowLocks = this.#once(settings.allowRowLocks, this.onOrOff());
          break;
        case "FILLFACTOR":
          settings.fillFactor = this.#once(settings.fillFactor, this.wholeNumber());
          break;
        case "IGNORE_DUP_KEY":
          settings.ignoresDuplicates = this.#once(settings.ignoresDuplicates, this.onOrOff());
          break;
        case "DATA_COMPRESSION":
          settings.dataCompression = this.#once(settings.dataCompression, this.#compression());
          break;
        case "ONLINE":
          settings.isOnline = this.#once(settings.isOnline, this.onOrOff());
          break;
        case "DROP_EXISTING":
          settings.dropsExisting = this.#once(settings.dropsExisting, this.onOrOff());
          break;
      }
    });
    return settings;
  }

  #compression(): "NONE" | "ROW" | "PAGE" {
    return this.needOneOf(["NONE", "ROW", "PAGE"], "NONE, ROW or PAGE");
  }

  protected onOrOff(): boolean {
    return this.needOneOf(["ON", "OFF"], "ON or OFF") === "ON";
  }
}

const keyWords: ReadonlySet<string> = new Set(["PRIMARY", "UNIQUE"]);

function newDraft(): Draft {
  return { columns: [], indexes: [], checks: [], foreignKeys: [] };
}

function newColumn(name: string, line: number): Mutable<ColumnDefinition> {
  return {
    name,
    type: undefined,
    computed: undefined,
    collation: undefined,
    isNullable: undefined,
    identity: undefined,
    default: undefined,
    line,
  };
}

/** A primary key is clustered unless it or another index says otherwise [doc: CREATE TABLE, CLUSTERED | NONCLUSTERED]. */
function finish(draft: Draft): TableDefinition {
  const hasClustered = draft.indexes.some((index) => index.isClustered === true);
  const indexes = draft.indexes.map((index) => ({
    ...index,
    isClustered: index.isClustered ?? (index.constraint === "primaryKey" && !hasClustered),
  }));
  return { ...draft, indexes };
}
