import type { TableSchema } from "../../storage/schema";
import { defaultCollation } from "../../storage/collation";
import type { Catalog } from "../catalog";
import type { Need } from "../rights";
import type { PlanOptions } from "../options";
import { SqlError, sqlErrors } from "../sql-error";
import type { SqlType } from "../../values";
import type { TableScan } from "../table-scan";
import type { ColumnUse } from "./scope";

/** A variable or parameter of a module: its place in the frame. */
export interface VariableBinding {
  readonly name: string;
  readonly place: number;
  readonly type: SqlType;
}

export interface TableVariableBinding {
  readonly name: string;
  readonly place: number;
  readonly schema: TableSchema;
}

/** What one module (a batch, a procedure, a function) declares, and the places it gives out in its frames. */
export class Binder {
  readonly catalog: Catalog;
  readonly options: PlanOptions;
  /** With schema; empty for a batch. */
  readonly moduleName: string;
  readonly fileName: string;
  /** Modules under test: plans must follow from the text (access path, strict mode), names must be written as declared. */
  readonly isStrict: boolean;
  readonly nameCollation = defaultCollation;
  /** Of a scalar function. */
  returnType: SqlType | undefined;
  /** Where columns that are read are noted, instead of at their sources at once. */
  #recorder: ColumnUse[] | undefined;
  readonly #variables = new Map<string, VariableBinding>();
  readonly #tables = new Map<string, TableVariableBinding>();
  #slotCount = 0;
  #cellCount = 0;

  constructor(
    catalog: Catalog,
    options: PlanOptions,
    module: { name: string; fileName: string; isStrict: boolean },
  ) {
    this.catalog = catalog;
    this.options = options;
    this.moduleName = module.name;
    this.fileName = module.fileName;
    this.isStrict = module.isStrict;
  }

  newSlot(): number {
    this.#slotCount += 1;
    return this.#slotCount - 1;
  }

  newCell(): number {
    this.#cellCount += 1;
    return this.#cellCount - 1;
  }

  /** How faults name a place of the text. */
  place(line: number): string {
    const file = this.fileName === "" ? "batch" : this.fileName;
    return this.moduleName === "" ? `${file}:${line}` : `${this.moduleName} (${file}:${line})`;
  }

  // ---- variables

  declare(name: string, type: SqlType): VariableBinding {
    this.#refuseSecond(name);
    const binding = { name, place: this.#variables.size, type };
    this.#variables.set(name.toLowerCase(), binding);
    return binding;
  }

  declareTable(name: string, schema: TableSchema): TableVariableBinding {
    this.#refuseSecond(name);
    const binding = { name, place: this.#tables.size, schema };
    this.#tables.set(name.toLowerCase(), binding);
    return binding;
  }

  #refuseSecond(name: string): void {
    const key = name.toLowerCase();
    if (!this.#variables.has(key) && !this.#tables.has(key)) return;
    throw new SqlError(
      134,
      `The variable name '${name}' has already been declared. Variable names must be unique within a query batch or stored procedure.`,
      { class: 15 },
    );
  }

  variable(name: string): VariableBinding {
    const binding = this.#variables.get(name.toLowerCase());
    if (binding === undefined) throw sqlErrors.unknownVariable(name);
    return binding;
  }

  findTable(name: string): TableVariableBinding | undefined {
    return this.#tables.get(name.toLowerCase());
  }

  table(name: string): TableVariableBinding {
    const binding = this.findTable(name);
    if (binding === undefined) throw sqlErrors.unknownTableVariable(name);
    return binding;
  }

  get declaredCount(): number {
    return this.#variables.size + this.#tables.size;
  }

  get tables(): Iterable<TableVariableBinding> {
    return this.#tables.values();
  }

  // ---- rights

  /** Whose object this module is, or the view or function that is being bound; undefined: a batch. */
  owner: string | undefined;

  /** Of the statement that is being bound. */
  readonly needs: Need[] = [];

  /** Of the types that the module declares variables of. */
  readonly types: Need[] = [];

  /** The caller must have a right, unless a chain of one owner leads there. */
  need(
    right: string,
    object: { readonly id: number; readonly schema: string; readonly name: string },
    scan?: TableScan,
  ): void {
    const owner = this.catalog.ownerOf(object.schema);
    if (owner === this.owner) return;
    const { id, schema, name } = object;
    const about = { right, class: "object", id, schema, name, owner } as const;
    this.needs.push(scan === undefined ? about : { ...about, scan });
  }

  needType(type: { readonly id: number; readonly schema: string; readonly name: string }): void {
    const { id, schema, name } = type;
    const owner = this.catalog.ownerOf(schema);
    this.types.push({ right: "EXECUTE", class: "type", id, schema, name, owner });
  }

  /** What `body` binds belongs to an object of that schema. */
  within<Result>(schema: string, body: () => Result): Result {
    const { owner } = this;
    this.owner = this.catalog.ownerOf(schema);
    try {
      return body();
    } finally {
      this.owner = owner;
    }
  }

  // ---- which tables and columns are read

  /** Tables and table variables of the statement that is being bound. */
  readonly scans: TableScan[] = [];

  /** Those of all statements bound so far. */
  readonly allScans: TableScan[] = [];

  noteScan(scan: TableScan): void {
    this.scans.push(scan);
    this.allScans.push(scan);
  }

  noteRead(use: ColumnUse): void {
    if (this.#recorder !== undefined) {
      this.#recorder.push(use);
      return;
    }
    if (use.binding.read.has(use.column)) return;
    use.binding.read.add(use.column);
    use.binding.onRead?.(use.column);
  }

  /** Runs `body`, and returns what it would have read: of a derived table only columns that are used count. */
  record<Result>(body: () => Result): { result: Result; reads: ColumnUse[] } {
    const before = this.#recorder;
    const reads: ColumnUse[] = [];
    this.#recorder = reads;
    try {
      return { result: body(), reads };
    } finally {
      this.#recorder = before;
    }
  }
}
