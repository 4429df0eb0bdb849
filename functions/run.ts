import type { InvocationContext } from "@azure/functions";
import { readHint } from "../shared/admin/requests";
import { runWorker } from "../shared/worker/run-worker";
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
      () => runWorker(runtime.worker, hint.value.taskDefinition, runtime.stay()),
    );
    runtime.environment.logger.debug("worker ended", {
      definition: hint.value.taskDefinition,
      status: result.status,
      end: result.end,
    });
  });
}
