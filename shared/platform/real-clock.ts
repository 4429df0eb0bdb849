import { randomUUID } from "node:crypto";
import type { Clock } from "../ports/clock";
import type { Random } from "../ports/random";

/** The clock of this machine. */
export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Chance of this machine. */
export const realRandom: Random = {
  uuid: () => randomUUID(),
  fraction: () => Math.random(),
};

/** Resolves after `ms`, or at once when `signal` is aborted; never rejects. A waiting process may still end. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish, { once: true });
  });
}

/** Waits for `work`, `maxMs` at most; answers whether it has ended by then. No timer stays behind: it would keep the process alive. */
export async function within(maxMs: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const late = sleep(maxMs, over.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    over.abort();
  }
}
