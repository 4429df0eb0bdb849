import type { InvalidArgumentError } from "../../core/errors";
import type { ExecutionId, TaskId } from "../../core/ids";
import type { Instants } from "../../core/lease";
import type { Pace } from "../../core/pace";
import type { DoneTask, Failure, WorkAnswer, WorkInput } from "../../ports/task-store";
import { instants } from "../environment";
import type { WorkerEnvironment } from "../environment";
import { refusedEnd } from "./refused-end";
import { ClaimCursor } from "./claim-cursor";
import { isRefusedValue, sendEach } from "./send-each";

/** A call that was answered. */
export interface AnsweredCall {
  readonly sentAt: Instants;
  /** How many tasks it asked for; 0: it only reported. */
  readonly claim: number;
  /** A handler ran when it was sent. */
  readonly wasBusy: boolean;
}

/** What the calls tell their execution. */
export interface WorkEvents {
  readonly onAnswer: (answer: WorkAnswer, call: AnsweredCall) => void;
  /** The lease is over: nothing of the execution is taken any more. */
  readonly onFenced: () => void;
  /** The store refused how a task ended; it has failed. */
  readonly onRefused: (failure: Failure) => void;
}

/** Repeats of a call that found a group locked. */
const busyRepeatsMax = 5;

/** The `work` calls of one execution: each reports all that has ended well or was started since, and may claim. */
export class WorkCalls {
  readonly #environment: WorkerEnvironment;
  readonly #of: { executionId: ExecutionId; definition: string; pace: Pace };
  readonly #events: WorkEvents;
  readonly #cursor = new ClaimCursor();
  #callNumber = 0;
  #done: DoneTask[] = [];
  #started: TaskId[] = [];

  constructor(
    environment: WorkerEnvironment,
    of: { executionId: ExecutionId; definition: string; pace: Pace },
    events: WorkEvents,
  ) {
    this.#environment = environment;
    this.#of = of;
    this.#events = events;
  }

  /** Tasks that ended well and aren't reported yet. */
  get doneCount(): number {
    return this.#done.length;
  }

  /** The next call reports that this task ended well. */
  addDone(done: DoneTask): void {
    this.#done.push(done);
  }

  /** Nothing of these is reported any more. */
  takeDone(): DoneTask[] {
    return this.#done.splice(0);
  }

  /** The next call, or the heartbeat, reports that this prefetched task was started. */
  addStarted(taskId: TaskId): void {
    this.#started.push(taskId);
  }

  takeStarted(): TaskId[] {
    return this.#started.splice(0);
  }

  /** They weren't reported after all. */
  returnStarted(started: readonly TaskId[]): void {
    this.#started.unshift(...started);
  }

  /** Reports and claims. Throws what the store threw; what wasn't reported is kept then. */
  async send(claim: number, wasBusy: boolean): Promise<void> {
    const sentAt = instants(this.#environment.clock);
    const done = this.takeDone();
    const started = this.takeStarted();
    const after = this.#cursor.hintAt(sentAt.monotonicMs);
    let answer: WorkAnswer;
    try {
      answer = await this.#ask({
        done,
        started,
        want: claim,
        ...(after === null ? {} : { after }),
      });
    } catch (error) {
      // Nothing of the call happened: the starts travel with the next one.
      this.returnStarted(started);
      if (isRefusedValue(error) && done.length > 0) {
        await this.#completeEach(done, error);
        return;
      }
      this.#done.unshift(...done);
      throw error;
    }
    this.#of.pace.noteCall(this.#environment.clock.monotonicMs() - sentAt.monotonicMs);
    this.#note(answer, { sentAt, claim, wasBusy }, done.length);
  }

  async #ask(input: Omit<WorkInput, "executionId" | "callNumber">): Promise<WorkAnswer> {
    const { store } = this.#environment;
    const { executionId } = this.#of;
    const numbered = { executionId, callNumber: (this.#callNumber += 1), ...input };
    let answer = await store.work(numbered);
    for (let repeat = 0; answer.status === "busy" && repeat < busyRepeatsMax; repeat += 1)
      answer = await store.work(numbered);
    return answer;
  }

  #note(answer: WorkAnswer, call: AnsweredCall, doneCount: number): void {
    if (answer.status === "fenced" || answer.status === "ended" || answer.status === "busy") {
      this.#events.onFenced();
      return;
    }
    const { telemetry } = this.#environment;
    const { definition } = this.#of;
    telemetry.count("taskgate.task.done", doneCount - answer.refused.length, { definition });
    telemetry.count("taskgate.task.refused", answer.refused.length, { definition });
    if (call.claim > 0) {
      telemetry.count("taskgate.task.claimed", answer.claimed.length);
      this.#cursor.note(answer, call.sentAt.monotonicMs);
    }
    this.#events.onAnswer(answer, call);
  }

  /** The store refused a completion for what one task left: the others complete, and that one has failed. */
  async #completeEach(done: readonly DoneTask[], error: InvalidArgumentError): Promise<void> {
    const sent = await sendEach(done, error, async (part) => {
      const sentAt = instants(this.#environment.clock);
      const answer = await this.#ask({ done: part, started: [], want: 0 });
      this.#note(answer, { sentAt, claim: 0, wasBusy: false }, part.length);
    });
    for (const { entry, error: reason } of sent.refused)
      this.#events.onRefused(refusedEnd(entry, "dead", reason));
    if (sent.unsent.length === 0) return;
    this.#done.unshift(...sent.unsent);
    throw sent.failure;
  }
}
