import { setMaxListeners } from "node:events";
import { StoreUncertainError } from "../core/errors";
import { nodeTimers } from "../platform/node-timers";
import { sleep } from "../platform/real-clock";

/** The invocations of this process, and its end: running invocations are known, told to end, and waited for. */

/** Aborted once, when the host tells the process to end. */
const ending = new AbortController();
// Each request in flight listens: many at once are no leak.
setMaxListeners(0, ending.signal);
const invocations = new Set<Promise<unknown>>();

/** Tells handlers and loops that the process ends. */
export const endingSignal: AbortSignal = ending.signal;

/** Runs one invocation so that the end of the process waits for it. */
export async function counted<Result>(body: () => Promise<Result>): Promise<Result> {
  const invocation = body();
  invocations.add(invocation);
  try {
    return await invocation;
  } finally {
    invocations.delete(invocation);
  }
}

/**
 * What `work` gives. When the process ends first and `work` needs longer than `graceMs` more, it is left behind, and this
 * throws StoreUncertainError: time remains to put a message back.
 */
export function untilEnd<Result>(work: Promise<Result>, graceMs: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    let cancel = (): void => undefined;
    const onEnd = (): void => {
      cancel = nodeTimers.after(graceMs, () => {
        reject(new StoreUncertainError("The process ends, and the database hasn't answered"));
      });
    };
    const settle = (): void => {
      cancel();
      endingSignal.removeEventListener("abort", onEnd);
    };
    endingSignal.addEventListener("abort", onEnd, { once: true });
    if (endingSignal.aborted) onEnd();
    work.finally(settle).then(resolve, reject);
  });
}

/** Waits until the invocations that run now have ended by themselves, `mostMs` at most. */
export async function untilIdle(maxMs: number): Promise<void> {
  await Promise.race([Promise.allSettled([...invocations]), sleep(maxMs)]);
}

/** Tells all invocations to end and waits until they have, `timeoutMs` at most. */
export async function endInvocations(timeoutMs: number): Promise<void> {
  ending.abort();
  await Promise.race([Promise.allSettled(invocations), sleep(timeoutMs)]);
}
