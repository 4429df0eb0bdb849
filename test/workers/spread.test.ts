import { describe, expect, test } from "@jest/globals";
import { spread } from "./spread";
import type { SpreadOptions } from "./spread";
import { fewOf } from "../support/whole";

/*
 * Goal: hosts that arrive while another one holds all tokens get their part, within seconds and without a tick (design
 * 10.13). Method: the shipped worker on hosts of virtual time; each arrives with one message, and every hint wakes any of
 * them, also those that hold tokens. No sweep runs.
 */
const blocking: SpreadOptions = {
  hosts: 3,
  arriveEveryMs: 3_000,
  limit: 4,
  tasks: 3_000,
  taskMs: 50,
  isBlocking: true,
  executionMs: 600_000,
  lastsMs: 20_000,
  seed: 1,
};

/** Tasks begun between two instants, by all. */
function begunWithin(begun: readonly (readonly number[])[], fromMs: number, untilMs: number) {
  return begun.flat().filter((atMs) => atMs >= fromMs && atMs < untilMs).length;
}

describe("tasks that keep their host busy, limit 4", () => {
  test.each(fewOf([1, 2, 3]))(
    "a second and a third host make it 2.5 times as fast, seed %i",
    async (seed) => {
      const alone = await spread({ ...blocking, hosts: 1, seed });
      const three = await spread({ ...blocking, seed });
      expect(three.heldMax).toBe(4);
      expect([...three.tokens].sort()).toEqual([1, 1, 2]);
      // Four seconds after the third came it is so, and stays so.
      const window = [10_000, 20_000] as const;
      const ratio = begunWithin(three.begun, ...window) / begunWithin(alone.begun, ...window);
      expect(ratio).toBeGreaterThanOrEqual(2.5);
    },
  );

  test("hosts that arrive at nearly the same time share, too", async () => {
    const { tokens, notedAtMs } = await spread({ ...blocking, arriveEveryMs: 200 });
    expect([...tokens].sort()).toEqual([1, 1, 2]);
    notedAtMs.forEach((atMs, index) => {
      expect(atMs - (notedAtMs[index - 1] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(999);
    });
  });

  test("balanced, no host is denied a token that another could give: nothing more is noted", async () => {
    const { notedAtMs } = await spread(blocking);
    expect(notedAtMs.filter((atMs) => atMs > 12_000)).toEqual([]);
  });
});

describe("twenty hosts that arrive one by one", () => {
  const twenty: SpreadOptions = {
    ...blocking,
    hosts: 20,
    arriveEveryMs: 2_000,
    isBlocking: false,
    taskMs: 900,
    tasks: 4_000,
    lastsMs: 110_000,
  };

  test.each(fewOf([30, 20]))(
    "twenty hosts end with their parts of a limit of %i: the equal one rounded down to one above it rounded up",
    async (limit) => {
      const { tokens, heldMax, idleMostMs } = await spread({ ...twenty, limit });
      expect(tokens.reduce((sum, count) => sum + count, 0)).toBe(limit);
      expect(heldMax).toBe(limit);
      // A host asks for a token while it holds less than that; so one may keep a third beside others with one.
      expect(Math.min(...tokens)).toBe(Math.floor(limit / twenty.hosts));
      expect(Math.max(...tokens)).toBeLessThanOrEqual(Math.ceil(limit / twenty.hosts) + 1);
      expect(idleMostMs).toBeLessThanOrEqual(1_000);
    },
  );

  test("twenty hosts are served in turn where the limit is less than they are", async () => {
    const { begun, heldMax } = await spread({
      ...twenty,
      arriveEveryMs: 500,
      limit: 4,
      executionMs: 8_000,
      tasks: 1_000,
      lastsMs: 200_000,
    });
    expect(heldMax).toBe(4);
    for (const times of begun) expect(times.length).toBeGreaterThan(0);
  });
});

describe("fifty hosts on a rate of 10 starts a second", () => {
  test.each([0, 2, 5, 7, 10])(
    "fifty hosts make at most 100 calls a second, the rate's row held for %i ms",
    async (rateHeldMs) => {
      const seconds = 10;
      const { statements, begun } = await spread({
        ...blocking,
        hosts: 50,
        arriveEveryMs: 20,
        limit: null,
        perSecond: 10,
        isBlocking: false,
        tasks: 1_000,
        lastsMs: seconds * 1_000,
        rateHeldMs,
      });
      expect(statements / seconds).toBeLessThanOrEqual(100);
      // Each permit is taken by a call that comes on its way up to 5 ms late, and ends that much after the one before.
      const everyMs = 100 + 5 + rateHeldMs / 2;
      expect(begun.flat().length).toBeGreaterThanOrEqual((seconds * 1_000) / everyMs - 4);
      expect(begun.flat().length).toBeLessThanOrEqual(10 * seconds + 1);
    },
  );
});
