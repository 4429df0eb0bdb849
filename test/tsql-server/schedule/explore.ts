import type { Finding } from "./replay";
import type { Choice, Scenario } from "./run";
import { printSchedule } from "./run";
import { StateGraph, Stop } from "./state-graph";
import type { Deadlock, GraphOptions, State } from "./state-graph";

/** Says which orders need not be told apart. Callers are numbered from 0; `standing` is what a Learner has said of a state. */
export interface Reducer {
  /** Of all choices of a state those to be tried. */
  readonly choose: (standing: unknown, choices: readonly Choice[]) => readonly Choice[];
  /** Of these callers those whose next step from there, and the step that this one has just taken, don't notice each other. */
  readonly commuting: (
    standing: unknown,
    callers: readonly number[],
    caller: number,
  ) => readonly number[];
}

/** What a search has seen. */
export interface Exploration {
  /** Different states; each is entered once. */
  readonly states: number;
  /** Steps taken, with those that led back to a state. */
  readonly steps: number;
  /** States in which every caller has ended. */
  readonly ends: number;
  /** Orders of steps that these states stand for: paths through their graph; with a reducer those that were not left out. */
  readonly interleavings: bigint;
  /** Steps that ended in a queue. */
  readonly waits: number;
  /** Circles of waiters, each with the callers in it, by their names. */
  readonly deadlocks: readonly Deadlock[];
  /** Everything was seen, or a finding ended the search. */
  readonly isComplete: boolean;
  readonly finding: Finding | undefined;
}

/** Takes a scenario through every order of its steps. Ends at the first problem. */
export function explore(scenario: Scenario, options: GraphOptions = {}): Exploration {
  return search(new StateGraph(scenario, options));
}

/** As `explore`, for tests: throws the finding, or that the bounds were too narrow. */
export function exploreAll(scenario: Scenario, options: GraphOptions = {}): Exploration {
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

/** Once through the graph of a scenario, depth first; a known step isn't run again. A state isn't entered twice. */
export function search(graph: StateGraph, reducer?: Reducer): Exploration {
  const walk = new Walk(graph, reducer);
  const interleavings = walk.start();
  const { finding, isCutShort, deadlocks, stepsTaken } = graph;
  return {
    states: isCutShort ? graph.size : walk.states,
    steps: stepsTaken,
    ends: walk.ends,
    interleavings,
    waits: walk.waits,
    deadlocks,
    isComplete: !isCutShort,
    finding,
  };
}

/** A state that was entered. */
interface Entered {
  /** From here to ends; undefined while it is being entered. */
  paths: bigint | undefined;
  /** Callers whose step from here is left out, as it was taken before and everything since commutes with it. */
  asleep: readonly number[];
}

class Walk {
  readonly #graph: StateGraph;
  readonly #reducer: Reducer | undefined;
  readonly #entered = new Map<State, Entered>();
  ends = 0;
  waits = 0;

  constructor(graph: StateGraph, reducer: Reducer | undefined) {
    this.#graph = graph;
    this.#reducer = reducer;
  }

  get states(): number {
    return this.#entered.size;
  }

  /** Gives the number of paths. */
  start(): bigint {
    try {
      return this.#visit(this.#graph.first(), []);
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      return 0n;
    }
  }

  /**
   * Enters a state. Gives the number of paths from here. Callers that are asleep needn't move first here (sleep sets, with
   * states remembered: P. Godefroid, chapter 5 of the work that reduction.ts names).
   */
  #visit(state: State, asleep: readonly number[]): bigint {
    const known = this.#entered.get(state);
    if (known !== undefined) return this.#visitAgain(state, known, asleep);
    const entered: Entered = { paths: undefined, asleep };
    this.#entered.set(state, entered);
    entered.paths = this.#enter(state, entered);
    return entered.paths;
  }

  /** A caller that was asleep when the state was entered, and isn't now, moves. */
  #visitAgain(state: State, known: Entered, asleep: readonly number[]): bigint {
    if (known.paths === undefined)
      throw new Error("A state leads back to itself: the callers turn in a circle");
    const woken = known.asleep.filter((caller) => !asleep.includes(caller));
    if (woken.length === 0) return known.paths;
    known.asleep = known.asleep.filter((caller) => asleep.includes(caller));
    const choices = state.choices.filter(({ caller }) => woken.includes(caller));
    known.paths += this.#tryAll(state, choices, known.asleep);
    return known.paths;
  }

  #enter(state: State, entered: Entered): bigint {
    const { choices, standing } = state;
    if (choices.length === 0) {
      this.ends += 1;
      return 1n;
    }
    // What isn't a step commutes with nothing.
    if (choices.some(({ action }) => action !== "step")) entered.asleep = [];
    const chosen = this.#reducer?.choose(standing, choices) ?? choices;
    const awake = chosen.filter(({ caller }) => !entered.asleep.includes(caller));
    return this.#tryAll(state, awake, entered.asleep);
  }

  #tryAll(state: State, choices: readonly Choice[], asleep: readonly number[]): bigint {
    const areSteps = choices.every(({ action }) => action === "step");
    const resting = [...asleep];
    let paths = 0n;
    for (const choice of choices) {
      const { to, isWait } = this.#graph.take(state, choice);
      if (isWait) this.waits += 1;
      const { caller } = choice;
      const commuting = areSteps
        ? this.#reducer?.commuting(state.standing, resting, caller)
        : undefined;
      paths += this.#visit(to, commuting ?? []);
      resting.push(caller);
    }
    return paths;
  }
}
