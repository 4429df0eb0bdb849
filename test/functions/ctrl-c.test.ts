import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { leaveCtrlCToHost } from "../../shared/functions/ctrl-c";

/** A process of its own for each test. */
function fakeProcess(environment: string | undefined) {
  const events = new EventEmitter();
  const exit = jest.fn<(code: number) => never>();
  const target = Object.assign(events, {
    env: { AZURE_FUNCTIONS_ENVIRONMENT: environment },
    exit,
  }) as unknown as NodeJS.Process;
  return { events, exit, target };
}

describe("Ctrl-C at the terminal of a Functions host", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("the first Ctrl-C is left to the host, and a second one ends the process", () => {
    const { events, exit, target } = fakeProcess("Development");
    leaveCtrlCToHost(target);
    events.emit("SIGINT");
    expect(exit).not.toHaveBeenCalled();
    events.emit("SIGINT");
    expect(exit).toHaveBeenCalledWith(130);
  });

  test("a process that the host forgets ends by itself", () => {
    const { events, exit, target } = fakeProcess("Development");
    leaveCtrlCToHost(target);
    events.emit("SIGINT");
    jest.advanceTimersByTime(19_999);
    expect(exit).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(exit).toHaveBeenCalledWith(130);
  });

  test("two apps of a process take one Ctrl-C for one", () => {
    const { events, exit, target } = fakeProcess("Development");
    leaveCtrlCToHost(target);
    leaveCtrlCToHost(target);
    events.emit("SIGINT");
    expect(exit).not.toHaveBeenCalled();
  });

  test("elsewhere than in a development host nothing listens", () => {
    for (const environment of [undefined, "Production"]) {
      const { events, target } = fakeProcess(environment);
      leaveCtrlCToHost(target);
      expect(events.listenerCount("SIGINT")).toBe(0);
    }
  });
});
