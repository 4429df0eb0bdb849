/*
 * What the launcher and the processes that it starts say to each other. Types only: the launcher runs in the project's own
 * Node, the processes in Node 24 from a package of their own.
 */

/**
 * Two are no queues, and show what the computer allows. `bare`: the same handlers in plain loops. `bare-sql`: the least
 * that PostgreSQL must write for a queue.
 */
export type SystemName =
  | "taskgate"
  | "graphile-worker"
  | "pg-boss"
  | "bullmq"
  | "bare"
  | "bare-sql";

/**
 * What the workers do. drain: as many tasks as fast as possible. strict: so many at once, and nothing is claimed that
 * can't start. limit: a limit over all processes. scheduled: tasks that become due. groups: one task of a group at a time.
 * wait: for a task now and then.
 */
export type WorkKind = "drain" | "strict" | "limit" | "scheduled" | "groups" | "wait";

/** How a system is set up for a scenario; each system makes its own options of it. */
export interface Setup {
  readonly system: SystemName;
  readonly work: WorkKind;
  /** Address of a PostgreSQL database of its own. */
  readonly url: string;
  /** null: there is no Redis. */
  readonly redisPort: number | null;
  /** Worker processes of the scenario, and which of them this one is, from 0. */
  readonly processes: number;
  readonly index: number;
  /** Tasks that one process runs at once, where the scenario says so. */
  readonly inFlight: number;
  /** Tasks that all processes may run at once. */
  readonly limit: number;
  /** fewest: as few connections as it works with. batching: claims ahead and completes together, where it can. */
  readonly style: "best" | "fewest" | "batching";
  /** false: done tasks are deleted, as graphile-worker and BullMQ do, where a system would keep them. */
  readonly keeps: boolean;
  /** How long a task takes; 0: its handler is empty. */
  readonly taskMs: number;
  /** Callers that enqueue at once. */
  readonly callers: number;
}

/** What a process is asked, and what it answers. Times are those of the monotonic clock that all processes share, ms. */
export interface Calls {
  /** Loads the system and opens its connections. */
  readonly open: {
    readonly asked: { readonly setup: Setup };
    readonly answer: { settings: string };
  };
  /** Makes schema and queues. */
  readonly prepare: { readonly asked: object; readonly answer: object };
  /** Adds tasks, 10,000 a call. `dueAtMs`: since 1970. `groups`: 0, none. */
  readonly enqueueBulk: {
    readonly asked: {
      readonly count: number;
      readonly groups: number;
      readonly dueAtMs: number | null;
    };
    readonly answer: { readonly ms: number; readonly cpuMs: number };
  };
  /** Adds tasks one by one, with as many callers as the setup says. */
  readonly enqueueSingly: {
    readonly asked: { readonly count: number };
    readonly answer: { readonly ms: number; readonly cpuMs: number };
  };
  /** Adds a task now and then; each carries the instant of its enqueue. */
  readonly trickle: {
    readonly asked: { readonly count: number };
    readonly answer: object;
  };
  /** Starts the workers. From then on `Progress` comes. */
  readonly work: { readonly asked: object; readonly answer: object };
  /** How many tasks aren't durably done. */
  readonly unfinished: { readonly asked: object; readonly answer: { readonly count: number } };
  /** What has been seen so far. */
  readonly seen: { readonly asked: object; readonly answer: Seen };
  /** Begins to take samples of what the process runs. */
  readonly startProfile: { readonly asked: object; readonly answer: object };
  readonly endProfile: { readonly asked: object; readonly answer: CpuProfile };
  /** Ends workers and connections; the process ends by itself. */
  readonly close: { readonly asked: object; readonly answer: object };
}

export type CallName = keyof Calls;

/** The instants of tasks; empty where a scenario needs none of them. */
export interface Seen {
  readonly handled: number;
  readonly begins: readonly number[];
  readonly ends: readonly number[];
  /** From before the enqueue to the handler. */
  readonly waitsMs: readonly number[];
  readonly cpuMs: number;
}

/** V8's CPU profile: a tree of calls, and the innermost call at each sample. Times are in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[] | undefined;
}

/** Sent by a working process whenever its count has changed, at most every 10 ms. */
export interface Progress {
  readonly progress: { readonly handled: number; readonly atMs: number; readonly cpuMs: number };
}

/** A call as it is sent. */
export interface SentCall {
  readonly id: number;
  readonly name: CallName;
  readonly asked: object;
}

/** Its answer, or why there is none. */
export interface SentAnswer {
  readonly id: number;
  readonly answer?: object;
  readonly error?: string;
}
