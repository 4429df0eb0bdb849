import { InvalidArgumentError } from "../../core/errors";
import { describeThrown } from "../../core/describe-thrown";
import { describeValue, isOf, read } from "../../core/foreign-value";
import { jsonTextOf } from "../../core/json-text";
import { limits } from "../../core/limits";
import { isTaskFailure } from "../../core/task-failure";
import type { PreparedTask } from "../../enqueue/enqueue-prepared";
import type { OpenedWaves } from "../../ports/task-store";
import type { Failure } from "../../ports/task-store";
import { Continuation } from "../define/task-context";

/*
 * What a handler returned or threw becomes an outcome that the store takes. Handlers are other people's code: a result may be a
 * Date, a delay NaN, an error a proxy. One such entry would make the store refuse the whole call, with all neighbours in it; so
 * everything is checked here, once, and becomes a failure of its own task with a reason that names the value.
 */

/** How one run ended. `completed`: the database knows already. `lost`: nothing may be written any more. */
export type TaskOutcome =
  | { kind: "done"; result: string | null; children: PreparedTask[] }
  | ({ kind: "completed" } & OpenedWaves)
  | {
      kind: "failed";
      failure: Omit<Failure, "taskId" | "fence" | "durationMs">;
      /** Of a part that ends with a checkpoint: written before it. */
      children?: readonly PreparedTask[];
    }
  | { kind: "lost" };

/** The outcome of what a handler returned. Never throws. */
export function outcomeOfReturned(returned: unknown, children: PreparedTask[]): TaskOutcome {
  if (isOf(returned, Continuation)) return outcomeOfContinuation(returned, children);
  if (returned === undefined || returned === null) return { kind: "done", result: null, children };
  if (typeof returned !== "object") {
    const got = describeValue(returned);
    return failed(
      "dead",
      `Expected the handler to return nothing, a JSON object or an array, got ${got}`,
    );
  }
  const result = jsonTextOf("result", returned, "container");
  if ("text" in result) return { kind: "done", result: result.text, children };
  return failed(result.isFinal ? "dead" : "failed", result.problem);
}

function outcomeOfContinuation(
  continuation: Continuation,
  children: readonly PreparedTask[],
): TaskOutcome {
  // A handler may have made one by itself, or changed it.
  const state = read(continuation, "state");
  if (typeof state !== "string" || continuation.problem !== null) {
    const problem =
      continuation.problem ?? `Expected a state by \`ctx.checkpoint\`, got ${describeValue(state)}`;
    return failed("failed", problem);
  }
  const pause = pauseOf("afterMs", continuation.afterMs);
  if ("problem" in pause) return failed("failed", pause.problem);
  return {
    kind: "failed",
    failure: {
      as: "continued",
      error: null,
      retryInMs: pause.ms,
      checkpoint: state,
    },
    children,
  };
}

/** The outcome of what a handler threw; a lost lease is the caller's to know. Never throws. */
export function outcomeOfThrown(thrown: unknown): TaskOutcome {
  const message = describeThrown(thrown);
  try {
    if (isTaskFailure(thrown)) {
      // Ours, with our stack.
      if (thrown.kind === "cancelled") return failed("cancelled", thrown.message);
      if (thrown.kind === "give-up") return failed("dead", message);
      const pause = pauseOf("afterMs", read(thrown, "afterMs") ?? 0);
      return "ms" in pause
        ? { kind: "failed", failure: { ...ending("failed", message), retryInMs: pause.ms } }
        : failed("failed", `${pause.problem}\n${message}`);
    }
  } catch {
    // A getter of the value threw: it is none of the three.
  }
  // Too large a child will be too large again.
  const isTooLarge =
    isOf(thrown, InvalidArgumentError) && read(thrown, "code") === "TASKGATE_ARG_TOO_LARGE";
  return failed(isTooLarge ? "dead" : "failed", message);
}

/** A pause as the store takes it: a whole number in 0..30 days, the nearest to the requested one. */
function pauseOf(field: string, ms: unknown): { ms: number } | { problem: string } {
  if (typeof ms !== "number" || !Number.isFinite(ms)) {
    const problem = `Expected \`${field}\` to be milliseconds in 0..${String(limits.retryInMsMax)}, got ${describeValue(ms)}`;
    return { problem };
  }
  return { ms: Math.min(Math.max(Math.round(ms), 0), limits.retryInMsMax) };
}

/** An end that isn't one of success. */
export function failed(as: "failed" | "dead" | "cancelled", error: string): TaskOutcome {
  return { kind: "failed", failure: ending(as, error) };
}

/** Such an end as the store is told, without retry or checkpoint. */
export function ending(
  as: "failed" | "dead" | "cancelled",
  error: string,
): Omit<Failure, "taskId" | "fence" | "durationMs"> {
  return { as, error, retryInMs: null, checkpoint: null };
}
