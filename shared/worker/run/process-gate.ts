import { limits } from "../../core/limits";
import type { TaskId } from "../../core/ids";
import type { WorkerEnvironment } from "../environment";

/** One execution, as the gate sees it. */
export interface GateMember {
  /** Nothing of it counts as started, and no claim of it is on its way. */
  readonly isQuiet: boolean;
  /** The gate has changed: look what may be done now. */
  look(): void;
}

/** What became of a task that asked to run alone. */
export type Turn = "run" | "wait" | "later";

interface AloneTurn {
  readonly member: GateMember;
  readonly taskId: TaskId;
  state: "waiting" | "running";
  readonly cancel: () => void;
}

/**
 * One per process. A task that was lost twice may end its process: it runs when no other execution of this process
 * has anything that a lost process would count against it. While it waits and while it runs, others finish what they have
 * and claim nothing; both are bounded (limits.aloneWaitMs, limits.aloneRunMs), so that one such task can't hold up the
 * others for long. Invariant: at most one turn at a time; the others' suspects go back before it begins.
 */
export class ProcessGate {
  readonly #environment: Pick<WorkerEnvironment, "timers" | "clock">;
  readonly #members = new Set<GateMember>();
  /** How often a task found no quiet moment here. */
  readonly #refused = new Map<TaskId, number>();
  #turn: AloneTurn | null = null;
  /** After a turn that found no quiet moment the others may claim until this instant. */
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(environment: Pick<WorkerEnvironment, "timers" | "clock">) {
    this.#environment = environment;
  }

  /** Until the returned function is called. */
  join(member: GateMember): () => void {
    this.#members.add(member);
    return () => {
      this.#members.delete(member);
      this.end(member);
      this.#settle();
    };
  }

  /** May this execution claim? Not while another one's suspect waits for its turn or has it. */
  mayClaim(member: GateMember): boolean {
    return this.#turn === null || this.#turn.member === member;
  }

  /** Asks for the turn of a suspect. `later`: put it back; `wait`: `look` is called when there is news. */
  ask(member: GateMember, taskId: TaskId): Turn {
    const turn = this.#turn;
    if (turn !== null && turn.member !== member) return "later";
    if (turn !== null && turn.taskId === taskId) return turn.state === "running" ? "run" : "wait";
    // So often there was no quiet moment that there may never be one: it has waited long enough.
    if ((this.#refused.get(taskId) ?? 0) >= limits.aloneTurnsMax) return "run";
    if (this.#environment.clock.monotonicMs() < this.#restUntilMs) return "later";
    turn?.cancel();
    this.#turn = {
      member,
      taskId,
      state: "waiting",
      cancel: this.#environment.timers.after(limits.aloneWaitMs, () => {
        this.#refuse(taskId);
      }),
    };
    for (const other of this.#members) if (other !== member) other.look();
    this.#settle();
    return this.ask(member, taskId);
  }

  /** The suspect of this execution has settled, or went back. */
  end(member: GateMember): void {
    if (this.#turn?.member !== member) return;
    this.#refused.delete(this.#turn.taskId);
    this.#open();
  }

  /** An execution has changed: the turn that waits may begin. */
  note(): void {
    if (this.#turn?.state === "waiting") this.#settle();
  }

  #settle(): void {
    const turn = this.#turn;
    if (turn?.state !== "waiting") return;
    for (const member of this.#members) if (member !== turn.member && !member.isQuiet) return;
    turn.cancel();
    this.#turn = {
      ...turn,
      state: "running",
      // It is innocent, or slow to do harm: the others go on.
      cancel: this.#environment.timers.after(limits.aloneRunMs, () => {
        this.end(turn.member);
      }),
    };
    turn.member.look();
  }

  #refuse(taskId: TaskId): void {
    const turn = this.#turn;
    if (turn?.taskId !== taskId || turn.state !== "waiting") return;
    this.#refused.set(taskId, (this.#refused.get(taskId) ?? 0) + 1);
    // The others were held up for one wait: now they have twice that time for themselves.
    this.#restUntilMs = this.#environment.clock.monotonicMs() + 2 * limits.aloneWaitMs;
    this.#open();
  }

  #open(): void {
    this.#turn?.cancel();
    this.#turn = null;
    for (const member of this.#members) member.look();
  }
}
