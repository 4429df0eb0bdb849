/** Durations for people. */

/** `850 ms`, `3 s`, `2 min 5 s`, `1 h 3 min`, `2 d 4 h`: two units at most, cut, not rounded. Below 0: as if positive. */
export function formatDuration(ms: number): string {
  const length = Math.abs(ms);
  if (length < 1_000) return `${String(Math.floor(length))} ms`;
  const seconds = Math.floor(length / 1_000);
  if (seconds < 60) return `${String(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${String(minutes)} min${andRest(seconds % 60, "s")}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${String(hours)} h${andRest(minutes % 60, "min")}`;
  return `${String(Math.floor(hours / 24))} d${andRest(hours % 24, "h")}`;
}

function andRest(rest: number, unit: string): string {
  return rest === 0 ? "" : ` ${String(rest)} ${unit}`;
}
