import type { Call } from "./call";
import { titled } from "./difference";
import type { Difference } from "./difference";
import { eventsOf } from "./events";
import type { Knowledge } from "./knowledge";
import { perform } from "./perform";
import type { Outcome } from "./perform";
import { isSame } from "./same";
import { UnknownName } from "./side";
import type { Side } from "./side";

/** A history while it runs: the answers so far. */
export class HistoryRun {
  readonly known: Knowledge;
  readonly calls: Call[] = [];
  readonly counts = new Map<string, number>();

  constructor(known: Knowledge) {
    this.known = known;
  }

  /** Makes the call on all stores; throws when they answer differently. Does nothing when it names what isn't there. */
  async make(call: Call, stores: readonly Side[], connection: number): Promise<void> {
    const sides = stores.map((side) => side.through(connection));
    const outcomes = await performAll(sides, call);
    if (outcomes === undefined) return;
    this.calls.push({ ...call, connection });
    compareOutcomes(sides, call, outcomes);
    const [outcome] = outcomes;
    if (outcome === undefined) throw new Error("There is no store to run a history on");
    this.known.learn(call, outcome);
    for (const event of eventsOf(call, outcome)) {
      this.counts.set(event, (this.counts.get(event) ?? 0) + 1);
    }
  }
}

/** Ends a history. */
export class AnswersDiffer extends Error {
  readonly difference: Difference;

  constructor(difference: Difference) {
    super(difference.what);
    this.difference = difference;
  }
}

/** undefined: it refers to what isn't there, on all of them. */
async function performAll(sides: readonly Side[], call: Call): Promise<Outcome[] | undefined> {
  try {
    return await Promise.all(sides.map((side) => perform(side, call)));
  } catch (error) {
    if (error instanceof UnknownName) return undefined;
    throw error;
  }
}

function compareOutcomes(sides: readonly Side[], call: Call, outcomes: readonly Outcome[]): void {
  const [first] = outcomes;
  if (outcomes.every((outcome) => isSame(outcome, first))) return;
  const what = `the answer of call ${call.id} (${call.do})`;
  throw new AnswersDiffer({ call, what, sides: titled(sides, outcomes) });
}
