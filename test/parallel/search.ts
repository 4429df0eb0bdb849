import fc from "fast-check";
import { Dice } from "../support/dice";
import type { Action } from "../tsql/histories/call";
import { chooseOfKind, chooseTaste } from "../tsql/histories/random-calls";
import type { HistoryStore } from "../tsql/histories/side";
import { numbered } from "../tsql/histories/turn";
import { repeats, runParallel, Step } from "./run";
import type { RunResult } from "./run";

/** Opens an empty store with as many connections as parties can be. */
export type OpenStore = () => Promise<HistoryStore>;

/** Where to look for a run that breaks a promise. */
export interface Search {
  readonly seed: number;
  /** How many runs. */
  readonly runs: number;
  /** Of at most so many steps per party. */
  readonly steps: number;
  /** Only that run of the seed's, as `Found` tells it. */
  readonly path?: string;
  /** Told of each run; not of its shortened forms. */
  readonly onRun?: (result: RunResult) => void;
}

/** A run that breaks a promise, as short as it became. */
export interface Found extends RunResult {
  readonly broken: string;
  readonly path: string;
}

/** Parties at the same time. */
export const partiesMax = 5;
const partiesLeast = 3;

/** Steps of a party, unless a test has a reason for fewer. */
export const stepsMax = 40;

/** How often each kind is tried; a party that lacks the means for it asks for tokens. */
const kinds = {
  start: 8,
  acquire: 4,
  release: 3,
  releaseSurplus: 2,
  work: 40,
  complete: 6,
  fail: 8,
  heartbeat: 4,
  progress: 1,
  finish: 5,
  reclaim: 4,
  enqueue: 24,
  promote: 4,
  sweep: 1,
  explain: 1,
  transaction: 4,
  requestCancel: 2,
  advance: 4,
  cancel: 3,
  redrive: 3,
  redriveFound: 2,
  reschedule: 3,
  setGroup: 2,
  setRate: 1,
  setLimit: 1,
  pause: 1,
  resume: 2,
  purge: 1,
  createBatch: 1,
  startBatch: 2,
  pumpBatch: 2,
  resumeBatch: 1,
  cancelBatch: 1,
} as const satisfies Partial<Record<Action["do"], number>>;

/** A run that has broken a promise is made shorter for so long: it is worth more told than shortest. */
const shortenMs = 200_000;

/** Runs made and shortened by fast-check, until one breaks a promise. undefined: none does. */
export async function search(open: OpenStore, asked: Search): Promise<Found | undefined> {
  const { seed, runs, steps, path, onRun } = asked;
  let hasBroken = false;
  const property = fc.asyncProperty(tastes, lists(steps), async (taste, parties) => {
    for (let left = hasBroken || path !== undefined ? repeats : 1; left > 0; left -= 1) {
      const result = await runParallel(await open(), taste.value, parties);
      if (!hasBroken) onRun?.(result);
      if (!isBroken(result)) continue;
      hasBroken = true;
      throw new BrokenRun(result);
    }
  });
  const where = path === undefined ? {} : { path };
  const details = await fc.check(property, {
    ...{ seed, numRuns: runs, plugins: [fc.interruptAfterTimeLimit(shortenMs)] },
    ...where,
  });
  if (!details.failed) return undefined;
  const { errorInstance: error, counterexamplePath } = details;
  if (!(error instanceof BrokenRun)) throw error;
  const [first = ""] = (counterexamplePath ?? "").split(":");
  return { ...error.result, path: first };
}

/** Carries the outcome of the shortest run. */
class BrokenRun extends Error {
  readonly result: RunResult & { readonly broken: string };

  constructor(result: RunResult & { readonly broken: string }) {
    super(result.broken);
    this.result = result;
  }
}

function isBroken(result: RunResult): result is RunResult & { readonly broken: string } {
  return result.broken !== undefined;
}

const lots = fc.noShrink(fc.noBias(fc.integer({ min: 0, max: 0xffff_ffff })));
const tastes = lots.map((lot) => ({ value: chooseTaste(new Dice(lot)) }));

/**
 * The kind of a step stands fast, the rest is chosen anew whenever it runs, from its lot and from what its party knows: who gets
 * which task is another one each time.
 */
const step = fc
  .tuple(
    fc.oneof(
      ...Object.entries(kinds).map(([kind, weight]) => {
        return { weight, arbitrary: fc.constant(kind as keyof typeof kinds) };
      }),
    ),
    lots,
  )
  .map(
    ([kind, lot]) =>
      new Step((known, id) => {
        const dice = new Dice(lot);
        const action = chooseOfKind(dice, known, kind) ?? chooseOfKind(dice, known, "start");
        return action === undefined ? undefined : numbered(id, withOneAddition(action));
      }),
  );

/**
 * A transaction that adds tasks twice takes dedupe keys in an order of its own: two of them may wait for each other, and
 * one of them is undone. That is theirs to know, and breaks no promise.
 */
function withOneAddition(action: Action): Action {
  if (action.do !== "transaction") return action;
  const first = action.calls.findIndex((call) => call.do !== "complete");
  const calls = action.calls.filter((call, index) => call.do === "complete" || index === first);
  return { ...action, calls };
}

function lists(steps: number): fc.Arbitrary<Step[][]> {
  return fc.array(fc.array(step, { maxLength: steps, size: "max" }), {
    minLength: partiesLeast,
    maxLength: partiesMax,
    size: "max",
  });
}
