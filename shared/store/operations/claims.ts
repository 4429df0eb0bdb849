import { StoreContractError } from "../../core/errors";
import { asFence, asTaskId } from "../../core/ids";
import type { ExecutionId, Fence, TaskId } from "../../core/ids";
import type { JsonArray, JsonObject, JsonValue } from "../../core/json";
import { limits } from "../../core/limits";
import { cleanText } from "../../core/text";
import { checkInt, checkJsonContainer, executionParameters } from "./checks";
import {
  bool,
  broken,
  columns,
  idList,
  int,
  intOrNull,
  json,
  list,
  oneOf,
  status,
  text,
  textOrNull,
} from "./columns";
import { nothingClaimed } from "./nothing-claimed";
import { opened, openedWaves } from "./opened";
import type { OpenedWaves } from "./opened";
import { operationsOf } from "./operation";
import type { AnswerRow } from "./operation";
import type { StoreTransaction } from "./store-transaction";

/* ---- Claims: tasks that an execution holds, and how they end ---- */

/** Tasks that an execution takes, runs and ends. */
export interface ClaimOperations {
  /** The hot path: completes some tasks and claims some. A repeat with the same call number gets the first answer. */
  work(input: WorkInput): Promise<WorkAnswer>;
  /** Fenced completion; with `within`, inside the user's own transaction, last before its commit. */
  completeTask(input: CompleteTaskInput, within?: StoreTransaction): Promise<CompleteTaskAnswer>;
  /** Tasks that did not end well. Idempotent by task and fence. */
  failTasks(input: FailTasksInput): Promise<FailTasksAnswer>;
  /** Says how far a running task is. */
  reportProgress(input: ReportProgressInput): Promise<ReportProgressAnswer>;
}

export interface DoneTask {
  taskId: TaskId;
  fence: Fence;
  /** Measured by the worker's monotonic clock. */
  durationMs: number;
  /** JSON text of an object or array, at most 64 KiB, or null. */
  result: string | null;
}

export interface WorkInput {
  executionId: ExecutionId;
  /** 1, 2, 3, ... per execution; the same again for a repeat. */
  callNumber: number;
  /** In claim order where possible: faster. */
  done: readonly DoneTask[];
  /** Prefetched claims that were started since the last report. */
  started: readonly TaskId[];
  /** 0..1000 */
  want: number;
  /**
   * Look only at or after this place, and of due tasks only at those of the last two seconds. Drop it after an empty answer,
   * after a `nextDueMs` of 0, and once a second.
   */
  after?: ClaimPlace;
}

/** A place in the order of claims: priority, rank, task id. */
export interface ClaimPlace {
  priority: number;
  rank: string;
  taskId: TaskId;
}

export interface ClaimedTask {
  taskId: TaskId;
  fence: Fence;
  kind: string;
  /** 1 for the first try; counts failures and losses. */
  attempt: number;
  /** undefined: another hand than the product's left a text that is no payload, here or beside it; `explainTask` has each text. */
  payload: JsonObject | JsonArray | null | undefined;
  /** JSON text that a previous, uncounted part left; null: none. */
  checkpoint: string | null;
  /** W3C traceparent of the enqueue. */
  traceParent: string | null;
  isGrouped: boolean;
  isCancelRequested: boolean;
  /** Enqueued by a newer build than this execution's. */
  isFromNewerBuild: boolean;
  /** It counts in a wave that is open. False without one, and when it was redriven after its wave had ended. */
  isInWave: boolean;
  /** Lost twice: it may have ended its processes, and runs without neighbours. */
  isSuspect: boolean;
  /** Doesn't count as started until it is reported. */
  isPrefetched: boolean;
}

export interface WorkAnswer extends OpenedWaves {
  /** `busy`: a group was locked too long, nothing happened: repeat with the same call number. */
  status:
    | "claimed"
    | "none"
    | "limited"
    | "done"
    | "paused"
    | "again"
    | "fenced"
    | "ended"
    | "busy";
  /** In claim order. */
  claimed: ClaimedTask[];
  /** The place of the last one. */
  last: ClaimPlace | null;
  /** Completions that changed nothing: lost to another holder. */
  refused: TaskId[];
  leaseMs: number | null;
  /** Tokens held by all above the limit: `releaseSurplus`. */
  overLimit: number;
  /** No token is above the limit, but another execution was denied one and this one could give it: `releaseSurplus`. */
  releaseRequested: boolean;
  /** Tokens that are free for any worker: `acquireTokens`. 0: none, or not known. */
  freeTokens: number;
  /** Until the next scheduled task, when fewer were claimed than wanted or 128 due ones were made ready; 0: some are still due. */
  nextDueMs: number | null;
  /** The rate let fewer be claimed than wanted: until it lets another one; null: it didn't. */
  retryInMs: number | null;
}

