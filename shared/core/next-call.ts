import { limits } from "./limits";
import { prefetchThatPays, startsInTime } from "./pace";
import type { Durations } from "./pace";

/*
 * The next step of an execution, decided from facts of one instant. Nothing here waits, calls or keeps anything:
 * shared/worker/run/execution-loop.ts collects the facts and carries the decision out.
 */

/**
 * Why an execution ended. `rate`: the definition's rate lets nothing start for a while; `stuck`: a handler ran on after its
 * time-out; `lost`: the lease is over; `failed`: the store didn't take a call.
 */
export type LoopEnd =
  | "idle"
  | "deadline"
  | "stopped"
  | "paused"
  | "rate"
  | "lost"
  | "failed"
  | "stuck";

/** The tokens of the execution. */
export interface TokenFacts {
  readonly count: number;
  /** Tokens that other processes need or that are above the limit; 0: none. */
  readonly wantedBack: number;
  /** Tokens that any worker of the definition can have; 0: none, or not known. */
  readonly freeTokens: number;
  /** A call that gives tokens back is in flight. */
  readonly isReleasing: boolean;
  /** The instant from which on the next request for tokens makes sense. */
  readonly nextRequestMs: number;
}

/** The tasks of the execution, counted. */
export interface TaskFacts {
  /** Handlers that run; `stuck` of them ran on after their time-out and may never end. */
  readonly running: number;
  readonly stuck: number;
  /** Claimed, not started yet. */
  readonly claimed: number;
  /** Ended well, and not reported to the store yet. */
  readonly done: number;
  /** Ended otherwise, and not reported to the store yet. */
  readonly failed: number;
}

/** What earlier answers told about tasks that wait. */
export interface ClaimFacts {
  /** The last claim got all that it asked for. */
  readonly hasBacklog: boolean;
  /** Tasks may have become ready since the last claim, and no other execution was told of them. */
  readonly hasArrivals: boolean;
  /** A claim makes no sense before this instant. */
  readonly idleUntilMs: number;
  /** The instant from which on the rate lets the next task start, as last told; null: it isn't known to hold anything up. */
  readonly permitAtMs: number | null;
  /** The definition has a rate: a claim that goes back unused has used up a start. */
  readonly isRated: boolean;
  /** Nothing of the definition may start, as last told: running tasks go on, and a resume lets the execution go on as well. */
  readonly isPaused: boolean;
  /** Something has arrived since that was told, as a resume does: a claim tells. */
  readonly mayBeResumed: boolean;
}

/** All that the decision depends on. Instants are monotonic milliseconds. */
export interface ExecutionFacts {
  readonly nowMs: number;
  /** Why the execution is to end; null: it goes on. */
  readonly end: LoopEnd | null;
  /** No handler starts that can't be expected to end before this instant. */
  readonly stopAtMs: number;
  /** Handlers that were told to stop are waited for until this instant; null: none was told. */
  readonly handlersUntilMs: number | null;
  readonly isLeaseTrusted: boolean;
  /** The process lets this execution claim: no task that must run alone waits or runs beside it. */
  readonly mayClaim: boolean;
  /** Tokens to hold when they can be had. */
  readonly tokensWanted: number;
  /** Claims per token that the definition allows beyond the tokens. */
  readonly prefetchMax: number;
  readonly tokens: TokenFacts;
  readonly tasks: TaskFacts;
  readonly claims: ClaimFacts;
  readonly pace: Durations;
}

/** The next call to the store. */
export type NextCall =
  /** Reports tasks that failed, were put back or are to be tried again. */
  | { readonly kind: "fail" }
  /** Gives back tokens on which nothing runs. */
  | { readonly kind: "release" }
  /** Asks for tokens until the execution holds `upTo`. */
  | { readonly kind: "acquire"; readonly upTo: number }
  /** Reports completions and claims up to `claim` tasks, 0..1000. */
  | { readonly kind: "work"; readonly claim: number };

/** What the execution does when no call is in flight. `forMs` is above 0 and finite; an event may end the wait sooner. */
export type NextStep =
  | { readonly kind: "finish"; readonly end: LoopEnd }
  | { readonly kind: "call"; readonly call: NextCall }
  | { readonly kind: "wait"; readonly forMs: number };

/** While handlers run, changes that raise no event are noticed after this time. */
export const idleLookMs = 250;
/** The execution waits for a rate that lets the next task start within this time; a delayed hint is cheaper otherwise. */
export const permitWaitMaxMs = 1_000;

/** Whether the first claimed task may start now. Holds at any time, also while a call is in flight. */
export function mayStart(facts: ExecutionFacts): boolean {
  const { tokens, tasks, claims } = facts;
  if (tasks.claimed === 0 || facts.end !== null || tokens.isReleasing) return false;
  if (claims.isPaused) return false;
  // Tokens that are to go back stay idle until the next call.
  const usable = tokens.count - tokens.wantedBack;
  if (tasks.running >= usable || !facts.isLeaseTrusted) return false;
  return hasTime(facts);
}

/** The next step while no call is in flight. Every state has one. */
export function nextStep(facts: ExecutionFacts): NextStep {
  const end = facts.end ?? endByItself(facts);
  if (end !== null && isOver(facts, end)) return { kind: "finish", end };
  const call = nextCall(facts);
  return call === null ? { kind: "wait", forMs: waitMs(facts) } : { kind: "call", call };
}

/** Nothing runs, nothing is claimed, and nothing is left to report. */
export function isEmpty({ running, claimed, done, failed }: TaskFacts): boolean {
  return running + claimed + done + failed === 0;
}

