import { StoreContractError } from "../core/errors";
import { asExecutionId, asFence, asTaskId } from "../core/ids";
import type { Fence, TaskId } from "../core/ids";
import type { JsonArray, JsonObject } from "../core/json";
import type * as port from "../ports/task-store";
import type { AnswerRow } from "./operations";

/*
 * One function per operation: its answer row (the same in both dialects) to the port's answer.
 * A column that is missing or of the wrong kind is a StoreContractError, never a guess.
 */

/** register_definition */
export function registerDefinition(row: AnswerRow): port.RegisterDefinitionAnswer {
  return {
    status: status(row, ["created", "updated", "exists", "outdated"]),
    taskDefinitionId: int(row, "taskDefinitionId"),
  };
}

/** set_limit */
export function setLimit(row: AnswerRow): port.SetLimitAnswer {
  return {
    status: status(row, ["set"]),
    oldLimit: limit(int(row, "oldLimit")),
    newLimit: limit(int(row, "newLimit")),
    held: int(row, "held"),
    surplus: int(row, "surplus"),
    ready: bool(row, "ready"),
  };
}

/** pause_definition, resume_definition */
export function pause(row: AnswerRow): port.PauseAnswer {
  return { status: status(row, ["paused", "resumed", "exists"]), ready: bool(row, "ready") };
}

/** start_execution */
export function startExecution(row: AnswerRow): port.StartExecutionAnswer {
  const id = textOrNull(row, "taskExecutionId");
  return {
    status: status(row, ["started", "limited", "paused", "none", "unknown", "outdated"]),
    executionId: id === null ? null : asExecutionId(id),
    leaseMs: intOrNull(row, "leaseMs"),
    tokens: int(row, "tokens"),
    tokenFence: fenceOrNull(row, "tokenFence"),
    spareMax: intOrNull(row, "spareMax"),
    ready: int(row, "ready"),
    retryInMs: intOrNull(row, "retryInMs"),
    nextDueMs: intOrNull(row, "nextDueMs"),
    deadHolders: int(row, "deadHolders"),
  };
}

/** acquire_tokens */
export function acquireTokens(row: AnswerRow): port.AcquireTokensAnswer {
  return {
    status: status(row, ["granted", "limited", "paused", "fenced"]),
    tokens: int(row, "tokens"),
    granted: int(row, "granted"),
    tokenFence: fenceOrNull(row, "tokenFence"),
    retryInMs: intOrNull(row, "retryInMs"),
    deadHolders: int(row, "deadHolders"),
  };
}

/** release_tokens */
export function releaseTokens(row: AnswerRow): port.ReleaseTokensAnswer {
  return {
    status: status(row, ["released", "fenced"]),
    tokens: int(row, "tokens"),
    freed: int(row, "freed"),
    ready: bool(row, "ready"),
  };
}

/** release_surplus */
export function releaseSurplus(row: AnswerRow): port.ReleaseSurplusAnswer {
  return {
    status: status(row, ["released", "fenced"]),
    tokens: int(row, "tokens"),
    freed: int(row, "freed"),
    surplus: int(row, "surplus"),
  };
}

/** What `work` answers when a group was locked too long and nothing happened. */
export const busyWork: port.WorkAnswer = {
  status: "busy",
  claimed: [],
  last: null,
  refused: [],
  leaseMs: null,
  surplus: 0,
  nextDueMs: null,
  woken: [],
};

/** work */
export function work(row: AnswerRow): port.WorkAnswer {
  const claimed = claimedTasks(row);
  const lastTask = claimed.at(-1);
  const priority = intOrNull(row, "lastPriority");
  return {
    status: status(row, [
      "claimed",
      "none",
      "limited",
      "done",
      "paused",
      "again",
      "fenced",
      "ended",
    ]),
    claimed,
    last:
      lastTask === undefined || priority === null
        ? null
        : { priority, rank: text(row, "lastRank"), taskId: lastTask.taskId },
    refused: idList(textOrNull(row, "refusedTaskIds")),
    leaseMs: intOrNull(row, "leaseMs"),
    surplus: intOrNull(row, "surplus") ?? 0,
    nextDueMs: intOrNull(row, "nextDueMs"),
    woken: names(row, "woken"),
  };
}

