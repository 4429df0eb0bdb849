import { describe, expect, test } from "@jest/globals";
import type { ExecutionId } from "../../../shared/core/ids";
import { limits } from "../../../shared/core/limits";
import { boundsMs } from "../../../shared/platform/lease-thread";
import { ThreadLeaseKeeper } from "../../../shared/platform/thread-lease-keeper";
import { until } from "../../support/gate";
import { openWorkerBench } from "./worker-bench";

const execution = (leaseMs: number, timeoutMs: number | null) => ({
  ...{ executionId: "1" as ExecutionId, leaseMs, timeoutMs },
});

describe("how long leases are renewed beside a blocked event loop", () => {
  test.each<[string, Parameters<typeof execution>[], number[]]>([
    ["ten leases where no kind has a time-out", [[1_000, null]], [10_000]],
    ["the time-out and the grace where that is less", [[60_000, 30_000]], [35_000]],
    ["ten leases where that is less", [[1_000, 30_000]], [10_000]],
    [
      "the longest time-out for all, since who blocks isn't known",
      [
        [60_000, 1_000],
        [60_000, 20_000],
      ],
      [25_000, 25_000],
    ],
  ])("%s", (_, given, wanted) => {
    expect(boundsMs(given.map((one) => execution(...one)))).toEqual(wanted);
    expect(limits.blockedLeasesMax).toBe(10);
  });
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
