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
      // An instrumentation of the app's own has a nearer span of this trace.
      if (telemetry === null || isSameTrace(traceParent, telemetry.currentTraceParent()))
        return run();
      return telemetry.within(traceParent, run);
    };
    context.functionHandler = traced;
  };
}

function isSameTrace(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one.split("-")[1] === other.split("-")[1];
}
