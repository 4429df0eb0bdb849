import { TaskgateError } from "../../../shared/core/errors";
import type * as port from "../../../shared/ports/task-store";
import type { AdvanceWatermarkAnswer } from "../../../shared/ports/task-store";
import type { Action, Call, CompleteCall, EnqueueCall, InnerCall } from "./call";
import type { CallId } from "./call-names";
import { operationIdOf } from "./names";
import { newTasks } from "./new-tasks";
import { Normalizer } from "./normalizer";
import { performOperator } from "./perform-operator";
import type { OperatorAnswers } from "./perform-operator";
import { advanceWatermark, performStanding } from "./perform-standing";
import type { StandingAnswers } from "./perform-standing";
import type { Side } from "./side";

/** The answers of all kinds of calls, with names in place of ids. */
export interface Answers extends OperatorAnswers, StandingAnswers {
  register: port.RegisterDefinitionAnswer;
  setLimit: port.SetLimitAnswer;
  pause: port.PauseAnswer;
  resume: port.PauseAnswer;
  start: port.StartExecutionAnswer;
  acquire: port.AcquireTokensAnswer;
  release: port.ReleaseTokensAnswer;
  releaseSurplus: port.ReleaseSurplusAnswer;
  work: port.WorkAnswer;
  complete: port.CompleteTaskAnswer;
  fail: port.FailTasksAnswer;
  heartbeat: port.HeartbeatAnswer;
  progress: port.ReportProgressAnswer;
  finish: port.FinishExecutionAnswer;
  reclaim: port.ReclaimExpiredAnswer;
  enqueue: port.EnqueueTasksAnswer;
  promote: port.PromoteScheduledAnswer;
  sweep: port.SweepAnswer;
  listDefinitions: { definitions: port.DefinitionStatus[] };
  listExecutions: { executions: port.ExecutionStatus[] };
  listTasks: { tasks: port.TaskListEntry[] };
  explain: port.ExplainTaskAnswer;
  check: { status: "sound" | "broken"; findings: port.InvariantFinding[] };
  transaction: { answers: InnerAnswer[] };
  requestCancel: null;
  advance: null;
}

/** What a call inside a user's transaction answers. */
export type InnerAnswer =
  | port.EnqueueTasksAnswer
  | port.CompleteTaskAnswer
  | AdvanceWatermarkAnswer;

/** The outcome of a call. */
export type Outcome =
  | { [Kind in Action["do"]]: { readonly did: Kind; readonly answer: Answers[Kind] } }[Action["do"]]
  | {
      readonly did: "nothing";
      readonly error: { readonly code: string; readonly message: string };
    };

/** Makes a call on a store. Throws UnknownName when it refers to what isn't there, and what isn't an error of ours. */
export async function perform(side: Side, call: Call): Promise<Outcome> {
  const normalizer = new Normalizer(side);
  try {
    const answer = await make(side, call);
    return { did: call.do, answer: normalizer.answer(answer) } as Outcome;
  } catch (error) {
    if (!(error instanceof TaskgateError)) throw error;
    return {
      did: "nothing",
      error: { code: error.code, message: normalizer.message(error.message) },
    };
  }
}

async function make(side: Side, call: Call): Promise<Answers[Action["do"]]> {
  switch (call.do) {
    case "register":
    case "setLimit":
    case "pause":
    case "resume":
    case "promote":
    case "sweep":
      return operate(side, call);
    case "start":
    case "acquire":
    case "release":
    case "releaseSurplus":
    case "heartbeat":
    case "finish":
    case "reclaim":
      return stay(side, call);
    case "work":
    case "complete":
    case "fail":
    case "progress":
      return run(side, call);
    case "listDefinitions":
    case "listExecutions":
    case "listTasks":
    case "explain":
    case "check":
      return read(side, call);
    case "enqueue":
      return enqueue(side, call);
    case "transaction":
      return transact(side, call);
    case "cancel":
    case "redrive":
    case "redriveFound":
    case "reschedule":
    case "setGroup":
    case "listGroups":
    case "setRate":
    case "purge":
    case "createBatch":
    case "startBatch":
    case "pumpBatch":
    case "resumeBatch":
    case "cancelBatch":
    case "listBatches":
      return performOperator(side, call);
    case "setSchedules":
    case "setSchedulePaused":
    case "fireSchedule":
    case "listSchedules":
    case "advanceWatermark":
    case "setWatermark":
    case "listWatermarks":
    case "setSharedLimit":
    case "listSharedLimits":
      return performStanding(side, call);
    case "requestCancel":
      await side.target.requestCancel(side.task(call.task));
      return null;
    case "advance":
      await side.target.advance(call.ms);
      return null;
  }
}

type CallOf<Kind extends Action["do"]> = Extract<Call, { do: Kind }>;

async function operate(
  side: Side,
  call: CallOf<"register" | "setLimit" | "pause" | "resume" | "promote" | "sweep">,
) {
  const { store } = side;
  switch (call.do) {
    case "register": {
      const { definition: name, build, hash: settingsHash, settings } = call;
      const registeredBy = "the code";
      const input = { name, build, settingsHash, registeredBy, settings };
      const answer = await store.registerDefinition(input);
      side.names.bind("definition", name, String(answer.taskDefinitionId));
      return answer;
    }
    case "setLimit": {
      const { definition: name, limit } = call;
      const operationId = operationIdOf(call.operation);
      return store.setLimit({
        name,
        limit,
        operationId,
        changedBy: "an operator",
        reason: "a try",
      });
    }
    case "pause":
      return store.pauseDefinition({ name: call.definition, changedBy: "an operator" });
    case "resume":
      return store.resumeDefinition({ name: call.definition, changedBy: "an operator" });
    case "promote":
      return store.promoteScheduled({ name: call.definition, max: call.max });
    case "sweep":
      return store.sweep({ max: call.max });
  }
}

