/** Durations as people read and write them. */

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

/** A length of time to the millisecond, in the largest unit that it is a whole number of: `1 min`, `90 s`, `1500 ms`. */
export function formatExactDuration(ms: number): string {
  const units = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000 };
  const [name, length] = Object.entries(units).find(([, unit]) => ms % unit === 0) ?? ["ms", 1];
  return `${String(ms / length)} ${name}`;
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const durationForm = /^(?:\d{1,9}(?:ms|s|min|m|h|d)){1,5}$/;

/** Milliseconds of `500ms`, `90s`, `10m` (or `10min`), `2h`, `1d` or several of them, such as `1h30m`; null for anything else. */
export function readDuration(text: string): number | null {
  if (!durationForm.test(text)) return null;
  const parts = [...text.matchAll(/(\d+)(\D+)/g)];
  return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (unitMs[unit] ?? 0), 0);
}

function andRest(rest: number, unit: string): string {
  return rest === 0 ? "" : ` ${String(rest)} ${unit}`;
}
