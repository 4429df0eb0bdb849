import type { LockMode } from "../locks/modes";
import type { Index } from "../storage/index";
import type { AccessRecorder, Change, LockTouch, Sight } from "../storage/recorder";
import { fullName } from "../storage/schema";
import type { SqlValue } from "../values";
import { search } from "./explore";
import type { Exploration, Reducer } from "./explore";
import type { Choice, Run, Scenario } from "./run";
import { StateGraph } from "./state-graph";
import type { GraphOptions, Learner } from "./state-graph";

/*
 * Fewer orders for the same answer. A step that touches nothing which another caller may touch from now on can be taken at
 * once: every order in which it comes later differs from this one only by swapping neighbours that don't notice each other
 * (a persistent set of one step: P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996).
 * Runs end, so no step is put off for ever, and every state without a next step is still reached; so is every wait, every
 * circle and every committed state of each row, as those are made by steps that do touch the same things.
 *
 * Where two steps of a state don't notice each other, the second order of them is left out as well (sleep sets, in the same
 * work): explore.ts does that, and asks here which they are.
 *
 * The effects of a step, and of the steps after it, are learnt: by caller, and by all that the caller has seen so far, of which
 * its next step is a function. A search that learns anything goes through the graph again, and takes what steps it finds
 * missing now. When one has learnt nothing, what it took for granted held in every step that it passed, and so in all: the
 * first step that broke it in some order would follow steps that kept it, and those lead through what it has passed.
 */

/** Bits of the touched parts. */
interface Footprint {
  /** Looked at: a lock's table, keys that begin so. */
  reads: bigint;
  /** Looked at as of the statement's snapshot. */
  looksBack: bigint;
  /** Changed for those who look: a lock, a key, and all that keys begin with. */
  writes: bigint;
  /** Of that, what two can't change in either order: a lock, a whole key, a sequence. */
  owns: bigint;
}

/** Where a caller can be: what its next step touches, and what everything from here on may touch. */
interface Place {
  readonly step: Footprint;
  readonly future: Footprint;
  readonly before: Set<Place>;
  /** Has a step been taken from here? */
  isKnown: boolean;
}

/** Where all callers are, by their numbers. */
type Standing = readonly { readonly place: Place; readonly isDone: boolean }[];

const nothing: Readonly<Footprint> = { reads: 0n, looksBack: 0n, writes: 0n, owns: 0n };

function conflict(left: Readonly<Footprint>, right: Readonly<Footprint>): boolean {
  return (
    (left.writes & right.reads) !== 0n ||
    (left.reads & right.writes) !== 0n ||
    (left.owns & right.owns) !== 0n
  );
}

/** Adds bits; says whether there were any new ones. */
function widen(own: Footprint, more: Readonly<Footprint>): boolean {
  const reads = own.reads | more.reads;
  const looksBack = own.looksBack | more.looksBack;
  const writes = own.writes | more.writes;
  const owns = own.owns | more.owns;
  if (
    reads === own.reads &&
    looksBack === own.looksBack &&
    writes === own.writes &&
    owns === own.owns
  )
    return false;
  Object.assign(own, { reads, looksBack, writes, owns });
  return true;
}

/** By connection: the place of the step that took the snapshot which it reads by. */
type Snapshots = ReadonlyMap<number, Place>;

type Stander = Parameters<AccessRecorder["begins"]>[0];

/** The known facts of a scenario's steps; chooses the orders that need be tried. */
class Reduction implements AccessRecorder, Learner, Reducer {
  readonly #bits = new Map<string, bigint>();
  /** With a key's bit those of all that it begins with. */
  readonly #written = new Map<bigint, bigint>();
  readonly #places = new Map<string, Place>();
  #snapshots = new Map<number, Place>();
  /** Whose step is under way, from where, and what it has touched. */
  #connection = 0;
  #own: Place | undefined;
  #step: Readonly<Footprint> = nothing;
  #hasLearnt = false;
  /** May it try one step where it can't say yet which are needed? */
  #mayGuess = true;
  #hasGuessed = false;

  /** Is what was chosen since this was asked last all that is needed? */
  takeIsSettled(): boolean {
    this.#endStep();
    const isSettled = !this.#hasLearnt && !this.#hasGuessed;
    // Where guesses teach no more, everything is tried.
    this.#mayGuess = this.#hasLearnt;
    this.#hasLearnt = false;
    this.#hasGuessed = false;
    return isSettled;
  }

  /** A new run: no caller has taken a step. */
  reset(): void {
    this.#endStep();
    this.#snapshots.clear();
    this.#own = undefined;
  }

