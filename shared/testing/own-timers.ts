import timers from "node:timers";
import type { Timers } from "../ports/timers";

// Taken when this module is loaded: runners replace the members of the module, too.
const { clearTimeout, setImmediate, setTimeout } = timers;

/** Node's own timers: a runner's fake ones don't stop the worker that runs the tasks. */
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
