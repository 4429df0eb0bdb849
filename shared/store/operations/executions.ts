import { asTaskId, executionIdOf, executionNumber, executionStart, isId } from "../../core/ids";
import type { ExecutionId, ExecutionNumber, TaskId } from "../../core/ids";
import { cleanText } from "../../core/text";
import { checkInt, checkName, executionParameters, isUuid, unlike } from "./checks";
import {
  batchIds,
  bool,
  broken,
  columns,
  fenceOrNull,
  int,
  intOrNull,
  json,
  names,
  oneOf,
  textOrNull,
} from "./columns";
import { opened } from "./opened";
import { operationsOf } from "./operation";
import type { AnswerRow } from "./operation";

/* ---- Executions: a worker's claim on tokens and tasks, for as long as its lease ---- */

/** Executions: how a worker begins, stays alive and ends, and what becomes of those that don't. */
export interface ExecutionOperations {
  /** Opens a worker's execution with its first tokens, or says why not. Idempotent by operation id. */
  startExecution(input: StartExecutionInput): Promise<StartExecutionAnswer>;
  /** Renews the leases of all executions of one process. */
  heartbeat(input: { executions: readonly Beat[] }): Promise<HeartbeatAnswer>;
  /** Ends an execution: tokens back, unfinished claims back to ready, uncounted. Idempotent. */
  finishExecution(input: { executionId: ExecutionId }): Promise<FinishExecutionAnswer>;
  /** Takes back what dead executions held. */
  reclaimExpired(input: { max: number }): Promise<ReclaimExpiredAnswer>;
  /** Workers with their tokens and claims. */
  listExecutions(input: ListExecutionsInput): Promise<{ executions: ExecutionStatus[] }>;
}

export interface StartExecutionInput {
  name: string;
  /** A UUID made at random for this call and kept for its repeats. */
  operationId: string;
  worker: string;
  build: number;
  /** null: don't compare settings. */
  settingsHash: string | null;
  want: number;
  /**
   * true for workers: `none` when nothing is ready or due. false for `withTokens`: the grant is the start itself and takes a
   * permit of the rate.
   */
  needsReady: boolean;
}

const started = columns({
  status: oneOf("started", "limited", "paused", "none", "unknown", "outdated"),
  leaseMs: intOrNull,
  tokens: int,
  tokenFence: fenceOrNull,
  prefetchMax: intOrNull,
  /** Counted up to `want`. */
  ready: int,
  /** When limited: the longest wait that makes sense without a hint, or until the rate lets another start. */
  retryInMs: intOrNull,
  nextDueMs: intOrNull,
  /** More than 0: call `reclaimExpired`. */
  deadHolders: int,
  /**
   * When limited. noted: holders are asked to give a token, so retry soon. others: the free tokens were given for others,
   * and this worker holds some: hand the hint on.
   */
  demand: demandOf,
});
export interface StartExecutionAnswer extends ReturnType<typeof started> {
  executionId: ExecutionId | null;
}

export interface Beat {
  executionId: ExecutionId;
  /** Prefetched claims that were started since the last report. */
  started: readonly TaskId[];
}

export interface HeartbeatAnswer {
  executions: {
    executionId: ExecutionId;
    /** busy: its own `work` is renewing it just now. */
    status: "renewed" | "fenced" | "ended" | "busy";
    leaseMs: number | null;
    /** Held by the execution: tokens, and tasks that it has claimed. null: it wasn't renewed, or by a database of before. */
    tokens: number | null;
    claims: number | null;
    cancel: TaskId[];
    overLimit: number;
    /** As of `work`. */
    releaseRequested: boolean;
    isPaused: boolean;
  }[];
}

const finished = columns({
  status: oneOf("ended", "fenced"),
  givenBack: int,
  tokensFreed: int,
  /** Tasks wait: a hint is due. */
  ready: bool,
  nextDueMs: intOrNull,
  ...opened,
});
/** Answer of `finishExecution`. */
export type FinishExecutionAnswer = ReturnType<typeof finished>;

const reclaimed = columns({
  status: oneOf("reclaimed", "none"),
  executions: int,
  tasksBack: int,
  tasksLost: int,
  /** Without those that ended because a cancel was asked for. */
  tasksDead: int,
  /** Definitions with ready tasks again: leave them hints. */
  definitions: names,
  more: bool,
  opening: batchIds,
});
/** Answer of `reclaimExpired`. */
export type ReclaimExpiredAnswer = ReturnType<typeof reclaimed>;

