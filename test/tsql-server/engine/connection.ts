import type { LockMode } from "../locks/modes";
import { combineModes, isCovered } from "../locks/modes";
import type { IsolationLevel } from "../syntax/ast-statements";
import type { SqlValue } from "../values";
import type { Answer } from "./answer";
import { Meter } from "./meter";
import { newMetrics } from "./metrics";
import { SeededRandom } from "./random";
import type { SqlError } from "./sql-error";
import { SimulationError } from "./sql-error";
import type { Ask, LockPoint, Reply, Request, Steps } from "./steps";
import { nothingToLock } from "./steps";
import { Transaction, transactionResource } from "./transaction";
import type { World } from "./world";

/** What SET changes. A procedure's own changes end with it. */
export interface Settings {
  isNoCount: boolean;
  isXactAbort: boolean;
  /** IMPLICIT_TRANSACTIONS: what touches a table outside a transaction begins one. */
  isImplicit: boolean;
  isolation: IsolationLevel;
  /** -1: without end. */
  lockTimeoutMs: number;
  deadlockPriority: number;
}

export const loginSettings: Readonly<Settings> = {
  isNoCount: false,
  isXactAbort: false,
  isImplicit: false,
  isolation: "READ COMMITTED",
  lockTimeoutMs: -1,
  deadlockPriority: 0,
};

/** idle: nothing to do; ready: may take a step; waiting: stands in the queue of a lock. */
export type ConnectionState = "idle" | "ready" | "waiting";

/** One connection: its settings, its transaction, and where its request stands. */
export class Connection {
  readonly world: World;
  readonly id: number;
  readonly random: SeededRandom;
  settings: Settings = { ...loginSettings };
  /** The login of this connection. */
  login = "dbo";
  /** The user of the database that acts: the login's, or the one of the last EXECUTE AS. */
  user = "dbo";
  /** Who acted before each EXECUTE AS, the last one behind. */
  readonly contexts: string[] = [];
  /** Those of the module's callers: REVERT leaves them alone. */
  contextsBefore = 0;

  // ---- the request
  state: ConnectionState = "idle";
  steps: Steps<void> | undefined;
  pending: Request | undefined;
  /** What a waiter is told once it has its lock. */
  reply: Reply | undefined;
  /** To be raised where the connection stands, at its next step. */
  failure: Error | undefined;
  /** Waiting since: for LOCK_TIMEOUT. */
  waits = 0;
  answer: Answer | undefined;
  metrics = newMetrics();
  /** Where the world is metered. */
  readonly meter: Meter | undefined;
  /** Where the request is: for traces. */
  place = { moduleName: "", line: 0 };

  // ---- the transaction
  transaction: Transaction | undefined;
  transactionCount = 0;
  /** By which the client knows the transaction that it has open. */
  transactionId = 0;
  isDoomed = false;
  tryDepth = 0;
  /** Errors that CATCH blocks are about, innermost last. */
  readonly caught: SqlError[] = [];
  rowCount = 0;
  lastError = 0;
  lastIdentity: SqlValue = null;
  /** Application locks, with how often each owner has taken them. */
  readonly appLocks = new Map<string, { session: number; transaction: number }>();
  /** It waits for an application lock: as a deadlock's victim it is told, and keeps its transaction. */
  isTakingAppLock = false;
  /** L20: locks of rows that qualified, until the statement has written them. */
  qualified: Reply[] = [];
  /** How to undo what the statement did to table variables, which no rollback touches. */
  localUndo: (() => void)[] = [];
  isInStatement = false;
  identityInsert: number | undefined;
  procedureDepth = 0;
  #transactionNumber = 0;
  #observed = 0;

  constructor(world: World, id: number) {
    this.world = world;
    this.id = id;
    this.meter = world.isMetered ? new Meter(() => world.isVersioned) : undefined;
    this.random = new SeededRandom(world.options.seed * 7919 + id);
  }

  /** Nothing is refused to the database's owners. */
  get isOwner(): boolean {
    return this.user === "dbo" || this.world.catalog.security.isOwner(this.user);
  }

  // ---- transactions

  nextTransactionNumber(): number {
    this.#transactionNumber += 1;
    return this.#transactionNumber;
  }

  get transactionNumber(): number {
    return this.#transactionNumber;
  }

