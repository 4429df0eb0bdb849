import { Client } from "pg";
import { operations } from "../../shared/store/operations";
import { toPascalCase, toSnakeCase } from "../../shared/store/operations/operation";
import type { OperationName } from "../../shared/store/operations";

/**
 * Which operations each login called, noted where the drivers send: what a store calls and what a test's own statements
 * call alike. It begins with the first `recordCalls` of a process and sees every connection in it.
 */
export class CallRecord {
  readonly #byUser = new Map<string, Set<OperationName>>();

  /** Called for each statement before it is sent. */
  note(user: string | undefined, statement: string): void {
    const called = calledIn(statement);
    if (called.length === 0) return;
    const known = this.#byUser.get(user ?? "") ?? new Set();
    for (const operation of called) known.add(operation);
    this.#byUser.set(user ?? "", known);
  }

  /** By name; a login without calls has none. */
  callsOf(user: string): OperationName[] {
    return [...(this.#byUser.get(user) ?? [])].sort();
  }

  /** Every login that called one. */
  get users(): string[] {
    return [...this.#byUser.keys()].sort();
  }
}

const operationOf: ReadonlyMap<string, OperationName> = new Map(
  (Object.keys(operations) as OperationName[]).flatMap((name) => [
    [`${toSnakeCase(name)}(`, name],
    [toPascalCase(name), name],
  ]),
);

/** What changes operations instead of calling them: planted faults, migrations. */
const definesOperations =
  /\b(?:create|alter|drop|grant|revoke)\b[^;]*?\b(?:function|procedure|object)\b/iu;

/** Operations that a statement calls: `taskgate.work(..)` on PostgreSQL, a procedure's name or EXEC on SQL Server. */
export function calledIn(statement: string): OperationName[] {
  if (definesOperations.test(statement)) return [];
  const names = [
    ...statement.matchAll(/\b\w+"?\.([a-z_]+\()/gu),
    ...statement.matchAll(/(?:^|\bexec(?:ute)?\s+)\[?Taskgate\]?\.\[?([A-Z]\w*)/giu),
  ];
  return names.flatMap(([, name]) => operationOf.get(name ?? "") ?? []);
}

let record: CallRecord | undefined;

/** The record of this process: of PostgreSQL, and of SQL Server where mssql-call-record.ts was asked. */
export function recordCalls(): CallRecord {
  if (record !== undefined) return record;
  const begun = new CallRecord();
  record = begun;
  recordPostgres(begun);
  return begun;
}

function recordPostgres(into: CallRecord): void {
  const prototype = Client.prototype as unknown as PostgresSender;
  const send = prototype.query;
  prototype.query = function (this: PostgresSender, config, ...rest) {
    into.note(this.user, typeof config === "string" ? config : (config.text ?? ""));
    return send.call(this, config, ...rest);
  };
}

interface PostgresSender {
  user?: string;
  query(this: PostgresSender, config: string | { text?: string }, ...rest: unknown[]): unknown;
}
