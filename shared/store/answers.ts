import { asExecutionId, asFence, asTaskId } from "../core/ids";
import type { JsonArray, JsonObject } from "../core/json";
import type { ScheduledInstant } from "../ports/schedules";
import type { Rate } from "../core/rate";
import type * as port from "../ports/task-store";
import {
  batchIds,
  bool,
  broken,
  fenceOrNull,
  idList,
  int,
  intOrNull,
  json,
  list,
  names,
  status,
  text,
  textOrNull,
} from "./columns";
import type { AnswerRow } from "./operations";

/*
 * One function per operation: its answer row (the same in both dialects) to the port's answer.
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

/** set_rate */
export function setRate(row: AnswerRow): port.SetRateAnswer {
  return {
    status: status(row, ["set", "exists"]),
    oldRate: row["oldRate"] === null ? null : json<Rate>(row, "oldRate"),
    newRate: row["newRate"] === null ? null : json<Rate>(row, "newRate"),
    ready: bool(row, "ready"),
  };
}

/** set_shared_limit */
export function setSharedLimit(row: AnswerRow): port.SetSharedLimitAnswer {
  const old = intOrNull(row, "oldLimit");
  return {
    status: status(row, ["set", "created"]),
    oldLimit: old === null ? undefined : limit(old),
    newLimit: limit(int(row, "newLimit")),
    held: int(row, "held"),
    surplus: int(row, "surplus"),
    definitions: names(row, "definitions"),
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
    demand: demandOf(row),
  };
}

function demandOf(row: AnswerRow): port.StartExecutionAnswer["demand"] {
  const demand = textOrNull(row, "demand");
  if (demand === null || demand === "noted" || demand === "others") return demand;
  throw broken(row, "demand", "noted | others | null");
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
    demand: textOrNull(row, "demand") === "noted" ? "noted" : null,
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
    given: int(row, "given"),
    woken: names(row, "woken"),
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
  retryInMs: null,
  woken: [],
  opening: [],
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
    retryInMs: intOrNull(row, "retryInMs"),
    woken: names(row, "woken"),
    opening: batchIds(row, "opening"),
  };
}

interface Extras {
  checkpoint: string | null;
  trace: string | null;
  grouped: boolean;
  cancel: boolean;
  newer: boolean;
  wave: boolean;
  solo: boolean;
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
      isInWave: extra?.wave ?? false,
      isSuspect: extra?.solo ?? false,
      isSpare: index >= started,
    };
  });
}

/** complete_task */
export function completeTask(row: AnswerRow): port.CompleteTaskAnswer {
  return {
    status: status(row, ["done", "again", "fenced"]),
    woken: names(row, "woken"),
    opening: batchIds(row, "opening"),
  };
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
    opening: batchIds(row, "opening"),
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
    opening: batchIds(row, "opening"),
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
    opening: batchIds(row, "opening"),
  };
}

/** enqueue_tasks */
export function enqueueTasks(row: AnswerRow): port.EnqueueTasksAnswer {
  return { status: status(row, ["enqueued", "sealed", "late"]), ...enqueued(row) };
}

