import { describe, expect, test } from "@jest/globals";
import type { ExecutionId } from "../../../shared/core/ids";
import { asExecutionId } from "../../../shared/core/ids";
import { RunningCount } from "../../../shared/core/running-count";
import type { HeartbeatAnswer } from "../../../shared/ports/task-store";
import { Heartbeat } from "../../../shared/worker/run/heartbeat";
import type { LeaseHolder } from "../../../shared/worker/run/heartbeat";
import { VirtualTime } from "../../workers/virtual-time";
import { openWorkerBench, overriding } from "./worker-bench";

const minuteMs = 60_000;
const renewed: Omit<HeartbeatAnswer["executions"][number], "executionId"> = {
  status: "renewed",
  leaseMs: null,
  tokens: null,
  claims: null,
  cancel: [],
  overLimit: 0,
  releaseRequested: false,
  isPaused: false,
};

/** A heartbeat on virtual time, and when it renewed which execution. */
function openScene() {
  const time = new VirtualTime();
  const beats: { atMs: number; executions: ExecutionId[] }[] = [];
  const bench = openWorkerBench([]);
  const heartbeat = new Heartbeat({
    ...bench.environment,
    ...time.parts,
    store: overriding(bench.store, {
      heartbeat: async ({ executions }) => {
        const ids = executions.map(({ executionId }) => executionId);
        beats.push({ atMs: time.nowMs, executions: ids });
        return { executions: ids.map((executionId) => ({ ...renewed, executionId })) };
      },
    }),
  });
  const holder = (id: number, leaseMs: number): LeaseHolder => {
    let renewedAtMs = time.nowMs;
    return {
      executionId: asExecutionId(String(id)),
      leaseMs,
      timeoutMs: null,
      running: new RunningCount(),
      renewedAgoMs: () => time.nowMs - renewedAtMs,
      takeStarted: () => [],
      returnStarted: () => undefined,
      hasWaiting: () => false,
      onRenewed: (_, sentAt) => void (renewedAtMs = sentAt.monotonicMs),
    };
  };
  /** The longest time for which an execution wasn't renewed until now. */
  const longestGapMs = (id: number): number => {
    const renewed = beats.filter(({ executions }) =>
      executions.includes(asExecutionId(String(id))),
    );
    const instants = [0, ...renewed.map(({ atMs }) => atMs), time.nowMs];
    return Math.max(...instants.slice(1).map((atMs, at) => atMs - (instants[at] ?? 0)));
  };
  return { time, heartbeat, beats, holder, longestGapMs };
}

describe("a heartbeat renews a lease at least every half of it", () => {
  test.each([
    ["alone", null, 0],
    ["beside executions that begin and end more often than it beats", 500, 300],
    ["beside executions with shorter leases", 700, 200],
    ["beside executions that stay", 2_000, Number.POSITIVE_INFINITY],
  ])("a heartbeat renews a lease at least every half of it: %s", async (what, everyMs, lastsMs) => {
    const { time, heartbeat, holder, longestGapMs } = openScene();
    heartbeat.add(holder(1, minuteMs));
    let others = 1;
    const begin = (): void => {
      if (everyMs === null) return;
      others += 1;
      const end = heartbeat.add(holder(others, what.includes("shorter") ? 6_000 : minuteMs));
      if (Number.isFinite(lastsMs)) time.after(lastsMs, end);
      time.after(everyMs, begin);
    };
    begin();
    await time.run(10 * minuteMs);
    expect(longestGapMs(1)).toBeGreaterThan(0);
    expect(longestGapMs(1)).toBeLessThanOrEqual(minuteMs / 2);
  });

  test("a shorter one that comes while a beat is far off", async () => {
    const { time, heartbeat, holder, longestGapMs } = openScene();
    heartbeat.add(holder(1, 10 * minuteMs));
    heartbeat.add(holder(2, 6_000));
    await time.run(minuteMs);
    expect(longestGapMs(2)).toBeLessThanOrEqual(3_000);
  });
});

test("a heartbeat beats at most six times per shortest lease however many executions there are, and no more once all have ended", async () => {
  const { time, heartbeat, beats, holder } = openScene();
  const ends = Array.from({ length: 20 }, (_, at) => heartbeat.add(holder(at + 1, 6_000)));
  await time.run(minuteMs);
  expect(beats.length).toBeGreaterThanOrEqual(20);
  expect(beats.length).toBeLessThanOrEqual(60);
  for (const end of ends) end();
  const before = beats.length;
  await time.run(2 * minuteMs);
  expect(beats).toHaveLength(before);
});

test("an execution with claimed tasks that wait is asked about once a second, others are not asked about with it", async () => {
  const { time, heartbeat, beats, holder } = openScene();
  let isWaiting = false;
  heartbeat.add({ ...holder(1, minuteMs), hasWaiting: () => isWaiting });
  heartbeat.add(holder(2, minuteMs));
  await time.run(10_000);
  expect(beats).toEqual([]);
  isWaiting = true;
  await time.run(15_250);
  expect(beats.length).toBeGreaterThanOrEqual(5);
  expect(beats.length).toBeLessThanOrEqual(6);
  expect(beats.every(({ executions }) => executions.length === 1)).toBe(true);
  isWaiting = false;
  await time.run(20_000);
  expect(beats.length).toBeLessThanOrEqual(6);
  heartbeat.stop();
});

test("a heartbeat renews more executions than one call takes in several", async () => {
  const { time, heartbeat, beats, holder } = openScene();
  for (let id = 1; id <= 2_500; id += 1) heartbeat.add(holder(id, 6_000));
  await time.run(2_500);
  expect(beats.map(({ executions }) => executions.length)).toEqual([1_000, 1_000, 500]);
  heartbeat.stop();
});

test("a beat that waits has its leases renewed beside it, from half of each on, until it is answered", async () => {
  const time = new VirtualTime();
  const bench = openWorkerBench([]);
  const asked: { atMs: number; ids: readonly ExecutionId[] }[] = [];
  let beats = 0;
  const heartbeat = new Heartbeat({
    ...bench.environment,
    ...time.parts,
    store: overriding(bench.store, {
      heartbeat: () => {
        beats += 1;
        return new Promise(() => undefined);
      },
    }),
    leaseKeeper: {
      keep: () => () => undefined,
      renew: (ids) => void asked.push({ atMs: time.nowMs, ids }),
      renewalOf: () => null,
    },
  });
  const holder: LeaseHolder = {
    ...{ executionId: asExecutionId("7"), leaseMs: minuteMs, timeoutMs: null },
    running: new RunningCount(),
    renewedAgoMs: () => time.nowMs,
    takeStarted: () => [],
    returnStarted: () => undefined,
    hasWaiting: () => false,
    onRenewed: () => undefined,
  };
  heartbeat.add(holder);
  await time.run(minuteMs - 1);
  expect(beats).toBe(1);
  expect(asked[0]).toEqual({ atMs: minuteMs / 2, ids: [asExecutionId("7")] });
  expect(asked.length).toBeGreaterThan(1);
  heartbeat.stop();
});
