import { randomUUID } from "node:crypto";
import { asOperationId, executionNumber } from "../../shared/core/ids";
import type { ExecutionId, ExecutionNumber, OperationId, TaskId } from "../../shared/core/ids";
import type {
  ClaimedTask,
  DefinitionSettings,
  DefinitionStatus,
  DoneTask,
  FailTasksAnswer,
  Failure,
  FinishExecutionAnswer,
  HeartbeatAnswer,
  NewTask,
  RegisterDefinitionInput,
  StartExecutionAnswer,
  StartExecutionInput,
  TaskFacts,
  TaskStore,
  WorkAnswer,
  WorkInput,
} from "../../shared/ports/task-store";

/**
 * What tests say when they don't care: complete inputs with defaults, and a worker that counts its calls.
 * Everything random here is an operation id; it decides nothing.
 */

/** Settings of a definition unless a test says otherwise. */
export const defaultSettings: DefinitionSettings = {
  limit: 4,
  leaseMs: 60_000,
  retryAttempts: 5,
  lostMax: 3,
  retryBaseMs: 1_000,
  retryCapMs: 300_000,
  prefetchMax: 1,
  groupSlots: 1,
  groupStrict: false,
  retainDoneMs: 604_800_000,
  retainDeadMs: 2_592_000_000,
};

let names = 0;

/** A name no other test of this process uses. */
export function uniqueName(prefix = "demo"): string {
  names += 1;
  return `${prefix}-${String(names)}`;
}

/** A new operation's id. */
export function operationId(): OperationId {
  return asOperationId(randomUUID());
}

/** A whole registration. */
export function registration(
  changes: Partial<Omit<RegisterDefinitionInput, "settings">> & {
    settings?: Partial<DefinitionSettings>;
  } = {},
): RegisterDefinitionInput {
  const { settings, ...rest } = changes;
  return {
    name: uniqueName(),
    build: 1,
    settingsHash: "hash-1",
    registeredBy: "the code",
    ...rest,
    settings: { ...defaultSettings, ...settings },
  };
}

/** Registers a definition and returns its name. */
export async function define(
  store: TaskStore,
  settings: Partial<DefinitionSettings> = {},
  name = uniqueName(),
): Promise<string> {
  const answer = await store.registerDefinition(registration({ name, settings }));
  if (answer.status !== "created") throw new Error(`${name}: ${answer.status}`);
  return name;
}

/** A whole start. */
export function startInput(
  name: string,
  changes: Partial<StartExecutionInput> = {},
): StartExecutionInput {
  return {
    name,
    operationId: operationId(),
    worker: "worker-1",
    build: 1,
    settingsHash: "hash-1",
    want: 1,
    needsReady: false,
    ...changes,
  };
}

/** Starts an execution that must be granted something. */
export async function startWorker(
  store: TaskStore,
  name: string,
  changes: Partial<StartExecutionInput> = {},
): Promise<Worker> {
  const answer = await store.startExecution(startInput(name, changes));
  if (answer.status !== "started" || answer.executionId === null) {
    throw new Error(`${name}: expected an execution, got ${answer.status}`);
  }
  return new Worker(store, answer.executionId, answer);
}

/** Starts with one token, for callers that only look at the status. */
export async function tryStart(
  store: TaskStore,
  name: string,
  changes: Partial<StartExecutionInput> = {},
): Promise<StartExecutionAnswer["status"]> {
  return (await store.startExecution(startInput(name, changes))).status;
}

/** Enqueues tasks; a number stands for so many empty ones. */
export async function enqueue(
  store: TaskStore,
  name: string,
  tasks: number | readonly Partial<NewTask>[],
): Promise<TaskId[]> {
  const list = typeof tasks === "number" ? Array.from({ length: tasks }, () => ({})) : tasks;
  const answer = await store.enqueueTasks({
    name,
    build: 1,
    operationId: null,
    tasks: list.map((task) => ({ payload: null, ...task })),
  });
  return answer.taskIds;
}

/** Enqueues one task. */
export async function enqueueOne(
  store: TaskStore,
  name: string,
  task: Partial<NewTask> = {},
): Promise<TaskId> {
  return only(await enqueue(store, name, [task]));
}

/** A completion of a claimed task. */
export function done(task: ClaimedTask, changes: Partial<DoneTask> = {}): DoneTask {
  return { taskId: task.taskId, fence: task.fence, durationMs: 5, result: null, ...changes };
}

/** A failure of a claimed task. */
export function failure(task: ClaimedTask, changes: Partial<Failure> = {}): Failure {
  return {
    taskId: task.taskId,
    fence: task.fence,
    as: "failed",
    error: "it broke",
    retryInMs: null,
    durationMs: 5,
    checkpoint: null,
    ...changes,
  };
}

