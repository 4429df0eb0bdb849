import { isKindNamed } from "../core/kind-version";
import { StoreUnavailableError } from "../core/errors";
import type { ExecutionId, TaskId } from "../core/ids";
import { permitWaitMaxMs } from "../core/next-call";
import type * as port from "../ports/task-store";
import { MemoryTaskStore } from "./memory-store/memory-task-store";
import type { MemoryStoreOptions } from "./memory-store/memory-task-store";
import type { SqlFake, SqlStatement } from "./sql-fake";

/** A worker that is to wait for longer than it would leaves. */
const leavesMs = 2 * permitWaitMaxMs;

/**
 * The store of a bench: answers the handlers' statements from a fake, and lets workers die. A dead worker's calls
 * don't arrive any more: its lease ends by itself. No worker waits for a permit: the bench's clock would stand still meanwhile.
 */
export class CrashingStore extends MemoryTaskStore {
  readonly statements: SqlStatement[] = [];
  readonly #sql: SqlFake | null;
  /** Kinds whose next end is the worker's death. */
  readonly #crashes: string[] = [];
  readonly #dead = new Set<ExecutionId>();

  constructor(options: MemoryStoreOptions, sql: SqlFake | null) {
    super(options);
    this.#sql = sql;
  }

  /** The next worker that wants to tell how a task of this kind has ended dies before it is heard. */
  crashBeforeCompletion(kind: string): void {
    this.#crashes.push(kind);
  }

  override async work(input: port.WorkInput): Promise<port.WorkAnswer> {
    this.#crashIfTold(
      input.executionId,
      input.done.map((task) => task.taskId),
    );
    this.#checkAlive(input.executionId);
    const answer = await super.work(input);
    const { retryInMs } = answer;
    return retryInMs === null ? answer : { ...answer, retryInMs: Math.max(retryInMs, leavesMs) };
  }

  override async completeTask(
    input: port.CompleteTaskInput,
    within?: port.StoreTransaction,
  ): Promise<port.CompleteTaskAnswer> {
    this.#crashIfTold(input.executionId, [input.taskId]);
    this.#checkAlive(input.executionId);
    return super.completeTask(input, within);
  }

  override async failTasks(
    input: Parameters<port.TaskStore["failTasks"]>[0],
  ): Promise<port.FailTasksAnswer> {
    this.#crashIfTold(
      input.executionId,
      input.failures.map((task) => task.taskId),
    );
    this.#checkAlive(input.executionId);
    return super.failTasks(input);
  }

  override async finishExecution(input: {
    executionId: ExecutionId;
  }): Promise<port.FinishExecutionAnswer> {
    this.#checkAlive(input.executionId);
    return super.finishExecution(input);
  }

  protected override answerStatement(
    text: string,
    values: readonly port.SqlValue[],
  ): ReturnType<SqlFake> {
    const sql = this.#sql;
    if (sql === null) return super.answerStatement(text, values);
    this.statements.push({ text, values });
    return sql(text, values);
  }

  #crashIfTold(executionId: ExecutionId, taskIds: readonly TaskId[]): void {
    if (this.#crashes.length === 0) return;
    for (const taskId of taskIds) {
      const kind = this.inspect().state.tasks.get(taskId)?.kind;
      const at =
        kind === undefined ? -1 : this.#crashes.findIndex((name) => isKindNamed(kind, name));
      if (at === -1) continue;
      this.#crashes.splice(at, 1);
      this.#dead.add(executionId);
    }
  }

  #checkAlive(executionId: ExecutionId): void {
    if (this.#dead.has(executionId))
      throw new StoreUnavailableError("the test let this worker die: its calls don't arrive");
  }
}
