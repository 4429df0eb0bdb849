import type { FunctionHandler, PreInvocationContext } from "@azure/functions";
import type { Telemetry } from "../ports/telemetry";

/**
 * A hook for `app.hook.preInvocation`: the function runs within the trace of its request item, which the host writes, so
 * that what it enqueues and asks of the database stands below that. `load` gives this process' telemetry, without asking
 * the database; it is waited for inside the invocation, and where it fails the function runs without. Functions named in
 * `untraced` load nothing.
 */
export function createTraceHook(
  load: () => Promise<Telemetry>,
  untraced: ReadonlySet<string> = new Set(),
): (context: PreInvocationContext) => void {
  return (context) => {
    if (untraced.has(context.invocationContext.functionName)) return;
    const handler = context.functionHandler;
    const traceParent = context.invocationContext.traceContext?.traceParent ?? null;
    const traced: FunctionHandler = async (input: unknown, invocation): Promise<unknown> => {
      const run = (): unknown => handler(input, invocation);
      const telemetry = await load().catch(() => null);
      return telemetry === null ? run() : telemetry.within(traceParent, run);
    };
    context.functionHandler = traced;
  };
}