interface Extras {
  checkpoint: string | null;
  trace: string | null;
  grouped: boolean;
  cancel: boolean;
  newer: boolean;
}

function claimedTasks(row: AnswerRow): port.ClaimedTask[] {
  const ids = idList(textOrNull(row, "taskIds"));
  if (ids.length === 0) return [];
  const fence = asFence(text(row, "fence"));
  const kinds = list<string>(row, "kinds", ids.length);
  const payloads = list<JsonObject | JsonArray | null>(row, "payloads", ids.length);
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
      payload: payloads[index] ?? null,
      checkpoint: extra?.checkpoint ?? null,
      traceParent: extra?.trace ?? null,
      isGrouped: extra?.grouped ?? false,
      isCancelRequested: extra?.cancel ?? false,
      isFromNewerBuild: extra?.newer ?? false,
      isSpare: index >= started,
    };
  });
}

/** complete_task */
export function completeTask(row: AnswerRow): port.CompleteTaskAnswer {
  return { status: status(row, ["done", "again", "fenced"]), woken: names(row, "woken") };
}

/** fail_tasks */
export function failTasks(row: AnswerRow): port.FailTasksAnswer {
  const results = json<
    {
      task: string;
      outcome: port.FailTasksAnswer["results"][number]["outcome"];
      retryInMs?: number | null;
    }[]
  >(row, "results");
  return {
    status: status(row, ["done", "fenced"]),
    results: results.map((result) => ({
      taskId: asTaskId(result.task),
      outcome: result.outcome,
      retryInMs: result.retryInMs ?? null,
    })),
    woken: names(row, "woken"),
    nextDueMs: intOrNull(row, "nextDueMs"),
  };
}

/** heartbeat */
export function heartbeat(row: AnswerRow): port.HeartbeatAnswer {
  const executions = json<
    {
      execution: string;
      status: port.HeartbeatAnswer["executions"][number]["status"];
      leaseMs?: number;
      cancel?: string[];
      surplus?: number;
      paused?: boolean;
    }[]
  >(row, "executions");
  return {
    executions: executions.map((beat) => ({
      executionId: asExecutionId(beat.execution),
      status: beat.status,
      leaseMs: beat.leaseMs ?? null,
      cancel: (beat.cancel ?? []).map(asTaskId),
      surplus: beat.surplus ?? 0,
      isPaused: beat.paused ?? false,
    })),
  };
}

/** report_progress */
export function reportProgress(row: AnswerRow): port.ReportProgressAnswer {
  return {
    status: status(row, ["done", "fenced"]),
    isCancelRequested: bool(row, "cancelRequested"),
  };
}

/** finish_execution */
export function finishExecution(row: AnswerRow): port.FinishExecutionAnswer {
  return {
    status: status(row, ["ended", "fenced"]),
    givenBack: int(row, "givenBack"),
    tokensFreed: int(row, "tokensFreed"),
    ready: bool(row, "ready"),
    nextDueMs: intOrNull(row, "nextDueMs"),
    woken: names(row, "woken"),
  };
}

/** reclaim_expired */
export function reclaimExpired(row: AnswerRow): port.ReclaimExpiredAnswer {
  return {
    status: status(row, ["reclaimed", "none"]),
    executions: int(row, "executions"),
    tasksBack: int(row, "tasksBack"),
    tasksLost: int(row, "tasksLost"),
    tasksDead: int(row, "tasksDead"),
    definitions: names(row, "definitions"),
    more: bool(row, "more"),
  };
}

/** enqueue_tasks */
export function enqueueTasks(row: AnswerRow): port.EnqueueTasksAnswer {
  const taskIds = json<string[]>(row, "taskIds").map(asTaskId);
  const outcomes =
    row["outcomes"] == null
      ? taskIds.map(() => "enqueued" as const)
      : list<"enqueued" | "duplicate">(row, "outcomes", taskIds.length);
  return { taskIds, outcomes, ready: bool(row, "ready"), nextDueMs: intOrNull(row, "nextDueMs") };
}

/** promote_scheduled */
export function promoteScheduled(row: AnswerRow): port.PromoteScheduledAnswer {
  return {
    status: status(row, ["promoted", "none"]),
    promoted: int(row, "promoted"),
    nextDueMs: intOrNull(row, "nextDueMs"),
    ready: bool(row, "ready"),
  };
}

