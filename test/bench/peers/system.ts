import type { Setup } from "../peers-launcher/protocol.ts";

/** About 300 bytes as JSON. */
export interface Payload {
  readonly n: number;
  readonly group: string;
  /** Monotonic ms, in a text: no system may round it. */
  readonly sentAt: string;
  readonly text: string;
}

/** What every system's handler calls. */
export type Handle = (payload: Payload) => Promise<void>;

/** One of the compared systems, set up for a scenario. */
export interface QueueSystem {
  /** What differs from its defaults, and its connections: a part of a sentence for the page of results. */
  readonly settings: string;
  /** Makes schema and queues in an empty database. */
  prepare(): Promise<void>;
  /** One call of the system's own bulk door. */
  enqueueBulk(payloads: readonly Payload[], dueAt: Date | null): Promise<void>;
  enqueueOne(payload: Payload): Promise<void>;
  /** Starts workers and returns. */
  work(handle: Handle): Promise<void>;
  /** Tasks that aren't durably done. */
  unfinished(): Promise<number>;
  close(): Promise<void>;
}

/** Loads the system's package only when it is the one to run. */
export type OpenSystem = (setup: Setup) => Promise<QueueSystem>;
