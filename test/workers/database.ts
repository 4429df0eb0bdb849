import { StoreUncertainError } from "../../shared/core/errors";
import type { Random } from "../../shared/ports/random";
import type { StoreTransaction, TaskStore } from "../../shared/ports/task-store";
import { MemoryTaskStore } from "../../shared/testing/memory-store/memory-task-store";
import type { MemoryState, SequenceName, Sequences } from "../../shared/testing/memory-store/state";
import type { Host } from "./host";
import { epochMs } from "./host";
import type { VirtualTime } from "./virtual-time";

/** The port's methods that are one call each. */
export type OperationName = Exclude<
  keyof TaskStore,
  "dialect" | "transaction" | "close" | "notifyWaiting"
>;

/** One statement as it reaches the database. */
export interface StatementCall {
  /** null: a person. */
  readonly host: Host | null;
  readonly operation: OperationName;
  readonly input: unknown;
  readonly within: StoreTransaction | undefined;
  /** When the worker made the call, repeats counted from the first. */
  readonly sentMs: number;
  /** When it arrived here. */
  readonly arrivedMs: number;
}

/** Stands where the database runs a call: planted bugs put something in between. */
export type Tamper = (
  call: StatementCall,
  run: (input?: unknown) => Promise<unknown>,
  database: Database,
) => Promise<unknown>;

/** The record of every call. */
export interface DatabaseObserver {
  before(call: StatementCall): void;
  after(call: StatementCall, answer: unknown): void;
}

/** All that a database knew at one instant. */
export interface Kept {
  readonly rows: MemoryState;
  readonly numbers: ReadonlyMap<SequenceName, number>;
}

/** Numbers that are given again where the database is set back. */
class Numbers implements Sequences {
  last = new Map<SequenceName, number>();

  next(name: SequenceName): number {
    const value = (this.last.get(name) ?? 0) + 1;
    this.last.set(name, value);
    return value;
  }
}

/** The memory store with the right clock; every statement is seen. */
export class Database {
  readonly memory: MemoryTaskStore;
  /** Planted bugs may make it wrong for a moment. */
  clockErrorMs = 0;
  readonly time: VirtualTime;
  readonly #observer: DatabaseObserver;
  readonly #tamper: Tamper | null;
  readonly #numbers = new Numbers();
  /** Transactions that are open: a failover ends them with their connections. */
  readonly #open = new Set<StoreTransaction>();

  constructor(options: {
    time: VirtualTime;
    random: Random;
    observer: DatabaseObserver;
    tamper: Tamper | null;
  }) {
    this.time = options.time;
    this.#observer = options.observer;
    this.#tamper = options.tamper;
    this.memory = new MemoryTaskStore({
      clock: { now: () => this.nowMs },
      random: options.random,
      sequences: this.#numbers,
    });
  }

  /** The database's clock. */
  get nowMs(): number {
    return epochMs + Math.floor(this.time.nowMs) + this.clockErrorMs;
  }

  /** The rows as they stand, to look at. */
  get rows(): MemoryState {
    let rows: MemoryState | undefined;
    this.memory.damage((state) => {
      rows = state;
    });
    if (rows === undefined) throw new Error("The memory store has no rows");
    return rows;
  }

  /** What a standby has that hears nothing more from here on. */
  keep(): Kept {
    return { rows: structuredClone(this.rows), numbers: new Map(this.#numbers.last) };
  }

  /** That standby takes over: what was committed since is lost, and numbers are given again. */
  setBack({ rows, numbers }: Kept): void {
    Object.assign(this.rows, structuredClone(rows));
    this.#numbers.last = new Map(numbers);
    this.#open.clear();
  }

  /** A transaction of the memory store's. Throws StoreUncertainError where a failover came between. */
  transaction<Result>(body: (transaction: StoreTransaction) => Promise<Result>): Promise<Result> {
    return this.memory.transaction(async (transaction) => {
      this.#open.add(transaction);
      try {
        const result = await body(transaction);
        this.#expectOpen(transaction);
        return result;
      } finally {
        this.#open.delete(transaction);
      }
    });
  }

  #expectOpen(transaction: StoreTransaction): void {
    if (!this.#open.has(transaction))
      throw new StoreUncertainError("the connection of the transaction was lost");
  }

  /** Runs a call at this instant. */
  async execute(call: StatementCall): Promise<unknown> {
    if (call.within !== undefined) this.#expectOpen(call.within);
    const run = async (given: unknown = call.input): Promise<unknown> => {
      this.#observer.before(call);
      const method = this.memory[call.operation].bind(this.memory) as (
        input: unknown,
        within?: StoreTransaction,
      ) => Promise<unknown>;
      const answer = await method(given, call.within);
      return answer;
    };
    const answer = await (this.#tamper === null ? run() : this.#tamper(call, run, this));
    this.#observer.after(call, answer);
    return answer;
  }
}