export interface CompleteTaskInput {
  executionId: ExecutionId;
  taskId: TaskId;
  fence: Fence;
  durationMs: number | null;
  result: string | null;
  /**
   * With `within`, and only in the store's own transaction: the completion and its commit, or the rollback when it is
   * `fenced` or `again`, travel as one message, so that no client can vanish or freeze between them. The transaction is over then.
   */
  endsTransaction?: boolean;
}

const completed = columns({
  /** `again`: this claim was completed before, with its writes; it and `fenced`: roll back. */
  status: oneOf("done", "again", "fenced"),
  ...opened,
});
/** Answer of `completeTask`. */
export type CompleteTaskAnswer = ReturnType<typeof completed>;

export interface FailTasksInput {
  executionId: ExecutionId;
  /** 1..1000 */
  failures: readonly Failure[];
}

export interface Failure {
  taskId: TaskId;
  fence: Fence;
  /** failed: counted, retried, then dead. dead: gave up. continued: comes back uncounted. */
  as: "failed" | "dead" | "cancelled" | "continued";
  error: string | null;
  /** null: the definition's back-off (continued: at once, with a share: 5 s, doubled up to 5 min). At most 30 days. */
  retryInMs: number | null;
  /**
   * Of `continued`: what this return takes of the 1,000 that a task has, 1..1,000; left out: 1 when the checkpoint is the one
   * before or none, and a new one starts the count anew at 1. With more than 1,000 the task is dead.
   */
  share?: number;
  durationMs: number | null;
  /** JSON text for the next part, or null: keep what there is. */
  checkpoint: string | null;
}

export interface FailTasksAnswer extends OpenedWaves {
  status: "done" | "fenced";
  results: {
    taskId: TaskId;
    outcome: "retry" | "dead" | "cancelled" | "continued" | "again" | "fenced";
    retryInMs: number | null;
  }[];
  nextDueMs: number | null;
}

export interface ReportProgressInput {
  executionId: ExecutionId;
  taskId: TaskId;
  fence: Fence;
  done: number | null;
  total: number | null;
  text: string | null;
}

const reported = columns({
  status: oneOf("done", "fenced"),
  isCancelRequested: (row) => bool(row, "cancelRequested"),
});
/** Answer of `reportProgress`. */
export type ReportProgressAnswer = ReturnType<typeof reported>;

const operation = operationsOf<ClaimOperations>();

/** Procedure `work`. */
export const work = operation("work", {
  right: "worker",
  parameters: {
    taskExecutionId: "bigint",
    callNumber: "bigint",
    doneTaskIds: "ids",
    doneFences: "ids",
    doneDurationsMs: "ints",
    doneResults: "json",
    startedTaskIds: "ids",
    want: "int",
    afterPriority: "smallint",
    afterRank: "bigint",
    afterTaskId: "bigint",
    startId: "start",
  },
  check: (input) => {
    checkInt("want", input.want);
    for (const { result } of input.done) if (result !== null) checkJsonContainer("result", result);
    return input;
  },
  bind: ({ executionId, done, started, after }) => ({
    ...executionParameters({ executionId }),
    doneTaskIds: done.length === 0 ? null : done.map((task) => task.taskId),
    doneFences: done.length === 0 ? null : done.map((task) => task.fence),
    doneDurationsMs: done.length === 0 ? null : done.map((task) => task.durationMs),
    doneResults: done.some((task) => task.result !== null) ? done.map((task) => task.result) : null,
    startedTaskIds: started.length === 0 ? null : started,
    afterPriority: after?.priority ?? null,
    afterRank: after?.rank ?? null,
    afterTaskId: after?.taskId ?? null,
  }),
  decode: (row) => {
    const claimed = claimedTasks(row);
    return {
      status: status(row, workWords),
      claimed,
      last: placeOfLast(row, claimed),
      refused: idList(textOrNull(row, "refusedTaskIds")),
      leaseMs: intOrNull(row, "leaseMs"),
      overLimit: intOrNull(row, "overLimit") ?? 0,
      releaseRequested: bool(row, "releaseRequested"),
      freeTokens: intOrNull(row, "freeTokens") ?? 0,
      nextDueMs: intOrNull(row, "nextDueMs"),
      retryInMs: intOrNull(row, "retryInMs"),
      ...openedWaves(row),
    };
  },
  whenLocked: { status: "busy", ...nothingClaimed },
});

