import { setMaxListeners } from "node:events";
import { StoreUncertainError } from "../core/errors";
import { onAbort } from "../core/on-abort";
import { nodeTimers } from "../platform/node-timers";
import { sleep } from "../platform/real-clock";

/** Those of all apps in this process: a process that leaves lets each of them finish. */
const inProcess = new Set<Promise<unknown>>();

/** The invocations of one app in this process, and its end: those that run are known, told to end, and waited for. */
export class Invocations {
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor() {
    // Each request in flight listens: many at once are no leak.
    setMaxListeners(0, this.ending);
  }

  /** Aborted once, when the app ends: handlers and loops end. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Runs one invocation so that the end of the app waits for it. */
  async counted<Result>(body: () => Promise<Result>): Promise<Result> {
    const invocation = body();
    this.#running.add(invocation);
    inProcess.add(invocation);
    try {
      return await invocation;
    } finally {
      this.#running.delete(invocation);
      inProcess.delete(invocation);
    }
  }

  /** Tells all invocations to end and waits until they have, `timeoutMs` at most. */
  async end(timeoutMs: number): Promise<void> {
    this.#ending.abort();
    await within(timeoutMs, Promise.allSettled(this.#running));
  }
}

/** Waits for `work`, `mostMs` at most. No timer stays behind: it would keep the process alive. */
export async function within(mostMs: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, sleep(mostMs, over.signal)]);
  } finally {
    over.abort();
  }
}

const leftBehind = (): Error =>
  new StoreUncertainError(
    "The app ends in this process: the call was left behind, and may have happened",
  );

/**
 * What `work` gives. When the app ends first and `work` needs longer than `graceMs` more, it is left behind, and this
 * throws StoreUncertainError, or what `toError` makes: time remains to put a message back.
 */
export function untilEnd<Result>(
  work: Promise<Result>,
  {
    ending,
    graceMs,
    toError = leftBehind,
  }: { ending: AbortSignal; graceMs: number; toError?: () => Error },
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let cancel = (): void => undefined;
    const onEnd = (): void => {
      cancel = nodeTimers.after(graceMs, () => {
        reject(toError());
      });
    };
    let leave = (): void => undefined;
    if (ending.aborted) onEnd();
    else leave = onAbort(ending, onEnd);
    const settle = (): void => {
      cancel();
      leave();
    };
    work.finally(settle).then(resolve, reject);
  });
}

/** Waits until the invocations that run in this process now have ended by themselves, `maxMs` at most. */
export async function untilIdle(maxMs: number): Promise<void> {
  await within(maxMs, Promise.allSettled([...inProcess]));
}
