/** The callbacks of a signal's abort, and the one listener that calls them. */
interface Listening {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Calls `callback` once when `signal`, which isn't aborted yet, is; the returned function takes that back. All callbacks share one listener:
 * Node compares each new listener of a signal with all that are there, and warns from the eleventh on. `callback` must not throw.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const shared = listening.get(signal) ?? listen(signal);
  shared.callbacks.add(callback);
  return () => {
    if (!shared.callbacks.delete(callback) || shared.callbacks.size > 0) return;
    signal.removeEventListener("abort", shared.listener);
    if (listening.get(signal) === shared) listening.delete(signal);
  };
}

function listen(signal: AbortSignal): Listening {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    listening.delete(signal);
    for (const callback of callbacks) callback();
  };
  signal.addEventListener("abort", listener, { once: true });
  const made = { callbacks, listener };
  listening.set(signal, made);
  return made;
}