  /** The transaction that a write belongs to: an own one per statement outside BEGIN TRANSACTION. */
  get writer(): Transaction {
    this.transaction ??= new Transaction(this, false);
    return this.transaction;
  }

  /** The end of a transaction: application locks of the session stay. */
  releaseLocks(): void {
    this.meter?.released();
    const kept = new Set<string>();
    for (const [resource, owners] of this.appLocks) {
      owners.transaction = 0;
      if (owners.session > 0) kept.add(resource);
      else this.appLocks.delete(resource);
    }
    this.world.locks.releaseAll(this.id, kept);
  }

  // ---- locks

  heldMode(resource: string): LockMode | undefined {
    return this.world.locks.modeOf(this.id, resource);
  }

  /** Asks for a lock; stops there unless it is held already. */
  *lock(point: LockPoint): Steps<Reply> {
    const { recorder } = this.world;
    const mark = recorder?.mark();
    const held = this.#lockHeld(point);
    if (held !== undefined) return held;
    // Others come first, then it reads again: the first read decides nothing.
    point.abandon?.();
    recorder?.rewind(mark);
    return yield point;
  }

  /** As `lock`, but where the lock is free no other gets a turn: intents of tables, tests of gaps. */
  *lockMinor(point: LockPoint): Steps<Reply> {
    const ask = point.resolve();
    if (ask === undefined) return nothingToLock;
    const before = this.heldMode(ask.resource);
    if (isCovered(before, ask.mode)) return { outcome: "granted", ask, before };
    return this.tryLock(ask) ?? (yield point);
  }

  #lockHeld(point: LockPoint): Reply | undefined {
    const ask = point.resolve();
    if (ask === undefined) return nothingToLock;
    const before = this.heldMode(ask.resource);
    return isCovered(before, ask.mode) ? { outcome: "granted", ask, before } : undefined;
  }

  tryLock(ask: Ask): Reply | undefined {
    const before = this.heldMode(ask.resource);
    const request = { session: this.id, resource: ask.resource, mode: ask.mode };
    if (!this.world.locks.tryAcquire(request)) return undefined;
    if (!isCovered(before, ask.mode)) this.noteLock(ask);
    return { outcome: "granted", ask, before };
  }

  noteLock(ask: Ask): void {
    const { locks } = this.metrics;
    locks.set(ask.mode, (locks.get(ask.mode) ?? 0) + 1);
    this.meter?.locked(ask.resource, ask.mode);
    this.observe(ask.resource);
  }

  /** Back to the lock held before a reply, unless the lock has been made stronger since. */
  restore(reply: Reply): void {
    const { ask, before, outcome } = reply;
    if (ask === undefined || outcome !== "granted") return;
    const held = this.heldMode(ask.resource);
    if (held === undefined || held === before) return;
    if (!isCovered(combineModes(before, ask.mode), held)) return;
    this.world.locks.restore(this.id, ask.resource, before);
    if (before === undefined) this.meter?.unlocked(ask.resource);
  }

  onLockGranted(): void {
    this.state = "ready";
    const ask = this.reply?.ask;
    if (ask !== undefined) this.noteLock(ask);
  }

  /** L19: the lock of the own transaction, from its first write on. */
  *markTransaction(): Steps<void> {
    if (!this.world.options.hasOptimizedLocking) return;
    const ask: Ask = { resource: transactionResource(this.writer), mode: "X" };
    yield* this.lockMinor({ kind: "lock", resolve: () => ask, onConflict: "wait" });
  }

  // ---- what it has seen

  /** Adds to the hash of everything this request has learnt: with it, equal states have equal futures. */
  observe(text: string): void {
    if (!this.world.isObserved) return;
    let low = this.#observed | 0;
    let high = Math.floor(this.#observed / 4_294_967_296) | 0;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      low = Math.imul(low ^ unit, 2_654_435_761);
      high = (Math.imul(high ^ unit, 1_597_334_677) + low) | 0;
    }
    this.#observed = (low >>> 0) + (high & 0x1f_ffff) * 4_294_967_296;
  }

  get observed(): number {
    return this.#observed;
  }

  /** A finished request leaves nothing behind but its answer. */
  forgetObserved(): void {
    this.#observed = 0;
  }

  requireAnswer(): Answer {
    if (this.answer === undefined) throw new SimulationError("No request runs on this connection");
    return this.answer;
  }
}
