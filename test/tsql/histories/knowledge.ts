import type { CreateBatchAnswer } from "../../../shared/ports/task-store";
import type * as port from "../../../shared/ports/task-store";
import type { Call, ClaimRef, EnqueueCall } from "./call";
import type { BatchName, ExecutionName, TaskName, WaveName } from "./call-names";
import type { OperatorAction } from "./operator-call";
import type { InnerAnswer, Outcome } from "./perform";
import { StandingKnowledge } from "./standing-knowledge";

/** An execution as its worker knows it; it doesn't know of tasks that were taken from it meanwhile. */
export interface KnownExecution {
  readonly name: ExecutionName;
  readonly definition: string;
  isOver: boolean;
  /** As far as the answers tell. */
  leaseUntilMs: number;
  callNumber: number;
  /** What it thinks it holds. */
  claims: KnownClaim[];
  /** What it held before. */
  past: ClaimRef[];
  last: { priority: number; rank: string; task: TaskName } | undefined;
  /** For repeats with the same call number. */
  lastWork: Extract<Call, { do: "work" }> | undefined;
}

export interface KnownClaim extends ClaimRef {
  isPrefetched: boolean;
}

/** A definition as the code that registers it knows it. */
export interface KnownDefinition {
  readonly name: string;
  readonly build: number;
  readonly hash: string;
  readonly settings: port.DefinitionSettings;
}

/** A call that may be repeated with its operation id. */
export type RepeatableCall = Extract<Call, { do: "enqueue" | "setLimit" | "start" }>;

/** What a history is made of. */
export interface Taste {
  readonly definitions: readonly string[];
  /** Leases end while work is done: tasks get lost twice and thrice. */
  readonly isLossy: boolean;
  /** Tasks of all definitions share their groups. */
  readonly isShared: boolean;
  /** Names of limits that definitions share. */
  readonly sharedLimits: readonly string[];
  readonly weights: Readonly<Record<Call["do"], number>>;
}

/** What the answers so far tell: the next call is chosen from it. */
export class Knowledge {
  readonly taste: Taste;
  readonly definitions = new Map<string, KnownDefinition>();
  readonly executions: KnownExecution[] = [];
  readonly tasks: TaskName[];
  readonly repeatable: RepeatableCall[] = [];
  readonly batches: { readonly name: BatchName; readonly waves: readonly WaveName[] }[] = [];
  readonly batchCalls: Extract<OperatorAction, { do: "createBatch" }>[] = [];
  readonly standing = new StandingKnowledge();
  operations = 0;
  /** 0 when the last call didn't move the clock. */
  lastAdvanceMs = 0;
  /** The definition that the last call found paused. */
  foundPaused: string | undefined;
  /** The last call got tasks. */
  hasJustClaimed = false;
  /** Since the start. */
  nowMs = 0;

  /** `tasks`: a list that others who work beside add to as well. */
  constructor(taste: Taste, tasks: TaskName[] = []) {
    this.taste = taste;
    this.tasks = tasks;
  }

  /** A number for an operation id that wasn't used yet. */
  newOperation(): number {
    this.operations += 1;
    return this.operations;
  }

  learn(call: Call, outcome: Outcome): void {
    this.lastAdvanceMs = call.do === "advance" ? call.ms : 0;
    this.nowMs += this.lastAdvanceMs;
    this.hasJustClaimed = outcome.did === "work" && outcome.answer.claimed.length > 0;
    const isPaused = outcome.did === "start" && outcome.answer.status === "paused";
    this.foundPaused = isPaused && call.do === "start" ? call.definition : undefined;
    if (outcome.did === "reclaim" && !outcome.answer.more) this.#endExpired();
    if ((call.do === "enqueue" && call.operation !== null) || call.do === "setLimit") {
      this.repeatable.push(call);
    }
    this.#learnAddedTasks(outcome);
    this.standing.learn(call, outcome);
    if (outcome.did === "nothing") return;
    switch (call.do) {
      case "register":
        this.#learnDefinition(call, outcome);
        return;
      case "start":
        this.#learnStart(call, outcome);
        return;
      case "enqueue":
        if (outcome.did === "enqueue") this.#learnTasks(call, outcome.answer);
        return;
      case "transaction":
        if (outcome.did === "transaction") this.#learnTransaction(call, outcome.answer.answers);
        return;
      case "work":
        if (outcome.did === "work") this.#learnWork(call, outcome.answer);
        return;
      case "complete":
        this.#leave(call.execution, [call]);
        return;
      case "fail":
        this.#leave(call.execution, call.failures);
        return;
      case "createBatch":
        if (outcome.did === "createBatch") this.#learnBatch(call, outcome.answer);
        return;
      case "finish":
        this.#end(call.execution);
        return;
      case "heartbeat":
        if (outcome.did === "heartbeat") this.#learnBeats(outcome.answer);
        return;
      default:
        return;
    }
  }

