import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import type { Timers } from "../ports/timers";

/** Node's timers, taken when this module is loaded: a runner's fake timers don't stop the worker that runs the tasks. */
export const ownTimers: Timers = {
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(0, ms), longestMs));
    return () => {
      clearTimeout(timer);
    };
  },
  soon: (callback) => {
    setImmediate(callback);
  },
};

/** Node fires at once when a delay doesn't fit 31 bits; no test lasts that long. */
const longestMs = 2 ** 31 - 1;
