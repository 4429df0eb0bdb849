import {
  StoreConflictError,
  StoreUnavailableError,
  StoreUncertainError,
  TaskgateError,
} from "../core/errors";
import type { TaskStore } from "../ports/task-store";
import { OperationStore } from "./operation-store";
import { operations } from "./operations";
import { nothingToEnd } from "./operations/transaction-ends";
import type { CompleteTaskAnswer, CompleteTaskInput } from "./operations/claims";
import { reading } from "./operations/operation";
import type { Operation } from "./operations/operation";
import type { StoreTransaction, TransactionBounds } from "./operations/store-transaction";
import type { ProcedureCaller } from "./procedure-caller";
import type { Repeat } from "./repeat";

/**
 * The store over a database: turns each method into one procedure call and its row into an answer.
 * It knows no dialect; `ProcedureCaller` is PostgreSQL or SQL Server. Lost answers are repeated here, since every
 * operation survives a repeat (docs/reference/sql.md, "Once"); what happens inside a user's transaction is not.
 */
export class SqlTaskStore extends OperationStore implements TaskStore {
  readonly notifyWaiting?: NonNullable<TaskStore["notifyWaiting"]>;
  readonly #caller: ProcedureCaller;
  readonly #repeat: Repeat;

  constructor(caller: ProcedureCaller, repeat: Repeat) {
    super();
    this.#caller = caller;
    this.#repeat = repeat;
    // Not repeated: a notification that is lost costs time only.
    if (caller.notifyWaiting !== undefined) this.notifyWaiting = caller.notifyWaiting;
  }

  get dialect(): TaskStore["dialect"] {
    return this.#caller.dialect;
  }

  override async completeTask(
    input: CompleteTaskInput,
    within?: StoreTransaction,
  ): Promise<CompleteTaskAnswer> {
    if (input.endsTransaction !== true) return this.call(operations.completeTask, input, within);
    const { completeTask } = operations;
    const checked = completeTask.check(input);
    const values = completeTask.bind(checked, true);
    if (within === undefined) throw nothingToEnd();
    return completeTask.decode(await this.#caller.completeAndCommit(values, within), checked);
  }

  async transaction<Result>(
    body: (transaction: StoreTransaction) => Promise<Result>,
    bounds?: TransactionBounds,
  ): Promise<Result> {
    return this.#caller.transaction(body, bounds);
  }

  async close(): Promise<void> {
    await this.#caller.close();
  }

  protected async call<Input, Answer>(
    operation: Operation<Input, Answer>,
    input: Input,
    within?: StoreTransaction,
  ): Promise<Answer> {
    const { whenLocked } = operation;
    const checked = operation.check(input);
    const values = operation.bind(checked, within !== undefined);
    const ask = async (): Promise<Answer> =>
      operation.decode(await this.#caller.call(operation, values, within), checked);
    // Without an operation id an enqueue is only protected by dedupe keys, and a watermark's move by its version, of which
    // a repeat would be told as a conflict: a lost answer is the caller's to judge.
    const isSafe = values["operationId"] !== null;
    const failed: TaskgateError[] = [];
    try {
      if (within !== undefined) return await ask();
      return await this.#repeat(ask, (error) => {
        if (!(error instanceof TaskgateError)) return false;
        failed.push(error);
        if (whenLocked !== undefined && isLockTimeout(error)) return false;
        if (error.details["isClosed"] === true) return false;
        return error.isRetryable || (isSafe && isUncertain(error));
      });
    } catch (error) {
      if (whenLocked !== undefined && isLockTimeout(error)) return whenLocked;
      const isInDoubt = failed.some(isUncertain) && !reading.test(operation.name);
      if (isInDoubt && saysNothingHappened(error))
        throw new StoreUncertainError(
          `An attempt's answer was lost, so the call may have been done; the last one said: ${error.message}`,
          { cause: error },
        );
      throw error;
    }
  }
}

function isUncertain({ code }: TaskgateError): boolean {
  return code === "TASKGATE_STORE_UNCERTAIN";
}

/** Of its own attempt; it knows nothing of the ones before. */
function saysNothingHappened(error: unknown): error is TaskgateError {
  return error instanceof StoreUnavailableError || error instanceof StoreConflictError;
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof StoreConflictError && error.details["isLockTimeout"] === true;
}
