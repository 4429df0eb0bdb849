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

const current = new AsyncLocalStorage<ClaimedTask>();

/** Runs a handler so that what it leaves behind is known to be its own. */
export function withinTask<Result>(task: ClaimedTask, body: () => Result): Result {
  return current.run(task, body);
}

/** The task whose handler runs here, or began this callback. */
export function currentTask(): ClaimedTask | undefined {
  return current.getStore();
}

type Listener = (reason: unknown) => void;

/**
 * By it the copies of this package in a process know each other's listeners: a program may have two. The member says whether the
 * rejection belongs to a task of that copy.
 */
const claims = Symbol.for("taskgate.late-rejections.claims");

function claimOf(listener: unknown): (() => boolean) | undefined {
  return (listener as { [claims]?: () => boolean })[claims];
}

/** The listeners of this module, by source: an app may have several gates in one process. */
const ours = new WeakMap<RejectionSource, Listener[]>();

/**
 * Logs unhandled rejections of handlers' promises, instead of ending the process. Those of other code do what they did
 * before. Of several watchers of one source the oldest acts. The returned function ends it.
 */
export function watchLateRejections(source: RejectionSource, logger: Logger): () => void {
  const listeners = ours.get(source) ?? [];
  ours.set(source, listeners);
  const listener = (reason: unknown): void => {
    if (listeners[0] !== listener) return;
    const task = current.getStore();
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
    const all = source.listeners("unhandledRejection");
    // Alone here, these listeners are all that keeps Node from its own way, which is to end.
    const isOurs = all.every((each) => claimOf(each)?.() === false);
    if (isOurs && all.find((each) => claimOf(each) !== undefined) === listener) throw reason;
  };
  Object.defineProperty(listener, claims, { value: () => current.getStore() !== undefined });
  listeners.push(listener);
  source.on("unhandledRejection", listener);
  return () => {
    const place = listeners.indexOf(listener);
    if (place >= 0) listeners.splice(place, 1);
    source.off("unhandledRejection", listener);
  };
}