/** What was added; no task ids: nothing was. */
export function enqueued(row: AnswerRow): Omit<port.EnqueueTasksAnswer, "status"> {
  const taskIds = names(row, "taskIds").map(asTaskId);
  const outcomes =
    row["outcomes"] == null
      ? taskIds.map(() => "enqueued" as const)
      : list<"enqueued" | "duplicate" | "replaced">(row, "outcomes", taskIds.length);
  return {
    taskIds,
    outcomes,
    ready: bool(row, "ready"),
    nextDueMs: intOrNull(row, "nextDueMs"),
  };
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

/** cancel_tasks */
export function cancelTasks(row: AnswerRow): port.CancelTasksAnswer {
  const results = json<
    (Omit<port.CancelTasksAnswer["results"][number], "taskId"> & { task: string })[]
  >(row, "results");
  return {
    results: results.map(({ task, ...result }) => ({ taskId: asTaskId(task), ...result })),
    woken: names(row, "woken"),
    opening: batchIds(row, "opening"),
  };
}

/** redrive_tasks */
export function redriveTasks(row: AnswerRow): port.RedriveTasksAnswer {
  const results = json<
    { task: string; outcome: port.RedriveTasksAnswer["results"][number]["outcome"] }[]
  >(row, "results");
  return {
    results: results.map(({ task, outcome }) => ({ taskId: asTaskId(task), outcome })),
    woken: names(row, "woken"),
  };
}

/** reschedule_tasks */
export function rescheduleTasks(row: AnswerRow): port.RescheduleTasksAnswer {
  const results = json<
    (Omit<port.RescheduleTasksAnswer["results"][number], "taskId"> & { task: string })[]
  >(row, "results");
  return {
    results: results.map(({ task, ...result }) => ({ taskId: asTaskId(task), ...result })),
    nextDueMs: intOrNull(row, "nextDueMs"),
    definitions: names(row, "definitions"),
    woken: names(row, "woken"),
  };
}

/** set_group */
export function setGroup(row: AnswerRow): port.SetGroupAnswer {
  const answer = status(row, ["created", "set", "exists"]);
  const settings = (age: "old" | "new"): port.GroupSettings => ({
    slots: int(row, `${age}Slots`),
    paused: bool(row, `${age}Paused`),
    strict: bool(row, `${age}Strict`),
  });
  return {
    status: answer,
    old: answer === "created" ? null : settings("old"),
    new: settings("new"),
    used: int(row, "used"),
    waiting: int(row, "waiting"),
    woken: names(row, "woken"),
  };
}

/** list_groups */
export function listGroups(row: AnswerRow): { groups: port.GroupStatus[] } {
  return { groups: json<port.GroupStatus[]>(row, "groups") };
}

/** list_shared_limits */
export function listSharedLimits(row: AnswerRow): { sharedLimits: port.SharedLimitReading[] } {
  const listed = json<(port.SharedLimitReading & { limit: number; codeLimit: number })[]>(
    row,
    "sharedLimits",
  );
  return {
    sharedLimits: listed.map((shared) => ({
      ...shared,
      limit: limit(shared.limit),
      codeLimit: limit(shared.codeLimit),
    })),
  };
}

/** sweep */
export function sweep(row: AnswerRow): port.SweepAnswer {
  return {
    expired: int(row, "expired"),
    definitions: row["definitions"] == null ? [] : json<port.SweptDefinition[]>(row, "definitions"),
    nextDueMs: intOrNull(row, "nextDueMs"),
    opening: batchIds(row, "opening"),
    schedules: row["schedules"] == null ? [] : json<ScheduledInstant[]>(row, "schedules"),
    isPurgeable: bool(row, "purgeable"),
  };
}

/** purge */
export function purge(row: AnswerRow): port.PurgeAnswer {
  return {
    status: status(row, ["purged", "none"]),
    purged: int(row, "purged"),
    tasks: int(row, "tasks"),
    executions: int(row, "executions"),
    operations: int(row, "operations"),
    keys: int(row, "keys"),
    groups: int(row, "groups"),
    batches: int(row, "batches"),
    auditEntries: int(row, "auditEntries"),
    more: bool(row, "more"),
  };
}

/** list_definitions */
export function listDefinitions(row: AnswerRow): { definitions: port.DefinitionStatus[] } {
  const definitions = json<
    (port.DefinitionStatus & { limit: number; codeLimit: number; sharedLimits: RawShared[] })[]
  >(row, "definitions");
  return {
    definitions: definitions.map((definition) => ({
      ...definition,
      limit: limit(definition.limit),
      codeLimit: limit(definition.codeLimit),
      sharedLimits: sharedLimits(definition.sharedLimits),
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
  const facts =
    row["facts"] == null
      ? null
      : json<port.TaskFacts & { limit?: number; sharedLimits?: RawShared[] }>(row, "facts");
  const read =
    facts?.limit === undefined
      ? facts
      : {
          ...facts,
          limit: limit(facts.limit),
          sharedLimits: sharedLimits(facts.sharedLimits ?? []),
        };
  return { status: status(row, ["found", "moving", "unknown"]), facts: read };
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

type RawShared = port.SharedLimitStatus & { limit: number };

function sharedLimits(raw: readonly RawShared[]): port.SharedLimitStatus[] {
  return raw.map((shared) => ({ ...shared, limit: limit(shared.limit) }));
}

function limit(value: number): port.Limit {
  return value === -1 ? null : value;
}
