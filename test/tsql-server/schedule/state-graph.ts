import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Finding } from "./replay";
import { checkEnd, replay, takeChecked } from "./replay";
import type { Choice, Scenario, StepReport } from "./run";
import { Run } from "./run";

/*
 * The states of a scenario and the steps between them, as far as they were asked for. A state can't be copied, so a
 * run comes to it from the beginning again; but each step is taken once, however often a search passes.
 */

/** Where a search ends without having seen everything. */
export interface Bounds {
  readonly statesMax: number;
  readonly msMax: number;
}

export const defaultBounds: Bounds = { statesMax: 200_000, msMax: 100_000 };

/** The known facts of places while steps are taken; of no interest to the graph. */
export interface Learner {
  /** Where all callers are. */
  readonly standing: (run: Run) => unknown;
  /** What it must know to go on with a run that it hasn't followed. */
  readonly save: () => unknown;
  readonly restore: (saved: unknown) => void;
  /** A step was taken for the first time. */
  readonly passes: (from: unknown, to: unknown) => void;
}

/** One state. */
export interface State {
  /** Everything that may happen next; nothing: every caller has ended. */
  readonly choices: readonly Choice[];
  /** As the learner sees it. */
  readonly standing: unknown;
  readonly saved: unknown;
  /** The first way that led here; undefined: the beginning. */
  readonly before: { readonly state: State; readonly choice: Choice } | undefined;
  /** By choice, in the order of `choices`; undefined: not taken yet. */
  readonly steps: (Step | undefined)[];
}

export interface Step {
  readonly to: State;
  /** The caller stands in a queue now. */
  readonly isWait: boolean;
}

/** A circle of waiters. */
export interface Deadlock {
  /** By their names. */
  readonly members: readonly string[];
  readonly schedule: readonly Choice[];
}

/** Ends a search: at a finding, or at its bounds. */
export class Stop extends Error {}

export interface GraphOptions {
  readonly bounds?: Bounds;
  readonly learner?: Learner;
  /** Sees each step once, for any result of the checks. */
  readonly watch?: (run: Run, report: StepReport) => void;
}

export class StateGraph {
  readonly #scenario: Scenario;
  readonly #options: GraphOptions;
  readonly #bounds: Bounds;
  readonly #startMs = performance.now();
  readonly #known = new Map<string, State>();
  readonly #deadlocks = new Map<string, Deadlock>();
  /** A run that stands at a state: who goes on from there needn't come again. */
  #live: { readonly run: Run; readonly at: State } | undefined;
  #first: State | undefined;
  #stepsTaken = 0;
  #finding: Finding | undefined;
  #isCutShort = false;

  constructor(scenario: Scenario, options: GraphOptions) {
    this.#scenario = scenario;
    this.#options = options;
    this.#bounds = options.bounds ?? defaultBounds;
  }

  get size(): number {
    return this.#known.size;
  }

  /** With those that came to a state once more. */
  get stepsTaken(): number {
    return this.#stepsTaken;
  }

  get deadlocks(): readonly Deadlock[] {
    return [...this.#deadlocks.values()];
  }

  get finding(): Finding | undefined {
    return this.#finding;
  }

  /** The bounds ended it. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  first(): State {
    this.#first ??= this.#arrive(new Run(this.#scenario, true), undefined);
    return this.#first;
  }

  /** Takes one of a state's choices. Throws Stop where something is wrong. */
  take(state: State, choice: Choice): Step {
    const place = state.choices.indexOf(choice);
    const known = state.steps[place];
    if (known !== undefined) return known;
    const run = this.#runAt(state);
    this.#live = undefined;
    const isWait = this.#step(run, choice);
    const to = this.#arrive(run, { state, choice });
    this.#options.learner?.passes(state.standing, to.standing);
    const step = { to, isWait };
    state.steps[place] = step;
    return step;
  }

  #step(run: Run, choice: Choice): boolean {
    this.#stepsTaken += 1;
    const { report, problem } = takeChecked(run, choice);
    if (report !== undefined) {
      this.#options.watch?.(run, report);
      if (report.deadlocks > 0) this.#noteDeadlock(run.schedule);
    }
    this.#report(run.schedule, problem);
    return report?.wait !== undefined;
  }

  /** The state in which a run stands, as it is known or as a new one. */
  #arrive(run: Run, before: State["before"]): State {
    const key = keyOf(run);
    let state = this.#known.get(key);
    if (state === undefined) {
      this.#checkBounds();
      const { learner } = this.#options;
      const choices = run.choices();
      const [standing, saved] = [learner?.standing(run), learner?.save()];
      state = { choices, standing, saved, before, steps: [] };
      this.#known.set(key, state);
      if (choices.length === 0) this.#report(run.schedule, checkEnd(run));
    }
    // Also in a known state: the learner must not take what another way has shown for this one.
    this.#live = state.before === before ? { run, at: state } : undefined;
    return state;
  }

  #runAt(state: State): Run {
    return this.#live?.at === state ? this.#live.run : this.#comeAgain(state);
  }

  #comeAgain(state: State): Run {
    const run = new Run(this.#scenario, true);
    const { recorder } = run.world;
    run.world.recorder = undefined;
    for (const choice of wayTo(state)) {
      run.take(choice);
      this.#stepsTaken += 1;
    }
    run.world.recorder = recorder;
    this.#options.learner?.restore(state.saved);
    return run;
  }

  #report(schedule: readonly Choice[], problem: string | undefined): void {
    if (problem === undefined) return;
    this.#finding = { ...replay(this.#scenario, schedule), problem };
    throw new Stop(problem);
  }

  /** The callers in it: the engine has broken it already, but a second run tells. */
  #noteDeadlock(schedule: readonly Choice[]): void {
    const { learner } = this.#options;
    const saved = learner?.save();
    const { trace } = replay(this.#scenario, schedule);
    learner?.restore(saved);
    const text = trace.find((line) => line.startsWith("deadlock of "));
    const numbers = text?.match(/\d+/g)?.slice(0, -1) ?? [];
    const members = numbers
      .map((number) => this.#scenario.callers[Number(number) - 1]?.name ?? number)
      .sort();
    const key = members.join();
    if (!this.#deadlocks.has(key)) this.#deadlocks.set(key, { members, schedule: [...schedule] });
  }

  #checkBounds(): void {
    const { statesMax, msMax } = this.#bounds;
    if (this.#known.size < statesMax && performance.now() - this.#startMs < msMax) return;
    this.#isCutShort = true;
    throw new Stop("the bounds are reached");
  }
}

/** From the beginning. */
function wayTo(state: State): Choice[] {
  const way: Choice[] = [];
  for (let { before } = state; before !== undefined; before = before.state.before) {
    way.push(before.choice);
  }
  return way.reverse();
}

/** 160 bits: two states that share them by chance are not to be expected. */
function keyOf(run: Run): string {
  return createHash("sha1").update(run.fingerprint()).digest("base64");
}
