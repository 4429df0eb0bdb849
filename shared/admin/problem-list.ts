import { limits } from "../core/limits";
import { didYouMean } from "../core/near-name";

/** The errors of one input, with bounds on the cost of listing them. */

/** One thing that is wrong with a request. */
export interface Problem {
  /** Where: `tasks[3].priority`, `body`, a query parameter, an argument. */
  readonly field: string;
  /** The given value, cut to 100 characters. */
  readonly value: string;
  /** What to write instead. */
  readonly expected: string;
}

/** Problems as a reader answers them. */
export interface Problems {
  /** The first ones, at most 20. */
  readonly problems: readonly Problem[];
  /** So many more were counted; left out: none. */
  readonly more?: number;
}

/** How often a near name may still be looked for in one input. */
export class SearchBudget {
  #left: number = limits.nearSearchesMax;

  /** Takes one search; false where none is left. */
  spend(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }
}

/**
 * Gathers the problems of one input, over all its parts: the first 20 are listed, the rest is only counted, and a near
 * name is looked for 50 times. So a hopeless input costs about as much as reading it.
 */
export class ProblemList {
  readonly #listed: Problem[] = [];
  #more = 0;
  readonly #searches: SearchBudget;

  /** `searches` is shared by lists of one input: its parts are judged each for itself, as the events of a message are. */
  constructor(searches: SearchBudget = new SearchBudget()) {
    this.#searches = searches;
  }

  get isEmpty(): boolean {
    return this.#listed.length === 0;
  }

  /** All problems so far, listed or not. */
  get count(): number {
    return this.#listed.length + this.#more;
  }

  /** Lists a problem, or counts it. `describe` is called only where it is listed: it may cost something. */
  add(describe: Problem | (() => Problem)): void {
    if (this.#listed.length >= limits.problemsMax) this.#more += 1;
    else this.#listed.push(typeof describe === "function" ? describe() : describe);
  }

  /** Takes over what another reader has found. */
  addAll({ problems, more = 0 }: Problems): void {
    for (const problem of problems) this.add(problem);
    this.#more += more;
  }

  /** " Did you mean `x`?", or an empty text: where nothing is near, and where enough has been looked for. */
  nearTo(name: string, candidates: readonly string[]): string {
    return this.#searches.spend() ? didYouMean(name, candidates) : "";
  }

  /** What a reader answers. */
  answer(): Problems {
    return { problems: this.#listed, ...(this.#more === 0 ? {} : { more: this.#more }) };
  }
}

/** A sentence of one problem, for terminals and logs. */
export function describeProblem(problem: Problem): string {
  return `${problem.field}: got ${problem.value}, expected ${problem.expected}`;
}

/** All problems as sentences on one line, the counted ones at the end. */
export function describeProblems({ problems, more = 0 }: Problems): string {
  return [...problems.map(describeProblem), ...describeMore(more)].join("; ");
}

/** "and 9,980 more", or nothing. */
export function describeMore(more: number): string[] {
  return more === 0 ? [] : [`and ${more.toLocaleString("en-US")} more`];
}
