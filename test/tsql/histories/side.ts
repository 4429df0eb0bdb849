import type { BatchId, ExecutionId, Fence, TaskId, WaveId } from "../../../shared/core/ids";
import type { TaskStore } from "../../../shared/ports/task-store";
import { Names } from "./names";
import type { NameKind } from "./names";
import type { StoreTables } from "./store-tables";

/** A store that histories can be run on. */
export interface HistoryStore {
  /** Shown where it differs from another. */
  readonly title: string;
  /** It has every table and column of the core; the memory store has only what decides. */
  readonly isWhole: boolean;
  /** The same database over one connection each, at least one: what a connection keeps to itself would be seen. */
  readonly connections: readonly TaskStore[];
  /** The database's time, in epoch milliseconds: it stands still between moves. */
  now(): Promise<number>;
  advance(ms: number): Promise<void>;
  /** Does nothing when the task is not unfinished. */
  requestCancel(taskId: TaskId): Promise<void>;
  /** All rows. */
  readTables(): Promise<StoreTables>;
}

/** A call refers to something that doesn't exist here, since the call that made it was taken out. */
export class UnknownName extends Error {}

/** A store while a history runs on it. */
export class Side {
  readonly names: Names;
  readonly target: HistoryStore;
  /** Instants are told as milliseconds since. */
  readonly startMs: number;
  /** Over the connection that calls go through. */
  readonly store: TaskStore;

  constructor(
    target: HistoryStore,
    startMs: number,
    { names = new Names(), connection = 0 }: { names?: Names; connection?: number } = {},
  ) {
    this.target = target;
    this.startMs = startMs;
    this.names = names;
    const store = target.connections[connection % target.connections.length];
    if (store === undefined) throw new Error(`${target.title} has no connection`);
    this.store = store;
  }

  /** The same store through another of its connections; a store with fewer takes one of them. */
  through(connection: number): Side {
    return new Side(this.target, this.startMs, { names: this.names, connection });
  }

  task(name: string): TaskId {
    return this.#id("task", name) as TaskId;
  }

  execution(name: string): ExecutionId {
    return this.#id("execution", name) as ExecutionId;
  }

  fence(name: string): Fence {
    return this.#id("fence", name) as Fence;
  }

  batch(name: string): BatchId {
    return this.#id("batch", name) as BatchId;
  }

  wave(name: string): WaveId {
    return this.#id("wave", name) as WaveId;
  }

  /** Its number. */
  schedule(name: string): number {
    return Number(this.#id("schedule", name));
  }

  /** Names the tasks that a call added. */
  bindTasks(callId: string, taskIds: readonly TaskId[]): void {
    for (const [index, taskId] of taskIds.entries()) {
      this.names.bind("task", `t${callId}.${String(index)}`, taskId);
    }
  }

  #id(kind: NameKind, name: string): string {
    const id = this.names.idOf(kind, name);
    if (id === undefined) throw new UnknownName(`${kind} ${name}`);
    return id;
  }
}
