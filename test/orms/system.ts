import type { StoreTransaction, TaskClient } from "taskgate";

/** An ORM with a connection of its own, and the program of its guide. */
export interface System {
  /** Writes the order and enqueues its task, as the guide does. */
  placeOrder(client: TaskClient, id: number): Promise<void>;
  /** What a program gets that wraps the connection itself instead of a transaction. */
  outside(): StoreTransaction;
  close(): Promise<void>;
}

export type OpenSystem = (url: string) => Promise<System>;