  save(): Snapshots {
    this.#endStep();
    return new Map(this.#snapshots);
  }

  restore(saved: unknown): void {
    this.#endStep();
    this.#snapshots = new Map(saved as Snapshots);
    this.#own = undefined;
  }

  // ---- learning

  begins(connection: Stander): void {
    this.#endStep();
    const own = this.#placeOf(connection);
    if (!own.isKnown) {
      own.isKnown = true;
      this.#hasLearnt = true;
    }
    this.#connection = connection.id;
    this.#own = own;
  }

  /** A step that may come after a caller's place now may come after its earlier place. */
  passes(from: unknown, to: unknown): void {
    for (const [caller, { place }] of (to as Standing).entries()) {
      const last = (from as Standing)[caller]?.place;
      if (last === undefined || last === place || place.before.has(last)) continue;
      place.before.add(last);
      this.#hasLearnt = true;
      this.#spread(last, place.future);
    }
  }

  #endStep(): void {
    const step = this.#step;
    this.#step = nothing;
    const own = this.#own;
    this.#add(own, step);
    // What a statement reads by its snapshot, also later, was decided in the moment of that.
    const { looksBack } = step;
    if (looksBack === 0n) return;
    this.#add(this.#snapshots.get(this.#connection) ?? own, { ...nothing, reads: looksBack });
  }

  #add(own: Place | undefined, more: Readonly<Footprint>): void {
    if (own === undefined || !widen(own.step, more)) return;
    this.#hasLearnt = true;
    this.#spread(own, more);
  }

  /** Into the future of a place, and of all that come before it. */
  #spread(from: Place, more: Readonly<Footprint>): void {
    const pending = [from];
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      if (widen(place.future, more)) pending.push(...place.before);
    }
  }

  mark(): Readonly<Footprint> {
    return this.#step;
  }

  rewind(mark: Readonly<Footprint>): void {
    this.#step = mark;
  }

  reads(index: Index, start: readonly SqlValue[], sight: Sight): void {
    const name = keyName(index, start);
    if (sight === "committed") {
      this.#touch({ looksBack: this.#bit(`committed ${name}`) });
      return;
    }
    const entries = this.#bit(name);
    this.#touch({ reads: sight === "all" ? entries | this.#bit(`open ${name}`) : entries });
  }

  takesSnapshot(): void {
    if (this.#own !== undefined) this.#snapshots.set(this.#connection, this.#own);
  }

  /**
   * A reader of the key, or of keys that begin as it does, sees the difference, if its view has one:
   *
   * - until the commit a snapshot shows the versions before, for all writes;
   * - who looks for keys to lock finds the key of a row that is changed or deleted until the commit, and then its lock, which
   *   the writer holds: only there can he tell.
   */
  writes(index: Index, key: readonly SqlValue[], change: Change): void {
    const kinds = [
      "open ",
      ...(change === "row" ? [] : [""]),
      ...(change === "commit" ? ["committed "] : []),
    ];
    for (const kind of kinds) {
      const own = this.#bit(`${kind}${keyName(index, key)}`);
      let writes = this.#written.get(own);
      if (writes === undefined) {
        writes = own;
        for (let length = 0; length < key.length; length += 1) {
          writes |= this.#bit(`${kind}${keyName(index, key.slice(0, length))}`);
        }
        this.#written.set(own, writes);
      }
      // Two can't change one row: both would hold its lock.
      this.#touch({ writes, owns: change === "row" ? 0n : own });
    }
  }

  /**
   * Intents never keep each other waiting, nor do tests of gaps: those meet locks of ranges only, for which the index stands.
   * Of a key, a request or return of S matters to those who want X, not to others who want S or U; a request of U matters
   * to others who want U or X, not to those who want S; and a request of U or X is refused by its holder in the same way before and
   * after that one's U becomes X, only a request of S can tell. Everything else at a lock, and each change of a queue, matters to
   * all who come there.
   */
  locks(resource: string, mode: LockMode, what: LockTouch): void {
    if (mode.startsWith("RangeI-")) {
      this.#touch({ reads: this.#bit(gapsOf(resource)) });
      return;
    }
    if (mode.startsWith("Range")) this.#change(gapsOf(resource));
    const bit = this.#bit(resource);
    const isKey = resource.startsWith("KEY ") && what !== "waits";
    if (mode === "IS" || mode === "IX" || (isKey && mode === "S")) this.#touch({ reads: bit });
    else if (isKey && mode === "U") this.#touch({ owns: bit });
    else if (isKey && what === "converts") this.#touch({ writes: bit });
    else this.#touch({ writes: bit, owns: bit });
  }

  draws(name: string): void {
    this.#change(name);
  }

  #change(name: string): void {
    const bit = this.#bit(name);
    this.#touch({ writes: bit, owns: bit });
  }

  /** A new one each time: marks hold the last one. */
  #touch({ reads = 0n, looksBack = 0n, writes = 0n, owns = 0n }: Partial<Footprint>): void {
    const step = this.#step;
    this.#step = {
      reads: step.reads | reads,
      looksBack: step.looksBack | looksBack,
      writes: step.writes | writes,
      owns: step.owns | owns,
    };
  }

  #placeOf(connection: Stander): Place {
    const key = placeKey(connection);
    let own = this.#places.get(key);
    if (own === undefined) {
      own = { step: { ...nothing }, future: { ...nothing }, before: new Set(), isKnown: false };
      this.#places.set(key, own);
    }
    return own;
  }

  #bit(name: string): bigint {
    let bit = this.#bits.get(name);
    if (bit === undefined) {
      bit = 1n << BigInt(this.#bits.size);
      this.#bits.set(name, bit);
    }
    return bit;
  }

  // ---- choosing

  standing(run: Run): Standing {
    return run.callers.map(({ connection, isDone }) => ({
      place: this.#placeOf(connection),
      isDone,
    }));
  }

  /** As few steps as can be, of which no other can notice any: one, or some, or all choices. */
  choose(standing: unknown, choices: readonly Choice[]): readonly Choice[] {
    this.#endStep();
    if (choices.length < 2 || choices.some(({ action }) => action !== "step")) return choices;
    const live = [...(standing as Standing).entries()]
      .filter(([, { isDone }]) => !isDone)
      .map(([caller, { place }]): Live => {
        const mayStep = choices.some((choice) => choice.caller === caller);
        return { caller, place, mayStep };
      });
    const unknown = live.find(({ place }) => !place.isKnown);
    if (unknown !== undefined) return this.#guess(unknown, choices);
    const sets = live
      .filter(({ mayStep }) => mayStep)
      .flatMap((first) => closed(first, live) ?? []);
    const least = sets.reduce((one, other) => (other.size < one.size ? other : one), new Set(live));
    return choices.filter(({ caller }) => [...least].some((own) => own.caller === caller));
  }

  /** From a place where no caller has gone on yet, anything may be touched: one goes on, and then it is read again. */
  #guess({ caller }: Live, choices: readonly Choice[]): readonly Choice[] {
    if (!this.#mayGuess) return choices;
    this.#hasGuessed = true;
    return [choices.find((choice) => choice.caller === caller) ?? choices[0]].flatMap(
      (choice) => choice ?? [],
    );
  }

  // ---- commuting

  commuting(standing: unknown, callers: readonly number[], caller: number): readonly number[] {
    if (callers.length === 0) return callers;
    this.#endStep();
    const places = standing as Standing;
    const taken = places[caller]?.place.step;
    return callers.filter((other) => {
      const step = places[other]?.place.step;
      return taken !== undefined && step !== undefined && !conflict(taken, step);
    });
  }
}

