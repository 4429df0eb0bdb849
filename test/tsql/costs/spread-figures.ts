import { spread } from "../../workers/spread";
import type { SpreadOptions } from "../../workers/spread";
import type { Situation } from "./situation";

/*
 * What many workers do together: the shipped worker in virtual time over the memory store, so that what is counted is calls.
 * A call takes no time there, and meets no locked row but the rate's, which a claim keeps until its commit.
 */

const seconds = 10;
/** Commits on Azure SQL take 5 to 7 ms in the General Purpose tier. */
const heldForMs = [0, 2, 5, 7, 10];
const shared = { arriveEveryMs: 20, isBlocking: false, taskMs: 50, executionMs: 600_000, seed: 1 };

export async function spreadFigures(): Promise<Situation[]> {
  const limited = await tokenFigure("three processes at limit 16", {});
  const changing = await tokenFigure("three processes at limit 16, executions of 6 s", {
    executionMs: 6_000,
    arriveEveryMs: 2_000,
  });
  const slow = await tokenFigure("three processes at limit 16, tasks of 500 ms", { taskMs: 500 });
  const rated: Situation[] = [];
  for (const heldMs of heldForMs) rated.push(await rateFigure(heldMs));
  return [limited, changing, slow, ...rated];
}

async function rateFigure(heldMs: number): Promise<Situation> {
  const { statements, begun } = await spread({
    ...shared,
    hosts: 50,
    limit: null,
    perSecond: 10,
    tasks: 1_000,
    lastsMs: seconds * 1_000,
    rateHeldMs: heldMs,
  });
  return {
    name: `50 workers on a rate of 10/s, its row held for ${String(heldMs)} ms`,
    figures: {
      "calls a second": round(statements / seconds),
      tasks: begun.flat().length,
    },
  };
}

async function tokenFigure(name: string, change: Partial<SpreadOptions>): Promise<Situation> {
  const { begun, tokenCommits, tokenLocks } = await spread({
    ...shared,
    hosts: 3,
    limit: 16,
    tasks: 10_000,
    lastsMs: seconds * 1_000,
    ...change,
  });
  const tasks = begun.flat().length;
  return {
    name,
    figures: {
      tasks,
      "commits on the definition's row per 20": round((20 * tokenCommits) / tasks),
      "calls that lock it per 20": round((20 * tokenLocks) / tasks),
    },
  };
}

function round(value: number): number {
  return Number(value.toFixed(2));
}