export interface ListExecutionsInput {
  name?: string;
  isOpen: boolean;
  max: number;
}

export interface ExecutionStatus {
  execution: ExecutionNumber;
  definition: string;
  state: "live" | "ended" | "dead" | "reclaimed";
  worker: string;
  startedAt: string;
  endedAt: string | null;
  leaseLeftMs: number | null;
  tokens: number;
  claimed: number;
  /** Of the claimed: those that count as started, at most `tokens`. 0 once the lease is over. */
  running: number;
  /** Of the claimed: those that wait for a token of this execution. 0 once the lease is over. */
  prefetched: number;
}

const operation = operationsOf<ExecutionOperations>();

/** Procedure `start_execution`. */
export const startExecution = operation("startExecution", {
  right: "worker",
  parameters: {
    name: "text",
    operationId: "uuid",
    worker: "text",
    build: "bigint",
    settingsHash: "text64",
    want: "int",
    needsReady: "boolean",
  },
  check: (input) => {
    checkName(input.name);
    checkInt("want", input.want);
    return { ...input, worker: cleanText(input.worker, Number.MAX_SAFE_INTEGER) };
  },
  decode: (row, { operationId }) => {
    const id = textOrNull(row, "taskExecutionId");
    const executionId = id === null ? null : executionIdOf(id, operationId);
    return { ...started(row), executionId };
  },
});

function demandOf(row: AnswerRow, column: string): "noted" | "others" | null {
  const demand = textOrNull(row, column);
  if (demand === null || demand === "noted" || demand === "others") return demand;
  throw broken(row, column, "noted | others | null");
}

/** Procedure `heartbeat`. */
export const heartbeat = operation("heartbeat", {
  right: "worker",
  parameters: { executions: "json" },
  check: (input) => {
    checkBeats(input.executions);
    return input;
  },
  bind: ({ executions }) => ({
    executions: executions.map(({ executionId, started }) => ({
      execution: executionNumber(executionId),
      start: executionStart(executionId),
      started,
    })),
  }),
  decode: (row) => ({
    executions: json<BeatRow[]>(row, "executions").map((beat) => ({
      executionId: executionIdOf(beat.execution, beat.start ?? null),
      status: beat.status,
      leaseMs: beat.leaseMs ?? null,
      tokens: beat.tokens ?? null,
      claims: beat.claims ?? null,
      cancel: (beat.cancel ?? []).map(asTaskId),
      overLimit: beat.overLimit ?? 0,
      releaseRequested: beat.releaseRequested ?? false,
      isPaused: beat.paused ?? false,
    })),
  }),
});

/** One execution of a heartbeat's answer, as the procedure writes it. */
interface BeatRow {
  execution: string;
  start?: string | null;
  status: HeartbeatAnswer["executions"][number]["status"];
  leaseMs?: number;
  tokens?: number;
  claims?: number;
  cancel?: string[];
  overLimit?: number;
  releaseRequested?: boolean;
  paused?: boolean;
}

/** Procedure `finish_execution`. */
export const finishExecution = operation("finishExecution", {
  right: "worker",
  parameters: { taskExecutionId: "bigint", startId: "start" },
  bind: executionParameters,
  decode: finished,
});

/** Procedure `reclaim_expired`. */
export const reclaimExpired = operation("reclaimExpired", {
  right: "worker",
  parameters: { max: "int" },
  decode: reclaimed,
});

/** Procedure `list_executions`. */
export const listExecutions = operation("listExecutions", {
  right: "worker",
  parameters: { name: "text", isOpen: "boolean", max: "int" },
  decode: (row) => ({ executions: json<ExecutionStatus[]>(row, "executions") }),
});

/** Ids; how many may be named is SQL's. */
function checkBeats(executions: readonly Beat[]): void {
  executions.forEach(({ executionId, started }, index) => {
    const at = `executions[${String(index)}]`;
    if (!isId(executionNumber(executionId))) throw unlike(`${at}.execution`, "an id", executionId);
    const start = executionStart(executionId);
    if (start !== null && !isUuid(start)) throw unlike(`${at}.start`, "a UUID", start);
    const bad = started.find((id) => !isId(id));
    if (bad !== undefined) throw unlike(`${at}.started`, "ids", bad);
  });
}
