import type { LockMode } from "../locks/modes";
import type { Index } from "../storage/index";
import type { Image } from "../storage/row";
import type { Statement } from "../syntax/ast-statements";
import type { RowCost } from "./log-bytes";
import type { WrittenPart } from "./written-part";
import { deleteCost, insertCost, transactionBytes, updateCost } from "./log-bytes";

/** What one call, or one session, has cost. Table variables cost nothing here: they don't stand in the database's log. */
export interface Tally {
  /**
   * Statements executed, each time they are: DML, SELECT (also one that assigns), SET of a variable, DECLARE with an initial
   * value (once for all of its variables), IF and WHILE whose condition has a query (each test), EXEC, BEGIN, COMMIT, ROLLBACK
   * and SAVE, THROW, RAISERROR, PRINT. Not: BEGIN .. END, TRY, conditions of variables only, RETURN, SET of options.
   */
  statements: number;
  /** The same inside scalar functions, and RETURN with a value there. The server may have made some part of their callers. */
  functionStatements: number;
  /** Rows of indexes that were inserted, deleted or changed: the clustered one and each other that has to follow. */
  indexWrites: number;
  /** Searches of an index to read: one per access and value of an IN, and one per row that is looked up by another index's entry. */
  seeks: number;
  /** Rows that searches gave, also those that a condition then rejects. Deleted entries aren't among them. */
  rowsExamined: number;
  logBytes: number;
  /** With row versions: copies of what was there, and the tags of rows. Part of the log where versions persist (Azure SQL). */
  versionBytes: number;
  /** Rows written, as they are stored. */
  storedBytes: number;
  /** Transactions that wrote, committed: each waits for the log. */
  commits: number;
  /** Those that held U or X on a row, by table. */
  readonly commitsHolding: Map<string, number>;
  /** Statements begun from the one behind which a row was locked (U or X) to the commit, itself included: the most, by table. */
  readonly heldMax: Map<string, number>;
  /** Times that a function read a text of more than 8,000 bytes: OPENJSON, and each built-in function that such a text is given to but DATALENGTH. */
  passes: number;
  passedBytes: number;
  /** Those during which the session held U or X on a row, by its table. */
  readonly passesHolding: Map<string, number>;
}

export function newTally(): Tally {
  return {
    statements: 0,
    functionStatements: 0,
    indexWrites: 0,
    seeks: 0,
    rowsExamined: 0,
    logBytes: 0,
    versionBytes: 0,
    storedBytes: 0,
    commits: 0,
    commitsHolding: new Map(),
    heldMax: new Map(),
    passes: 0,
    passedBytes: 0,
    passesHolding: new Map(),
  };
}

/** Adds one tally to another; of times held the longer one stays. */
export function addTally(sum: Tally, part: Tally): void {
  sum.statements += part.statements;
  sum.functionStatements += part.functionStatements;
  sum.indexWrites += part.indexWrites;
  sum.seeks += part.seeks;
  sum.rowsExamined += part.rowsExamined;
  sum.logBytes += part.logBytes;
  sum.versionBytes += part.versionBytes;
  sum.storedBytes += part.storedBytes;
  sum.commits += part.commits;
  sum.passes += part.passes;
  sum.passedBytes += part.passedBytes;
  for (const [table, count] of part.commitsHolding) add(sum.commitsHolding, table, count);
  for (const [table, count] of part.passesHolding) add(sum.passesHolding, table, count);
  for (const [table, held] of part.heldMax) {
    sum.heldMax.set(table, Math.max(held, sum.heldMax.get(table) ?? 0));
  }
}

function add(counts: Map<string, number>, table: string, count: number): void {
  counts.set(table, (counts.get(table) ?? 0) + count);
}

/** A text is long from here on: it no longer fits the types without `max`, nor a row. */
const longBytes = 8_000;

interface Held {
  readonly table: string;
  /** Statements that had begun. */
  readonly since: number;
  /** Written: with optimized locking the key's lock goes, but the row waits for the transaction's end all the same. */
  isWritten: boolean;
}

/** Counts what one connection does. Exists only in worlds that are metered; decides nothing. */
export class Meter {
  /** Since the last request began. */
  call = newTally();
  readonly #before = newTally();
  readonly #held = new Map<string, Held>();
  readonly #hasVersions: () => boolean;
  #begun = 0;
  #functionDepth = 0;