/** A caller that hasn't ended: its place, and whether it could take a step now. */
interface Live {
  readonly caller: number;
  readonly place: Place;
  readonly mayStep: boolean;
}

/**
 * Callers whose next steps none of the others can notice, from now on: with each one that can, until none that can is left out.
 * undefined: a waiting caller could; any other may let it go on.
 */
function closed(first: Live, live: readonly Live[]): Set<Live> | undefined {
  const set = new Set([first]);
  for (const own of set) {
    for (const other of live) {
      if (set.has(other) || !conflict(own.place.step, other.place.future)) continue;
      if (!other.mayStep) return undefined;
      set.add(other);
    }
  }
  return set;
}

/** All that a caller has seen since its request began decides what its next step does. */
function placeKey({ id, observed, place }: Stander): string {
  return `${String(id)} ${String(observed)} ${place.moduleName}:${String(place.line)}`;
}

/** Keys that begin so. */
function keyName(index: Index, start: readonly SqlValue[]): string {
  return `${fullName(index.table)}.${index.schema.name}|${start.map(String).join("|")}`;
}

/** The gaps of a key's index: `KEY dbo.T.PK_T(1)` lies in one of `KEY dbo.T.PK_T`. */
function gapsOf(resource: string): string {
  return `gaps of ${resource.slice(0, resource.indexOf("("))}`;
}

/** A search that still learns after so many rounds is a fault of this file. */
const roundsMax = 500;

/** As `explore`, with the orders that need be told apart only. */
export function exploreReduced(scenario: Scenario, options: GraphOptions = {}): Exploration {
  const reduction = new Reduction();
  const watched: Scenario = {
    ...scenario,
    world: () => {
      const world = scenario.world();
      reduction.reset();
      world.recorder = reduction;
      return world;
    },
  };
  const graph = new StateGraph(watched, { ...options, learner: reduction });
  for (let round = 1; round <= roundsMax; round += 1) {
    const result = search(graph, reduction);
    if (result.finding !== undefined || !result.isComplete || reduction.takeIsSettled())
      return result;
  }
  throw new Error("The search never stops learning what its steps touch");
}
