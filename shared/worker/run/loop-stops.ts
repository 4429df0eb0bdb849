import type { LoopEnd } from "../../core/next-call";
import type { LoopOptions } from "./loop-options";
import type { LoopTimers } from "./loop-timers";
import type { AbortReason } from "./running-tasks";

/** What the loop does: nothing more starts, or running handlers are told to stop as well. */
export interface Stops {
  readonly stop: (end: LoopEnd) => void;
  readonly abort: (reason: AbortReason) => void;
}

/** Stops the loop at its instants, and when the process is told to. Answers what ends the watch of the process. */
export function watchStops(
  { environment, signal, draining, abortAtMs, stopAtMs }: LoopOptions,
  timers: LoopTimers,
  { stop, abort }: Stops,
): () => void {
  const now = environment.clock.monotonicMs();
  const onDrain = (): void => {
    stop("stopped");
  };
  const onStop = (): void => {
    stop("stopped");
    abort("stopped");
  };
  signal.addEventListener("abort", onStop, { once: true });
  draining?.addEventListener("abort", onDrain, { once: true });
  timers.after(stopAtMs - now, () => {
    stop("deadline");
  });
  timers.after(abortAtMs - now, () => {
    abort("deadline");
  });
  return () => {
    signal.removeEventListener("abort", onStop);
    draining?.removeEventListener("abort", onDrain);
  };
}
