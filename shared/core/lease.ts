/**
 * How long a worker may believe that what it holds is its own. The database's clock decides; this only makes the worker
 * stop sooner: it counts from when the renewing call was *sent*, by a clock that never jumps, less a margin; and also
 * by the wall clock, which goes on while a machine is suspended.
 */
export class LeaseTrust {
  #monotonicUntil = Number.NEGATIVE_INFINITY;
  #wallUntil = Number.NEGATIVE_INFINITY;
  #leaseMs = 0;
  #isLost = false;

  /** The share of a lease kept as margin: a tenth, at least 50 ms and at most 5 s. */
  static marginMs(leaseMs: number): number {
    return Math.min(Math.max(leaseMs / 10, 50), 5_000);
  }

  /** A call sent at these instants renewed the lease for `leaseMs`. An older call's late answer never shortens the trust. */
  renew(sentAt: Instants, leaseMs: number): void {
    if (this.#isLost) return;
    const trustMs = leaseMs - LeaseTrust.marginMs(leaseMs);
    if (sentAt.monotonicMs + trustMs <= this.#monotonicUntil) return;
    this.#leaseMs = leaseMs;
    this.#monotonicUntil = sentAt.monotonicMs + trustMs;
    this.#wallUntil = sentAt.wallMs + trustMs;
  }

  /** The database said that another holds it now. Final. */
  lose(): void {
    this.#isLost = true;
  }

  /** May something be started or written at this instant? */
  holdsAt(now: Instants): boolean {
    return !this.#isLost && this.leftMs(now) > 0;
  }

  /** Milliseconds of trust left, by the stricter clock; 0 or less: none. */
  leftMs(now: Instants): number {
    if (this.#isLost) return 0;
    return Math.min(this.#monotonicUntil - now.monotonicMs, this.#wallUntil - now.wallMs);
  }

  /** The lease as last told; 0 before the first renewal. */
  get leaseMs(): number {
    return this.#leaseMs;
  }

  get isLost(): boolean {
    return this.#isLost;
  }
}

/** One moment by both clocks. */
export interface Instants {
  monotonicMs: number;
  wallMs: number;
}
