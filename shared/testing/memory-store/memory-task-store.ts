import { InvalidArgumentError } from "../../core/errors";
import type { TaskId } from "../../core/ids";
import type { Random } from "../../ports/random";
import type * as port from "../../ports/task-store";
import { OperationStore } from "../../store/operation-store";
import { operations } from "../../store/operations";
import type { OperationName } from "../../store/operations";
import { nothingToEnd } from "../../store/operations/transaction-ends";
import type { Operation } from "../../store/operations/operation";
import { unknownArgument } from "./arguments";
import type { Implementation } from "./implementation";
import * as functions from "./implementations";
import { nextInstantMs } from "./next-instant";
import { allStandings } from "./places";
import { definitionNamed } from "./rows";
import { createSequences, emptyState } from "./state";
import type { Memory, MemoryState, Sequences } from "./state";
import { MemoryTransaction } from "./transaction";
import type { StatementAnswer } from "./transaction";

const implementations: { readonly [Name in OperationName]: Implementation<Name> } = functions;

/** What the memory store depends on: the same clock and chance give the same history. */
export interface MemoryStoreOptions {
  /** The database's clock: epoch milliseconds. It is read once per operation. */
  clock: { now(): number };
  random: Random;
  /** Where its numbers come from; default: sequences of its own. */
  sequences?: Sequences;
}

/** What tests see of a memory store. A copy: changing it changes nothing. */
export interface MemoryInspection {
  /** Token strings by definition name. */
  tokens: Record<string, string>;
  /**
   * By task id: ready, scheduled, group_waiting, claimed, or how it ended; several only when
   * something is broken.
   */
  places: Record<string, string[]>;
  /** Every row. */
  state: MemoryState;
}

/**
 * The store in memory: the executable specification of the SQL core, for tests without a database
 * (users' tests, too). Answers and effects equal those of the SQL adapters. What it hasn't:
 * durability, SQL (`query` throws), rows locked by others, and so `busy`, lock time-outs and waits.
 * Each operation takes effect when its method is called.
 */
export class MemoryTaskStore extends OperationStore implements port.TaskStore {
  readonly dialect = "memory";
  readonly #options: MemoryStoreOptions;
  readonly #sequences: Sequences;
  readonly #transactions = new WeakSet<port.StoreTransaction>();
  #state = emptyState();

  constructor(options: MemoryStoreOptions) {
    super();
    this.#options = options;
    this.#sequences = options.sequences ?? createSequences();
  }

  override async completeTask(
    input: port.CompleteTaskInput,
    within?: port.StoreTransaction,
  ): Promise<port.CompleteTaskAnswer> {
    const { endsTransaction = false, ...call } = input;
    if (!endsTransaction) return this.#answer(operations.completeTask, call, within);
    const clean = operations.completeTask.check(call);
    if (within === undefined) throw nothingToEnd();
    const answer = this.#answer(operations.completeTask, clean, within);
    this.endTransaction(within, answer);
    return answer;
  }

  /** As the completion in it was answered: all of it is kept, or nothing. */
  protected endTransaction(
    within: port.StoreTransaction,
    { status }: Pick<port.CompleteTaskAnswer, "status">,
  ): void {
    const transaction = this.#transactionOf(within);
    if (status !== "done") transaction.rollBack("its completion has ended it");
    else this.#state = transaction.commit(this.#memory(), "its completion has ended it");
  }

  /** See MemoryTransaction for what it promises and where it differs from SQL. */
  async transaction<Result>(
    body: (transaction: port.StoreTransaction) => Promise<Result>,
  ): Promise<Result> {
    const transaction = new MemoryTransaction((text, values) => this.answerStatement(text, values));
    this.#transactions.add(transaction);
    let result: Result;
    try {
      result = await body(transaction);
    } catch (error) {
      transaction.rollBack("its body has returned");
      throw error;
    }
    if (transaction.isOpen)
      this.#state = transaction.commit(this.#memory(), "its body has returned");
    return result;
  }

  /** The memory store has no SQL: handlers that write with it need a database, or a store that overrides this. */
  protected answerStatement(
    ..._statement: Parameters<StatementAnswer>
  ): ReturnType<StatementAnswer> {
    throw new InvalidArgumentError("the memory store has no SQL");
  }

  /** There is nothing to end. */
  async close(): Promise<void> {
    return Promise.resolve();
  }

  /** For tests: everything the store knows. */
  inspect(): MemoryInspection {
    const state = structuredClone(this.#state);
    const definitions = [...state.definitions.values()];
    const places: Record<string, string[]> = {};
    const standings = [
      ...allStandings(state),
      ...[...state.archive.values()].map((row) => ({
        taskId: row.task.taskId,
        place: row.outcome,
      })),
    ];
    for (const { taskId, place } of standings) (places[taskId] ??= []).push(place);
    return {
      tokens: Object.fromEntries(definitions.map((row) => [row.name, row.executionTokens])),
      places,
      state,
    };
  }

  /** For tests that move the clock: to the next instant at which something may happen; null: there is none. */
  nextInstantMs(): number | null {
    return nextInstantMs(this.#memory());
  }

  /** For tests: puts a text where a definition's token string was. */
  damageTokens(name: string, text: string): void {
    definitionNamed(this.#state, name).executionTokens = text;
  }

  /** For tests: changes rows past the operations, to plant a fault or to remove a row. */
  damage(change: (state: MemoryState) => void): void {
    change(this.#state);
  }

  /** For tests: asks for a task's end, as an operator's cancel does when the task is running. */
  requestCancel(taskId: TaskId): void {
    const task = this.#state.tasks.get(taskId);
    if (task === undefined) throw unknownArgument(`task: unknown or ended (${taskId})`);
    task.isCancelRequested = true;
  }

  #memory(): Memory {
    return {
      state: this.#state,
      sequences: this.#sequences,
      nowMs: this.#options.clock.now(),
      random: this.#options.random,
    };
  }

  protected async call<Input, Answer>(
    operation: Operation<Input, Answer>,
    input: Input,
    within?: port.StoreTransaction,
  ): Promise<Answer> {
    return this.#answer(operation, input, within);
  }

  /** Takes effect before it returns: nothing comes between a call and its effect. */
  #answer<Input, Answer>(
    operation: Operation<Input, Answer>,
    input: Input,
    within?: port.StoreTransaction,
  ): Answer {
    const run = implementationOf(operation);
    const clean = operation.check(input);
    if (within === undefined) return run(this.#memory(), clean, false);
    return this.#transactionOf(within).run((memory) => run(memory, clean, true), this.#memory());
  }

  #transactionOf(within: port.StoreTransaction): MemoryTransaction {
    if (within instanceof MemoryTransaction && this.#transactions.has(within)) return within;
    throw new InvalidArgumentError("Expected the transaction to be one of this memory store's");
  }
}

function implementationOf<Input, Answer>({ name }: Operation<Input, Answer>) {
  const byName: Readonly<Record<string, unknown>> = implementations;
  return byName[name] as (memory: Memory, input: Input, isWithin: boolean) => Answer;
}
