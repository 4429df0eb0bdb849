import type { InvocationContext } from "@azure/functions";
import { readHint } from "../shared/admin/requests";
import { runWorker } from "../shared/worker/run-worker";
import { lookAfterSchedules } from "../shared/worker/schedules";
import type { HintMessage } from "../shared/admin/requests";
import type { WorkerResult } from "../shared/worker/run-worker";
import type { Runtime } from "./runtime";
import { tracked } from "./runtime";

/**
 * Queue `taskgate-hints`: one worker's life for the named definition. "Nothing to do" and "the limit is reached" are
 * success: throwing would burn the message's tries and poison the hint. A message that isn't a hint does throw, so that
 * it ends in the poison queue, with the reason in the log.
 */
export async function run(message: unknown, context: InvocationContext): Promise<void> {
  const hint = readHint(message);
  if (!hint.ok) {
    const reasons = hint.problems.map(
      (problem) => `${problem.field}: expected ${problem.expected}, got ${problem.value}`,
    );
    throw new Error(`Not a hint: ${reasons.join("; ")}`);
  }
  await tracked(async (runtime) => {
    const result = await runtime.environment.telemetry.span(
      {
        name: `worker ${hint.value.taskDefinition}`,
        traceParent: context.traceContext?.traceParent ?? null,
      },
      () => live(runtime, hint.value),
    );
    runtime.environment.logger.debug("worker ended", {
      definition: hint.value.taskDefinition,
      status: result.status,
      end: result.end,
    });
  });
}

/** Schedules first, where the hint is theirs: what they enqueue may run in the same stay. */
async function live(runtime: Runtime, hint: HintMessage): Promise<WorkerResult> {
  const stay = runtime.stay();
  const definition = hint.taskDefinition;
  if (hint.schedule === true && runtime.registry.definition(definition) !== null) {
    const untilMs = stay.deadlineMs - stay.marginMs;
    await lookAfterSchedules(runtime.environment, { definition, untilMs });
  }
  return runWorker(runtime.worker, definition, stay);
}
