import { LeaseLostError } from "../../shared/core/errors";
import { GiveUp } from "../../shared/core/task-failure";
import { sleep } from "../../shared/platform/real-clock";
import type { Continuation, TaskContext } from "../../shared/worker/define/task-context";
import { taskRef } from "../../shared/worker/define/task-ref";
import type { RunEnd, WriteEntry } from "./ledger";
import type { SoakHandler, SoakPayload } from "./plan";

/** Writes when it begins and ends, and between does what its kind does. */
export function soakHandler(worker: string, write: WriteEntry): SoakHandler {
  return async (payload, context) => {
    const { taskId: task, fence, kind } = context;
    const atMs = Date.now();
    // Of other kinds, a wait is what they were made for.
    const waitMs = kind === "plain" && context.attempt === 1 ? atMs - payload.at : null;
    write({ is: "begin", atMs, task, fence, kind, worker, tag: tagOf(payload), waitMs });
    let how: RunEnd = "threw";
    try {
      await sleep(payload.ms, context.signal);
      const answer = await finish(payload, context);
      how = answer === undefined ? "returned" : "continued";
      return answer;
    } catch (error) {
      if (error instanceof GiveUp) how = "gaveup";
      if (error instanceof LeaseLostError || context.signal.aborted) how = "gone";
      throw error;
    } finally {
      write({ is: "end", atMs: Date.now(), task, fence, how });
    }
  };
}

/** A schedule adds its instant to the payload. */
export function tagOf(payload: SoakPayload): string | null {
  const { scheduledFor } = payload;
  return typeof scheduledFor === "string" ? scheduledFor : payload.tag;
}

async function finish(
  payload: SoakPayload,
  context: TaskContext,
): Promise<undefined | Continuation> {
  switch (context.kind) {
    case "parent": {
      const child = { at: Date.now(), ms: payload.ms, tag: context.taskId, fails: 0, until: 0 };
      await context.enqueue(taskRef<SoakPayload>({ name: "child" }), child);
      return undefined;
    }
    case "flaky":
      if (context.attempt <= payload.fails) throw new Error("as its payload says");
      return undefined;
    case "doomed":
      if (Date.now() < payload.until) throw new GiveUp("until it is redriven");
      return undefined;
    case "parts":
      return context.restored === null ? context.checkpoint({ part: 1 }) : undefined;
    default:
      return undefined;
  }
}
