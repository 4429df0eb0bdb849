import type { OperationId } from "../core/ids";
import type { Rate } from "../core/rate";

/* What is limited: settings of definitions, their limits and what people see of them. */

/** No limit is null here, -1 in SQL; 0: nothing starts; else 1..1000. */
export type Limit = number | null;

export interface DefinitionSettings {
  /** Tasks that may run at once. */
  limit: Limit;
  /** How long claims and tokens stay an execution's own without a heartbeat; 1,000..86,400,000 ms. */
  leaseMs: number;
  /** Counted failures until a task is dead; 1..1000. */
  maxAttempts: number;
  /** Lost attempts until a task is dead; 0..1000: dead when it is lost once more than that. */
  maxLost: number;
  /** Back-off after the first failure; 0..86,400,000 ms. */
  retryBaseMs: number;
  /** Greatest back-off, at least `retryBaseMs`. */
  retryCapMs: number;
  /** Spare claims per token; 0..1000: claims <= tokens * (1 + spareMax). */
  spareMax: number;
  /** Slots of the groups that this definition's tasks make; 1..1000. */
  groupSlots: number;
  /** A group's order holds over retries, too. */
  groupStrict: boolean;
  /** How long done and cancelled tasks are kept; 0: a done task leaves no trace. */
  retainDoneMs: number;
  /** How long dead letters are kept. */
  retainDeadMs: number;
  /** How many tasks may start per period; null or left out: as many as the limit lets. */
  rate?: Rate | null;
  /** Limits that other definitions draw from, too; at most 8. null or left out: none. */
  sharedLimits?: readonly SharedLimitUse[] | null;
}

/** A shared limit that a definition draws from. */
export interface SharedLimitUse {
  name: string;
  /** What the code says; left out: nothing, it stays as it is, 1 at first. null: no limit. */
  limit?: Limit;
}

/** What a kind's code says of its tasks. It holds whoever enqueues them: TypeScript, HTTP, the command line, SQL, a schedule. */
export interface KindRules {
  /** 1..200 characters. */
  kind: string;
  /** Path of the group's key in the payload, as core/payload-key.ts reads it; null: none. */
  groupBy: string | null;
  /** The group is a function in the code: callers without it must say `group`. */
  isGroupComputed: boolean;
  /** Of tasks that name none; null: 100. */
  priority: number | null;
  /** Delay of tasks that name neither an instant nor a delay; null: none. Tasks of a wave have none. */
  runInMs: number | null;
  /** Path of the dedupe key in the payload; null: none. */
  dedupeBy: string | null;
  /** How long such a key is held; null: until the task ends. Only with `dedupeBy`. */
  dedupeMs: number | null;
}

export interface RegisterDefinitionInput {
  name: string;
  /** Grows with every release; an older build never overwrites a newer one. */
  build: number;
  settingsHash: string;
  registeredBy: string;
  settings: DefinitionSettings;
  /** What the code says of kinds, at most 1,000; left out, or kinds that aren't named: stays as it is. */
  kinds?: readonly KindRules[];
}

export interface RegisterDefinitionAnswer {
  status: "created" | "updated" | "exists" | "outdated";
  taskDefinitionId: number;
}

export interface SetLimitInput {
  name: string;
  /** null: no limit; "code": the code's limit again. */
  limit: Limit | "code";
  operationId: OperationId;
  changedBy: string;
  reason?: string;
}

export interface SetLimitAnswer {
  status: "set";
  oldLimit: Limit;
  newLimit: Limit;
  held: number;
  surplus: number;
  ready: boolean;
}

export interface DefinitionStatus {
  name: string;
  limit: Limit;
  limitSource: "code" | "operator";
  codeLimit: Limit;
  /** In force; null: none. */
  rate: Rate | null;
  rateSource: "code" | "operator";
  codeRate: Rate | null;
  /** Until the rate lets another task start; 0: now; null: no rate. */
  rateInMs: number | null;
  /** By name. */
  sharedLimits: SharedLimitStatus[];
  paused: boolean;
  leaseMs: number;
  maxAttempts: number;
  maxLost: number;
  spareMax: number;
  build: number;
  tokenFence: string;
  /** Tokens held. */
  held: number;
  /** Live executions. */
  executions: number;
  /** Counts stop at 10,000. */
  ready: number;
  scheduled: number;
  waiting: number;
  claimed: number;
  /** Of the claimed: those that count as started; never more than `held`. */
  running: number;
  /** Of the claimed: those that wait for a token of their worker. The rest is lost: their workers' leases are over. */
  prefetched: number;
  done: number;
  dead: number;
  cancelled: number;
  nextDueMs: number | null;
}

/** A limit that the definition shares with others. */
export interface SharedLimitStatus {
  name: string;
  limit: Limit;
  limitSource: "code" | "operator";
  /** Tokens held by all definitions together. */
  held: number;
}
