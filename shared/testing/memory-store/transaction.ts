import { StoreConflictError, StoreContractError } from "../../core/errors";
import type { SqlValue, StoreTransaction } from "../../ports/task-store";
import { transactionEnded } from "../../store/operations/transaction-ends";
import type { TransactionEnd } from "../../store/operations/transaction-ends";
import type { Memory, MemoryState, SequenceName, Sequences } from "./state";

/** An operation on a memory: a function of nothing else. */
export type Operation<Answer> = (memory: Memory) => Answer;

/** A call inside a transaction, with all that it depended on beside the state. */
interface RecordedCall {
  readonly operation: Operation<unknown>;
  readonly nowMs: number;
  readonly numbers: readonly number[];
  readonly answer: unknown;
}

/** What answers the statements of the user's. */
export type StatementAnswer = (
  text: string,
  values: readonly SqlValue[],
) => Record<string, unknown>[] | Promise<Record<string, unknown>[]>;

/**
 * A user's transaction on the memory. It is the list of its calls: each new call, and the commit,
 * runs the list on a copy of the committed state of that instant, at the times and with the numbers
 * of the first run. No other caller sees anything before the commit, a rollback forgets the list, and
 * the commit is atomic.
 *
 * Limits. SQL makes others wait for what an open transaction holds: an equal dedupe key, the row of
 * the execution whose task it completes. Here they go ahead, and the transaction is the one that
 * loses: when a call of the list would be answered differently by now, it throws StoreConflictError
 * and nothing happened. As in SQL, a call that threw dooms the transaction: even if its body goes on
 * after the error, the commit throws it again.
 */
export class MemoryTransaction implements StoreTransaction {
  readonly dialect = "memory";
  readonly #calls: RecordedCall[] = [];
  #endedBy: TransactionEnd | null = null;
  #failure: Error | null = null;
  readonly #answer: StatementAnswer;

  constructor(answer: StatementAnswer) {
    this.#answer = answer;
  }

  /** A statement of the user's. */
  async query(text: string, values: readonly SqlValue[] = []): Promise<Record<string, unknown>[]> {
    this.#expectOpen();
    return this.#answer(text, values);
  }

  /** Makes a call inside the transaction; `base` is the committed state. */
  run<Answer>(operation: Operation<Answer>, base: Memory): Answer {
    this.#expectOpen();
    try {
      const numbers: number[] = [];
      const sequences = recording(base.sequences, numbers);
      const answer = operation({ ...base, state: this.#replay(base), sequences });
      this.#calls.push({ operation, nowMs: base.nowMs, numbers, answer });
      return answer;
    } catch (error) {
      if (error instanceof Error) this.#failure = error;
      throw error;
    }
  }

  get isOpen(): boolean {
    return this.#endedBy === null;
  }

  /** Ends the transaction; answers the state with its writes, for the store to take over. */
  commit(base: Memory, by: TransactionEnd): MemoryState {
    this.#endedBy = by;
    if (this.#failure !== null) throw this.#failure;
    return this.#replay(base);
  }

  /** Ends the transaction without a trace. */
  rollBack(by: TransactionEnd): void {
    this.#endedBy ??= by;
  }

  /** Throws StoreContractError, as the databases' transactions do, where a statement could be no part of it. */
  #expectOpen(): void {
    if (this.#endedBy !== null) throw transactionEnded(this.#endedBy);
    if (this.#failure === null) return;
    throw new StoreContractError("Expected the transaction to be open, not failed", {
      code: "TASKGATE_STORE_CONTEXT",
    });
  }

  #replay(base: Memory): MemoryState {
    const state = structuredClone(base.state);
    for (const { operation, nowMs, numbers, answer } of this.#calls) {
      const again = operation({ ...base, state, nowMs, sequences: replaying(numbers) });
      if (JSON.stringify(again) !== JSON.stringify(answer)) throw overtaken();
    }
    return state;
  }
}

function recording(sequences: Sequences, numbers: number[]): Sequences {
  return {
    next(name: SequenceName): number {
      const value = sequences.next(name);
      numbers.push(value);
      return value;
    },
  };
}

function replaying(numbers: readonly number[]): Sequences {
  const left = [...numbers];
  return {
    next(): number {
      const value = left.shift();
      if (value === undefined) throw overtaken();
      return value;
    },
  };
}

function overtaken(): StoreConflictError {
  return new StoreConflictError(
    "Another call changed what the transaction relied on: nothing was committed",
  );
}
