import { onAbort } from "./on-abort";

/** A signal of several sources, and its end. */
export interface JoinedSignal {
  /** Aborts with the first source that does, and with its reason. */
  readonly signal: AbortSignal;
  /** Takes its listeners off the sources. Afterwards it aborts no more. */
  leave(): void;
}

/**
 * For sources that live as long as the process and calls that come all the time: `AbortSignal.any` leaves something at each
 * of its sources that Node 20 never takes away (nodejs/node#55351).
 */
export function joinSignals(...sources: readonly AbortSignal[]): JoinedSignal {
  const joined = new AbortController();
  const ends = sources.map((source) => {
    const abort = (): void => {
      joined.abort(source.reason);
    };
    if (!source.aborted) return onAbort(source, abort);
    abort();
    return () => undefined;
  });
  return {
    signal: joined.signal,
    leave() {
      for (const end of ends) end();
    },
  };
}
