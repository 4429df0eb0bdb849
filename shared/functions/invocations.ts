import { setMaxListeners } from "node:events";
import { StoreUncertainError } from "../core/errors";
import { onAbort } from "../core/on-abort";
import { nodeTimers } from "../platform/node-timers";
import { within } from "../platform/real-clock";

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

const leftBehind = (): Error =>
  new StoreUncertainError(
    "The app ends in this process: the call was left behind, and may have happened",
  );

/**
 * What `work` gives. When the app ends first and `work` needs longer than `graceMs` more, it is left behind, and this
 * throws StoreUncertainError, or what `toError` makes: time remains to put a message back.
 */
export async function untilEnd<Result>(
  work: Promise<Result>,
  {
    ending,
    graceMs,
    toError = leftBehind,
  }: { ending: AbortSignal; graceMs: number; toError?: () => Error },
): Promise<Result> {
  const { over, cancel } = afterAbort(ending, graceMs);
  const late = over.then(() => {
    throw toError();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

/** `over` resolves so many milliseconds after the signal is aborted. */
export function afterAbort(
  signal: AbortSignal,
  ms: number,
): { readonly over: Promise<void>; readonly cancel: () => void } {
  let cancelTimer = (): void => undefined;
  let leave = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    const begin = (): void => {
      cancelTimer = nodeTimers.after(ms, resolve);
    };
    if (signal.aborted) begin();
    else leave = onAbort(signal, begin);
  });
  const cancel = (): void => {
    leave();
    cancelTimer();
  };
  return { over, cancel };
}

/** Waits until the invocations that run in this process now have ended by themselves, `maxMs` at most. */
export async function untilIdle(maxMs: number): Promise<void> {
  await within(maxMs, Promise.allSettled([...inProcess]));
}
