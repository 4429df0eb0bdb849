import { describe, expect, it } from "@jest/globals";
import { InvocationContext, PreInvocationContext } from "@azure/functions";
import { createTraceHook } from "../../shared/functions/telemetry-hooks";
import { noTelemetry } from "../../shared/ports/telemetry";
import type { Telemetry } from "../../shared/ports/telemetry";

const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** A function that answers `done`, behind the hook, and the traces that it ran within. */
function setup(load?: () => Promise<Telemetry>) {
  const within: (string | null)[] = [];
  const telemetry: Telemetry = {
    ...noTelemetry,
    within: (parent, body) => {
      within.push(parent);
      return body();
    },
  };
  const calls: unknown[] = [];
  const callback = (input: unknown): string => {
    calls.push(input);
    return "done";
  };
  const invoke = async (trace: string | undefined): Promise<unknown> => {
    const invocation = new InvocationContext(
      trace === undefined ? {} : { traceContext: { traceParent: trace } },
    );
    const context = new PreInvocationContext({
      functionCallback: callback,
      invocationContext: invocation,
    });
    createTraceHook(load ?? (() => Promise.resolve(telemetry)))(context);
    return context.functionHandler("input", invocation) as unknown;
  };
  return { within, calls, invoke };
}

describe("the hook before an invocation", () => {
  it("the hook before an invocation runs the function within the trace of the host's request item", async () => {
    const { within, calls, invoke } = setup();

    const result = await invoke(traceParent);

    expect({ result, calls, within }).toEqual({
      result: "done",
      calls: ["input"],
      within: [traceParent],
    });
  });

  it("the hook before an invocation leaves the span that the app's own instrumentation has opened in that trace", async () => {
    const nearer = traceParent.replace("b7ad6b7169203331", "00f067aa0ba902b7");
    const within: unknown[] = [];
    const telemetry: Telemetry = {
      ...noTelemetry,
      currentTraceParent: () => nearer,
      within: (parent, body) => {
        within.push(parent);
        return body();
      },
    };
    const { invoke, calls } = setup(() => Promise.resolve(telemetry));
    await invoke(traceParent);
    expect({ calls, within }).toEqual({ calls: ["input"], within: [] });
    await invoke(traceParent.replace("0af7", "0af8"));
    expect(within).toHaveLength(1);
  });

  it("the hook before an invocation runs it outside every trace where the host gives none", async () => {
    const { within, invoke } = setup();

    await invoke(undefined);

    expect(within).toEqual([null]);
  });

  it("the hook before an invocation runs it also when the services of the process can't be built", async () => {
    const { calls, invoke } = setup(() => Promise.reject(new Error("no settings")));

    const result = await invoke(traceParent);

    expect({ result, calls }).toEqual({ result: "done", calls: ["input"] });
  });
});