  constructor(hasVersions: () => boolean) {
    this.#hasVersions = hasVersions;
  }

  /** A request begins. */
  beginCall(): void {
    addTally(this.#before, this.call);
    this.call = newTally();
  }

  /** All calls so far. */
  session(): Tally {
    const sum = newTally();
    addTally(sum, this.#before);
    addTally(sum, this.call);
    return sum;
  }

  // ---- statements

  statement(statement: Statement): void {
    if (counts(statement)) this.#count();
    else if (
      statement.kind === "return" &&
      statement.value !== undefined &&
      this.#functionDepth > 0
    )
      this.#count();
  }

  /** A condition with a query. */
  condition(): void {
    this.#count();
  }

  #count(): void {
    this.#begun += 1;
    if (this.#functionDepth > 0) this.call.functionStatements += 1;
    else this.call.statements += 1;
  }

  enterFunction(): void {
    this.#functionDepth += 1;
  }

  leaveFunction(): void {
    this.#functionDepth -= 1;
  }

  // ---- rows

  seek(): void {
    this.call.seeks += 1;
  }

  examined(): void {
    this.call.rowsExamined += 1;
  }

  inserted(index: Index, image: Image): void {
    this.#wrote(insertCost(index, image));
  }

  deleted(index: Index, old: Image): void {
    this.#wrote(deleteCost(index, old));
  }

  updated(
    index: Index,
    old: Image,
    after: { readonly image: Image; readonly parts?: ReadonlyMap<number, WrittenPart> },
  ): void {
    this.#wrote(updateCost(index, { old, image: after.image, parts: after.parts ?? new Map() }));
  }

  #wrote(cost: RowCost): void {
    this.call.indexWrites += 1;
    this.call.logBytes += cost.log;
    this.call.storedBytes += cost.stored;
    if (this.#hasVersions()) this.call.versionBytes += cost.version;
  }

  // ---- texts

  passed(bytes: number): void {
    if (bytes <= longBytes) return;
    this.call.passes += 1;
    this.call.passedBytes += bytes;
    for (const table of this.#tablesHeld()) add(this.call.passesHolding, table, 1);
  }

  // ---- locks

  locked(resource: string, mode: LockMode): void {
    const keepsWritersOut =
      mode === "U" || mode === "X" || mode.endsWith("-U") || mode.endsWith("-X");
    if (!keepsWritersOut || this.#held.has(resource)) return;
    const table = /^KEY ([^.]+\.[^.]+)\./.exec(resource)?.[1];
    if (table !== undefined)
      this.#held.set(resource, { table, since: this.#begun, isWritten: false });
  }

  /** The key's lock may go now; the row is still the transaction's. */
  written(resource: string): void {
    const held = this.#held.get(resource);
    if (held !== undefined) held.isWritten = true;
  }

  unlocked(resource: string): void {
    if (this.#held.get(resource)?.isWritten === false) this.#held.delete(resource);
  }

  /** Before the locks go. */
  committed(hasWritten: boolean): void {
    if (!hasWritten) return;
    this.call.commits += 1;
    this.call.logBytes += transactionBytes;
    for (const table of this.#tablesHeld()) add(this.call.commitsHolding, table, 1);
  }

  /** A transaction's end: all its locks go. */
  released(): void {
    const { heldMax } = this.call;
    for (const { table, since } of this.#held.values()) {
      heldMax.set(table, Math.max(this.#begun - since, heldMax.get(table) ?? 0));
    }
    this.#held.clear();
  }

  #tablesHeld(): Set<string> {
    return new Set([...this.#held.values()].map(({ table }) => table));
  }
}

function counts(statement: Statement): boolean {
  switch (statement.kind) {
    case "selectStatement":
    case "insert":
    case "update":
    case "delete":
    case "setVariable":
    case "execute":
    case "executeText":
    case "begin":
    case "commit":
    case "rollback":
    case "save":
    case "throw":
    case "raiseError":
    case "print":
      return true;
    case "declare":
      return statement.declarations.some((one) => one.kind === "scalar" && one.value !== undefined);
    default:
      return false;
  }
}
