import { InvalidArgumentError } from "../core/errors";
import { asTaskId } from "../core/ids";
import type * as port from "../ports/task-store";
import type {
  AdvanceWatermarkAnswer,
  AdvanceWatermarkInput,
  ListWatermarksInput,
  WatermarkStatus,
} from "../ports/task-store";
import { operations } from "../store/operations";
import { expectTasks } from "./memory-store/enqueue";
import { MemoryTaskStore } from "./memory-store/memory-task-store";
import type { MemoryStoreOptions } from "./memory-store/memory-task-store";
import { describeEnqueued } from "./enqueued-task";
import type { EnqueuedTask } from "./enqueued-task";
import type { SqlFake, SqlStatement } from "./sql-fake";
import { defineQueue } from "../worker/define/define-queue";

/** What a single run's store needs to know. */
export interface RecordingStoreOptions extends MemoryStoreOptions {
  sql?: SqlFake;
  /** Another worker holds the task: its completion is refused. */
  isLost: boolean;
}

/**
 * The store of a single run: takes what the run writes and keeps it, unless every store refuses it; asks for no definition to be known. Its task is
 * always held, unless `isLost`.
 */
export class RecordingStore extends MemoryTaskStore {
  /** Written for good. */
  readonly enqueued: EnqueuedTask[] = [];
  readonly statements: SqlStatement[] = [];
  /** JSON text of the result that a transaction completed the task with. */
  transactionResult: string | null = null;
  readonly #options: RecordingStoreOptions;
  #pending: EnqueuedTask[] = [];
  #ids = 1;

  constructor(options: RecordingStoreOptions) {
    super(options);
    this.#options = options;
  }

  override async enqueueTasks(
    input: port.EnqueueTasksInput,
    within?: port.StoreTransaction,
  ): Promise<port.EnqueueTasksAnswer> {
    expectTasks(operations.enqueueTasks.check(input));
    (within === undefined ? this.enqueued : this.#pending).push(...describeEnqueued(input));
    const taskIds = input.tasks.map(() => asTaskId(String((this.#ids += 1))));
    return {
      status: "enqueued",
      taskIds,
      outcomes: taskIds.map(() => "enqueued"),
      ready: true,
      nextDueMs: null,
    };
  }

  override async advanceWatermark(
    input: AdvanceWatermarkInput,
    within?: port.StoreTransaction,
  ): Promise<AdvanceWatermarkAnswer> {
    await this.#makeKnown(input.name);
    const answer = await super.advanceWatermark(input, within);
    if (answer.status === "advanced")
      (within === undefined ? this.enqueued : this.#pending).push(...describeEnqueued(input));
    return answer;
  }

  override async listWatermarks(
    input: ListWatermarksInput,
  ): Promise<{ watermarks: WatermarkStatus[] }> {
    if (input.name !== undefined) await this.#makeKnown(input.name);
    return super.listWatermarks(input);
  }

  override async completeTask(
    input: port.CompleteTaskInput,
    within?: port.StoreTransaction,
  ): Promise<port.CompleteTaskAnswer> {
    const status = this.#options.isLost ? "fenced" : "done";
    if (within !== undefined && input.endsTransaction === true)
      this.endTransaction(within, { status });
    if (status === "done") this.transactionResult = input.result;
    return { status, woken: [], opening: [] };
  }

  override async reportProgress(): Promise<port.ReportProgressAnswer> {
    return { status: "done", isCancelRequested: false };
  }

  override async transaction<Result>(
    body: (transaction: port.StoreTransaction) => Promise<Result>,
  ): Promise<Result> {
    this.#pending = [];
    const result = await super.transaction(body);
    this.enqueued.push(...this.#pending);
    return result;
  }

  protected override answerStatement(
    text: string,
    values: readonly port.SqlValue[],
  ): ReturnType<SqlFake> {
    this.statements.push({ text, values });
    const { sql } = this.#options;
    if (sql !== undefined) return sql(text, values);
    throw new InvalidArgumentError(
      `Expected \`sql\` to answer the handler's statements, got none: ${text}`,
    );
  }

  /** No worker registers the definitions of a single run. */
  async #makeKnown(name: string): Promise<void> {
    const { settings, settingsHash } = defineQueue({ name });
    await this.registerDefinition({ name, build: 1, settingsHash, registeredBy: "test", settings });
  }
}
