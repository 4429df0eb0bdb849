import { onAbort } from "../../core/on-abort";
import type { Clock } from "../../ports/clock";
import type { Timers } from "../../ports/timers";
import { EarliestTimer } from "./earliest-timer";

/** What a call asks for. */
export interface TokenAsk {
  /** Tokens, 1..1000: all of them, or none. */
  readonly want: number;
  /** Milliseconds that the call waits in this process at most; 0: until the first answer of the database. */
  readonly waitMs: number;
  /** The caller's own; a caller that aborts it has left. */
  readonly signal: AbortSignal | undefined;
}

/** A call that waits for tokens. */
export interface WaitingCall<Call> extends TokenAsk {
  /** Called once, when the call has left the queue by its time or its signal. */
  readonly leave: (reason: "late" | "aborted") => void;
  /** WaitingCalls' own; null before and after. A map from calls to places would cost a third of a call. */
  place: Place<Call> | null;
}

/** A call's place in the queue. */
interface Place<Call> {
  /** Monotonic milliseconds; infinity: the call waits for an answer only. */
  readonly lateAtMs: number;
  /** Takes the callback off its signal. */
  readonly leaveSignal: (() => void) | null;
  previous: Call | null;
  next: Call | null;
}

/** One timer looks for late calls. It is set so far ahead at most: an idle process isn't kept alive by it for longer. */
const lookEveryMs = 500;

/**
 * The calls of one process that wait for tokens of one limit, first come, first served. A call that leaves takes its listener
 * along. Every step costs the same, however many calls wait; no call has a timer of its own, which would cost more than all else.
 */
export class WaitingCalls<Call extends WaitingCall<Call>> {
  readonly #clock: Clock;
  readonly #look: EarliestTimer;
  #first: Call | null = null;
  #last: Call | null = null;
  #size = 0;
  #wanted = 0;

  constructor(timers: Timers, clock: Clock) {
    this.#clock = clock;
    this.#look = new EarliestTimer({ clock, timers }, () => {
      this.#lookForLate();
    });
  }

  get size(): number {
    return this.#size;
  }

  /** Tokens that all waiting calls need together. */
  get wanted(): number {
    return this.#wanted;
  }

  /** The call that is served next. */
  get first(): Call | undefined {
    return this.#first ?? undefined;
  }

  /** All of them, first come first. */
  all(): Call[] {
    const calls: Call[] = [];
    for (let call = this.#first; call !== null; call = nextOf(call)) calls.push(call);
    return calls;
  }

  /** Takes out those of these calls that still wait, and returns them. */
  take(calls: readonly Call[]): Call[] {
    return calls.filter((call) => this.remove(call));
  }

  /** Takes out the calls that wait for one answer only, and returns them. */
  takeImpatient(): Call[] {
    return this.take(this.all().filter(({ waitMs }) => waitMs === 0));
  }

  /** Adds a call at the end. The caller has looked whether its signal is aborted already. */
  add(call: Call): void {
    const { signal, waitMs } = call;
    const lateAtMs = waitMs === 0 ? Infinity : this.#clock.monotonicMs() + waitMs;
    const leaveSignal =
      signal === undefined
        ? null
        : onAbort(signal, () => {
            if (this.remove(call)) call.leave("aborted");
          });
    const previous = this.#last;
    call.place = { lateAtMs, leaveSignal, previous, next: null };
    if (previous === null) this.#first = call;
    else if (previous.place !== null) previous.place.next = call;
    this.#last = call;
    this.#size += 1;
    this.#wanted += call.want;
    if (waitMs > 0) this.#planLook(lateAtMs);
  }

  /** Takes a call out; false: it had left already. */
  remove(call: Call): boolean {
    if (call.place === null) return false;
    const { previous, next, leaveSignal } = call.place;
    if (previous === null) this.#first = next;
    else if (previous.place !== null) previous.place.next = next;
    if (next === null) this.#last = previous;
    else if (next.place !== null) next.place.previous = previous;
    call.place = null;
    this.#size -= 1;
    this.#wanted -= call.want;
    leaveSignal?.();
    return true;
  }

  #planLook(lateAtMs: number): void {
    this.#look.set(Math.min(lateAtMs, this.#clock.monotonicMs() + lookEveryMs));
  }

  /** Lets late calls leave, and plans the next look while any call waits for its time. */
  #lookForLate(): void {
    const nowMs = this.#clock.monotonicMs();
    const late: Call[] = [];
    let nextAtMs = Infinity;
    for (let call = this.#first; call !== null; call = nextOf(call)) {
      const lateAtMs = call.place?.lateAtMs ?? Infinity;
      if (lateAtMs <= nowMs) late.push(call);
      else nextAtMs = Math.min(nextAtMs, lateAtMs);
    }
    if (nextAtMs < Infinity) this.#planLook(nextAtMs);
    for (const call of late) if (this.remove(call)) call.leave("late");
  }
}

function nextOf<Call extends WaitingCall<Call>>(call: Call): Call | null {
  return call.place?.next ?? null;
}
