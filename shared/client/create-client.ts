import { StoreContractError } from "../core/errors";
import { createConsoleLogger } from "../platform/console-logger";
import { nodeTimers } from "../platform/node-timers";
import { realClock, realRandom, sleep, within } from "../platform/real-clock";
import { AppHints } from "../platform/app-hints";
import { FreeTokenHints } from "../platform/free-token-hints";
import { NotifyingWakeUp } from "../platform/notifying-wake-up";
import { createHintQueue } from "../platform/storage-hint-queue";
import { createStorageQueueWakeUp, noWakeUp } from "../platform/storage-queue-wake-up";
import type { Logger } from "../ports/logger";
import type { TaskStore } from "../ports/task-store";
import type { WakeUp } from "../ports/wake-up";
import { openStore } from "../store/open-store";
import { TaskClient } from "../worker/client/client";
import { createRegistry } from "../worker/define/registry";
import { checkClientOptions } from "./client-options";
import type { CheckedOptions, ClientOptions } from "./client-options";

export type { ClientOptions, HintQueueAddress } from "./client-options";

/** Longest wait of `close` for hints under way. */
const closeHintsMs = 2_000;

/** A client that opened its connections itself, and so has an end. */
export class Client extends TaskClient {
  readonly #close: () => Promise<void>;

  /** `createClient` makes it. */
  constructor(parts: ClientParts) {
    super(parts.environment, parts.registry);
    this.#close = parts.close;
  }

  /**
   * Waits for hints (2 s at most) and calls (5 s at most) under way, and ends all connections. Later calls throw
   * StoreContractError. May be called twice. Transactions of `fromPg` and `fromMssql` stay the caller's.
   */
  async close(): Promise<void> {
    this.sendAllWaiting();
    await this.#close();
  }
}

/** What a client is made of. */
interface ClientParts {
  readonly environment: ConstructorParameters<typeof TaskClient>[0];
  readonly registry: ConstructorParameters<typeof TaskClient>[1];
  readonly close: () => Promise<void>;
}

/**
 * A client for any Node program: it adds tasks and looks after them, makes batches, moves watermarks and waits for ends. No app and no telemetry is
 * needed. Nothing is loaded or sent before the first call, which opens the database. The login needs the role
 * `taskgate_worker` (`TaskgateWorker` on SQL Server).
 *
 * Throws InvalidArgumentError for bad options, naming the option.
 */
export function createClient(options: ClientOptions): Client {
  const checked = checkClientOptions(options);
  const logger =
    checked.logger ?? createConsoleLogger({ level: "warn", form: "human", clock: realClock });
  const store = new LazyStore(checked, logger);
  const hints = new Hints(checked, { store, logger });
  return new Client({
    environment: {
      get store() {
        return store.get();
      },
      clock: realClock,
      timers: nodeTimers,
      random: realRandom,
      logger,
      telemetry: checked.telemetry,
      wakeUp: hints,
      startsWithinMs: (definition) => hints.startsWithinMs(definition),
      workerName: checked.name,
      // It is no build of the app: definitions that an app has registered stay as they are.
      build: 0,
    },
    registry: createRegistry(checked.tasks),
    close: async () => {
      await hints.settled();
      await store.close();
    },
  });
}

/** Opened by the first call. */
class LazyStore {
  readonly #options: CheckedOptions;
  readonly #logger: Logger;
  #store: TaskStore | null = null;
  #isClosed = false;

  constructor(options: CheckedOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
  }

  get(): TaskStore {
    if (this.#isClosed) {
      throw new StoreContractError("The client is closed: make another one with `createClient`", {
        code: "TASKGATE_STORE_CONTEXT",
      });
    }
    const { address, connectionsMax, callTimeoutMs } = this.#options;
    this.#store ??= openStore({
      ...address,
      connectionsMax,
      callTimeoutMs,
      random: realRandom,
      sleep,
      onIdleError: (error) => {
        this.#logger.warn("a connection broke while it was idle", { error: error.message });
      },
    });
    return this.#store;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const store = this.#store;
    this.#store = null;
    await store?.close();
  }
}

/** The way to workers: through the queue of the app that a definition belongs to, else the given one, or by waiting for the sweep. */
class Hints implements WakeUp {
  readonly #apps: AppHints;
  /** null: no queue is known. */
  readonly #free: FreeTokenHints | null;
  readonly #all: WakeUp;
  readonly #underWay = new Set<Promise<void>>();
  /** Has the last message reached the queue? Before the first one it is taken for granted. */
  #isReached: boolean;

  constructor(
    { hints, sweepSchedule }: CheckedOptions,
    { store, logger }: { store: LazyStore; logger: Logger },
  ) {
    this.#isReached = hints !== null;
    const services = { clock: realClock, timers: nodeTimers, logger };
    this.#apps = new AppHints({
      ...services,
      own: {
        wakeUp: hints === null ? noWakeUp : this.#open(hints, logger),
        address: null,
        sweepSchedule,
        isReached: () => this.#isReached,
      },
      isOwn: () => false,
      storage: hints?.storage ?? null,
      store: { listApps: () => store.get().listApps() },
    });
    const timed = { store: () => store.get(), clock: realClock, timers: nodeTimers };
    this.#free = hints === null ? null : new FreeTokenHints({ ...timed, hints: this.#apps });
    this.#all = new NotifyingWakeUp({ ...timed, hints: this.#free ?? this.#apps });
  }

  #open(hints: NonNullable<CheckedOptions["hints"]>, logger: Logger): WakeUp {
    const queue = createHintQueue(hints.storage, hints.queue);
    const send = async (text: string, delaySeconds: number): Promise<void> => {
      try {
        await queue.send(text, delaySeconds);
        this.#isReached = true;
      } catch (error) {
        this.#isReached = false;
        throw error;
      }
    };
    return createStorageQueueWakeUp({
      queue: { send },
      clock: realClock,
      timers: nodeTimers,
      logger,
    });
  }

  hint(...parameters: Parameters<WakeUp["hint"]>): Promise<void> {
    const hint = this.#all.hint(...parameters);
    this.#underWay.add(hint);
    return hint.finally(() => this.#underWay.delete(hint));
  }

  /** Resolves when every hint under way is sent or given up, after 2 s at the latest. */
  async settled(): Promise<void> {
    await within(closeHintsMs, Promise.all(this.#underWay));
  }

  async startsWithinMs(definition: string): Promise<number | null> {
    await this.#free?.settledOnce(definition);
    return this.#apps.startsWithinMs(definition);
  }
}
