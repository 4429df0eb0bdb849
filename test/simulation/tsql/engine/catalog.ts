import type { TableSchema } from "../storage/schema";
import type { ObjectName } from "../syntax/ast";
import type { CreateFunction, CreateProcedure, CreateView } from "../syntax/ast-definitions";
import type { SqlType } from "../values";
import { SqlError, sqlErrors } from "./sql-error";

/** What there is in the database besides rows. Objects never change: another definition is another object. */
export type CatalogObject =
  TableObject | SequenceObject | ProcedureObject | FunctionObject | ViewObject;

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

export interface Principal {
  readonly id: number;
  readonly name: string;
  /** R role, S user, E user of an Entra identity. */
  readonly type: string;
  readonly sid: Uint8Array | undefined;
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

const firstId = 1000;

export class Catalog {
  plans = new Plans();
  #objects = new Map<string, CatalogObject>();
  #types = new Map<string, TypeObject>();
  #schemas = new Map<string, { id: number; name: string }>();
  #principals = new Map<string, Principal>();
  /** `role member`, in lower case. */
  #memberships = new Set<string>();
  /** Another catalogue has the same maps: they are copied before anything changes. */
  #isShared = false;
  #nextId = firstId;

  constructor() {
    this.#schemas.set("dbo", { id: 1, name: "dbo" });
    this.#principals.set("dbo", { id: 1, name: "dbo", type: "S", sid: undefined });
    this.#principals.set("public", { id: 0, name: "public", type: "R", sid: undefined });
  }

  fork(): Catalog {
    const copy = new Catalog();
    copy.plans = this.plans;
    copy.#objects = this.#objects;
    copy.#types = this.#types;
    copy.#schemas = this.#schemas;
    copy.#principals = this.#principals;
    copy.#memberships = this.#memberships;
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
    this.#principals = new Map(this.#principals);
    this.#memberships = new Set(this.#memberships);
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

  /** Puts an object in place of what has its name; returns how to undo it. */
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

  type(name: ObjectName): TypeObject {
    const type = this.findType(name);
    if (type !== undefined) return type;
    throw new SqlError(
      2715,
      `Column, parameter, or variable: Cannot find data type ${printName(name)}.`,
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

  get schemas(): Iterable<{ id: number; name: string }> {
    return this.#schemas.values();
  }

  findSchema(name: string): { id: number; name: string } | undefined {
    return this.#schemas.get(name.toLowerCase());
  }

  putSchema(name: string): () => void {
    this.#own().#schemas.set(name.toLowerCase(), { id: this.newId(), name });
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

  // ---- principals

  get principals(): Iterable<Principal> {
    return this.#principals.values();
  }

  findPrincipal(name: string): Principal | undefined {
    return this.#principals.get(name.toLowerCase());
  }

  putPrincipal(principal: Principal): () => void {
    const key = principal.name.toLowerCase();
    this.#own().#principals.set(key, principal);
    return () => {
      this.#own().#principals.delete(key);
    };
  }

  removePrincipal(principal: Principal): () => void {
    const key = principal.name.toLowerCase();
    const memberships = this.memberships().filter(
      (one) => one.role === principal || one.member === principal,
    );
    this.#own().#principals.delete(key);
    for (const one of memberships)
      this.#own().#memberships.delete(membershipKey(one.role.name, one.member.name));
    return () => {
      this.#own().#principals.set(key, principal);
      for (const one of memberships)
        this.#own().#memberships.add(membershipKey(one.role.name, one.member.name));
    };
  }

  memberships(): { role: Principal; member: Principal }[] {
    return [...this.#memberships].flatMap((key) => {
      const [role, member] = key.split("\u0000").map((name) => this.findPrincipal(name));
      return role === undefined || member === undefined ? [] : [{ role, member }];
    });
  }

  setMembership(role: string, member: string, isMember: boolean): () => void {
    const key = membershipKey(role, member);
    const was = this.#memberships.has(key);
    const set = (value: boolean): void => {
      if (value) this.#own().#memberships.add(key);
      else this.#own().#memberships.delete(key);
    };
    set(isMember);
    return () => {
      set(was);
    };
  }
}

function membershipKey(role: string, member: string): string {
  return `${role.toLowerCase()}\u0000${member.toLowerCase()}`;
}

export function keyOf(name: { schema: string | undefined; name: string }): string {
  return `${name.schema ?? "dbo"}.${name.name}`.toLowerCase();
}

export function printName(name: { schema: string | undefined; name: string }): string {
  return name.schema === undefined ? name.name : `${name.schema}.${name.name}`;
}
