import { describe, expect, test } from "@jest/globals";
import { StopSignal } from "../../../shared/worker/run/stop-signal";

describe("a handler's stop signal", () => {
  test("a stop signal that is asked for first is aborted later, once", () => {
    const stop = new StopSignal();
    const { signal } = stop;
    const heard: unknown[] = [];
    signal.addEventListener("abort", () => heard.push(signal.reason));
    expect(signal.aborted).toBe(false);
    const reason = new Error("first");
    stop.abort(reason);
    stop.abort(new Error("second"));
    expect(heard).toEqual([reason]);
    expect(stop.signal).toBe(signal);
  });

  test("a stop signal that is asked for afterwards is aborted, with the first reason", () => {
    const stop = new StopSignal();
    const reason = new Error("first");
    stop.abort(reason);
    stop.abort(new Error("second"));
    expect(stop.signal.aborted).toBe(true);
    expect(stop.signal.reason).toBe(reason);
  });
});
