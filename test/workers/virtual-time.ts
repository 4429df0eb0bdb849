import { setImmediate } from "node:timers";
import type { Clock } from "../../shared/ports/clock";
import type { Timers } from "../../shared/ports/timers";

interface Entry {
  readonly atMs: number;
  /** Of equal instants the first planned comes first. */
  readonly order: number;
  readonly callback: () => void;
  isCancelled: boolean;
}

/**
 * The one clock and the one queue of events of a simulation. An event runs to its end, with every promise that it
 * settles, before the next begins: between two events nothing happens, so a run is a function of its seed.
 */
export class VirtualTime {
  nowMs = 0;
  /** Events so far. */
  events = 0;
  readonly #heap: Entry[] = [];
  #order = 0;

  /** Plans an event; the returned function takes it back. */
  after(ms: number, callback: () => void): () => void {
    const atMs = this.nowMs + Math.max(ms, 0);
    const entry: Entry = { atMs, order: (this.#order += 1), callback, isCancelled: false };
    this.#push(entry);
    return () => {
      entry.isCancelled = true;
    };
  }

  /** Clock and timers of a part of the product that lives in this time. */
  readonly parts: { readonly clock: Clock; readonly timers: Timers } = {
    clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
    timers: {
      after: (ms, callback) => this.after(ms, callback),
      soon: (callback) => void this.after(0, callback),
    },
  };

  /** Resolves after `ms`. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Runs events until that instant or until `isOver`; answers whether it was over. */
  async run(untilMs: number, isOver: () => boolean = () => false): Promise<boolean> {
    // Work begun before plans its first event within this turn.
    await settled();
    while (!isOver()) {
      const [next] = this.#heap;
      if (next === undefined || next.atMs > untilMs) {
        this.nowMs = Math.max(this.nowMs, untilMs);
        return false;
      }
      this.#pop();
      if (next.isCancelled) continue;
      this.nowMs = next.atMs;
      this.events += 1;
      next.callback();
      await settled();
    }
    return true;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(entry, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/** Resolves when no promise of this turn is left to settle. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
