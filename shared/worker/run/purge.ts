import { messageOf } from "../../core/foreign-value";
import type { WorkerEnvironment } from "../environment";

/** Rows of each kind that one call deletes: short enough for those who repeat or redrive meanwhile. */
const sliceMax = 500;

/**
 * Deletes rows past their retention, slice after slice, until nothing is left or `untilMs` (monotonic): the rest is the next
 * sweep's. Never throws: a failing slice is logged, and what it would have deleted is found again.
 */
export async function purge(environment: WorkerEnvironment, untilMs: number): Promise<void> {
  const { clock, logger, store, telemetry } = environment;
  const total = {
    tasks: 0,
    executions: 0,
    operations: 0,
    keys: 0,
    groups: 0,
    batches: 0,
    auditEntries: 0,
  };
  try {
    for (let isOver = false; !isOver && clock.monotonicMs() < untilMs;) {
      const answer = await store.purge({ max: sliceMax });
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += answer[name];
      isOver = answer.status === "none" || !answer.more;
    }
  } catch (error) {
    logger.warn("a purge failed; the next sweep goes on", {
      error: messageOf(error),
    });
  }
  telemetry.count("taskgate.task.purged", total.tasks);
  logger.info("purged what nobody needs any more", total);
}
