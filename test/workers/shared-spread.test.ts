import { describe, expect, test } from "@jest/globals";
import { spread } from "./spread";
import type { SpreadOptions } from "./spread";
import { fewOf } from "../support/whole";

/*
 * Goal: where a shared limit is what binds, hosts that come while others hold all of it get their part, within seconds, be they
 * of the same definition or of another one. Method: as spread.test.ts, with limits of their own that bind no host.
 */
const base: SpreadOptions = {
  hosts: 2,
  arriveEveryMs: 4_500,
  limit: 8,
  sharedLimits: [4],
  tasks: 2_000,
  taskMs: 50,
  isBlocking: false,
  executionMs: 600_000,
  lastsMs: 12_000,
  seed: 1,
};

describe.each(fewOf([1, 2, 3]))("a shared limit of 4, seed %i", (seed) => {
  test("two hosts of one definition share it", async () => {
    const { tokens, sharedMax } = await spread({ ...base, seed });
    expect(tokens).toEqual([2, 2]);
    expect(sharedMax).toEqual([4]);
  });

  test("hosts of two definitions share it", async () => {
    const { tokens, sharedMax } = await spread({ ...base, definitions: 2, seed });
    expect(tokens).toEqual([2, 2]);
    expect(sharedMax).toEqual([4]);
  });

  test("two hosts of each of two definitions have one each", async () => {
    const { tokens } = await spread({
      ...base,
      hosts: 4,
      definitions: 2,
      lastsMs: 25_000,
      tasks: 3_000,
      seed,
    });
    expect(tokens).toEqual([1, 1, 1, 1]);
  });

  test("definitions without limits of their own share it, too", async () => {
    const { tokens } = await spread({ ...base, limit: null, definitions: 2, seed });
    expect(tokens).toEqual([2, 2]);
  });

  test("the narrower one of two shared limits is shared out", async () => {
    const { tokens, sharedMax } = await spread({
      ...base,
      sharedLimits: [7, 4],
      definitions: 2,
      seed,
    });
    expect(tokens).toEqual([2, 2]);
    expect(sharedMax).toEqual([4, 4]);
  });

  test("the hint for given tokens wakes the other definition beside tasks of four seconds", async () => {
    const { tokens } = await spread({
      ...base,
      definitions: 2,
      taskMs: 4_000,
      tasks: 40,
      lastsMs: 15_000,
      seed,
    });
    expect(tokens).toEqual([2, 2]);
  });
});

describe("twelve hosts of three definitions that come one by one", () => {
  test("twelve hosts of three definitions end with parts of a shared limit that differ by at most one", async () => {
    const { tokens, sharedMax } = await spread({
      ...base,
      hosts: 12,
      definitions: 3,
      arriveEveryMs: 4_000,
      limit: 40,
      sharedLimits: [20],
      taskMs: 500,
      lastsMs: 60_000,
    });
    expect(sharedMax).toEqual([20]);
    expect(tokens.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(Math.max(...tokens) - Math.min(...tokens)).toBeLessThanOrEqual(1);
  });
});
