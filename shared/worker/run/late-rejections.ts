import { AsyncLocalStorage } from "node:async_hooks";
import { describeThrown } from "../../core/describe-thrown";
import type { Logger } from "../../ports/logger";
import type { RejectionSource } from "../../ports/rejections";
import type { ClaimedTask } from "../../ports/task-store";

/*
 * A handler may start a promise and forget it. When that is rejected, Node ends the process, with all neighbours in it. Here the
 * rejection is told with the task that it belongs to, and the process lives on: the task's own end has been decided by what its
 * handler returned. Costs a handler about 0.5 us.
 */

const inHand = new AsyncLocalStorage<ClaimedTask>();

/** Runs a handler so that what it leaves behind is known to be its own. */
export function withinTask<Result>(task: ClaimedTask, body: () => Result): Result {
  return inHand.run(task, body);
}

/**
 * Logs unhandled rejections of handlers' promises, instead of ending the process. Those of other code do what they did
 * before. Once per process; the returned function ends it.
 */
export function watchLateRejections(source: RejectionSource, logger: Logger): () => void {
  const listener = (reason: unknown): void => {
    const task = inHand.getStore();
    if (task !== undefined) {
      const { taskId, kind, attempt } = task;
      logger.error("a promise that a handler had not awaited was rejected", {
        taskId,
        kind,
        attempt,
        error: describeThrown(reason),
      });
      return;
    }
    // Alone here, this listener is all that keeps Node from its own way, which is to end.
    if (source.listenerCount("unhandledRejection") > 1) return;
    throw reason;
  };
  source.on("unhandledRejection", listener);
  return () => {
    source.off("unhandledRejection", listener);
  };
}
