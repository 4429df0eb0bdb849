import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Finding } from "./replay";
import { checkEnd, replay, takeChecked } from "./replay";
import type { Choice, Scenario, StepReport } from "./run";
import { Run, printSchedule } from "./run";

/** Where a search ends without having seen everything. */
export interface Bounds {
  readonly statesMost: number;
  readonly msMost: number;
}

export const defaultBounds: Bounds = { statesMost: 200_000, msMost: 100_000 };

/** Says which orders need not be told apart. Callers are numbered from 0. */
export interface Reducer {
  /** Of all choices of a state those to be tried. */
  readonly choose: (run: Run, choices: readonly Choice[]) => readonly Choice[];
  /** Where all callers are, for `commuting`. */
  readonly standing: (run: Run) => unknown;
  /** Of these callers those whose next step from there, and the step that this one has just taken, don't notice each other. */
  readonly commuting: (
    standing: unknown,
    callers: readonly number[],
    caller: number,
  ) => readonly number[];
  /** What it knows of the steps that led to a state; a run that comes there again isn't shown to it on the way. */
  readonly save: () => unknown;
  readonly restore: (saved: unknown) => void;
}

export interface ExploreOptions {
  readonly bounds?: Bounds;
  readonly reducer?: Reducer;
  /** Sees each step of the search once, whatever the checks say. */
  readonly watch?: (run: Run, report: StepReport) => void;
}

/** What a search has seen. */
export interface Exploration {
  /** Different states; each is entered once. */
  readonly states: number;
  /** Steps taken, with those that led back to a state. */
  readonly steps: number;
  /** States in which everybody has ended. */
  readonly ends: number;
  /** Orders of steps that these states stand for: paths through their graph; with a reducer those that were not left out. */
  readonly interleavings: bigint;
  /** Steps that ended in a queue. */
  readonly waits: number;
  /** Circles of waiters, each with the callers in it, by their names. */
  readonly deadlocks: readonly {
    readonly members: readonly string[];
    readonly schedule: readonly Choice[];
  }[];
  /** Everything was seen, or a finding ended the search. */
  readonly isComplete: boolean;
  readonly finding: Finding | undefined;
}

/**
 * Takes a scenario through every order of its steps: depth first, each order from the beginning again, since a state
 * can't be copied. A state that was seen before isn't entered again. Ends at the first problem.
 */
export function explore(scenario: Scenario, options: ExploreOptions = {}): Exploration {
  const search = new Search(scenario, options);
  search.start();
  return search.result();
}

/** As `explore`, for tests: throws the finding, or that the bounds were too narrow. */
export function exploreAll(scenario: Scenario, options: ExploreOptions = {}): Exploration {
  const result = explore(scenario, options);
  if (result.finding !== undefined) {
    const { problem, schedule, trace } = result.finding;
    throw new Error([problem, `schedule: ${printSchedule(schedule)}`, ...trace].join("\n"));
  }
  if (!result.isComplete) {
    throw new Error(
      `The search ended at its bounds after ${String(result.states)} states: this proves nothing`,
    );
  }
  return result;
}

/** A state that was entered. */
interface Known {
  /** From here to ends; undefined while it is being entered. */
  paths: bigint | undefined;
  /** Callers whose step from here is left out, as it was taken before and everything since commutes with it. */
  asleep: readonly number[];
}

/** Ends a search. */
class Stop extends Error {}

class Search {
  readonly #scenario: Scenario;
  readonly #options: ExploreOptions;
  readonly #bounds: Bounds;
  readonly #startMs = performance.now();
  readonly #known = new Map<string, Known>();
  readonly #deadlocks = new Map<string, Exploration["deadlocks"][number]>();
  #steps = 0;
  #ends = 0;
  #waits = 0;
  #interleavings = 0n;
  #isComplete = true;
  #finding: Finding | undefined;

  constructor(scenario: Scenario, options: ExploreOptions) {
    this.#scenario = scenario;
    this.#options = options;
    this.#bounds = options.bounds ?? defaultBounds;
  }

  start(): void {
    try {
      this.#interleavings = this.#visit(new Run(this.#scenario, true), []);
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
    }
  }

