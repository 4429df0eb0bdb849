import { StoreUnavailableError, StoreUncertainError } from "../core/errors";
import { formatDuration } from "../core/duration";
import { messageOf } from "../core/foreign-value";
import type { TaskStore } from "../ports/task-store";
import type { Timers } from "../ports/timers";
import { reading } from "./operations/operation";

/** How long a person who watches waits for a database that doesn't answer. */
export interface StorePatience {
  /** From the first call that got no answer to the end of all; 1 ms at least. */
  readonly timeoutMs: number;
  /** After this time without an answer `onSlow` is told, once. */
  readonly sayAfterMs: number;
  readonly onSlow: (text: string) => void;
  readonly timers: Timers;
  /** The asked system, as the subject of a sentence; default: the database. */
  readonly subject?: string;
}

/** Bounds calls from outside: repeats and time-outs of the store are meant for workers, for which no person waits. */
export class PatientCalls {
  readonly #patience: StorePatience;
  #hasTold = false;
  #hasGivenUp = false;
  /** Why the last call is made again; null: none of them was answered. */
  #trouble: string | null = null;
  /** Attempts that are under way. */
  #tries = 0;
  /** What became of an attempt isn't known. */
  #isUncertain = false;
  /** After how long the first call was given up. */
  #gaveUpAfterMs: number;

  constructor(patience: StorePatience) {
    this.#patience = patience;
    this.#gaveUpAfterMs = patience.timeoutMs;
  }

  /** Has a call been left behind? It may still hold a connection. */
  get hasGivenUp(): boolean {
    return this.#hasGivenUp;
  }

  /** The result is told next: nothing comes behind it. */
  hush(): void {
    this.#hasTold = true;
  }

  /** An attempt of a call has failed, and another one follows. */
  noteTrouble(error: unknown): void {
    this.#trouble = messageOf(error);
    this.#tries -= 1;
    this.#isUncertain ||= error instanceof StoreUncertainError;
  }

  /** Another attempt begins. Throws once a call has been given up: what was told of it stays true. */
  noteTry(): void {
    if (this.#hasGivenUp) throw new StoreUnavailableError(this.#silence());
    this.#tries += 1;
  }

  /** What `call` gives. Once one has been given up all others are refused unsent. `timeoutMs`: of this call, instead of the others'. */
  async run<Result>(
    call: () => Promise<Result>,
    { reads, timeoutMs = this.#patience.timeoutMs }: { reads: boolean; timeoutMs?: number },
  ): Promise<Result> {
    const { timers, sayAfterMs } = this.#patience;
    if (this.#hasGivenUp) throw new StoreUnavailableError(this.#silence());
    this.#tries += 1;
    const answer = call();
    answer.then(
      () => {
        this.#tries -= 1;
        this.#trouble = null;
        this.#isUncertain = false;
      },
      () => (this.#tries -= 1),
    );
    const cancels: (() => void)[] = [];
    const late = new Promise<never>((_, reject) => {
      cancels.push(
        timers.after(timeoutMs, () => {
          this.#hasGivenUp = true;
          this.#gaveUpAfterMs = timeoutMs;
          reject(this.#givenUp(reads));
        }),
      );
    });
    if (sayAfterMs < timeoutMs && !this.#hasTold) {
      cancels.push(
        timers.after(sayAfterMs, () => {
          if (this.#hasTold) return;
          this.#hasTold = true;
          const reason =
            this.#trouble ?? `${this.#subject} hasn't answered for ${formatDuration(sayAfterMs)}`;
          this.#patience.onSlow(`${reason}: still trying, for ${formatDuration(timeoutMs)} in all`);
        }),
      );
    }
    try {
      return await Promise.race([answer, late]);
    } finally {
      for (const cancel of cancels) cancel();
    }
  }

  #givenUp(reads: boolean): StoreUnavailableError | StoreUncertainError {
    const text = this.#silence();
    if (reads) return new StoreUnavailableError(text);
    return this.#tries === 0 && !this.#isUncertain
      ? new StoreUnavailableError(`${text}: nothing was changed`)
      : new StoreUncertainError(`${text}: the change may still happen`);
  }

  get #subject(): string {
    return this.#patience.subject ?? "The database";
  }

  #silence(): string {
    const reason = this.#trouble ?? `${this.#subject} doesn't answer`;
    return `${reason}: gave up after ${formatDuration(this.#gaveUpAfterMs)}`;
  }
}

/** Their length is the user's matter, or they have a bound of their own. */
const unbounded: ReadonlySet<string> = new Set(["transaction", "close"]);

/** Reads the whole database, in one statement: the more it holds, the longer. */
const readsAll = "checkInvariants";

/** For a call that reads the whole database: a store whose calls may last as long as the person waits for this one. */
export interface WholeRead {
  readonly store: Pick<TaskStore, typeof readsAll>;
  readonly timeoutMs: number;
}

/** The same store, each call of which is made through `calls`. */
export function patientStore(store: TaskStore, calls: PatientCalls, whole: WholeRead): TaskStore {
  return new Proxy(store, {
    get: (_, name): unknown => {
      if (name === readsAll) {
        const { timeoutMs } = whole;
        return () => calls.run(() => whole.store[readsAll](), { reads: true, timeoutMs });
      }
      const value: unknown = Reflect.get(store, name, store);
      if (typeof value !== "function") return value;
      const method = value.bind(store) as (...inputs: unknown[]) => Promise<unknown>;
      if (typeof name !== "string" || unbounded.has(name)) return method;
      const reads = reading.test(name);
      return (...inputs: unknown[]) => calls.run(() => method(...inputs), { reads });
    },
  });
}
