import { messageOf } from "../../core/foreign-value";
import type { WorkerEnvironment } from "../environment";

/** Executions that one call looks at, and periods of each length that it deletes. */
const sliceMax = 1_000;

/**
 * Adds up the counts of executions, slice after slice, until nothing is left or `untilMs` (monotonic): the rest is the
 * next sweep's. Never throws: a failing slice is logged, and the next sweep counts it.
 */
export async function rollUpStatistics(
  { clock, logger, store }: WorkerEnvironment,
  untilMs: number,
): Promise<void> {
  try {
    for (let isOver = false; !isOver && clock.monotonicMs() < untilMs;) {
      const { more } = await store.rollUpStatistics({ max: sliceMax });
      isOver = !more;
    }
  } catch (error) {
    logger.warn("statistics could not be added up; the next sweep goes on", {
      error: messageOf(error),
    });
  }
}
