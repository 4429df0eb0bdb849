import { LeaseLostError } from "../../core/errors";
import type { Fence, TaskId } from "../../core/ids";
import { RunningCount } from "../../core/running-count";
import type { Instants } from "../../core/lease";
import type { HeartbeatAnswer } from "../../ports/task-store";
import type { WorkerEnvironment } from "../environment";
import type { LeaseHolder } from "./heartbeat";
import { countWantedBack } from "./held-tokens";
import { KeptLease } from "./kept-lease";
import type { LeaseGrant } from "./kept-lease";
import { LoopTimers } from "./loop-timers";
import { OwnCalls } from "./own-calls";
import { StopSignal } from "./stop-signal";

/** What the database granted, and when it was asked. */
export interface TokenGrant extends LeaseGrant {
  /** Whose execution holds the tokens. */
  readonly definition: string;
  readonly tokens: number;
  readonly fence: Fence | null;
}

/** One running body, as its lease knows it. */
export interface HeldCall {
  readonly lease: TokenLease;
  readonly tokens: number;
  /** Of the grant that the call began on. */
  readonly fence: Fence | null;
  readonly stop: StopSignal;
}

/** What a beat told, and what became of the lease; the pool acts on it. */
export interface TokenNews {
  onRenewed(lease: TokenLease, told: { wantedBack: number; isPaused: boolean }): void;
  onLost(lease: TokenLease): void;
}

/**
 * The tokens that a process holds of one limit, on one execution: how many, how many of them bodies run on, and for how long
 * the lease is trusted. A lost lease aborts the bodies that run on it, and no body begins on it any more. A body that ignores
 * its signal runs on; the tokens are another process's by then (docs/internals/promises.md states this remainder).
 */
export class TokenLease extends KeptLease implements LeaseHolder {
  /** A body may take as long as it likes. */
  readonly timeoutMs = null;
  readonly running = new RunningCount();
  /** Tokens held; only what the database has confirmed. */
  count: number;
  fence: Fence | null;
  /** Of the pool, about its tokens. */
  readonly calls: OwnCalls;
  readonly #definition: string;
  readonly #news: TokenNews;
  readonly #timers: LoopTimers;
  readonly #calls = new Set<HeldCall>();
  #inUse = 0;

  constructor(environment: WorkerEnvironment, grant: TokenGrant, news: TokenNews) {
    super(environment, grant);
    this.#definition = grant.definition;
    this.#news = news;
    this.calls = new OwnCalls(environment.clock);
    this.count = grant.tokens;
    this.fence = grant.fence;
    this.#timers = new LoopTimers(environment.timers);
    this.watch(this.#timers);
  }

  /** Tokens that bodies run on. */
  get inUse(): number {
    return this.#inUse;
  }

  /** A body begins on so many of the tokens. */
  begin(tokens: number): HeldCall {
    const call = { lease: this, tokens, fence: this.fence, stop: new StopSignal() };
    this.#calls.add(call);
    this.#inUse += tokens;
    this.running.begin();
    return call;
  }

  /** The body has settled. */
  end(call: HeldCall): void {
    if (!this.#calls.delete(call)) return;
    this.#inUse -= call.tokens;
    this.running.end();
  }

  /** Tells the bodies that the process ends. Their tokens stay theirs until they have settled. */
  stop(): void {
    for (const { stop } of this.#calls) stop.abort(new Error("stop soon: stopped"));
  }

  /** The lease isn't looked after any more: its tokens went back. */
  close(): void {
    this.#timers.cancelAll();
  }

  takeStarted(): TaskId[] {
    return [];
  }

  returnStarted(): void {
    // Tokens alone have no tasks.
  }

  /** Its limits are asked about anyway, by the token poll. */
  hasWaiting(): boolean {
    return false;
  }

  onRenewed(answer: HeartbeatAnswer["executions"][number], sentAt: Instants): void {
    if (this.isLost) return;
    if (answer.status === "fenced" || answer.status === "ended") {
      this.lose();
      return;
    }
    if (answer.leaseMs === null) return;
    if (this.calls.areForgotten(answer, sentAt, { tokens: this.count, claims: 0 })) {
      this.lose();
      return;
    }
    this.renew(sentAt, answer.leaseMs);
    this.#news.onRenewed(this, {
      wantedBack: countWantedBack(answer),
      isPaused: answer.isPaused,
    });
  }

  /** The lease is over, or another process has the tokens: the bodies are told to stop, once. */
  override lose(): void {
    if (this.isLost) return;
    super.lose();
    this.close();
    const definition = this.#definition;
    this.environment.telemetry.count("taskgate.execution.lost", 1, { definition });
    for (const { stop } of this.#calls) stop.abort(new LeaseLostError(lostText));
    this.#news.onLost(this);
  }

  protected onOver(): void {
    this.lose();
  }
}

const lostText =
  "the tokens were lost: their lease could not be renewed in time. Stop, write nothing";
