import type { Random } from "../../shared/ports/random";
import type { StoreTransaction, TaskStore } from "../../shared/ports/task-store";
import { MemoryTaskStore } from "../../shared/testing/memory-store/memory-task-store";
import type { MemoryState } from "../../shared/testing/memory-store/state";
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
  run: () => Promise<unknown>,
  database: Database,
) => Promise<unknown>;

/** The record of every call. */
export interface DatabaseObserver {
  before(call: StatementCall): void;
  after(call: StatementCall, answer: unknown): void;
}

/** The memory store with the right clock; every statement is seen. */
export class Database {
  readonly memory: MemoryTaskStore;
  /** Planted bugs may make it wrong for a moment. */
  clockErrorMs = 0;
  readonly time: VirtualTime;
  readonly #observer: DatabaseObserver;
  readonly #tamper: Tamper | null;

  constructor(options: {
    time: VirtualTime;
    random: Random;
    observer: DatabaseObserver;
    tamper: Tamper | null;
  }) {
    this.time = options.time;
    this.#observer = options.observer;
    this.#tamper = options.tamper;
    this.memory = new MemoryTaskStore({ clock: { now: () => this.nowMs }, random: options.random });
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

  /** Runs a call at this instant. */
  async execute(call: StatementCall): Promise<unknown> {
    const run = async (): Promise<unknown> => {
      this.#observer.before(call);
      const method = this.memory[call.operation].bind(this.memory) as (
        input: unknown,
        within?: StoreTransaction,
      ) => Promise<unknown>;
      const answer = await method(call.input, call.within);
      return answer;
    };
    const answer = await (this.#tamper === null ? run() : this.#tamper(call, run, this));
    this.#observer.after(call, answer);
    return answer;
  }
}
