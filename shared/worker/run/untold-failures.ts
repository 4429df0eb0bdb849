import type { InvalidArgumentError } from "../../core/errors";
import type { ExecutionId } from "../../core/ids";
import { limits } from "../../core/limits";
import type { DoneTask, Failure } from "../../ports/task-store";
import type { BatchPump } from "./batch-pump";
import type { WorkerEnvironment } from "../environment";
import { noteEnds } from "./note-ends";
import { faultedEnd, refusedEnd } from "./refused-end";
import { isRefusedValue, sendEach } from "./send-each";

/** What the answers to told failures are for. */
export interface FailureNews {
  /** The lease is lost: nothing more is told. */
  readonly onFenced: () => void;
  readonly wake: (definitions: readonly string[]) => void;
  readonly pump: Pick<BatchPump, "open">;
}

/** The failures of one execution that the store hasn't heard of yet. */
export class UntoldFailures {
  readonly #environment: WorkerEnvironment;
  readonly #executionId: ExecutionId;
  readonly #definition: string;
  readonly #news: FailureNews;
  #failures: Failure[] = [];

  constructor(
    environment: WorkerEnvironment,
    of: { executionId: ExecutionId; definition: string },
    news: FailureNews,
  ) {
    this.#environment = environment;
    this.#executionId = of.executionId;
    this.#definition = of.definition;
    this.#news = news;
  }

  get size(): number {
    return this.#failures.length;
  }
  add(failure: Failure): void {
    this.#failures.push(failure);
  }
  clear(): void {
    this.#failures = [];
  }

  /** Tells as many as one call takes. Throws what the store threw; what wasn't told is kept then. */
  async tell(): Promise<void> {
    const failures = this.#failures.splice(0, limits.claimMax);
    try {
      await this.#tell(failures);
    } catch (error) {
      if (!isRefusedValue(error)) {
        this.#failures.unshift(...failures);
        throw error;
      }
      await this.#tellEach(failures, error);
    }
  }

  /** Tells that all of these and `done` have failed for `reason`: the execution broke before the store heard how they ended. */
  async tellFaulted(done: readonly DoneTask[], reason: string): Promise<void> {
    const untold = [...done, ...this.#failures.splice(0)];
    const failures = untold.map((entry) => faultedEnd(entry, reason));
    for (let from = 0; from < failures.length; from += limits.claimMax)
      await this.#tell(failures.slice(from, from + limits.claimMax));
  }

  /** The store refused how one task ended: the others' ends are told, and that one's is told without the refused value. */
  async #tellEach(failures: readonly Failure[], error: InvalidArgumentError): Promise<void> {
    const sent = await sendEach(failures, error, (part) => this.#tell(part));
    const plain = sent.refused.map(({ entry, error: reason }) =>
      refusedEnd(entry, entry.as === "dead" ? "dead" : "failed", reason),
    );
    this.#failures.unshift(...sent.unsent);
    if (sent.unsent.length > 0) {
      this.#failures.push(...plain);
      throw sent.failure;
    }
    // Refused once more, it is no value of a handler's: the execution ends.
    if (plain.length > 0) await this.#tell(plain);
  }

  async #tell(failures: readonly Failure[]): Promise<void> {
    const { store } = this.#environment;
    const answer = await store.failTasks({ executionId: this.#executionId, failures });
    if (answer.status === "fenced") {
      this.#news.onFenced();
      return;
    }
    this.#news.wake(answer.woken);
    this.#news.pump.open(answer.opening);
    noteEnds(this.#environment, this.#definition, { failures, results: answer.results });
  }
}
