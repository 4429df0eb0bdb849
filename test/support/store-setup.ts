import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { ExecutionId, TaskId } from "../../shared/core/ids";
import type { StoreDialect, StoreTransaction, TaskStore } from "../../shared/ports/task-store";
import type { CallRecord } from "./call-record";
import type { RoleStores } from "./roles";

/**
 * How the contract suite gets a store. Each test gets an empty one whose clock stands still until the test moves it;
 * after each test `check_invariants` must find nothing. What a store can't show is declared in `missing` with
 * the reason: those tests are reported as skipped.
 */

/** What a test may need besides the port. */
export type Capability =
  /** The clock stands still between moves: boundaries can be hit to the millisecond. */
  | "exact clock"
  /** A cancel request can be planted. */
  | "cancel requests"
  /** The token text can be read and written. */
  | "token text"
  /** The audit of settings can be read. */
  | "audit"
  /** The execution log can be read. */
  | "execution log"
  /** An execution's row can be removed. */
  | "row removal"
  /** It can be told whether anything was written. */
  | "write detection"
  /** Statements of the user's own: transactions take SQL, faults can be planted past the operations. */
  | "raw sql"
  /** The isolation level of a user's transaction reaches the operations inside it. */
  | "isolation level"
  /** Calls lock rows, so that others wait or skip. */
  | "row locks"
  /** Calls are made by logins, each with the rights of its roles. */
  | "rights"
  /** A call that nothing repeats reaches the database: connections aren't lost on purpose. */
  | "sure calls";

/** One entry of the settings' audit. */
export interface AuditEntry {
  setting: string;
  oldValue: string | null;
  newValue: string | null;
  source: string;
  changedBy: string;
  reason: string | null;
}

/** One entry of the execution log. */
export interface LogEntry {
  taskId: TaskId;
  kind: string;
  payload: string | null;
  worker: string | null;
  outcome: string;
  error: string | null;
  durationMs: number | null;
  /** ended less started; null while it runs. */
  spanMs: number | null;
}

/** An empty store, for one test. */
export interface TestStore {
  /** Calls of the product, each by a login with the one role that the call needs (roles.ts). */
  readonly store: TaskStore;
  /** The same database through a store that repeats nothing: what a call raises reaches the test at once. */
  readonly plain: TaskStore;
  /** The logins behind `store`, each for every call: what a role must not do is tried through it. */
  readonly roles: RoleStores;
  /** The database's time. */
  now(): Promise<Date>;
  /** Moves the database's time. */
  advance(ms: number): Promise<void>;
  /** Asks for a task's end, as an operator's cancel does while it runs. */
  requestCancel(taskId: TaskId): Promise<void>;
  /** The token text of a definition. */
  readTokens(name: string): Promise<string>;
  /** Writes the token text, damaged or not. */
  writeTokens(name: string, text: string): Promise<void>;
  /** Oldest first. */
  readAudit(name: string): Promise<AuditEntry[]>;
  /** By task, then by start and fence. */
  readLog(name: string): Promise<LogEntry[]>;
  /** Removes an execution's row, as a mistaken clean-up might. */
  removeExecution(executionId: ExecutionId): Promise<void>;
  /** Changes whenever a definition, an execution or a task was written. */
  readVersions(): Promise<string>;
  /** Runs statements of the store's own dialect past the operations, as the schema's owner. */
  raw(sql: string): Promise<Record<string, unknown>[]>;
  /** One transaction of the schema's owner: rows that a test plants, or keeps locked. */
  asOwner<Result>(body: (transaction: StoreTransaction) => Promise<Result>): Promise<Result>;
  /** Runs a user's own SQL in a transaction, by a login with the one role that the operations in it need. */
  call(sql: string): Promise<Record<string, unknown>[]>;
  /** Called by tests that leave damage on purpose: no check of the invariants follows. */
  expectDamage(): void;
  readonly isDamaged: boolean;
}

/** Opens stores of one kind. */
export interface StoreSetup {
  readonly dialect: StoreDialect;
  /** What this kind can't show, and why. */
  readonly missing: Partial<Record<Capability, string>>;
  /** Who called which operation so far, where there are logins. */
  readonly record?: CallRecord;
  /** An empty store; the one before is gone. */
  open(): Promise<TestStore>;
  /** So many stores over one connection each to the open database, which repeat nothing; the setup ends them. */
  readonly connect?: (count: number) => Promise<readonly TaskStore[]>;
  /** Ends everything. */
  close(): Promise<void>;
}

/** Opens a store before each test and checks it after; returns the way to the current one. */
export function useStore(setup: StoreSetup): () => TestStore {
  let current: TestStore | undefined;
  beforeEach(async () => {
    current = await setup.open();
  });
  afterEach(async () => {
    const opened = current;
    current = undefined;
    if (opened === undefined || opened.isDamaged) return;
    expect(await opened.store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });
  return () => {
    if (current === undefined) throw new Error("No store is open outside a test");
    return current;
  };
}

/** `test` where the store can show it, else a skipped test whose title tells why. */
export function testWith(setup: StoreSetup, ...needed: Capability[]) {
  const reasons = needed.flatMap((capability) => setup.missing[capability] ?? []);
  const run = reasons.length === 0 ? test : test.skip;
  const suffix = reasons.length === 0 ? "" : ` (skipped: ${reasons.join("; ")})`;
  return (title: string, body: () => Promise<void>): void => {
    run(`${title}${suffix}`, body);
  };
}
