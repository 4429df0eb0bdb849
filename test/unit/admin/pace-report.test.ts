import { describe, expect, test } from "@jest/globals";
import { readPace } from "../../../shared/admin/pace-report";
import { asTaskId } from "../../../shared/core/ids";
import type {
  DefinitionStatus,
  ReadPaceAnswer,
  TaskListEntry,
  TaskStore,
} from "../../../shared/ports/task-store";

/* Goal: what an operator reads of a definition's pace is no false alarm, and no false comfort. */
const now = new Date("2030-01-01T00:10:00.000Z");
const ago = (ms: number): string => new Date(now.getTime() - ms).toISOString();

/** A definition of two kinds, one of them slow, as the store tells of it. */
async function paceOf(
  definition: Partial<DefinitionStatus>,
  { pace = {}, claimedMs = [] }: { pace?: Partial<ReadPaceAnswer>; claimedMs?: number[] },
) {
  const kinds = ["quick", "long"].map((kind, at) => ({
    ...{ kind, ended: 100, p50Ms: 100, p99Ms: at === 0 ? 2_000 : 20_000 },
  }));
  const answer = { now, oldestReady: null, ended: 100, overMs: 60_000, kinds, ...pace };
  const claimed = claimedMs.map((ms, at) => ({
    ...{ task: asTaskId(String(at + 1)), kind: "quick", state: "running", claimedAt: ago(ms) },
  }));
  const store = {
    readPace: () => Promise.resolve(answer),
    listTasks: () => Promise.resolve({ tasks: claimed as TaskListEntry[] }),
  } as unknown as TaskStore;
  const counts = { ready: 0, waiting: 0, claimed: claimed.length, executions: 1, prefetchMax: 0 };
  const whole = { name: "mail", paused: false, limit: 4, ...counts, ...definition };
  return readPace({ store }, whole as DefinitionStatus);
}

describe("a slow task", () => {
  test("a task is slow when it is claimed for longer than 99 in 100 of its kind ran", async () => {
    const { running } = await paceOf({}, { claimedMs: [1_999, 2_001] });
    expect(running.map(({ isSlow }) => isSlow)).toEqual([false, true]);
  });

  test("a slow task of prefetched ones may have waited for as many of the longest kind on its token", async () => {
    const claimedMs = [2_001, 41_999, 42_001];
    const { running } = await paceOf({ prefetchMax: 2 }, { claimedMs });
    expect(running.map(({ isSlow }) => isSlow)).toEqual([false, false, true]);
  });
});

describe("the time until all is done", () => {
  const oldest = (ms: number) => ({
    oldestReady: { taskId: asTaskId("7"), createdAt: ago(ms), dueAt: ago(ms) },
  });

  test("the time until all is done is that of the rate where it lets tasks start more slowly than they ended", async () => {
    const rate = { count: 2, periodMs: 3_600_000, burst: 1 };
    const rated = { ready: 5, rate, rateInMs: 600_000 };
    expect(await paceOf(rated, {})).toMatchObject({ estimatedLeftMs: 600_000 + 4 * 1_800_000 });
    expect(await paceOf({ ready: 0, rate, rateInMs: 600_000 }, { claimedMs: [5] })).toMatchObject({
      estimatedLeftMs: 600,
    });
  });

  test("the time until all is done isn't told where all tasks wait for groups, which may be paused", async () => {
    expect(await paceOf({ waiting: 3 }, {})).toMatchObject({
      ...{ estimatedLeftMs: null, heldUpBy: "all of them wait for their groups" },
    });
    expect(await paceOf({ waiting: 3, ready: 1 }, {})).toMatchObject({ heldUpBy: null });
  });

  test("the time until all is done is told between two workers, and not where none has come for longer than a sweep takes", async () => {
    const idle = { ready: 50, executions: 0 };
    expect(await paceOf(idle, { pace: oldest(20_000) })).toMatchObject({
      ...{ estimatedLeftMs: 30_000, heldUpBy: null, oldestReady: { task: "7", ageMs: 20_000 } },
    });
    expect(await paceOf(idle, { pace: oldest(120_000) })).toMatchObject({
      ...{ estimatedLeftMs: null, heldUpBy: "no worker runs" },
    });
    expect(await paceOf({ ready: 50 }, { pace: oldest(120_000) })).toMatchObject({
      ...{ estimatedLeftMs: 30_000, heldUpBy: null },
    });
  });
});
