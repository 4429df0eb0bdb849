import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { StoreUnavailableError } from "../../../shared/core/errors";
import { followRun } from "../../../shared/local/follow-run";
import type { LocalRun } from "../../../shared/local/local-run";
import type { StartOptions } from "../../../shared/local/start-options";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Follows a run whose definitions are read by `read`. */
function follow(
  read: () => Promise<unknown>,
  options: Partial<StartOptions> = {},
  failingTimers: ReadonlyMap<string, string> = new Map(),
) {
  const ending = new AbortController();
  const lines: string[] = [];
  const run = {
    store: {
      listDefinitions: read,
      listBatches: () => Promise.resolve({ batches: [] }),
    },
    queue: { pending: () => Promise.resolve(0) },
    ...{ sample: null, landing: null, app: { name: "orders" }, log: { last: () => null } },
    ...{ pageUrl: () => null, restarts: () => 0, workers: () => [] },
    failingTimers: () => failingTimers,
    broken: new Promise(() => undefined),
  } as unknown as LocalRun;
  const end = followRun({
    run,
    options: { isOnce: false, ...options } as StartOptions,
    signal: ending.signal,
    startedAtMs: performance.now(),
    say: (line) => lines.push(line),
    tell: null,
    interrupt: () => undefined,
  });
  const settled = end.then(
    (value) => value,
    (error: unknown) => error,
  );
  return { settled, lines, ending };
}

const away = () => Promise.reject(new StoreUnavailableError("connect ECONNREFUSED"));

test("a run lives through an outage of its database of any length, and tells its begin and its end", async () => {
  let isAway = true;
  const { settled, lines, ending } = follow(() =>
    isAway ? away() : Promise.resolve({ definitions: [] }),
  );
  await jest.advanceTimersByTimeAsync(3_600_000);
  expect(lines).toEqual(["the database doesn't answer: still trying .."]);
  isAway = false;
  await jest.advanceTimersByTimeAsync(1_000);
  expect(lines[1]).toBe("the database answers again");
  ending.abort();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await settled).toBe("interrupted");
});

test("a run that is interrupted while the database is away ends as one that is interrupted", async () => {
  const { settled, ending } = follow(away);
  await jest.advanceTimersByTimeAsync(60_000);
  ending.abort();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await settled).toBe("interrupted");
});

test("an error that isn't an outage ends the run after ten looks", async () => {
  let looks = 0;
  const { settled } = follow(() => {
    looks += 1;
    return Promise.reject(new Error("no such column"));
  });
  await jest.advanceTimersByTimeAsync(60_000);
  expect(String(await settled)).toContain("no such column");
  expect(looks).toBe(10);
});

test("--once gives up after five minutes, also while the database is away", async () => {
  const { settled, lines } = follow(away, { isOnce: true });
  await jest.advanceTimersByTimeAsync(301_000);
  expect(await settled).toBe("bad");
  expect(lines.at(-1)).toBe("Not done after 5 min.");
});

test("a run tells that a timer such as the sweep failed, with the error's first line, once for each failure", async () => {
  const failing = new Map<string, string>();
  const read = () => Promise.resolve({ definitions: [] });
  const { lines, ending, settled } = follow(read, {}, failing);
  const told = () => lines.filter((line) => line.startsWith("sweep"));
  const wait = () => jest.advanceTimersByTimeAsync(2_000);
  await wait();
  expect(told()).toEqual([]);
  for (const failure of ["no kind\n    at sweep", "no kind\n    at sweep", "no queue"]) {
    failing.set("sweep", failure);
    await wait();
  }
  expect(told()).toEqual(["sweep failed: no kind", "sweep failed: no queue"]);
  failing.clear();
  await wait();
  failing.set("sweep", "no queue");
  await wait();
  expect(told()).toHaveLength(3);
  ending.abort();
  await wait();
  expect(await settled).toBe("interrupted");
});
