import type { TableSchema } from "../storage/schema";
import type { ObjectName } from "../syntax/ast";
import type { CreateView } from "../syntax/ast-definitions";
import type { CreateFunction, CreateProcedure } from "../syntax/ast-statements";
import type { SqlType } from "../values";
import { Security } from "./security";
import { SqlError, sqlErrors } from "./sql-error";

/** What there is in the database besides rows. Objects never change: another definition is another object. */
export type CatalogObject =
  | TableObject
  | SequenceObject
  | ProcedureObject
  | FunctionObject
  | ViewObject;

interface Named {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
}

export interface TableObject extends Named {
  readonly kind: "table";
  readonly table: TableSchema;
}

export interface SequenceObject extends Named {
  readonly kind: "sequence";
  readonly type: SqlType;
  readonly start: bigint;
  readonly increment: bigint;
}

export interface ProcedureObject extends Named {
  readonly kind: "procedure";
  readonly definition: CreateProcedure;
  readonly fileName: string;
}

export interface FunctionObject extends Named {
  readonly kind: "function";
  readonly definition: CreateFunction;
  readonly fileName: string;
}

export interface ViewObject extends Named {
  readonly kind: "view";
  readonly definition: CreateView;
  readonly fileName: string;
}

export interface TypeObject extends Named {
  readonly table: TableSchema;
}

/** Compiled modules: good as long as the catalogue is as it was. Copies of a world share them. */
export class Plans {
  readonly modules = new Map<object, unknown>();
  #catalog: Catalog | undefined;

  /** What they are bound to: a copy, so that what one world changes afterwards doesn't concern the others. */
  catalogOf(catalog: Catalog): Catalog {
    this.#catalog ??= catalog.fork();
    return this.#catalog;
  }
}

/** `owner` has all that is in it: its objects have no owners of their own here. */
export interface SchemaEntry {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
}

const firstId = 1000;

export class Catalog {
  plans = new Plans();
  #objects = new Map<string, CatalogObject>();
  #types = new Map<string, TypeObject>();
  #schemas = new Map<string, SchemaEntry>();
  security = new Security();
  /** Another catalogue has the same maps: they are copied before anything changes. */
  #isShared = false;
  #nextId = firstId;

  constructor() {
    this.#schemas.set("dbo", { id: 1, name: "dbo", owner: "dbo" });
  }

  fork(): Catalog {
    const copy = new Catalog();
    copy.plans = this.plans;
    copy.#objects = this.#objects;
    copy.#types = this.#types;
    copy.#schemas = this.#schemas;
    copy.security = this.security.fork();
    copy.#nextId = this.#nextId;
    copy.#isShared = true;
    this.#isShared = true;
    return copy;
  }

  /** This catalogue, to be changed. */
  #own(): this {
    if (!this.#isShared) return this;
    this.#isShared = false;
    this.#objects = new Map(this.#objects);
    this.#types = new Map(this.#types);
    this.#schemas = new Map(this.#schemas);
    return this;
  }

  newId(): number {
    this.#nextId += 1;
    return this.#nextId;
  }

  // ---- objects

  get objects(): Iterable<CatalogObject> {
    return this.#objects.values();
  }

  find(name: { schema: string | undefined; name: string }): CatalogObject | undefined {
    return this.#objects.get(keyOf(name));
  }

  findById(id: number): CatalogObject | undefined {
    return [...this.#objects.values()].find((object) => object.id === id);
  }

  /** Puts an object in place of the one with its name; returns how to undo it. */
  put(object: CatalogObject): () => void {
    return this.#swap(keyOf(object), object);
  }

  remove(object: CatalogObject): () => void {
    return this.#swap(keyOf(object), undefined);
  }

  #swap(key: string, object: CatalogObject | undefined): () => void {
    const before = this.#objects.get(key);
    this.#set(key, object);
    return () => {
      this.#set(key, before);
    };
  }

  #set(key: string, object: CatalogObject | undefined): void {
    if (object === undefined) this.#own().#objects.delete(key);
    else this.#own().#objects.set(key, object);
    this.plans = new Plans();
  }

  table(name: ObjectName): TableSchema {
    const object = this.find(name);
    if (object?.kind !== "table") throw sqlErrors.unknownObject(printName(name));
    return object.table;
  }

  sequence(name: ObjectName): SequenceObject {
    const object = this.find(name);
    if (object?.kind !== "sequence") throw sqlErrors.unknownObject(printName(name));
    return object;
  }

  // ---- types, schemas

  get types(): Iterable<TypeObject> {
    return this.#types.values();
  }

  findType(name: { schema: string | undefined; name: string }): TypeObject | undefined {
    return this.#types.get(keyOf(name));
  }

  /** `place` counts the columns, parameters or variables of the declaration, from 1. */
  type(name: ObjectName, place = 1): TypeObject {
    const type = this.findType(name);
    if (type !== undefined) return type;
    throw new SqlError(
      2715,
      `Column, parameter, or variable #${place}: Cannot find data type ${printName(name)}.`,
      {
        state: 3,
      },
    );
  }

  putType(type: TypeObject): () => void {
    this.#own().#types.set(keyOf(type), type);
    this.plans = new Plans();
    return () => {
      this.#own().#types.delete(keyOf(type));
      this.plans = new Plans();
    };
  }

  removeType(type: TypeObject): () => void {
    this.#own().#types.delete(keyOf(type));
    this.plans = new Plans();
    return () => {
      this.putType(type);
    };
  }

  get schemas(): Iterable<SchemaEntry> {
    return this.#schemas.values();
  }

  findSchema(name: string): SchemaEntry | undefined {
    return this.#schemas.get(name.toLowerCase());
  }

  /** The owner of everything in a schema, for chains of ownership. */
  ownerOf(schema: string): string {
    return this.findSchema(schema)?.owner ?? "dbo";
  }

  putSchema(name: string, owner: string): () => void {
    this.#own().#schemas.set(name.toLowerCase(), { id: this.newId(), name, owner });
    return () => {
      this.#own().#schemas.delete(name.toLowerCase());
    };
  }

  removeSchema(name: string): () => void {
    const before = this.findSchema(name);
    this.#own().#schemas.delete(name.toLowerCase());
    return () => {
      if (before !== undefined) this.#own().#schemas.set(name.toLowerCase(), before);
    };
  }
}

export function keyOf(name: { schema: string | undefined; name: string }): string {
  return `${name.schema ?? "dbo"}.${name.name}`.toLowerCase();
}

export function printName(name: { schema: string | undefined; name: string }): string {
  return name.schema === undefined ? name.name : `${name.schema}.${name.name}`;
}
