import { parseArgs } from "node:util";
import { invalidInput } from "../admin/object-reader";
import { didYouMean } from "../core/near-name";
import type { Command, CommandOption } from "./command";
import { showNumber } from "./output";

/** Turns the words of a command line into a command with its arguments; knows nothing of what commands do. */

/** Options of every command. */
export const globalOptions = {
  db: {
    type: "string",
    valueName: "URL",
    sentence: "Database to work on: postgres://.. or mssql://..",
  },
  timeout: {
    type: "string",
    valueName: "TIME",
    sentence: "Gives up a database that is silent so long; 15s by default.",
  },
  json: { type: "boolean", sentence: "One JSON document, for programs." },
  help: { type: "boolean", sentence: "Explains the command." },
} as const satisfies Record<string, CommandOption>;

/** What was asked for. */
export type Parsed =
  | { readonly kind: "help"; readonly command: Command | null }
  | { readonly kind: "version" }
  | {
      readonly kind: "run";
      readonly command: Command;
      readonly args: readonly string[];
      readonly options: Readonly<Record<string, string | undefined>>;
      readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
      readonly flags: ReadonlySet<string>;
    };

/** Most arguments that are read. */
const argumentsMax = 1_000;
/** `-1` is a number, whatever it stands behind: no option is called by a digit. */
const negativeNumber = /^-\d[\d.]*$/;
/** Stands before a negative number while options are told from values: no word of a process holds it. */
const marked = "\0";

/** Throws InvalidArgumentError that names the command, option or argument, with the near name where there is one. */
export function parseCommandLine(words: readonly string[], commands: readonly Command[]): Parsed {
  const [name, ...rest] = behindCommand(words);
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    const topic = name === "help" ? rest[0] : undefined;
    return { kind: "help", command: topic === undefined ? null : findCommand(topic, commands) };
  }
  if (name === "--version" || name === "version") return { kind: "version" };
  const command = findCommand(name, commands);
  return parseOptions(command, rest.slice(0, argumentsMax));
}

/** `taskgate --db URL status` says the same as `taskgate status --db URL`. */
function behindCommand(words: readonly string[]): string[] {
  let count = 0;
  for (; /^--(db(=.*)?|json)$/s.test(words[count] ?? ""); count += 1)
    if (words[count] === "--db") count += 1;
  return [...words.slice(count), ...words.slice(0, count)];
}

function findCommand(name: string, commands: readonly Command[]): Command {
  const command = commands.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const names = commands.map((candidate) => candidate.name);
  const near = didYouMean(name, names);
  const expected = near === "" ? `one of ${names.join(", ")}` : `a command.${near}`;
  throw invalidInput([{ field: "command", value: `\`${name}\``, expected }]);
}

function parseOptions(command: Command, words: readonly string[]): Parsed {
  const known: Readonly<Record<string, CommandOption>> = { ...command.options, ...globalOptions };
  const options = Object.fromEntries(
    Object.entries(known).map(([name, option]) => [name, { type: option.type }]),
  );
  const { tokens } = parseArgs({
    args: words.map((word) => (negativeNumber.test(word) ? marked + word : word)),
    options: { ...options, h: { type: "boolean" } },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const values: Record<string, string> = {};
  const lists: Record<string, string[]> = {};
  const flags = new Set<string>();
  const args: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") args.push(unmarked(token.value));
    if (token.kind !== "option") continue;
    const name = token.name === "h" ? "help" : token.name;
    const option = requireOption(name, token.rawName, { known, command });
    if (option.type === "boolean") {
      if (token.value !== undefined) refuseOption(token.rawName, token.value, "no value");
      flags.add(name);
      continue;
    }
    // `--db --json`: the parser would take the next option as the value.
    const isOption = token.inlineValue !== true && /^-./.test(token.value ?? "");
    const value = isOption || token.value === undefined ? undefined : unmarked(token.value);
    if (value === undefined) {
      refuseOption(token.rawName, undefined, `a value: --${name} ${option.valueName ?? "VALUE"}`);
    }
    if (option.isList === true) {
      (lists[name] ??= []).push(value);
      continue;
    }
    if (Object.hasOwn(values, name)) refuseOption(token.rawName, value, "to be given once");
    values[name] = value;
  }
  if (flags.has("help")) return { kind: "help", command };
  requireArguments(command, args);
  return { kind: "run", command, args, options: values, lists, flags };
}

function unmarked(value: string): string {
  return value.startsWith(marked) ? value.slice(marked.length) : value;
}

function requireOption(
  name: string,
  rawName: string,
  context: { known: Readonly<Record<string, CommandOption>>; command: Command },
): CommandOption {
  const option = Object.hasOwn(context.known, name) ? context.known[name] : undefined;
  if (option !== undefined) return option;
  const names = Object.keys(context.known).map((candidate) => `--${candidate}`);
  const near = didYouMean(`--${name}`, names);
  const expected =
    near === "" ? `one of ${names.join(", ")}` : `an option of \`${context.command.name}\`.${near}`;
  throw invalidInput([{ field: "option", value: `\`${rawName}\``, expected }]);
}

function refuseOption(rawName: string, value: string | undefined, expected: string): never {
  const shown = value === undefined ? "nothing" : `\`${value.slice(0, 100)}\``;
  throw invalidInput([{ field: rawName, value: shown, expected }]);
}

function requireArguments(command: Command, args: readonly string[]): void {
  const isList = command.parameters.at(-1)?.endsWith("..") === true;
  const required =
    command.isListOptional === true ? command.parameters.slice(0, -1) : command.parameters;
  const missing = required[args.length];
  const usage = `as in \`taskgate ${[command.name, ...command.parameters].join(" ")}\``;
  if (missing !== undefined) {
    throw invalidInput([{ field: missing, value: "nothing", expected: `an argument, ${usage}` }]);
  }
  const extra = args[command.parameters.length];
  if (extra === undefined || isList) return;
  const expected =
    command.parameters.length === 0
      ? `no argument, ${usage}`
      : `${showNumber(command.parameters.length, "argument", "arguments")}, ${usage}`;
  throw invalidInput([{ field: "argument", value: `\`${extra.slice(0, 100)}\``, expected }]);
}
