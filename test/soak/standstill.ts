/** A time in which this process did nothing: it was frozen, or the computer was, or had no processor for it. */
export interface Standstill {
  readonly fromMs: number;
  readonly untilMs: number;
}

const lookEveryMs = 250;
/** What a busy computer takes is no standstill. */
const leastMs = 1_000;

/** Tells of each standstill when it is over. Keeps no process alive. */
export function watchStandstill(onStandstill: (standstill: Standstill) => void): void {
  let lastMs = Date.now();
  setInterval(() => {
    const nowMs = Date.now();
    if (nowMs - lastMs > leastMs) onStandstill({ fromMs: lastMs, untilMs: nowMs });
    lastMs = nowMs;
  }, lookEveryMs).unref();
}