  #learnDefinition(call: Extract<Call, { do: "register" }>, outcome: Outcome): void {
    if (outcome.did !== "register" || outcome.answer.status === "outdated") return;
    const { definition: name, build, hash, settings } = call;
    this.definitions.set(name, { name, build, hash, settings });
  }

  #learnStart(call: Extract<Call, { do: "start" }>, outcome: Outcome): void {
    if (outcome.did !== "start" || outcome.answer.executionId === null) return;
    const name: string = outcome.answer.executionId;
    if (this.#find(name) !== undefined) return;
    this.repeatable.push(call);
    this.executions.push({
      name,
      definition: call.definition,
      isOver: false,
      leaseUntilMs: this.nowMs + (outcome.answer.leaseMs ?? 0),
      callNumber: 0,
      claims: [],
      past: [],
      last: undefined,
      lastWork: undefined,
    });
  }

  #learnTasks(call: EnqueueCall, answer: port.EnqueueTasksAnswer): void {
    if (call.operation !== null && this.tasks.includes(answer.taskIds[0] ?? "")) return;
    for (const [index, task] of answer.taskIds.entries()) {
      if (answer.outcomes[index] === "enqueued") this.tasks.push(task);
    }
  }

  #learnAddedTasks(outcome: Outcome): void {
    if (outcome.did !== "fireSchedule" && outcome.did !== "advanceWatermark") return;
    for (const task of outcome.answer.taskIds)
      if (!this.tasks.includes(task)) this.tasks.push(task);
  }

  #learnBatch(
    call: Extract<OperatorAction, { do: "createBatch" }>,
    { batchId, waveIds }: CreateBatchAnswer,
  ): void {
    if (this.batches.some(({ name }) => name === batchId)) return;
    this.batches.push({ name: batchId, waves: waveIds });
    const { operation, waves, failurePolicy } = call;
    this.batchCalls.push({ do: "createBatch", operation, waves, failurePolicy });
  }

  #learnTransaction(
    call: Extract<Call, { do: "transaction" }>,
    answers: readonly InnerAnswer[],
  ): void {
    for (const [index, inner] of call.calls.entries()) {
      const answer = answers[index];
      if (inner.do === "enqueue" && answer !== undefined && "taskIds" in answer) {
        this.#learnTasks(inner, answer as port.EnqueueTasksAnswer);
      }
      if (inner.do === "complete" && call.ends === "commit") this.#leave(inner.execution, [inner]);
    }
  }

  #learnWork(call: Extract<Call, { do: "work" }>, answer: port.WorkAnswer): void {
    const execution = this.#find(call.execution);
    if (execution === undefined) return;
    if (answer.status === "fenced" || answer.status === "ended") {
      this.#end(call.execution);
      return;
    }
    execution.callNumber = Math.max(execution.callNumber, call.callNumber);
    execution.lastWork = call;
    execution.leaseUntilMs = this.nowMs + (answer.leaseMs ?? 0);
    this.#leave(call.execution, call.done);
    for (const claim of execution.claims) {
      if (call.started.includes(claim.task)) claim.isPrefetched = false;
    }
    for (const { taskId: task, fence, isPrefetched } of answer.claimed) {
      if (!execution.claims.some((claim) => claim.task === task)) {
        execution.claims.push({ task, fence, isPrefetched });
      }
    }
    const { last } = answer;
    if (last !== null) {
      execution.last = { priority: last.priority, rank: last.rank, task: last.taskId };
    }
  }

  #learnBeats(answer: port.HeartbeatAnswer): void {
    for (const { executionId, status, leaseMs } of answer.executions) {
      if (status === "fenced" || status === "ended") this.#end(executionId);
      const execution = this.#find(executionId);
      if (execution !== undefined) execution.leaseUntilMs = this.nowMs + (leaseMs ?? 0);
    }
  }

  /** They aren't told, but after the end of its lease an execution has nothing left to do. */
  #endExpired(): void {
    for (const { name, leaseUntilMs } of this.executions) {
      if (leaseUntilMs < this.nowMs) this.#end(name);
    }
  }

  #leave(name: ExecutionName, gone: readonly ClaimRef[]): void {
    const execution = this.#find(name);
    if (execution === undefined) return;
    const isGone = (claim: ClaimRef): boolean => gone.some(({ task }) => task === claim.task);
    execution.past.push(...execution.claims.filter(isGone));
    execution.claims = execution.claims.filter((claim) => !isGone(claim));
  }

  #end(name: ExecutionName): void {
    const execution = this.#find(name);
    if (execution === undefined) return;
    execution.isOver = true;
    execution.past.push(...execution.claims);
    execution.claims = [];
  }

  #find(name: ExecutionName): KnownExecution | undefined {
    return this.executions.find((row) => row.name === name);
  }
}
