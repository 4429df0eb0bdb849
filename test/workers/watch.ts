import type { ExecutionNumber, TaskId } from "../../shared/core/ids";
import type { Limit } from "../../shared/ports/task-store";
import type { Database, StatementCall } from "./database";
import type { Host } from "./host";
import type { VirtualTime } from "./virtual-time";

/** A handler that runs: seen from its own first and last line, not from what others say of it. */
export interface Run {
  readonly host: Host;
  readonly taskId: TaskId;
  readonly definition: string;
  readonly signal: AbortSignal;
  readonly fence: string;
  /** The holder of the task at that instant; null: none, or a worker elsewhere, or the database has lost that claim. */
  executionId: ExecutionNumber | null;
  /** What its execution was started by; null: none. */
  readonly start: string | null;
  /** Since when the database has forgotten its execution; null: it hasn't. */
  forgottenMs: number | null;
}

/** One invocation. */
export interface WatchedExecution {
  readonly host: Host;
  readonly definition: string;
  readonly beganMs: number;
  readonly deadlineMs: number;
  endedMs: number | null;
}

/** The promises, by their headings in docs/internals/promises.md. */
export type PromiseName =
  | "limit"
  | "one holder"
  | "nothing lost"
  | "order"
  | "no waiting"
  | "once"
  | "stale work returns"
  | "first come, first served"
  | "clock"
  | "flat cost"
  | "quiet when idle"
  | "in time";

/** A broken promise. */
export interface Violation {
  readonly promise: PromiseName;
  readonly atMs: number;
  readonly text: string;
}

/** What checks look at. */
export interface World {
  readonly time: VirtualTime;
  readonly database: Database;
  /** Handlers that run now, those of dead hosts left out. */
  readonly runs: ReadonlySet<Run>;
  readonly executions: readonly WatchedExecution[];
  /** Ids that an enqueue answered. */
  readonly promised: ReadonlySet<TaskId>;
  /** Handlers started so far. */
  readonly begun: number;
  readonly tickMs: number;
  /** Failovers lose commits in this run: a task whose claim alone is lost runs beside its successor, also when it begins later. */
  readonly losesCommits: boolean;
  /** A failover has lost commits lately: workers may go by what the database doesn't know any more. */
  readonly isSettingBack: boolean;
  /** A failover has lost commits in this run. */
  readonly wasSetBack: boolean;
  /** The greatest limit of a definition in force since an instant of the database's clock. */
  greatestLimit(definition: string, sinceMs: number): Limit;
  violate(promise: PromiseName, text: string): void;
}

/** Watches one promise. Each hook is told right when it happens. */
export interface Check {
  /** A call reaches the database. */
  before?(call: StatementCall): void;
  after?(call: StatementCall, answer: unknown): void;
  /** A handler's first line; it is in `runs` already. */
  begin?(run: Run): void;
  /** An execution's deadline has come. */
  deadline?(execution: WatchedExecution): void;
  /** The database was set back: what was committed last is lost. */
  setBack?(): void;
  /** Everything has ended. */
  settled?(): void;
  /** Nothing was to do for a while; the statements of that while. */
  idle?(statements: readonly StatementCall[], ticks: number): void;
}

/** Makes a check for a world. */
export type CheckFactory = (world: World) => Check;

/** Is the lease of a run's execution alive by the database? */
export function isLeaseLive(world: World, executionId: ExecutionNumber | null): boolean {
  if (executionId === null) return false;
  const row = world.database.rows.executions.get(executionId);
  return row?.state === "live" && row.leaseUntilMs >= world.database.nowMs;
}
