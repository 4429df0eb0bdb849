import { messageOf } from "../../core/foreign-value";
import type { BatchId } from "../../core/ids";
import type { WorkerEnvironment } from "../environment";

/** Tasks admitted by one call: short enough for those who complete tasks of the wave meanwhile. */
const sliceMax = 500;

/**
 * Goes on opening waves, slice after slice, beside the work: the answer to the last task of a wave asks for it. The sweep
 * opens the rest after `untilMs` (monotonic).
 */
export class BatchPump {
  readonly #environment: WorkerEnvironment;
  readonly #untilMs: number;
  readonly #open = new Map<BatchId, Promise<void>>();

  constructor(environment: WorkerEnvironment, untilMs: number) {
    this.#environment = environment;
    this.#untilMs = untilMs;
  }

  /** Not waited for; a batch that is being opened already is left alone. */
  open(batches: readonly BatchId[]): void {
    for (const batchId of batches) {
      if (this.#open.has(batchId)) continue;
      const opening = this.#pump(batchId).finally(() => this.#open.delete(batchId));
      this.#open.set(batchId, opening);
    }
  }

  /** Whether tasks may still come out of a wave that is being opened here. */
  get isOpening(): boolean {
    return this.#open.size > 0;
  }

  /** Resolves when nothing is being opened any more. Never rejects. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open.values());
  }

  async #pump(batchId: BatchId): Promise<void> {
    const { store, clock, wakeUp, logger } = this.#environment;
    try {
      while (clock.monotonicMs() < this.#untilMs) {
        const answer = await store.pumpBatch({ batchId, max: sliceMax });
        for (const definition of answer.woken) void wakeUp.hint(definition);
        // busy: another worker opens it.
        if (answer.status === "busy" || !answer.more) return;
      }
    } catch (error) {
      logger.warn("a wave could not be opened further; the sweep goes on", {
        batch: batchId,
        error: messageOf(error),
      });
    }
  }
}
