import { createRequire } from "node:module";
import type { InvocationContext } from "@azure/functions";
import { readDelivery } from "../admin/delivery";
import { describeProblems } from "../admin/problem-list";
import type * as Requests from "../admin/requests";
import type { HintMessage } from "../admin/requests";
import { isForLater } from "../core/errors";
import type { WorkerResult } from "../worker/run/run-worker";
import { isBroken } from "../worker/run/run-worker";
import { fireDueSchedules } from "../worker/run/schedules";
import { deferHint, refuse } from "./messages";
import type { AppProcess, Runtime } from "./runtime";
import type { Services } from "./services";

const requireLater = createRequire(__filename);
/** For about an hour a hint waits for a build that knows its definition; later ones are the sweep's of that build. */
const unknownTriesMax = 16;

/** A hint, and how often it has been put back. */
interface DeliveredHint {
  readonly hint: HintMessage;
  readonly tries: number;
}

/**
 * Queue `taskgate-hints`: an execution for the named definition. "Nothing to do" and "the limit is reached" are
 * success. So is a database that is away, and a definition that this build doesn't know: a delayed hint is left. Throwing
 * would burn the message's tries. What isn't a hint goes to the poison queue at once, with the reason.
 */
export function run(app: AppProcess, message: unknown, context: InvocationContext): Promise<void> {
  return app.invocations.counted(async () => {
    const services = await app.services();
    const { message: given, tries } = readDelivery(message);
    // Its schemas are loaded by the first message.
    const { readHint } = requireLater("../admin/requests") as typeof Requests;
    const hint = readHint(given);
    if (!hint.ok) {
      const reason = `Not a hint: ${describeProblems(hint)}`;
      await refuse(services, "hints", { message: given, reason });
      return;
    }
    const delivered = { hint: hint.value, tries };
    if (services.registry.definition(hint.value.taskDefinition) === null) {
      await waitForBuild(services, delivered);
      return;
    }
    if (!(await isFollowed(app, hint.value, context))) await defer(services, delivered);
  });
}

/** Did the worker do what the hint asked for? Not when the store was away, at its start or later. */
async function isFollowed(
  app: AppProcess,
  hint: HintMessage,
  context: InvocationContext,
): Promise<boolean> {
  try {
    const result = await app.tracked((runtime) =>
      runtime.environment.telemetry.span(
        {
          name: `worker ${hint.taskDefinition}`,
          traceParent: context.traceContext?.traceParent ?? null,
        },
        () => work(runtime, hint),
      ),
    );
    // A process that is about to end takes nothing: the hint is for another one.
    const isRefused = result.status === "none" && result.end === "stopped";
    return !isRefused && !isBroken(result);
  } catch (error) {
    if (isForLater(error)) return false;
    throw error;
  }
}

/**
 * Schedules first, where the hint is theirs: what they enqueue may run in the same execution. Tasks of other definitions that these
 * tasks make ready run in this invocation, too, as far as it has tokens and time.
 */
async function work(runtime: Runtime, hint: HintMessage): Promise<WorkerResult> {
  const bounds = runtime.bounds();
  const own = runtime.work(bounds);
  const definition = hint.taskDefinition;
  if (hint.schedule === true) {
    const untilMs = bounds.deadlineMs - bounds.marginMs;
    await fireDueSchedules(own.environment, { definition, untilMs });
  }
  try {
    const result = await own.run(definition);
    const { status, end } = result;
    runtime.environment.logger.debug("worker ended", { definition, status, end });
    return result;
  } finally {
    await own.settled();
  }
}

/** While a new version is rolled out, an old process gets hints for what only the new one has. */
async function waitForBuild(services: Services, { hint, tries }: DeliveredHint): Promise<void> {
  const definition = hint.taskDefinition;
  if (tries < unknownTriesMax) {
    await defer(services, { hint, tries });
    return;
  }
  services.logger.warn("a hint named a definition that no build has known for an hour", {
    definition,
  });
}

/** The trace of who left the hint has ended by then. */
async function defer(services: Services, { hint, tries }: DeliveredHint): Promise<void> {
  const { taskDefinition, schedule } = hint;
  const message = { taskDefinition, ...(schedule === undefined ? {} : { schedule }) };
  await deferHint(services, { message, tries });
}