async function stay(
  side: Side,
  call: CallOf<
    "start" | "acquire" | "release" | "releaseSurplus" | "heartbeat" | "finish" | "reclaim"
  >,
) {
  const { store } = side;
  switch (call.do) {
    case "start": {
      const { definition: name, worker, build, hash: settingsHash, want, needsReady } = call;
      const operationId = operationIdOf(call.operation);
      const input = { name, operationId, worker, build, settingsHash, want, needsReady };
      const answer = await store.startExecution(input);
      const { executionId } = answer;
      if (executionId !== null) side.names.bind("execution", `e${call.id}`, executionId);
      return answer;
    }
    case "acquire":
      return store.acquireTokens({ executionId: side.execution(call.execution), want: call.want });
    case "release":
      return store.releaseTokens({ executionId: side.execution(call.execution), keep: call.keep });
    case "releaseSurplus": {
      const { execution, keep } = call;
      return store.releaseSurplus({ executionId: side.execution(execution), keep });
    }
    case "heartbeat": {
      const executions = call.beats.map(({ execution, started }) => ({
        executionId: side.execution(execution),
        started: started.map((task) => side.task(task)),
      }));
      return store.heartbeat({ executions });
    }
    case "finish":
      return store.finishExecution({ executionId: side.execution(call.execution) });
    case "reclaim":
      return store.reclaimExpired({ max: call.max });
  }
}

async function run(side: Side, call: CallOf<"work" | "complete" | "fail" | "progress">) {
  const { store } = side;
  switch (call.do) {
    case "work":
      return work(side, call);
    case "complete":
      return store.completeTask(completion(side, call));
    case "fail":
      return store.failTasks({
        executionId: side.execution(call.execution),
        failures: call.failures.map(({ task, fence, ...rest }) => ({
          ...rest,
          taskId: side.task(task),
          fence: side.fence(fence),
        })),
      });
    case "progress":
      return store.reportProgress({
        executionId: side.execution(call.execution),
        taskId: side.task(call.task),
        fence: side.fence(call.fence),
        done: call.done,
        total: call.total,
        text: call.text,
      });
  }
}

async function work(side: Side, call: CallOf<"work">): Promise<port.WorkAnswer> {
  const { after } = call;
  const answer = await side.store.work({
    executionId: side.execution(call.execution),
    callNumber: call.callNumber,
    done: call.done.map(({ task, fence, durationMs, result }) => ({
      taskId: side.task(task),
      fence: side.fence(fence),
      durationMs,
      result,
    })),
    started: call.started.map((task) => side.task(task)),
    want: call.want,
    ...(after === undefined ? {} : { after: { ...after, taskId: side.task(after.task) } }),
  });
  for (const { fence } of answer.claimed) side.names.bind("fence", `f${call.id}`, fence);
  return answer;
}

function completion(side: Side, call: CompleteCall): port.CompleteTaskInput {
  const { execution, task, fence, durationMs, result } = call;
  return {
    executionId: side.execution(execution),
    taskId: side.task(task),
    fence: side.fence(fence),
    durationMs,
    result,
  };
}

async function read(
  side: Side,
  call: CallOf<"listDefinitions" | "listExecutions" | "listTasks" | "explain" | "check">,
) {
  const { store } = side;
  switch (call.do) {
    case "listDefinitions":
      return store.listDefinitions(named(call.definition));
    case "listExecutions": {
      const { isOpen, max } = call;
      return store.listExecutions({ ...named(call.definition), isOpen, max });
    }
    case "listTasks": {
      const { definition: name, state, max } = call;
      return store
        .listTasks({ name, state, max })
        .then(({ next, ...page }) => ({ ...page, isCut: next !== null })); // a place is each store's own
    }
    case "explain":
      return store.explainTask({ taskId: side.task(call.task) });
    case "check":
      return store.checkInvariants();
  }
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}

async function enqueue(
  side: Side,
  call: { readonly id: CallId } & EnqueueCall,
  within?: port.StoreTransaction,
): Promise<port.EnqueueTasksAnswer> {
  const { definition: name, build, operation } = call;
  const tasks = newTasks(side, call.tasks);
  const operationId = operation === null ? null : operationIdOf(operation);
  const wave = call.wave === undefined ? {} : { waveId: side.wave(call.wave) };
  const input = { name, build, tasks, operationId, ...wave };
  const answer = await side.store.enqueueTasks(input, within);
  side.bindTasks(call.id, answer.taskIds);
  return answer;
}

/** Thrown by a transaction's body that is to be rolled back. */
class RollBack extends Error {}

async function transact(side: Side, call: CallOf<"transaction">): Promise<Answers["transaction"]> {
  const answers: Answers["transaction"]["answers"] = [];
  try {
    await side.store.transaction(async (transaction) => {
      for (const inner of call.calls) answers.push(await makeWithin(side, inner, transaction));
      if (call.ends === "rollback") throw new RollBack("as the history has it");
    });
  } catch (error) {
    if (!(error instanceof RollBack)) throw error;
  }
  return { answers };
}

function makeWithin(
  side: Side,
  call: InnerCall,
  transaction: port.StoreTransaction,
): Promise<InnerAnswer> {
  switch (call.do) {
    case "enqueue":
      return enqueue(side, call, transaction);
    case "advanceWatermark":
      return advanceWatermark(side, call, transaction);
    case "complete":
      return side.store.completeTask(completion(side, call), transaction);
  }
}