/** Procedure `complete_task`. */
export const completeTask = operation("completeTask", {
  right: "worker",
  parameters: {
    taskExecutionId: "bigint",
    taskId: "bigint",
    fence: "bigint",
    durationMs: "int",
    result: "text",
    startId: "start",
  },
  check: (input) => {
    if (input.result !== null) checkJsonContainer("result", input.result);
    return input;
  },
  bind: executionParameters,
  decode: completed,
});

/** Procedure `fail_tasks`. */
export const failTasks = operation("failTasks", {
  right: "worker",
  parameters: { taskExecutionId: "bigint", failures: "json", startId: "start" },
  // Errors are kept as far as they can be: a text that can't be stored must not make the whole call fail.
  check: ({ executionId, failures }) => ({
    executionId,
    failures: failures.map((failure) => ({
      ...failure,
      error: failure.error === null ? null : cleanText(failure.error, limits.errorLengthMax),
    })),
  }),
  bind: ({ executionId, failures }) => ({
    ...executionParameters({ executionId }),
    failures: failures.map(({ taskId, ...failure }) => ({ task: taskId, ...failure })),
  }),
  decode: (row) => ({
    status: status(row, ["done", "fenced"]),
    results: json<FailureRow[]>(row, "results").map(({ task, outcome, retryInMs }) => ({
      taskId: asTaskId(task),
      outcome,
      retryInMs: retryInMs ?? null,
    })),
    ...openedWaves(row),
    nextDueMs: intOrNull(row, "nextDueMs"),
  }),
});

/** One failure of an answer, as the procedure writes it. */
interface FailureRow {
  task: string;
  outcome: FailTasksAnswer["results"][number]["outcome"];
  retryInMs?: number | null;
}

/** Procedure `report_progress`. */
export const reportProgress = operation("reportProgress", {
  right: "worker",
  parameters: {
    taskExecutionId: "bigint",
    taskId: "bigint",
    fence: "bigint",
    done: "bigint",
    total: "bigint",
    text: "text",
    startId: "start",
  },
  check: (input) => ({
    ...input,
    text: input.text === null ? null : cleanText(input.text, limits.progressTextLengthMax),
  }),
  bind: executionParameters,
  decode: reported,
});

const workWords = [
  "claimed",
  "none",
  "limited",
  "done",
  "paused",
  "again",
  "fenced",
  "ended",
] as const;

/** What a claimed task has beside the usual, as the procedure writes it. */
interface Extras {
  checkpoint: string | null;
  trace: string | null;
  grouped: boolean;
  cancel: boolean;
  newer: boolean;
  wave: boolean;
  solo: boolean;
}

function claimedTasks(row: AnswerRow): ClaimedTask[] {
  const ids = idList(textOrNull(row, "taskIds"));
  if (ids.length === 0) return [];
  const fence = asFence(text(row, "fence"));
  const kinds = list<string>(row, "kinds", ids.length);
  const payloads = payloadsOf(row, ids.length);
  const extras = row["extras"] == null ? null : list<Extras | null>(row, "extras", ids.length);
  const attempts = text(row, "attempts").split(",");
  const started = int(row, "started");
  if (attempts.length !== ids.length)
    throw broken(row, "attempts", `${String(ids.length)} entries`);
  return ids.map((taskId, index) => {
    const extra = extras?.[index] ?? null;
    return {
      taskId,
      fence,
      kind: kinds[index] ?? "",
      attempt: Number(attempts[index]),
      payload: payloads?.[index],
      checkpoint: extra?.checkpoint ?? null,
      traceParent: extra?.trace ?? null,
      isGrouped: extra?.grouped ?? false,
      isCancelRequested: extra?.cancel ?? false,
      isFromNewerBuild: extra?.newer ?? false,
      isInWave: extra?.wave ?? false,
      isSuspect: extra?.solo ?? false,
      isPrefetched: index >= started,
    };
  });
}

/** Payloads are joined as they are stored: one that isn't JSON makes all of them unreadable, and must not end the claim. */
function payloadsOf(
  row: AnswerRow,
  length: number,
): (JsonObject | JsonArray | null | undefined)[] | null {
  try {
    return list<JsonValue>(row, "payloads", length).map((payload) =>
      typeof payload === "object" ? payload : undefined,
    );
  } catch (error) {
    if (error instanceof StoreContractError) return null;
    throw error;
  }
}

function placeOfLast(row: AnswerRow, claimed: readonly ClaimedTask[]): ClaimPlace | null {
  const priority = intOrNull(row, "lastPriority");
  const last = claimed.at(-1);
  if (last === undefined || priority === null) return null;
  return { priority, rank: text(row, "lastRank"), taskId: last.taskId };
}
