import { nextStep } from "../../core/next-call";
import type { ExecutionFacts, NextCall } from "../../core/next-call";
import type { WorkerEnvironment } from "../environment";
import type { ClaimOutlook } from "./claim-outlook";
import type { ExecutionLease } from "./execution-lease";
import type { HeldTokens, TokensAnswer } from "./held-tokens";
import { OwnCalls } from "./own-calls";
import type { RunningTasks } from "./running-tasks";
import type { UntoldFailures } from "./untold-failures";
import type { WorkCalls } from "./work-calls";

/** What the calls of a loop are made of. */
export interface CallParts {
  readonly lease: ExecutionLease;
  readonly outlook: ClaimOutlook;
  readonly running: RunningTasks;
  readonly tokens: HeldTokens;
  readonly work: WorkCalls;
  readonly failures: UntoldFailures;
}

/** What the loop tells and hears of its calls. */
export interface CallEvents {
  readonly facts: () => ExecutionFacts;
  readonly onTokens: (answer: TokensAnswer) => void;
  readonly onError: (error: unknown) => void;
  /** Whatever came of it, the next step may follow. */
  readonly onEnded: () => void;
}

/** The calls of one execution to the store: one in flight. */
export class LoopCalls {
  readonly #environment: WorkerEnvironment;
  readonly #parts: CallParts;
  readonly #on: CallEvents;
  readonly #own: OwnCalls;
  #isUnderWay = false;

  constructor(environment: WorkerEnvironment, parts: CallParts, on: CallEvents) {
    this.#environment = environment;
    this.#parts = parts;
    this.#on = on;
    this.#own = new OwnCalls(environment.clock);
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** As `OwnCalls` says. */
  areForgotten(...told: Parameters<OwnCalls["areForgotten"]>): boolean {
    return this.#own.areForgotten(...told);
  }

  /** Decides anew, as tasks may have ended since the call was planned, and calls. Never rejects. */
  async next(): Promise<void> {
    const { lease } = this.#parts;
    if (lease.isUnheard) {
      this.#isUnderWay = true;
      await lease.hear();
      this.#isUnderWay = false;
    }
    const step = nextStep(this.#on.facts());
    if (step.kind === "call") await this.#make(step.call);
    this.#on.onEnded();
  }

  async #make(call: NextCall): Promise<void> {
    const { clock, telemetry } = this.#environment;
    const sentAtMs = clock.monotonicMs();
    this.#isUnderWay = true;
    try {
      await this.#own.during(this.#send(call));
      telemetry.record("taskgate.store.call", clock.monotonicMs() - sentAtMs, {
        operation: call.kind,
      });
    } catch (error) {
      this.#on.onError(error);
    } finally {
      this.#isUnderWay = false;
    }
  }

  async #send(call: NextCall): Promise<void> {
    const { failures, outlook, running, tokens, work } = this.#parts;
    if (call.kind === "work") await work.send(call.claim, running.size > 0);
    else if (call.kind === "fail") await failures.tell();
    else if (call.kind === "release") this.#on.onTokens(await tokens.releaseSurplus(running.size));
    else {
      this.#on.onTokens(await tokens.acquire(call.upTo));
      if (tokens.isDenied) outlook.noteDenied();
    }
  }
}