/** sweep */
export function sweep(row: AnswerRow): port.SweepAnswer {
  return {
    expired: int(row, "expired"),
    definitions: row["definitions"] == null ? [] : json<port.SweptDefinition[]>(row, "definitions"),
    nextDueMs: intOrNull(row, "nextDueMs"),
  };
}

/** list_definitions */
export function listDefinitions(row: AnswerRow): { definitions: port.DefinitionStatus[] } {
  const definitions = json<(port.DefinitionStatus & { limit: number; codeLimit: number })[]>(
    row,
    "definitions",
  );
  return {
    definitions: definitions.map((definition) => ({
      ...definition,
      limit: limit(definition.limit),
      codeLimit: limit(definition.codeLimit),
    })),
  };
}

/** list_executions */
export function listExecutions(row: AnswerRow): { executions: port.ExecutionStatus[] } {
  return { executions: json<port.ExecutionStatus[]>(row, "executions") };
}

/** list_tasks */
export function listTasks(row: AnswerRow): { tasks: port.TaskListEntry[] } {
  return { tasks: json<port.TaskListEntry[]>(row, "tasks") };
}

/** explain_task */
export function explainTask(row: AnswerRow): port.ExplainTaskAnswer {
  const facts = row["facts"] == null ? null : json<port.TaskFacts>(row, "facts");
  return {
    status: status(row, ["found", "moving", "unknown"]),
    facts: facts?.limit === undefined ? facts : { ...facts, limit: limit(facts.limit ?? -1) },
  };
}

/** check_invariants */
export function checkInvariants(row: AnswerRow): {
  status: "sound" | "broken";
  findings: port.InvariantFinding[];
} {
  return {
    status: status(row, ["sound", "broken"]),
    findings: json<port.InvariantFinding[]>(row, "findings"),
  };
}

function limit(value: number): port.Limit {
  return value === -1 ? null : value;
}

function status<Word extends string>(row: AnswerRow, words: readonly Word[]): Word {
  const value = row["status"];
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw broken(row, "status", words.join(" | "));
  return word;
}

function text(row: AnswerRow, column: string): string {
  const value = textOrNull(row, column);
  if (value === null) throw broken(row, column, "a text");
  return value;
}

function textOrNull(row: AnswerRow, column: string): string | null {
  const value = row[column];
  if (value === null) return null;
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  throw broken(row, column, "a text or null");
}

function int(row: AnswerRow, column: string): number {
  const value = intOrNull(row, column);
  if (value === null) throw broken(row, column, "a whole number");
  return value;
}

/** Durations and counts: both drivers give 64-bit columns as strings. */
function intOrNull(row: AnswerRow, column: string): number | null {
  const value = row[column];
  if (value === null) return null;
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw broken(row, column, "a whole number or null");
}

function bool(row: AnswerRow, column: string): boolean {
  const value = row[column];
  if (typeof value === "boolean") return value;
  throw broken(row, column, "true or false");
}

function fenceOrNull(row: AnswerRow, column: string): Fence | null {
  const value = textOrNull(row, column);
  return value === null ? null : asFence(value);
}

function idList(joined: string | null): TaskId[] {
  return joined === null || joined === "" ? [] : joined.split(",").map(asTaskId);
}

function names(row: AnswerRow, column: string): string[] {
  return row[column] == null ? [] : json<string[]>(row, column);
}

function json<Value>(row: AnswerRow, column: string): Value {
  try {
    return JSON.parse(text(row, column)) as Value;
  } catch {
    throw broken(row, column, "JSON");
  }
}

function list<Entry>(row: AnswerRow, column: string, length: number): Entry[] {
  const entries = json<unknown>(row, column);
  if (!Array.isArray(entries) || entries.length !== length) {
    throw broken(row, column, `a JSON array of ${String(length)} entries`);
  }
  return entries as Entry[];
}

function broken(row: AnswerRow, column: string, expected: string): StoreContractError {
  const value = String(row[column]).slice(0, 200);
  return new StoreContractError(`Expected \`${column}\` to be ${expected}, got \`${value}\``, {
    details: { column },
  });
}
