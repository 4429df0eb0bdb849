import type { Random } from "../../../shared/ports/random";
import type { StoreTransaction, TaskStore } from "../../../shared/ports/task-store";
import { ModelTaskStore } from "../../../shared/store/model/model-task-store";
import type { ModelState } from "../../../shared/store/model/state";
import type { Host } from "./host";
import { epochMs } from "./host";
import type { VirtualTime } from "./virtual-time";

/** The port's methods that are one call each. */
export type OperationName = Exclude<keyof TaskStore, "dialect" | "transaction" | "close">;

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

/** What is told of every call. */
export interface DatabaseObserver {
  before(call: StatementCall): void;
  after(call: StatementCall, answer: unknown): void;
}

/** The model store with the right clock; every statement is seen. */
export class Database {
  readonly model: ModelTaskStore;
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
    this.model = new ModelTaskStore({ clock: { now: () => this.nowMs }, random: options.random });
  }

  /** The database's clock. */
  get nowMs(): number {
    return epochMs + Math.floor(this.time.nowMs) + this.clockErrorMs;
  }

  /** The rows as they stand, to look at. */
  get rows(): ModelState {
    let rows: ModelState | undefined;
    this.model.damage((state) => {
      rows = state;
    });
    if (rows === undefined) throw new Error("The model has no rows");
    return rows;
  }

  /** Runs a call at this instant. */
  async execute(call: StatementCall): Promise<unknown> {
    const run = async (): Promise<unknown> => {
      this.#observer.before(call);
      const method = this.model[call.operation].bind(this.model) as (
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
