import type { DatePart } from "../syntax/ast";
import { ticksOfUnixEpoch } from "../values";

/**
 * Instants: datetime2 counts 100 ns since 0001-01-01. datetimeoffset is the same count of the instant in UTC times 10,000,
 * plus 5,000 and the offset in minutes, so that one big integer holds both and sorts by instant.
 */

export const ticksPerMs = 10_000n;
export const ticksPerSecond = 10_000_000n;
const ticksPerMinute = 600_000_000n;
const ticksPerDay = 864_000_000_000n;
/** 9999-12-31T23:59:59.9999999. */
const lastTick = 3_155_378_975_999_999_999n;
const offsetBase = 10_000n;
const offsetZero = 5_000n;

export function ticksOfMs(ms: number): bigint {
  return BigInt(ms) * ticksPerMs + ticksOfUnixEpoch;
}

function isInRange(ticks: bigint): boolean {
  return ticks >= 0n && ticks <= lastTick;
}

/** Rounds half up to `scale` digits of a second, as a conversion does. */
export function roundTicks(ticks: bigint, scale: number): bigint {
  if (scale >= 7) return ticks;
  const unit = 10n ** BigInt(7 - scale);
  const rounded = ((ticks + unit / 2n) / unit) * unit;
  return rounded > lastTick ? (ticks / unit) * unit : rounded;
}

/** datetime keeps 1/300 s. */
export function roundToDatetime(ticks: bigint): bigint {
  const day = ticks / ticksPerDay;
  const rest = ticks % ticksPerDay;
  const units = (rest * 300n * 2n + ticksPerSecond) / (ticksPerSecond * 2n);
  // The server shows 3 digits: .000, .003, .007.
  const ms = (units * 10n + 1n) / 3n;
  return day * ticksPerDay + ms * ticksPerMs;
}

export function packOffset(utcTicks: bigint, minutes: number): bigint {
  return utcTicks * offsetBase + offsetZero + BigInt(minutes);
}

export function unpackOffset(packed: bigint): { utcTicks: bigint; minutes: number } {
  return {
    utcTicks: packed / offsetBase,
    minutes: Number((packed % offsetBase) - offsetZero),
  };
}

export function localTicks(packed: bigint): bigint {
  const { utcTicks, minutes } = unpackOffset(packed);
  return utcTicks + BigInt(minutes) * ticksPerMinute;
}

export interface DateFields {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  /** 100 ns. */
  fraction: number;
}

function fieldsOf(ticks: bigint): DateFields {
  const seconds = ticks / ticksPerSecond - ticksOfUnixEpoch / ticksPerSecond;
  const date = new Date(Number(seconds) * 1000);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    fraction: Number(ticks % ticksPerSecond),
  };
}

/** undefined when there is no such day or time. */
export function ticksOf(fields: DateFields): bigint | undefined {
  const date = new Date(0);
  date.setUTCFullYear(fields.year, fields.month - 1, fields.day);
  const isDay =
    fields.year >= 1 && date.getUTCMonth() + 1 === fields.month && date.getUTCDate() === fields.day;
  if (!isDay || fields.hour > 23 || fields.minute > 59 || fields.second > 59) return undefined;
  date.setUTCHours(fields.hour, fields.minute, fields.second);
  return ticksOfMs(date.getTime()) + BigInt(fields.fraction);
}

const isoInstant =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,7}))?)?)?\s*(Z|[+-]\d{2}:\d{2})?$/;

/** Reads ISO-8601 forms, the only ones of the vocabulary; undefined for anything else. */
export function parseInstant(text: string): { ticks: bigint; minutes: number } | undefined {
  const match = isoInstant.exec(text.trim());
  if (match === null) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone] = match;
  const ticks = ticksOf({
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    fraction: Number(fraction.padEnd(7, "0")),
  });
  const minutes = minutesOf(zone);
  if (ticks === undefined || minutes === undefined) return undefined;
  const utc = ticks - BigInt(minutes) * ticksPerMinute;
  return isInRange(utc) ? { ticks, minutes } : undefined;
}

/** [doc: datetimeoffset]: offsets go up to 14 hours. */
function minutesOf(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === "Z") return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  if (minutes > 840 || Number(zone.slice(4, 6)) > 59) return undefined;
  return zone.startsWith("-") ? -minutes : minutes;
}

export function offsetToTicks(instant: { ticks: bigint; minutes: number }): bigint {
  return instant.ticks - BigInt(instant.minutes) * ticksPerMinute;
}

const pad = (value: number, length = 2): string => String(value).padStart(length, "0");

/** Style 121 (a blank) or 126 and 127 (a T); the fraction has `scale` digits. */
export function formatInstant(ticks: bigint, scale: number, separator: " " | "T"): string {
  const fields = fieldsOf(ticks);
  const date = `${pad(fields.year, 4)}-${pad(fields.month)}-${pad(fields.day)}`;
  const time = `${pad(fields.hour)}:${pad(fields.minute)}:${pad(fields.second)}`;
  const fraction = scale === 0 ? "" : `.${pad(fields.fraction, 7).slice(0, scale)}`;
  return `${date}${separator}${time}${fraction}`;
}

/** Ticks of the parts of fixed length; a nanosecond is shorter than a tick. */
const partTicks: Partial<Record<DatePart, bigint>> = {
  DAY: ticksPerDay,
  HOUR: 36_000_000_000n,
  MINUTE: ticksPerMinute,
  SECOND: ticksPerSecond,
  MILLISECOND: ticksPerMs,
  MICROSECOND: 10n,
};

/** DATEADD; undefined when the result is no date (517). */
export function addToInstant(ticks: bigint, part: DatePart, count: number): bigint | undefined {
  const unit = partTicks[part];
  if (unit !== undefined) return inRange(ticks + BigInt(count) * unit);
  if (part === "NANOSECOND") return inRange(ticks + BigInt(Math.round(count / 100)));
  const fields = fieldsOf(ticks);
  const months = fields.year * 12 + fields.month - 1 + (part === "YEAR" ? count * 12 : count);
  const year = Math.floor(months / 12);
  const month = (months % 12) + 1;
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  const moved = { ...fields, year, month, day: Math.min(fields.day, lastDay) };
  return year > 9999 ? undefined : ticksOf(moved);
}

function inRange(ticks: bigint): bigint | undefined {
  return isInRange(ticks) ? ticks : undefined;
}

/** DATEDIFF counts the boundaries that are crossed, not the time between [doc: DATEDIFF]. */
export function countBoundaries(from: bigint, to: bigint, part: DatePart): bigint {
  const unit = partTicks[part];
  if (unit !== undefined) return to / unit - from / unit;
  if (part === "NANOSECOND") return (to - from) * 100n;
  const start = fieldsOf(from);
  const end = fieldsOf(to);
  const years = end.year - start.year;
  return BigInt(part === "YEAR" ? years : years * 12 + end.month - start.month);
}

export function partOf(ticks: bigint, part: DatePart): number {
  const fields = fieldsOf(ticks);
  switch (part) {
    case "YEAR":
      return fields.year;
    case "MONTH":
      return fields.month;
    case "DAY":
      return fields.day;
    case "HOUR":
      return fields.hour;
    case "MINUTE":
      return fields.minute;
    case "SECOND":
      return fields.second;
    case "MILLISECOND":
      return Math.floor(fields.fraction / 10_000);
    case "MICROSECOND":
      return Math.floor(fields.fraction / 10);
    case "NANOSECOND":
      return fields.fraction * 100;
  }
}
