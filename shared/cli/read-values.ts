import { invalidInput } from "../admin/read-result";
import { readDuration } from "../core/duration";
import { limits } from "../core/limits";
import { realClock } from "../platform/real-clock";
import type { GivenWords } from "./command";

/** Values of arguments and options that several commands take. */

/** The longest time from now to the start of a task. */
export const runInMax = `${String(limits.runInMsMax / 86_400_000)}d`;

/** Longest part of a wrong value that is shown. */
const shownLengthMax = 100;

/** Times that an error shows, as far as they are in the range. */
const exampleTimes = ["500ms", "90s", "10m", "2h"] as const;

/** What a time may be. */
interface TimeRange {
  /** Default `1ms`. */
  readonly min?: string;
  readonly max: string;
}

/** Milliseconds of a time such as `10m`. Throws InvalidArgumentError that names `field`. */
export function readTime(field: string, text: string, { min = "1ms", max }: TimeRange): number {
  const [minMs, maxMs] = [readDuration(min) ?? 0, readDuration(max) ?? 0];
  const isInside = (ms: number | null): ms is number => ms !== null && ms >= minMs && ms <= maxMs;
  const ms = readDuration(text);
  if (isInside(ms)) return ms;
  const examples = exampleTimes.filter((example) => isInside(readDuration(example)));
  const such = `${examples.slice(0, -1).join(", ")} or ${examples.at(-1) ?? max}`;
  throw refusal(field, text, `a time of ${min} to ${max}, such as ${such}`);
}

/** The audit keeps nothing for as long as ten years but the last word on a setting. */
const agoMsMax = 3_650 * 86_400_000;

/** A time before now, such as `2h`, by the clock of this computer, as the instant; any other text stays as it is, and the reader of the request names the expected form. */
export function sinceText(text: string | undefined): string | undefined {
  const agoMs = text === undefined ? null : readDuration(text);
  if (agoMs === null || agoMs > agoMsMax) return text;
  return new Date(realClock.nowMs() - agoMs).toISOString();
}

/** Any other text stays a text, and the reader of the request names the expected form. */
export function numberOf(text: string | undefined): unknown {
  return text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

/** A whole number. Throws InvalidArgumentError that names `field`. */
export function readWhole(field: string, text: string, [min, max]: readonly [number, number]) {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw refusal(field, text, `a whole number in ${String(min)}..${String(max)}`);
}

/** One of some words. Throws InvalidArgumentError that names `field`. */
export function readWord<Word extends string>(
  field: string,
  text: string,
  { words, expected = `one of ${words.join(", ")}` }: { words: readonly Word[]; expected?: string },
): Word {
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  throw refusal(field, text, expected);
}

/** One of two flags that exclude each other; undefined: neither. Throws InvalidArgumentError where both are given. */
export function oneFlagOf<First extends string, Second extends string>(
  flags: ReadonlySet<string>,
  first: First,
  second: Second,
): First | Second | undefined {
  const [isFirst, isSecond] = [flags.has(first), flags.has(second)];
  if (isFirst && isSecond) {
    const expected = `either --${first} or --${second}, not both`;
    throw invalidInput([{ field: `--${second}`, value: "both", expected }]);
  }
  return isFirst ? first : isSecond ? second : undefined;
}

/** Throws InvalidArgumentError that names the first of these options that is given: they say nothing here. */
export function refuseGiven(
  { options, lists, flags }: GivenWords,
  names: readonly string[],
  expected: string,
): void {
  for (const name of names) {
    const given = options[name] ?? lists[name]?.join(",") ?? (flags.has(name) ? "true" : undefined);
    if (given !== undefined) throw refusal(`--${name}`, given, expected);
  }
}

/** The error of a command that changes files, where no person can be asked. */
export function wantsYes(): Error {
  const expected = "it, because there is no terminal to ask at: nothing was changed";
  return invalidInput([{ field: "--yes", value: "nothing", expected }]);
}

/** The error that names an argument or option, its value, and the expected form. */
export function refusal(field: string, value: string, expected: string): Error {
  return invalidInput([{ field, value: `\`${value.slice(0, shownLengthMax)}\``, expected }]);
}
