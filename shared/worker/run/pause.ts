import type { Timers } from "../../ports/timers";

/** Resolves after `ms`, or when `signal` is aborted. It leaves no listener behind: each second of an outage would add one. */
export function pause(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = timers.after(ms, end);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted === true) end();
  });
}
