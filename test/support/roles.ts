import type { TaskStore } from "../../shared/ports/task-store";
import { operatorOperations } from "../../shared/store/missing-right";
import { toPascalCase, toSnakeCase } from "../../shared/store/operations/operation";

/**
 * Product calls of tests run as logins with the shipped roles, one role each: a call that needs a right which its role
 * hasn't got fails. The owner's connection is for fixtures, the clock and planted faults.
 */

/** The roles that ship with the schema. */
export type Role = "worker" | "operator";
export const roles: readonly Role[] = ["worker", "operator"];

/** One store per role; each has connections of its own. */
export type RoleStores = Readonly<Record<Role, TaskStore>>;

/** Names of the role and of the tests' login in it, by dialect. */
export const roleNames = {
  postgres: { worker: "taskgate_worker", operator: "taskgate_operator" },
  mssql: { worker: "TaskgateWorker", operator: "TaskgateOperator" },
} as const;

/** Logins of the tests' servers: members of one role each, and of nothing else. */
export const loginNames: Readonly<Record<Role, string>> = {
  worker: "taskgate_test_worker",
  operator: "taskgate_test_operator",
};

/** The app's login, as it is set up in production with the routes of operators: a member of both roles. */
export const appLogin = "taskgate_test_app";

/** They are made on servers that are there for tests only. */
export const loginPassword = "Least-privileged-1";

/** The same database, signed in to as another user. */
export function urlAs(url: string, role: Role | "app"): string {
  const changed = new URL(url);
  changed.username = role === "app" ? appLogin : loginNames[role];
  changed.password = loginPassword;
  return changed.toString();
}

/** Opens a store for each role. */
export function openRoleStores(open: (role: Role) => TaskStore): RoleStores {
  return { worker: open("worker"), operator: open("operator") };
}

/**
 * One store that makes each call as the role with the fewest rights that may: operators' operations as an operator, all
 * others, and users' transactions, as a worker. Its `close` ends both.
 */
export function storeOfRoles({ worker, operator }: RoleStores): TaskStore {
  const close = async (): Promise<void> => {
    await Promise.all([worker.close(), operator.close()]);
  };
  return new Proxy(worker, {
    get: (_, name): unknown => {
      if (name === "close") return close;
      const store = operatorNames.has(String(name)) ? operator : worker;
      const value: unknown = Reflect.get(store, name, store);
      return typeof value === "function" ? (value.bind(store) as unknown) : value;
    },
  });
}

const operatorNames: ReadonlySet<string> = new Set(operatorOperations);

/** Who may run a statement in a dialect of SQL: an operator, where it names one of the operators' operations. */
export function roleOfSql(sql: string): Role {
  const isOperators = operatorOperations.some((name) =>
    new RegExp(`\\b(?:${toSnakeCase(name)}|${toPascalCase(name)})\\b`, "u").test(sql),
  );
  return isOperators ? "operator" : "worker";
}
