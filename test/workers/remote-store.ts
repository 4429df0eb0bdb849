import {
  StoreConflictError,
  StoreUnavailableError,
  StoreUncertainError,
  TaskgateError,
} from "../../shared/core/errors";
import type { EnqueueTasksInput, StoreTransaction, TaskStore } from "../../shared/ports/task-store";
import { createRepeat } from "../../shared/store/repeat";
import type { Chance } from "./chance";
import type { Database, OperationName } from "./database";
import type { Host } from "./host";
import type { VirtualTime } from "./virtual-time";

/** How often calls go wrong, and how long they take. */
export interface NetworkFaults {
  /** Per call; of these a third each: not arrived, refused as a conflict, the answer lost. */
  readonly rate: number;
  /** Share of calls that take up to a second each way. */
  readonly slowRate: number;
}

/** What a host's calls pass through. */
export interface NetworkOptions {
  readonly host: Host;
  readonly time: VirtualTime;
  readonly chance: Chance;
  readonly database: Database;
  readonly faults: () => NetworkFaults;
  /** A call is made under another operation id when it is repeated: only a planted bug wants that. */
  readonly renewIds?: boolean;
  /** Calls in the air, for counting connections. */
  readonly onAir?: (change: 1 | -1) => void;
}

interface Fate {
  readonly kind: "well" | "not arrived" | "conflict" | "answer lost";
  readonly thereMs: number;
  readonly backMs: number;
}

/**
 * The store as one host sees it: every call travels, may be lost on the way there or back, and is repeated by the
 * shipped rules (store/repeat.ts; which errors are worth it: sql-task-store.ts).
 */
export function connect(options: NetworkOptions): TaskStore {
  const network = new Network(options);
  const store: TaskStore = options.database.memory;
  return new Proxy(store, {
    get: (target, property) => {
      if (property === "transaction") return network.transaction;
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      const operation = property as OperationName;
      return (input: unknown, within?: StoreTransaction) => network.call(operation, input, within);
    },
  });
}

class Network {
  readonly #options: NetworkOptions;
  /** At most two faults in a row: a database that stays away is another test's subject. */
  #faultsInARow = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  async call(
    operation: OperationName,
    input: unknown,
    within: StoreTransaction | undefined,
  ): Promise<unknown> {
    const { chance, host, time, renewIds = false } = this.#options;
    const sentMs = time.nowMs;
    if (within !== undefined) return this.#send({ operation, input, within, sentMs });
    const isSafe =
      operation !== "enqueueTasks" || (input as EnqueueTasksInput).operationId !== null;
    const repeat = createRepeat({ random: chance.random, sleep: (ms) => host.sleep(ms) });
    return repeat(
      () => {
        const given =
          renewIds && operation === "enqueueTasks"
            ? { ...(input as EnqueueTasksInput), operationId: chance.random.uuid() }
            : input;
        return this.#send({ operation, input: given, within, sentMs });
      },
      (error) =>
        error instanceof TaskgateError &&
        (error.isRetryable || (isSafe && error.code === "TASKGATE_STORE_UNCERTAIN")),
    );
  }

  /** Its commit travels as well: it may not arrive, or its answer may be lost. */
  readonly transaction = <Result>(
    body: (transaction: StoreTransaction) => Promise<Result>,
  ): Promise<Result> => {
    const { host, time, database } = this.#options;
    const fate = this.#fate();
    return new Promise((resolve, reject) => {
      if (!host.step()) return;
      const committed = database.transaction(async (transaction) => {
        const result = await body(transaction);
        if (!host.step()) return new Promise<Result>(() => undefined);
        await time.sleep(fate.thereMs);
        if (fate.kind === "not arrived")
          throw new StoreUncertainError("the connection was lost at the commit");
        return result;
      });
      committed.then(
        (result) =>
          host.deliver(fate.backMs, () => {
            if (fate.kind === "answer lost")
              reject(new StoreUncertainError("the commit's answer was lost"));
            else resolve(result);
          }),
        (error: unknown) =>
          host.deliver(fate.backMs, () => {
            reject(error instanceof Error ? error : new Error(String(error)));
          }),
      );
    });
  };

  #send(call: {
    operation: OperationName;
    input: unknown;
    within: StoreTransaction | undefined;
    sentMs: number;
  }): Promise<unknown> {
    const { host, time, database, onAir } = this.#options;
    const fate = this.#fate();
    return new Promise((resolve, reject) => {
      if (!host.step()) return;
      onAir?.(1);
      const fail = (error: Error): void => {
        host.deliver(fate.backMs, () => {
          onAir?.(-1);
          reject(error);
        });
      };
      time.after(fate.thereMs, () => {
        if (fate.kind === "not arrived") {
          fail(new StoreUnavailableError("the database was not reached"));
          return;
        }
        if (fate.kind === "conflict" && call.within === undefined) {
          fail(new StoreConflictError("deadlock victim"));
          return;
        }
        database.execute({ ...call, host, arrivedMs: time.nowMs }).then(
          (answer) => {
            if (fate.kind === "answer lost") fail(new StoreUncertainError("the answer was lost"));
            else
              host.deliver(fate.backMs, () => {
                onAir?.(-1);
                resolve(answer);
              });
          },
          (error: unknown) => {
            fail(error instanceof Error ? error : new Error(String(error)));
          },
        );
      });
    });
  }

  #fate(): Fate {
    const { chance, faults } = this.#options;
    const { rate, slowRate } = faults();
    const legMs = (): number =>
      chance.is(slowRate) ? chance.between(50, 1_000) : chance.between(0.3, 5);
    const isFaulty = chance.is(rate) && this.#faultsInARow < 2;
    this.#faultsInARow = isFaulty ? this.#faultsInARow + 1 : 0;
    const kind = isFaulty
      ? chance.pick(["not arrived", "conflict", "answer lost"] as const)
      : "well";
    return { kind, thereMs: legMs(), backMs: legMs() };
  }
}
