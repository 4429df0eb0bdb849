import { operations } from "./operations";
import type { StoreOperations } from "./operations";
import type { Operation } from "./operations/operation";
import type { StoreTransaction } from "./operations/store-transaction";

abstract class OperationCalls {
  /** Makes one call of `operation`; with `within`, inside the user's own transaction. */
  protected abstract call<Input, Answer>(
    operation: Operation<Input, Answer>,
    input: Input,
    within?: StoreTransaction,
  ): Promise<Answer>;

  static {
    for (const operation of Object.values<Operation<unknown, unknown>>({ ...operations })) {
      Object.defineProperty(this.prototype, operation.name, {
        value: function (this: OperationCalls, input: unknown, within?: StoreTransaction) {
          return this.call(operation, input, within);
        },
        configurable: true,
        writable: true,
      });
    }
  }
}

/** A store whose methods are the operations: each hands its object and its input to `call`, which a store implements. */
export const OperationStore = OperationCalls as abstract new () => OperationCalls & StoreOperations;
