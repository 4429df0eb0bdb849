import { describeValue, isError, read } from "./foreign-value";
import { limits } from "./limits";
import { cleanText } from "./text";

/*
 * The text that an attempt keeps of its error: name and message, the same of its causes, then the stacks. Causes stand before
 * stacks, so that a list that shows a few lines has them. A long stack is cut in its middle and costs no cause.
 */

/** Causes of causes that are told. */
const causesMax = 5;
/** Characters of a cause's message, and of one error of an AggregateError. */
const causeLengthMax = 300;
/** Errors of an AggregateError that are told. */
const gatheredMax = 3;
/** Characters that stay for the stacks, however long the message is. */
const stacksLengthMin = 400;
/** A stack that has less room is left out. */
const stackLengthMin = 80;

/**
 * Name, message, stack and causes of any thrown value, at most 4,000 characters. Never throws, even where the value's getters do.
 * Half surrogate pairs and U+0000 become U+FFFD.
 */
export function describeThrown(thrown: unknown): string {
  const lengthMax = limits.errorLengthMax;
  if (typeof thrown === "string") return cleanText(thrown, lengthMax);
  if (!isError(thrown)) return cleanText(`thrown: ${describeNoError(thrown)}`, lengthMax);
  const { links, end } = chainOf(thrown);
  // Of one of them: the room is bounded.
  const gathering = links.find((link) => gatheredOf(link).length > 0);
  const causes = links.flatMap((link, at) => [
    ...(at === 0 ? [] : [`caused by ${headOf(link, causeLengthMax)}`]),
    ...(link === gathering ? gatheredOf(link) : []),
  ]);
  const below = [...causes, ...(end === null ? [] : [end])].map((line) => `\n${line}`).join("");
  const head = headOf(thrown, lengthMax - stacksLengthMin - below.length);
  const told = head + below;
  return cleanText(told + stacksOf(links, lengthMax - told.length), lengthMax);
}

/** Of a plain object its JSON, as an error would have a message; it has no stack. */
function describeNoError(thrown: unknown): string {
  const told = describeValue(thrown);
  if (told !== "an object") return told;
  try {
    return `${JSON.stringify(thrown).slice(0, causeLengthMax)}, no Error`;
  } catch {
    return told;
  }
}

/** The error and its causes, the last line where the chain doesn't end by itself. */
function chainOf(thrown: Error): { links: Error[]; end: string | null } {
  const links = [thrown];
  for (let link = thrown; ;) {
    const cause = read(link, "cause");
    if (cause === undefined) return { links, end: null };
    if (!isError(cause)) return { links, end: `caused by ${describeValue(cause)}` };
    if (links.includes(cause)) return { links, end: "caused by one of these errors: a circle" };
    if (links.length > causesMax) return { links, end: "caused by errors that aren't told here" };
    links.push(cause);
    link = cause;
  }
}

function headOf(error: Error, lengthMax: number): string {
  const name = textOf(error, "name") ?? "(its name can't be read)";
  const message = textOf(error, "message") ?? "(its message can't be read)";
  const head = `${name.slice(0, causeLengthMax)}: ${message.slice(0, lengthMax)}`;
  return head.length <= lengthMax ? head : `${head.slice(0, lengthMax - 3)} ..`;
}

/** The first errors of an AggregateError; none of any other. */
function gatheredOf(error: Error): string[] {
  try {
    const errors = read(error, "errors");
    if (!Array.isArray(errors)) return [];
    const lines = errors
      .slice(0, gatheredMax)
      .map((each: unknown) => (isError(each) ? headOf(each, causeLengthMax) : describeValue(each)));
    const left = errors.length - lines.length;
    return [
      ...lines.map((line) => `with ${line}`),
      ...(left > 0 ? [`and ${String(left)} others`] : []),
    ];
  } catch {
    return ["(its errors can't be read)"];
  }
}

/** The stacks below their errors' lines, with as much room for each as all together have. */
function stacksOf(links: readonly Error[], lengthMax: number): string {
  const stacks = links
    .map((link, at) => ({ title: at === 0 ? "" : `\nstack of cause ${String(at)}:`, link }))
    .map(({ title, link }) => ({ title, frames: framesOf(link) }))
    .filter(({ frames }) => frames !== "");
  const shared = new Map<string, string>();
  let left = lengthMax;
  // The short ones first: what they don't need is the long ones'.
  const byLength = [...stacks].sort((a, b) => a.frames.length - b.frames.length);
  byLength.forEach(({ title, frames }, at) => {
    const room = Math.floor(left / (byLength.length - at)) - title.length - 1;
    if (room < stackLengthMin) return;
    const text = `${title}\n${cutMiddle(frames, room)}`;
    shared.set(title, text);
    left -= text.length;
  });
  return stacks.map(({ title }) => shared.get(title) ?? "").join("");
}

/** A stack without the name and message that it begins with. */
function framesOf(error: Error): string {
  const stack = textOf(error, "stack") ?? "";
  const message = textOf(error, "message") ?? "";
  const begin = stack.indexOf(": ") + 2;
  // A class may have set its name after the stack was taken.
  const isHeaded = message !== "" && begin > 1 && stack.startsWith(message, begin);
  const frames = isHeaded ? stack.slice(begin + message.length) : withoutHead(stack);
  return frames.replace(/^\n+/, "").trimEnd();
}

function withoutHead(stack: string): string {
  const at = stack.indexOf("\n    at ");
  return at === -1 ? stack : stack.slice(at);
}

function cutMiddle(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const mark = `\n    .. ${String(text.length)} characters in all ..\n`;
  const kept = Math.max(0, lengthMax - mark.length);
  const first = Math.ceil(kept / 2);
  return text.slice(0, first) + mark + text.slice(text.length - (kept - first));
}

function textOf(error: Error, member: "name" | "message" | "stack"): string | null {
  const text = read(error, member);
  return typeof text === "string" ? text : null;
}
