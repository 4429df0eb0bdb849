import { limits } from "../../core/limits";
import type { ClaimedTask, Failure } from "../../ports/task-store";
import type { GateMember, ProcessGate } from "./process-gate";

/** What becomes of a claimed task now. */
export type StartTurn =
  | { readonly kind: "run" | "wait" }
  | { readonly kind: "later"; readonly failure: Failure };

const run: StartTurn = { kind: "run" };
const wait: StartTurn = { kind: "wait" };

/**
 * One execution's way through the gate of its process. The store gives a task that was lost twice to an execution that holds
 * nothing else; this sees to it that the other executions of the process hold nothing either.
 */
export class AloneTurn {
  readonly #member: GateMember;
  readonly #gate: ProcessGate | undefined;
  readonly #leave: () => void;
  #isAlone = false;

  constructor(member: GateMember, gate: ProcessGate | undefined) {
    this.#member = member;
    this.#gate = gate;
    this.#leave = gate?.join(member) ?? (() => undefined);
  }

  get mayClaim(): boolean {
    return this.#gate?.mayClaim(this.#member) ?? true;
  }

  /** May this task start? `later`: it goes back uncounted, as the failure says; `wait`: the gate calls `look`. */
  turnOf(task: ClaimedTask): StartTurn {
    if (!task.isSuspect || this.#gate === undefined) return run;
    const turn = this.#gate.ask(this.#member, task.taskId);
    if (turn === "wait") return wait;
    if (turn === "later") return { kind: "later", failure: putBack(task) };
    this.#isAlone = true;
    return run;
  }

  /** A handler of this execution has settled: the suspect, if it had its turn, since it has no neighbours. */
  noteEnd(): void {
    if (!this.#isAlone) return;
    this.#isAlone = false;
    this.#gate?.end(this.#member);
  }

  /** After every change: another one's suspect may wait for this execution. */
  note(): void {
    this.#gate?.note();
  }

  leave(): void {
    this.#leave();
  }
}

function putBack({ taskId, fence }: ClaimedTask): Failure {
  return {
    ...{ taskId, fence, durationMs: 0, checkpoint: null, as: "continued" },
    error: "it was lost twice and must run alone, but its process had no quiet moment",
    retryInMs: limits.aloneRetryMs,
  };
}
