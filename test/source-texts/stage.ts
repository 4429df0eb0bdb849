import type { StoreDialect, TaskStore } from "../../shared/ports/task-store";
import type { Worker } from "../support/builders";
import type { PlantedFault } from "../support/planted-setup";

/** What a fault puts between the scene and each store that it opens; made anew for each run, so that stores share it. */
export type StoreChange = (store: TaskStore) => TaskStore;

/** How a stage is set up. */
export interface StageOptions {
  /** A store that does something else. */
  readonly change?: StoreChange;
  /** A fault in the store's own text. */
  readonly planted?: PlantedFault;
}

/** Something that stays open until the scene says how it ends. */
export interface Held {
  commit(): Promise<void>;
  rollBack(): Promise<void>;
}

/** A claim whose transaction is open. */
export interface OpenClaim extends Held {
  /** What it takes; told when it is committed. */
  readonly taskIds: Promise<readonly string[]>;
}

/**
 * Where a behaviour of the source texts is shown: an empty store whose clock runs, with as many connections as a scene
 * asks for. No call is repeated: a deadlock or a lock time-out reaches the scene.
 */
export interface Stage {
  readonly dialect: StoreDialect;
  /** Another store with connections of its own; the stage ends it. */
  openStore(connectionsMax: number): TaskStore;
  /** The same database past every planted change: for looking. */
  readonly plain: TaskStore;
  /** Moves the database's time. */
  advance(ms: number): Promise<void>;
  /**
   * Claims, and keeps the claim's transaction open. In the memory store a call takes effect at once and is only not answered yet:
   * its roll-back is the end of its worker, which gives everything back.
   */
  openClaim(worker: Worker, want: number): Promise<OpenClaim>;
  /** Writes a definition's mark, as an asker does first, and its limit, and keeps the row; in the memory store nothing is kept. */
  holdDefinition(name: string, limit?: number): Promise<Held>;
  /** How many calls wait for a lock. */
  countWaiting(): Promise<number>;
  /** How many transactions are open. */
  countTransactions(): Promise<number>;
  /** Deadlocks that this database has seen. */
  countDeadlocks(): Promise<number>;
  /** Ends everything that it opened. */
  close(): Promise<void>;
}

/** Opens stages over one kind of store. */
export interface StageSetup<Kind extends Stage = Stage> {
  readonly dialect: StoreDialect;
  open(options?: StageOptions): Promise<Kind>;
  close(): Promise<void>;
}
