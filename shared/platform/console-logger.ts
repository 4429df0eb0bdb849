import { describeThrown } from "../core/describe-thrown";
import { describeValue, isError, read } from "../core/foreign-value";
import type { Clock } from "../ports/clock";
import type { LogFields, Logger } from "../ports/logger";
import type { LogLevel } from "../settings/settings";

/** How lines look and where they go. */
export interface ConsoleLoggerOptions {
  /** Lines below it are dropped. */
  readonly level: LogLevel;
  /** human: for a terminal. json: one JSON object per line, for programs. */
  readonly form: "human" | "json";
  readonly clock: Clock;
  /** Takes a line without its line end; default: standard output, warnings and errors to standard error. */
  readonly write?: (line: string, level: LogLevel) => void;
}

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];
/** Members that a field of the same name doesn't replace; the field gets a `_` behind its name. */
const ownMembers = new Set(["time", "level", "message"]);

/**
 * Writes log lines. JSON: `{"time":ISO-8601 UTC,"level":..,"message":..,fields}`; human: `hh:mm:ss level message a=1`.
 * A line stays one line with any text: control characters are written as escapes.
 */
export function createConsoleLogger(options: ConsoleLoggerOptions): Logger {
  const least = levels.indexOf(options.level);
  const write = options.write ?? writeToStream;
  const format = options.form === "json" ? jsonLine : humanLine;
  const logAt =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (levels.indexOf(level) < least) return;
      const time = new Date(options.clock.nowMs()).toISOString();
      write(format({ time, level, message: textOf(message), fields: plainOf(fields) }), level);
    };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

/** Handlers in JavaScript log anything; a line that can't be written must fail no task. */
function textOf(message: unknown): string {
  if (typeof message === "string") return message;
  return isError(message) ? describeThrown(message) : describeValue(message);
}

function plainOf(fields: unknown): LogFields {
  if (typeof fields !== "object" || fields === null) return {};
  const names = namesOf(fields);
  return Object.fromEntries(names.map((name) => [name, plainValue(read(fields, name))]));
}

function namesOf(fields: object): string[] {
  try {
    return Object.keys(fields);
  } catch {
    return [];
  }
}

function plainValue(value: unknown): LogFields[string] {
  if (value === undefined || value === null) return value;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  return textOf(value);
}

interface Line {
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

function jsonLine({ time, level, message, fields }: Line): string {
  const named = Object.entries(fields).map(([name, value]) => [
    ownMembers.has(name) ? `${name}_` : name,
    value,
  ]);
  return JSON.stringify({
    time,
    level,
    message,
    ...(Object.fromEntries(named) as Record<string, unknown>),
  });
}

function humanLine({ time, level, message, fields }: Line): string {
  const facts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${humanValue(value)}`);
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${withoutControls(message)}${facts.join("")}`;
}

function humanValue(value: LogFields[string]): string {
  if (typeof value !== "string") return String(value);
  return /^[^\s"=\p{Cc}]+$/u.test(value) ? value : JSON.stringify(value);
}

/** A message from outside must not start a line of its own or move the cursor. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}

function writeToStream(line: string, level: LogLevel): void {
  const stream = level === "warn" || level === "error" ? process.stderr : process.stdout;
  stream.write(`${line}\n`);
}
