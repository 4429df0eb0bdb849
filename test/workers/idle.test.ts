import { describe, expect, test } from "@jest/globals";
import { fewOf, isWhole } from "../support/whole";
import { spread } from "./spread";
import type { SpreadOptions } from "./spread";

/*
 * Goal: no token idles longer than one task, and one read of its receiver, while tasks wait and a living host wants
 * one. Method: the shipped worker on hosts of virtual time; after each call it is seen which tokens are free.
 * For a host that is gone when a token is given for it the bound is another one: the reservation, then the next task's end.
 * TASKGATE_TEST_PRINT=1 prints the worst of each case. Every night there are more of them.
 */
interface Case {
  readonly name: string;
  readonly options: Partial<SpreadOptions>;
  /** At most so many tasks in a row keep a host from hearing anything. */
  readonly turn: number;
}

const base: SpreadOptions = {
  hosts: 3,
  arriveEveryMs: 3_000,
  limit: 4,
  tasks: 0,
  taskMs: 50,
  isBlocking: false,
  executionMs: 600_000,
  lastsMs: 20_000,
  seed: 1,
};
const durations = isWhole ? [20, 50, 1_000] : [20, 1_000];
const cases: readonly Case[] = [
  { name: "two hosts come after one, limit 4", options: {}, turn: 1 },
  { name: "the same, tasks that block their host", options: { isBlocking: true }, turn: 4 },
  ...(isWhole ? [20, 30, 47] : []).map((limit) => ({
    name: `twenty hosts come one by one, limit ${String(limit)}`,
    options: { hosts: 20, limit },
    turn: 1,
  })),
];
const gone: readonly Case[] = [
  { name: "limit 4", options: { hosts: 6 }, turn: 1 },
  {
    name: "limit 4, tasks that block their host",
    options: { hosts: 6, isBlocking: true },
    turn: 4,
  },
  {
    name: "twenty hosts, limit 30",
    options: { hosts: 20, limit: 30 },
    turn: 1,
  },
];
const networkMs = 50;

/** The longest time that a wanted token was free, of some seeds. */
async function worstOf({ name, options }: Case, taskMs: number): Promise<number> {
  const settings = { ...base, ...options, taskMs };
  const { hosts } = settings;
  const limit = settings.limit ?? 0;
  // Twenty hosts come within four seconds, or within forty tasks.
  const arriveEveryMs = hosts === 20 ? Math.max(200, taskMs * 2) : settings.arriveEveryMs;
  const lastsMs = (hosts + 2) * arriveEveryMs;
  const tasks = Math.ceil((limit * lastsMs) / taskMs) + limit * 2;
  let worst = 0;
  for (const seed of hosts === 20 ? [1] : fewOf([1, 2, 3], 2)) {
    const { idleMostMs, heldMax } = await spread({
      ...settings,
      arriveEveryMs,
      lastsMs,
      tasks,
      seed,
    });
    expect(heldMax).toBe(limit);
    worst = Math.max(worst, idleMostMs);
  }
  if (process.env["TASKGATE_TEST_PRINT"] !== undefined)
    process.stdout.write(
      `${name}, ${settings.fateOfNoted ?? "all live"}, ${String(taskMs)} ms: ${worst.toFixed(0)} ms\n`,
    );
  return worst;
}

describe("a token idles no longer than one task and one look", () => {
  for (const one of cases)
    test.each(durations)(
      `a token of ${one.name} idles no longer than one task of %i ms and one look`,
      async (taskMs) => {
        const turnMs = one.turn * taskMs;
        // A denied host asks again after 50 ms, or half as long as it has waited.
        const lookMs = Math.max(50, turnMs / 2);
        expect(await worstOf(one, taskMs)).toBeLessThanOrEqual(turnMs + lookMs + networkMs);
      },
    );
});

describe.each(["stop", "crash"] as const)("hosts that %s while they ask again", (fateOfNoted) => {
  for (const one of gone)
    test.each(durations)(
      `a token of ${one.name} idles no longer than a task of %i ms and one look beside leaving hosts`,
      async (taskMs) => {
        const turnMs = one.turn * taskMs;
        const reservedMs = Math.min(100 + turnMs / 2, 2_000);
        const options = { ...one.options, fateOfNoted };
        expect(await worstOf({ ...one, options }, taskMs)).toBeLessThanOrEqual(
          reservedMs + turnMs + networkMs,
        );
      },
    );
});
