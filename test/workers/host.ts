import type { Clock } from "../../shared/ports/clock";
import type { Timers } from "../../shared/ports/timers";
import type { VirtualTime } from "./virtual-time";

/** The database's 0 ms; hosts that are right agree. */
export const epochMs = Date.UTC(2030, 0, 1);

/** What a process is made of. */
export interface HostOptions {
  readonly time: VirtualTime;
  readonly wallOffsetMs: number;
  readonly onCrash: (host: Host) => void;
  /**
   * Milliseconds that pass between two reads of the monotonic clock within one event; timers then fire as early as Node's may.
   * Left out: code takes no time, and timers fire to the point.
   */
  readonly codeMs?: () => number;
}

/**
 * One process on one machine. Everything that happens to it comes through `deliver`: answers, timers. So it can die
 * between any two of them, and before or after any call that it sends; while it is frozen all of it waits.
 */
export class Host {
  readonly name: string;
  readonly clock: Clock;
  readonly timers: Timers;
  /** A machine that was suspended: its monotonic clock has stood still meanwhile. */
  wasSuspended = false;
  /** Its wall clock was set. */
  wasStepped = false;
  /** Dies at this many deliveries and calls. */
  crashAtStep = Number.POSITIVE_INFINITY;
  readonly #time: VirtualTime;
  readonly #onCrash: (host: Host) => void;
  #isDead = false;
  #steps = 0;
  #frozenUntilMs = 0;
  #heldUpUntilMs = Number.NEGATIVE_INFINITY;
  #stoppedMs = 0;
  #wallOffsetMs: number;
  #lastReadMs = Number.NEGATIVE_INFINITY;

  constructor(name: string, options: HostOptions) {
    const { time, codeMs } = options;
    this.name = name;
    this.#time = time;
    this.#onCrash = options.onCrash;
    this.#wallOffsetMs = options.wallOffsetMs;
    this.clock = {
      // A wall clock of its own: hours off, and it jumps.
      nowMs: () => epochMs + time.nowMs + this.#wallOffsetMs,
      monotonicMs: () => {
        const nowMs = 1_000_000 + time.nowMs - this.#stoppedMs;
        if (codeMs === undefined) return nowMs;
        this.#lastReadMs = Math.max(nowMs, this.#lastReadMs + codeMs());
        return this.#lastReadMs;
      },
    };
    // Node's timers are cut to whole milliseconds: they may fire before the clock is there.
    const lastsMs = (ms: number): number =>
      codeMs === undefined ? ms : Math.max(Math.trunc(ms), 1);
    this.timers = {
      after: (ms, callback) => this.deliver(lastsMs(ms), callback),
      soon: (callback) => void this.deliver(0, callback),
    };
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isFrozen(): boolean {
    return this.#time.nowMs < this.#frozenUntilMs;
  }

  /** Did it stand still after that instant? */
  wasHeldUp(sinceMs: number): boolean {
    return this.#heldUpUntilMs >= sinceMs;
  }

  /** An event for this process; a dead one doesn't notice, a frozen one later. */
  deliver(ms: number, callback: () => void): () => void {
    let isCancelled = false;
    const arrive = (): void => {
      if (isCancelled || this.#isDead) return;
      if (this.isFrozen) {
        this.#time.after(this.#frozenUntilMs - this.#time.nowMs, arrive);
        return;
      }
      if (this.step()) callback();
    };
    const cancel = this.#time.after(ms, arrive);
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Resolves after `ms`, or when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        cancel();
        signal?.removeEventListener("abort", finish);
        resolve();
      };
      const cancel = this.deliver(ms, finish);
      signal?.addEventListener("abort", finish, { once: true });
    });
  }

  /** Counts what this process does; false: it died of it. */
  step(): boolean {
    if (this.#isDead) return false;
    this.#steps += 1;
    if (this.#steps >= this.crashAtStep) this.crash();
    return !this.#isDead;
  }

  /** The process is gone at once. */
  crash(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#onCrash(this);
  }

  /** Stands still, as under SIGSTOP: clocks go on. */
  freeze(ms: number): void {
    this.#frozenUntilMs = Math.max(this.#frozenUntilMs, this.#time.nowMs + ms);
    this.#heldUpUntilMs = this.#frozenUntilMs;
  }

  /** Stands still with its machine: the monotonic clock stops, too. */
  suspend(ms: number): void {
    if (this.isFrozen) return;
    this.wasSuspended = true;
    this.freeze(ms);
    this.#stoppedMs += ms;
  }

  /** The wall clock is set. */
  stepWall(ms: number): void {
    this.wasStepped = true;
    this.#wallOffsetMs += ms;
  }
}
