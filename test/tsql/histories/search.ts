import fc from "fast-check";
import { Dice } from "../../support/dice";
import type { Difference } from "./difference";
import { runCalls, runTurns } from "./history";
import type { HistoryResult, OpenStores, Turns } from "./history";
import { Knowledge } from "./knowledge";
import { chooseTaste } from "./random-calls";
import { connectionCount } from "./sql-stores";
import { HistoryCommand, Turn } from "./turn";

/** The outcome of a history that differs. */
type Differing = HistoryResult & { readonly difference: Difference };

/** Where to look for a history that differs. */
export interface Search {
  readonly seed: number;
  /** How many histories. */
  readonly runs: number;
  /** Of at most so many calls each. */
  readonly calls: number;
  /** Only that history of the seed's, as `Found` tells it. */
  readonly path?: string;
  /** Told of each history; not of its shortened forms. */
  readonly onRun?: (result: HistoryResult) => void;
}

/** A history that differs, as short as it became. */
export interface Found extends Differing {
  /** Which of the seed's histories it was. */
  readonly path: string;
  /** How many calls it had at first. */
  readonly length: number;
}

/** Histories made, run and shortened by fast-check, until one differs. undefined: none does. */
export async function search(open: OpenStores, asked: Search): Promise<Found | undefined> {
  const { seed, runs, calls, path, onRun } = asked;
  let length: number | undefined;
  const property = fc.asyncProperty(tastes, turns(calls), async (taste, commands) => {
    const result = await runTurns(open, new Knowledge(taste.value), commands);
    if (length === undefined) onRun?.(result);
    if (!differs(result)) return;
    length ??= result.calls.length;
    throw new Differs(result);
  });
  const details = await fc.check(property, {
    seed,
    numRuns: runs,
    ...(path === undefined ? {} : { path }),
  });
  if (!details.failed) return undefined;
  const { errorInstance: error, counterexamplePath } = details;
  if (!(error instanceof Differs)) throw error;
  // Turns are drawn in their first run, so that its place is where a repeat must begin.
  const [first = ""] = (counterexamplePath ?? "").split(":");
  return { ...(await withoutLast(open, error.result)), path: first, length: length ?? 0 };
}

/** fast-check never leaves out the last one, which it takes for the one that failed: where the rest differs, it needn't be. */
async function withoutLast(open: OpenStores, result: Differing): Promise<Differing> {
  if (result.difference.call !== undefined) return result;
  const shorter = await runCalls(open, result.calls.slice(0, -1));
  return differs(shorter) ? shorter : result;
}

function differs(result: HistoryResult): result is Differing {
  return result.difference !== undefined;
}

/** Carries the outcome of the shortest history. */
class Differs extends Error {
  readonly result: Differing;

  constructor(result: Differing) {
    super(result.difference.what);
    this.result = result;
  }
}

const dice = fc.noBias(fc.integer({ min: 0, max: 0xffff_ffff })).map((seed) => new Dice(seed));
const tastes = fc.noShrink(dice.map((thrown) => ({ value: chooseTaste(thrown) })));

/**
 * Turns are left out, and go through the first connection where that shows it as well; what they ask for stays as it is.
 */
function turns(calls: number): fc.Arbitrary<Turns> {
  const turn = fc.noShrink(dice.map((thrown) => new Turn(thrown)));
  const command = fc
    .tuple(turn, fc.nat(connectionCount - 1))
    .map(([drawn, connection]) => new HistoryCommand(drawn, connection));
  return fc.commands([command], { maxCommands: calls, size: "max", disableReplayLog: true });
}