/** Completions that are worth a call before all that is claimed has run. */
const fullCallMin = 100;

/**
 * Enough has ended for a call of its own, and no more is still to run: the server works on the one half while this process
 * runs the other. A call that waits for the last handler leaves the server idle meanwhile.
 */
export function fillsACall({ kind }: NextCall, { done, claimed }: TaskFacts): boolean {
  return kind === "work" && done >= fullCallMin && done >= claimed;
}

/** Over when nothing runs that is still waited for, and nothing is left to report that the store would take. */
function isOver(facts: ExecutionFacts, end: LoopEnd): boolean {
  const { tasks } = facts;
  if (tasks.running > tasks.stuck && !isPastWaiting(facts)) return false;
  return end === "lost" || end === "failed" || (tasks.done === 0 && tasks.failed === 0);
}

/** Handlers that ignore their signal are waited for until the grace is over. */
function isPastWaiting({ handlersUntilMs, nowMs }: ExecutionFacts): boolean {
  return handlersUntilMs !== null && nowMs >= handlersUntilMs;
}

/**
 * Why an execution ends that has nothing to run or to report, or null: it goes on. Without time for a task, or while nothing may start, it
 * ends at once: its tokens are of use to others, and tasks that it has claimed go back uncounted.
 */
function endByItself(facts: ExecutionFacts): LoopEnd | null {
  const { running, done, failed, claimed } = facts.tasks;
  if (running + done + failed > 0) return null;
  if (facts.claims.isPaused) return "paused";
  if (!hasTime(facts)) return "deadline";
  return claimed === 0 && permitInMs(facts) > permitWaitMaxMs ? "rate" : null;
}

/** A task that starts now can be expected to end before nothing may start any more. */
function hasTime({ nowMs, stopAtMs, pace }: ExecutionFacts): boolean {
  return nowMs + (pace.taskMs ?? 0) < stopAtMs;
}

/** Milliseconds until the rate lets the next task start; 0: it holds nothing up. */
export function permitInMs({
  claims,
  nowMs,
}: {
  readonly claims: Pick<ClaimFacts, "permitAtMs">;
  readonly nowMs: number;
}): number {
  return claims.permitAtMs === null ? 0 : Math.max(claims.permitAtMs - nowMs, 0);
}

function nextCall(facts: ExecutionFacts): NextCall | null {
  const { end, tokens, tasks } = facts;
  if (end === "lost" || end === "failed") return null;
  if (tasks.failed > 0) return { kind: "fail" };
  // Completions are reported first: no claim is left on a token that goes back.
  if (tokens.wantedBack > 0 && tokens.count > tasks.running)
    return tasks.done > 0 ? { kind: "work", claim: 0 } : { kind: "release" };
  const mayAcquire = wantsTokens(facts) && facts.nowMs >= tokens.nextRequestMs;
  // A free token first: where tasks block this process, some are always done by now.
  if (mayAcquire && (tokens.freeTokens > 0 || tasks.done === 0))
    return { kind: "acquire", upTo: upToTokens(facts) };
  if (tasks.done > 0) return { kind: "work", claim: claimCount(facts) };
  const isIdle = facts.nowMs < facts.claims.idleUntilMs;
  // Of a pause, tasks that are claimed wait for the same word.
  const isStocked = tasks.claimed > 0 && !facts.claims.isPaused;
  if (isIdle || isStocked || tasks.running >= tokens.count) return null;
  const claim = claimCount(facts);
  return claim > 0 ? { kind: "work", claim } : null;
}

function wantsTokens({ end, tokens, tokensWanted, claims, tasks }: ExecutionFacts): boolean {
  const hasRoom = tokens.count < tokensWanted;
  const isFull = tasks.running + tasks.claimed >= tokens.count;
  const hasUse = claims.hasBacklog || (claims.hasArrivals && isFull);
  return hasRoom && end === null && hasUse && tokens.wantedBack === 0 && !claims.isPaused;
}

/** One more for what has arrived: whether it is a single task, the claim on that token tells. */
function upToTokens({ tokens, tokensWanted, claims }: ExecutionFacts): number {
  return claims.hasBacklog ? tokensWanted : tokens.count + 1;
}

/** How many more tasks the next call claims. */
function claimCount(facts: ExecutionFacts): number {
  const { tokens, tasks, claims, pace } = facts;
  if (facts.end !== null || tokens.wantedBack > 0) return 0;
  if (!facts.mayClaim || permitInMs(facts) > 0 || !hasTime(facts)) return 0;
  if (claims.isPaused) return claims.mayBeResumed ? 1 : 0;
  const prefetchMax = tokens.count * facts.prefetchMax;
  const prefetch = claims.isRated ? 0 : prefetchThatPays(pace, tokens.count, prefetchMax);
  const useful = tokens.count + prefetch - tasks.running - tasks.claimed;
  const inTime = startsInTime(pace, tokens.count, facts.stopAtMs - facts.nowMs) - tasks.claimed;
  return Math.max(0, Math.min(useful, inTime, limits.claimMax));
}

/** There is always a next look: soon when nothing runs, for tasks when a claim makes sense, for tokens when some are due. */
function waitMs(facts: ExecutionFacts): number {
  const { nowMs, claims, tokens } = facts;
  const leastMs = facts.end === null && facts.tasks.running === 0 ? 1 : idleLookMs;
  const idleMs = Math.max(claims.idleUntilMs - nowMs, leastMs);
  return wantsTokens(facts) ? Math.min(idleMs, tokens.nextRequestMs - nowMs) : idleMs;
}