/** One execution that counts its calls as a real worker does. */
export class Worker {
  readonly store: TaskStore;
  readonly executionId: ExecutionId;
  readonly answer: StartExecutionAnswer;
  #calls = 0;

  constructor(store: TaskStore, executionId: ExecutionId, answer: StartExecutionAnswer) {
    this.store = store;
    this.executionId = executionId;
    this.answer = answer;
  }

  /** The number of its row. */
  get number(): ExecutionNumber {
    return executionNumber(this.executionId);
  }

  /** The number of the last `work` call. */
  get calls(): number {
    return this.#calls;
  }

  /** The next `work` call. */
  work(changes: Partial<WorkInput> = {}): Promise<WorkAnswer> {
    this.#calls += 1;
    return this.again(changes);
  }

  /** `work` with the number of the last call. */
  again(changes: Partial<WorkInput> = {}): Promise<WorkAnswer> {
    const { executionId } = this;
    return this.store.work({
      executionId,
      callNumber: this.#calls,
      done: [],
      started: [],
      want: 0,
      ...changes,
    });
  }

  /** Claims up to `want`. */
  async claim(want: number): Promise<ClaimedTask[]> {
    return (await this.work({ want })).claimed;
  }

  /** Claims one, which must be there. */
  async claimOne(): Promise<ClaimedTask> {
    return only(await this.claim(1));
  }

  /** Completes tasks and claims up to `want`. */
  complete(tasks: readonly ClaimedTask[], want = 0): Promise<WorkAnswer> {
    return this.work({ done: tasks.map((task) => done(task)), want });
  }

  /** Fails tasks, all the same way. */
  fail(tasks: readonly ClaimedTask[], changes: Partial<Failure> = {}): Promise<FailTasksAnswer> {
    const failures = tasks.map((task) => failure(task, changes));
    return this.store.failTasks({ executionId: this.executionId, failures });
  }

  /** Renews its lease. */
  async beat(started: readonly TaskId[] = []): Promise<HeartbeatAnswer["executions"][number]> {
    const { executionId } = this;
    return only(
      (await this.store.heartbeat({ executions: [{ executionId, started }] })).executions,
    );
  }

  /** Ends its execution. */
  finish(): Promise<FinishExecutionAnswer> {
    return this.store.finishExecution({ executionId: this.executionId });
  }
}

/** The one entry of a list. */
export function only<Entry>(list: readonly Entry[]): Entry {
  const [entry] = list;
  if (entry === undefined || list.length !== 1) {
    throw new Error(`Expected one entry, got ${JSON.stringify(list)}`);
  }
  return entry;
}

/** The entry at `index`, which must be there. */
export function at<Entry>(list: readonly Entry[], index: number): Entry {
  const entry = list.at(index);
  if (entry === undefined) throw new Error(`No entry ${String(index)} in ${JSON.stringify(list)}`);
  return entry;
}

/** The ids of tasks. */
export function idsOf(tasks: readonly { taskId: TaskId }[]): TaskId[] {
  return tasks.map((task) => task.taskId);
}

/** Everything the store knows of a task; the task must be known. */
export async function factsOf(store: TaskStore, taskId: TaskId): Promise<TaskFacts> {
  const answer = await store.explainTask({ taskId });
  if (answer.facts === null) throw new Error(`Task ${taskId} is ${answer.status}`);
  return answer.facts;
}

/** The state of a task. */
export async function stateOf(store: TaskStore, taskId: TaskId): Promise<TaskFacts["state"]> {
  return (await factsOf(store, taskId)).state;
}

/** A definition as people see it. */
export async function statusOf(store: TaskStore, name: string): Promise<DefinitionStatus> {
  return only((await store.listDefinitions({ name })).definitions);
}

/** Sets the operator's limit. */
export function setLimit(
  store: TaskStore,
  name: string,
  limit: number | null | "code",
): ReturnType<TaskStore["setLimit"]> {
  return store.setLimit({ name, limit, operationId: operationId(), changedBy: "an operator" });
}

/**
 * The seed of what a test leaves to chance: the same in every run, so that a change is judged by the change alone.
 * TASKGATE_TEST_SEED names another one, or asks for a fresh one with "new"; the caller prints it.
 */
export function testSeed(): number {
  const asked = process.env["TASKGATE_TEST_SEED"] ?? "1";
  return asked === "new" ? newSeed() : Number(asked);
}

/** A fresh seed; the caller prints it. */
export function newSeed(): number {
  return Number.parseInt(randomUUID().slice(0, 8), 16);
}
