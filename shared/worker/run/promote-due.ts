import { messageOf } from "../../core/foreign-value";
import type { SweptDefinition } from "../../ports/task-store";
import type { WorkerEnvironment } from "../environment";

/** Tasks that one call moves: 15 ms where all have a group. Claims of the definition go on meanwhile. */
const sliceMax = 500;

/**
 * Makes due tasks ready, slice after slice, definition after definition, until none is left or `untilMs` (monotonic): the
 * rest is the claims' and the next sweep's. A claim makes at most some hundred ready, in the order in which they are due. So
 * behind thousands of them a task that comes first by its priority would wait for as many claims. Never throws: a failing slice is logged.
 */
export async function promoteDue(
  environment: WorkerEnvironment,
  definitions: readonly SweptDefinition[],
  untilMs: number,
): Promise<void> {
  const { clock, logger, store } = environment;
  for (const { name } of definitions.filter(({ due }) => due)) {
    try {
      for (let isOver = false; !isOver && clock.monotonicMs() < untilMs;) {
        const { promoted, nextDueMs } = await store.promoteScheduled({ name, max: sliceMax });
        isOver = promoted === 0 || nextDueMs !== 0;
      }
    } catch (error) {
      const facts = { definition: name, error: messageOf(error) };
      logger.warn("due tasks were not made ready; claims and the next sweep go on", facts);
    }
  }
}
