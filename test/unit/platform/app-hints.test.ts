import { expect, test } from "@jest/globals";
import { AppHints } from "../../../shared/platform/app-hints";
import type { AppStatus } from "../../../shared/ports/task-store";
import { openWorkerBench } from "../worker/worker-bench";

test.each([
  ["a schedule that this version can't read", "whenever it rains", null],
  ["every minute", "0 * * * * *", expect.any(Number)],
])(
  "an app reads what another app has registered as its sweep's schedule: %s",
  async (_, schedule, expected) => {
    const { environment } = openWorkerBench([]);
    const address = {
      queueUri: "https://else.queue.core.windows.net",
      queue: "q",
      encoding: "base64",
    };
    const app = { definitions: ["theirs"], address: { ...address, sweepSchedule: schedule } };
    const hints = new AppHints({
      own: {
        wakeUp: { hint: () => Promise.resolve() },
        address: null,
        sweepSchedule: null,
        isReached: () => false,
      },
      isOwn: () => false,
      storage: null,
      store: { listApps: () => Promise.resolve({ apps: [app as unknown as AppStatus] }) },
      clock: environment.clock,
      timers: environment.timers,
      logger: environment.logger,
    });
    expect(await hints.startsWithinMs("theirs")).toEqual(expected);
  },
);
