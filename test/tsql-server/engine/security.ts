import type { ObjectName } from "../syntax/ast";
import { SqlError } from "./sql-error";

/** The users, their roles, and the rights of each. */

export interface Principal {
  readonly id: number;
  readonly name: string;
  /** R role, S user, E user of an Entra identity. */
  readonly type: string;
  readonly sid: Uint8Array | undefined;
  /** The server's login that acts as this user. */
  readonly login?: string | undefined;
  /** Of a contained user, who signs in by its own name. */
  readonly password?: string | undefined;
}

export interface Login {
  readonly name: string;
  readonly password: string;
}

/** What rights are about; `owner` is its schema's. */
export interface Securable {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly owner: string;
}

/** Where a right stands: on one object or type, on a schema, on the database. */
export type Scope =
  | { readonly class: "object" | "type"; readonly id: number }
  | { readonly class: "schema"; readonly name: string }
  | { readonly class: "database" };

export type PermissionState = "grant" | "deny";

/** Not to be locked out: the database's owner, and each member of its owners [doc: Database-level roles]. */
const ownerName = "dbo";
const fixedRoles = ["db_owner"] as const;
const firstFixedId = 16_384;

/** Copied before the first change, as a catalogue is; answers are kept until something changes. */
export class Security {
  #principals = new Map<string, Principal>();
  /** `role member`, in lower case. */
  #memberships = new Set<string>();
  #logins = new Map<string, Login>();
  /** By scope, right and the principal's id. */
  #permissions = new Map<string, PermissionState>();
  #verdicts = new Map<string, boolean>();
  #isShared = false;

  constructor() {
    this.#add({ id: 1, name: ownerName, type: "S", sid: undefined });
    this.#add({ id: 0, name: "public", type: "R", sid: undefined });
    fixedRoles.forEach((name, place) => {
      this.#add({ id: firstFixedId + place, name, type: "R", sid: undefined });
    });
  }

