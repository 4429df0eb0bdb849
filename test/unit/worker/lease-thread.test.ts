import { describe, expect, jest, test } from "@jest/globals";
import type { ExecutionId } from "../../../shared/core/ids";
import { limits } from "../../../shared/core/limits";
import { boundMs, runLeaseThread } from "../../../shared/platform/lease-thread";
import { ThreadLeaseKeeper } from "../../../shared/platform/thread-lease-keeper";
import { until } from "../../support/gate";
import { openWorkerBench } from "./worker-bench";

const execution = (leaseMs: number, timeoutMs: number | null, running = 1) => ({
  ...{ executionId: "1" as ExecutionId, leaseMs, timeoutMs },
  running: new Int32Array(new SharedArrayBuffer(4)).fill(running),
});

describe("how long leases are renewed beside a blocked event loop", () => {
  test.each<[string, Parameters<typeof execution>[], number]>([
    ["ten leases where no kind has a time-out", [[1_000, null]], 10_000],
    ["the time-out and the grace where that is less", [[60_000, 30_000]], 35_000],
    ["ten leases where that is less", [[1_000, 30_000]], 10_000],
    [
      "all for the longest time-out, since who blocks isn't known",
      [
        [60_000, 1_000],
        [60_000, 20_000],
      ],
      25_000,
    ],
    [
      "all for the longest lease, since a shorter one's handler may be the one that blocks",
      [
        [3_000, null],
        [60_000, null],
      ],
      600_000,
    ],
    [
      "no longer for an execution that runs no handler",
      [
        [3_000, null],
        [60_000, null, 0],
      ],
      30_000,
    ],
    [
      "for all where none runs a handler",
      [
        [3_000, null, 0],
        [60_000, null, 0],
      ],
      600_000,
    ],
  ])("a lease is renewed beside a blocked event loop: %s", (_, given, wanted) => {
    expect(boundMs(given.map((one) => execution(...one)))).toBe(wanted);
    expect(limits.blockedLeasesMax).toBe(10);
  });
});

test("the thread renews more leases than one call takes by several calls", async () => {
  const intervals = jest.spyOn(globalThis, "setInterval");
  const [orders, renewals] = [new MessageChannel(), new MessageChannel()];
  const beats: number[] = [];
  runLeaseThread({
    store: {
      heartbeat: async ({ executions }) => {
        beats.push(executions.length);
        return { executions: [] };
      },
    },
    turns: new Int32Array(new SharedArrayBuffer(4)),
    orders: orders.port2,
    renewals: renewals.port1,
    onHung: () => undefined,
  });
  const count = limits.heartbeatExecutionsMax + 1;
  try {
    for (let id = 1; id <= count; id += 1) {
      const kept = { ...execution(1_000, null), executionId: String(id) as ExecutionId };
      orders.port1.postMessage({ kind: "keep", execution: kept });
    }
    await until("all leases were renewed", async () => beats.length >= 2);
    expect(beats.slice(0, 2)).toEqual([limits.heartbeatExecutionsMax, 1]);
  } finally {
    for (const { value } of intervals.mock.results) clearInterval(value as NodeJS.Timeout);
    intervals.mockRestore();
    for (const { port1 } of [orders, renewals]) port1.close();
  }
});

test("a thread that can't be made is told once, and leases are renewed as without it", async () => {
  const bench = openWorkerBench([]);
  const keeper = new ThreadLeaseKeeper({
    file: "/nowhere/no-such-program.js",
    program: {},
    clock: bench.environment.clock,
    logger: bench.environment.logger,
  });
  const release = keeper.keep(execution(1_000, null));
  await until("the failure is told", async () => bench.lines.length > 0);
  expect(bench.lines.map(({ level }) => level)).toEqual(["warn"]);
  expect(bench.lines[0]?.message).toMatch(/^the thread that renews leases failed/);
  expect(keeper.renewalOf("1" as ExecutionId)).toBeNull();
  release();
  keeper.keep(execution(1_000, null))();
  expect(bench.lines).toHaveLength(1);
});
