import type { BatchId, WaveId } from "../../core/ids";
import type { FailurePolicy } from "../../ports/task-store";

/** A batch as its maker gets it. */
export interface NewBatch {
  readonly batchId: BatchId;
  /** In order. */
  readonly waves: readonly WaveId[];
  /** Wave 1, 2, 3 ..: for the option `wave` of an enqueue. Throws InvalidArgumentError when there is none of that number. */
  wave(ordinal: number): WaveId;
}

/**
 * Batches of waves: `create`, fill the waves by the option `wave` of an enqueue, `start`. From then on each wave begins when
 * the last task of the one before has ended.
 */
export interface BatchCalls {
  /**
   * Makes empty waves, 1..1000. `failurePolicy`: what a dead task means for the waves after its own; default halt. Of a
   * task (`ctx.batches`) each name is one batch: a retry gets the one that was made, as long as answers for repeats are
   * kept. Elsewhere each call makes another.
   */
  create(input: { name: string; waves: number; failurePolicy?: FailurePolicy }): Promise<NewBatch>;
  /**
   * Opens the first wave that has tasks. Resolves when all of its tasks may run. `seal: false`: waves that aren't open yet
   * still take tasks, for example from tasks of the wave before. `busy`: another caller adds to the first wave, ask again.
   * Throws InvalidArgumentError for a text that is no id.
   */
  start(
    batchId: string,
    options?: { seal?: boolean },
  ): Promise<"started" | "again" | "busy" | "ended">;
  /**
   * Lets a halted batch go on with its next wave. The login needs the role `taskgate_operator`, which an app's has not: else
   * this throws StoreForbiddenError.
   */
  resume(batchId: string): Promise<"resumed" | "again" | "draft" | "ended">;
}
