// Numbers, durations and instants as people read them. All instants are in one time zone, which the page names.

/** The API counts up to here. */
const countMax = 10_000;
const zoneName = "taskgate-time-zone";

export function formatCount(count) {
  return count >= countMax ? `${countMax.toLocaleString("en")}+` : count.toLocaleString("en");
}

/** `1 task`, `2 tasks`. */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** `250 ms`, `12 s`, `3 min`, `5 h`, `2 days`. */
export function formatDuration(ms) {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toLocaleString("en", { maximumFractionDigits: 1 })} s`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} days`;
}

/** A limit or `none`. */
export function formatLimit(limit) {
  return limit === null ? "none" : String(limit);
}

/** `100 per minute, bursts of 5`. */
export function formatRate(rate) {
  if (rate === null) return "none";
  const names = { 1000: "second", 60000: "minute", 3600000: "hour", 86400000: "day" };
  const units = { days: 86400000, h: 3600000, min: 60000, s: 1000 };
  const [unit, length] = Object.entries(units).find(([, ms]) => rate.periodMs % ms === 0) ?? [
    "ms",
    1,
  ];
  const period = names[rate.periodMs] ?? `${rate.periodMs / length} ${unit}`;
  return `${rate.count.toLocaleString("en")} per ${period}, at most ${rate.burst} at once`;
}

// ---- the time zone

const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
let zone = window.localStorage.getItem(zoneName) === "UTC" ? "UTC" : browserZone;

/** The zone in which instants are written, and the other one that can be chosen; they are the same in UTC. */
export function readZones() {
  return { zone, other: zone === browserZone ? "UTC" : browserZone };
}

/** Writes instants in the other zone from now on; kept for this browser. */
export function switchZone() {
  zone = readZones().other;
  window.localStorage.setItem(zoneName, zone);
}

/** `2026-11-25 22:51:50`: Swedish writes instants this way. */
function write(date) {
  const how = { timeZone: zone, dateStyle: "short", timeStyle: "medium" };
  return new Intl.DateTimeFormat("sv-SE", how).format(date);
}

/** Today's as a time, others with their day; `-` for none. */
export function formatInstant(instant) {
  if (instant === null || instant === undefined) return "-";
  const [text, today] = [write(new Date(instant)), write(new Date())];
  return text.slice(0, 10) === today.slice(0, 10) ? text.slice(11) : text;
}

/** `3 min ago`, `in 2 h`. */
export function formatDistance(instant) {
  const ms = new Date(instant).getTime() - Date.now();
  if (Math.abs(ms) < 1_000) return "now";
  return ms < 0 ? `${formatDuration(-ms)} ago` : `in ${formatDuration(ms)}`;
}

/** An instant as a cell says it: its distance is the title. */
export const sayInstant = (instant) => [formatInstant(instant), formatDistance(instant)];

/** The first line of a text. */
export function firstLine(text) {
  return text.split("\n", 1)[0];
}
