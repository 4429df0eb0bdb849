import type { Timers } from "../ports/timers";

/** Node fires at once when a delay doesn't fit 31 bits. */
const delayMsMax = 2 ** 31 - 1;

/** Node's timers. A pending one keeps its process alive: a script that waits for work must not end in mid-air. Any number of milliseconds is fine, below 0 counts as 0. */
export const nodeTimers: Timers = {
  after: (ms, callback) => {
    let timer: NodeJS.Timeout | undefined;
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, delayMsMax);
      timer = setTimeout(() => {
        if (leftMs > stepMs) arm(leftMs - stepMs);
        else callback();
      }, stepMs);
    };
    arm(Math.max(0, ms));
    return () => {
      clearTimeout(timer);
    };
  },
  soon: (callback) => {
    setImmediate(callback);
  },
};