  #add(principal: Principal): void {
    this.#principals.set(principal.name.toLowerCase(), principal);
  }

  fork(): Security {
    const copy = new Security();
    copy.#principals = this.#principals;
    copy.#memberships = this.#memberships;
    copy.#logins = this.#logins;
    copy.#permissions = this.#permissions;
    copy.#verdicts = this.#verdicts;
    copy.#isShared = true;
    this.#isShared = true;
    return copy;
  }

  /** This one, to be changed. */
  #own(): this {
    this.#verdicts = new Map();
    if (!this.#isShared) return this;
    this.#isShared = false;
    this.#principals = new Map(this.#principals);
    this.#memberships = new Set(this.#memberships);
    this.#logins = new Map(this.#logins);
    this.#permissions = new Map(this.#permissions);
    return this;
  }

  // ---- principals

  get principals(): Iterable<Principal> {
    return this.#principals.values();
  }

  find(name: string): Principal | undefined {
    return this.#principals.get(name.toLowerCase());
  }

  put(principal: Principal): () => void {
    const key = principal.name.toLowerCase();
    this.#own().#principals.set(key, principal);
    return () => {
      this.#own().#principals.delete(key);
    };
  }

  remove(principal: Principal): () => void {
    const key = principal.name.toLowerCase();
    const memberships = this.memberships().filter(
      (one) => one.role === principal || one.member === principal,
    );
    this.#own().#principals.delete(key);
    for (const one of memberships)
      this.#memberships.delete(membershipKey(one.role.name, one.member.name));
    return () => {
      this.#own().#principals.set(key, principal);
      for (const one of memberships)
        this.#memberships.add(membershipKey(one.role.name, one.member.name));
    };
  }

  memberships(): { role: Principal; member: Principal }[] {
    return [...this.#memberships].flatMap((key) => {
      const [role, member] = key.split("\u0000").map((name) => this.find(name));
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

  // ---- logins

  findLogin(name: string): Login | undefined {
    return this.#logins.get(name.toLowerCase());
  }

  putLogin(login: Login): () => void {
    return this.#setLogin(login.name, login);
  }

  removeLogin(login: Login): () => void {
    return this.#setLogin(login.name, undefined);
  }

  #setLogin(name: string, login: Login | undefined): () => void {
    const key = name.toLowerCase();
    const before = this.#logins.get(key);
    if (login === undefined) this.#own().#logins.delete(key);
    else this.#own().#logins.set(key, login);
    return () => {
      if (before === undefined) this.#own().#logins.delete(key);
      else this.#own().#logins.set(key, before);
    };
  }

  /** The user of a sign-in: of a login, or one with a password of its own. */
  userOf(login: string): Principal | undefined {
    const wanted = login.toLowerCase();
    return [...this.#principals.values()].find(
      (user) =>
        user.login?.toLowerCase() === wanted ||
        (user.password !== undefined && user.name.toLowerCase() === wanted),
    );
  }

  // ---- rights

  /** undefined takes it back, of any kind. */
  setPermission(
    scope: Scope,
    given: { right: string; principal: Principal; state: PermissionState | undefined },
  ): () => void {
    const key = permissionKey(scope, given.right, given.principal.id);
    const before = this.#permissions.get(key);
    const set = (state: PermissionState | undefined): void => {
      if (state === undefined) this.#own().#permissions.delete(key);
      else this.#own().#permissions.set(key, state);
    };
    set(given.state);
    return () => {
      set(before);
    };
  }

  /** The database's owners, to whom nothing is refused. */
  isOwner(user: string): boolean {
    if (user === ownerName) return true;
    let verdict = this.#verdicts.get(user);
    if (verdict === undefined) {
      verdict = this.rolesOf(user).has(fixedRoles[0]);
      this.#verdicts.set(user, verdict);
    }
    return verdict;
  }

  /** The user's own name and those of all its roles, in lower case: also of roles inside roles. */
  rolesOf(user: string): ReadonlySet<string> {
    const found = new Set([user.toLowerCase(), "public"]);
    const pairs = [...this.#memberships].map((key) => key.split("\u0000"));
    for (let before = 0; before < found.size;) {
      before = found.size;
      for (const [role = "", member = ""] of pairs) if (found.has(member)) found.add(role);
    }
    return found;
  }

  /** May this user do it? Who owns the schema may do everything there; a DENY wins over every GRANT [doc: DENY]. */
  allows(user: string, right: string, about: Securable & { class: "object" | "type" }): boolean {
    const key = `${user}\u0000${right}\u0000${about.class}\u0000${about.id}`;
    let verdict = this.#verdicts.get(key);
    if (verdict === undefined) {
      verdict = this.#judge(user, right, about);
      this.#verdicts.set(key, verdict);
    }
    return verdict;
  }

  #judge(user: string, right: string, about: Securable & { class: "object" | "type" }): boolean {
    const roles = this.rolesOf(user);
    if (this.isOwner(user) || roles.has(about.owner.toLowerCase())) return true;
    const scopes: Scope[] = [
      { class: about.class, id: about.id },
      { class: "schema", name: about.schema },
      { class: "database" },
    ];
    const states = [...roles].flatMap((name) => {
      const principal = this.find(name);
      if (principal === undefined) return [];
      // CONTROL implies all other rights [doc: Permissions, covering permissions].
      return scopes.flatMap((scope) =>
        [right, "CONTROL"].map((one) =>
          this.#permissions.get(permissionKey(scope, one, principal.id)),
        ),
      );
    });
    return states.includes("grant") && !states.includes("deny");
  }
}

function membershipKey(role: string, member: string): string {
  return `${role.toLowerCase()}\u0000${member.toLowerCase()}`;
}

function permissionKey(scope: Scope, right: string, principal: number): string {
  const place =
    scope.class === "database"
      ? ""
      : scope.class === "schema"
        ? scope.name.toLowerCase()
        : String(scope.id);
  return `${scope.class} ${place} ${right} ${principal}`;
}

/** Error 229 as the server words it: class 14, state 5. */
export function refusedRight(
  right: string,
  about: ObjectName | { readonly schema: string; readonly name: string },
  database: string,
): SqlError {
  return new SqlError(
    229,
    `The ${right} permission was denied on the object '${about.name}', database '${database}', schema '${about.schema ?? "dbo"}'.`,
    { class: 14, state: 5 },
  );
}