  result(): Exploration {
    return {
      states: this.#known.size,
      steps: this.#steps,
      ends: this.#ends,
      interleavings: this.#interleavings,
      waits: this.#waits,
      deadlocks: [...this.#deadlocks.values()],
      isComplete: this.#isComplete,
      finding: this.#finding,
    };
  }

  /**
   * Enters a state; the run is used up. Gives the number of paths from here. Callers that are asleep needn't move first here
   * (sleep sets, with states remembered: P. Godefroid, chapter 5 of the work that reduction.ts names).
   */
  #visit(run: Run, asleep: readonly number[]): bigint {
    const key = keyOf(run);
    const known = this.#known.get(key);
    if (known !== undefined) return this.#visitAgain(run, known, asleep);
    this.#checkBounds();
    const entered: Known = { paths: undefined, asleep };
    this.#known.set(key, entered);
    entered.paths = this.#enter(run, entered);
    return entered.paths;
  }

  /** Who was asleep when the state was entered, and isn't now, moves. */
  #visitAgain(run: Run, known: Known, asleep: readonly number[]): bigint {
    if (known.paths === undefined)
      throw new Error("A state leads back to itself: the callers turn in a circle");
    const woken = known.asleep.filter((caller) => !asleep.includes(caller));
    if (woken.length === 0) return known.paths;
    known.asleep = known.asleep.filter((caller) => asleep.includes(caller));
    const choices = run.choices().filter(({ caller }) => woken.includes(caller));
    known.paths += this.#tryAll(run, choices, known.asleep);
    return known.paths;
  }

  #enter(run: Run, state: Known): bigint {
    const choices = run.choices();
    if (choices.length === 0) {
      this.#ends += 1;
      this.#report(run.schedule, checkEnd(run));
      return 1n;
    }
    // What isn't a step commutes with nothing.
    if (choices.some(({ action }) => action !== "step")) state.asleep = [];
    const chosen = this.#options.reducer?.choose(run, choices) ?? choices;
    const awake = chosen.filter(({ caller }) => !state.asleep.includes(caller));
    return this.#tryAll(run, awake, state.asleep);
  }

  #tryAll(run: Run, choices: readonly Choice[], asleep: readonly number[]): bigint {
    const { reducer } = this.#options;
    const prefix = [...run.schedule];
    const [saved, standing] = [reducer?.save(), reducer?.standing(run)];
    const areSteps = choices.every(({ action }) => action === "step");
    const resting = [...asleep];
    let paths = 0n;
    for (const [index, choice] of choices.entries()) {
      const child = index === 0 ? run : this.#again(prefix);
      if (index > 0) reducer?.restore(saved);
      this.#take(child, choice);
      const { caller } = choice;
      const commuting = areSteps ? reducer?.commuting(standing, resting, caller) : undefined;
      paths += this.#visit(child, commuting ?? []);
      resting.push(caller);
    }
    return paths;
  }

  #take(run: Run, choice: Choice): void {
    this.#steps += 1;
    const { report, problem } = takeChecked(run, choice);
    if (report !== undefined) {
      this.#options.watch?.(run, report);
      if (report.wait !== undefined) this.#waits += 1;
      if (report.deadlocks > 0) this.#noteDeadlock(run.schedule);
    }
    this.#report(run.schedule, problem);
  }

  #report(schedule: readonly Choice[], problem: string | undefined): void {
    if (problem === undefined) return;
    this.#finding = { ...replay(this.#scenario, schedule), problem };
    throw new Stop(problem);
  }

  /** Who was in it: the engine has broken it already, but a second run tells. */
  #noteDeadlock(schedule: readonly Choice[]): void {
    const { trace } = replay(this.#scenario, schedule);
    const text = trace.find((line) => line.startsWith("deadlock of "));
    const numbers = text?.match(/\d+/g)?.slice(0, -1) ?? [];
    const members = numbers
      .map((number) => this.#scenario.callers[Number(number) - 1]?.name ?? number)
      .sort();
    const key = members.join();
    if (!this.#deadlocks.has(key)) this.#deadlocks.set(key, { members, schedule: [...schedule] });
  }

  /** Comes to a state once more. */
  #again(prefix: readonly Choice[]): Run {
    const run = new Run(this.#scenario, true);
    const { recorder } = run.world;
    run.world.recorder = undefined;
    for (const choice of prefix) run.take(choice);
    run.world.recorder = recorder;
    this.#steps += prefix.length;
    return run;
  }

  #checkBounds(): void {
    const { statesMost, msMost } = this.#bounds;
    if (this.#known.size < statesMost && performance.now() - this.#startMs < msMost) return;
    this.#isComplete = false;
    throw new Stop("the bounds are reached");
  }
}

/** 160 bits: two states that share them by chance are not to be expected. */
function keyOf(run: Run): string {
  return createHash("sha1").update(run.fingerprint()).digest("base64");
}
