import type { TaskFacts } from "../../shared/ports/task-store";
import { Broken } from "./broken";

/** How a task ends. */
export type End = "done" | "dead" | "cancelled";
/** What becomes of a claim. */
export type ClaimEnd = End | "retry" | "continued";

/** What a completion that was accepted said. */
interface Completion {
  readonly durationMs: number | null;
  readonly result: string | null;
}

/** A task, as the answers tell of it; they come in any order. */
interface Fate {
  /** Which call or operation added it. */
  addedBy: string | undefined;
  readonly ends: End[];
  redrives: number;
  completion: Completion | undefined;
  /** Of its claims that ended otherwise than well. */
  readonly badFences: Set<string>;
}

/** Every task in an answer, and its end as an answer told it. */
export class Fates {
  readonly #fates = new Map<string, Fate>();
  readonly #claimEnds = new Map<string, ClaimEnd>();

  /** How many were added. */
  get size(): number {
    return this.#fates.size;
  }

  get tasks(): string[] {
    return [...this.#fates.keys()];
  }

  add(task: string, by: string): void {
    const fate = this.#fate(task);
    if (fate.addedBy !== undefined && fate.addedBy !== by) {
      throw new Broken(`task ${task} was added by ${fate.addedBy} and by ${by}`);
    }
    fate.addedBy = by;
  }

  /** A claim's end that was accepted; the same again is a repeat. */
  endClaim(task: string, fence: string, end: ClaimEnd): void {
    const key = `${task} under ${fence}`;
    const before = this.#claimEnds.get(key);
    if (before === end) return;
    if (before !== undefined) throw new Broken(`task ${key} ended ${before}, then ${end}`);
    this.#claimEnds.set(key, end);
    if (end !== "done") this.#fate(task).badFences.add(fence);
    if (end !== "retry" && end !== "continued") this.end(task, end);
  }

  /** A completion that was accepted. */
  complete(task: string, fence: string, completion: Completion): void {
    if (this.#claimEnds.get(`${task} under ${fence}`) !== "done") {
      this.#fate(task).completion = completion;
    }
    this.endClaim(task, fence, "done");
  }

  end(task: string, end: End): void {
    this.#fate(task).ends.push(end);
  }

  redrive(task: string): void {
    this.#fate(task).redrives += 1;
  }

  /** Compares with what the store holds when all is quiet. Not all ends are told: a reclaim only counts. */
  check(task: string, facts: TaskFacts | null): void {
    const { addedBy, ends, redrives, completion, badFences } = this.#fate(task);
    const told = `${ends.join(", ") || "no end"} with ${redrives} redrives`;
    const fail = (what: string): never => {
      throw new Broken(`task ${task} (added by ${addedBy ?? "nobody"}, told ${told}): ${what}`);
    };
    if (facts === null) return fail("is lost");
    const { state, durationMs, result, attempts } = facts;
    if (ends.length > redrives + 1) fail("ended more than once");
    if ((completion !== undefined) !== (state === "done")) fail(`is ${state}`);
    if (redrives === 0 && ends[0] !== undefined && ends[0] !== state) fail(`is ${state}`);
    if (completion !== undefined) {
      if (completion.durationMs !== durationMs) fail(`took ${String(durationMs)} ms`);
      if (completion.result !== result) fail(`came to ${String(result)}`);
    }
    const fences = attempts.map((attempt) => attempt.fence);
    if (new Set(fences).size < fences.length) fail("has two attempts with one fence");
    for (const fence of badFences) if (!fences.includes(fence)) fail(`has no attempt ${fence}`);
  }

  /** It needn't have been told who added it: the answer may come after what happened to it. */
  #fate(task: string): Fate {
    const known = this.#fates.get(task);
    if (known !== undefined) return known;
    const fate: Fate = {
      addedBy: undefined,
      ends: [],
      redrives: 0,
      completion: undefined,
      badFences: new Set(),
    };
    this.#fates.set(task, fate);
    return fate;
  }
}
