import { parseArgs } from "node:util";
import { invalidInput } from "../admin/read-result";
import { didYouMean } from "../core/near-name";
import { callOf, showParameter } from "./command";
import type { Command, CommandOption, GivenWords } from "./command";
import { showNumber } from "../terminal/output";
import { refusal } from "./read-values";
import { commandSynonyms, optionSynonyms } from "./synonyms";

/** Turns the words of a command line into a command with its arguments; knows nothing of what commands do. */

/** Options of every command; they may also stand before it. */
export const globalOptions = {
  db: { valueName: "URL", sentence: "Database to work on: postgres://.. or mssql://.." },
  url: {
    valueName: "URL",
    sentence: "App to ask in place of a database: https://HOST (TASKGATE_FUNCTION_KEY).",
  },
  timeout: {
    valueName: "TIME",
    sentence: "Gives up a database or an app that is silent for this time; default 15s.",
  },
  json: { sentence: "One JSON document, for programs." },
  "no-color": { sentence: "No colours, also on a terminal." },
  help: { short: "h", sentence: "Explains the command." },
} as const satisfies Record<string, CommandOption>;

/** The parsed request. */
export type Parsed =
  | { readonly kind: "help"; readonly command: Command | null }
  | ({ readonly kind: "run"; readonly command: Command } & GivenWords);

type KnownOptions = Readonly<Record<string, CommandOption>>;

/** `-1` is a number in every place: no option is named by a digit. */
const negativeNumber = /^-\d[\d.]*$/;
/** Stands before a negative number while options are told from values: no word of a process holds it. */
const marked = "\0";

/** Throws InvalidArgumentError that names the command, option or argument, with the near name where there is one. */
export function parseCommandLine(words: readonly string[], commands: readonly Command[]): Parsed {
  const { before, name, behind } = splitAtCommand(words);
  if (name === undefined) {
    if (before.includes("--version") || before.includes("-V"))
      return parseCommandLine(["version"], commands);
    const { flags } = readOptions(before, globalOptions, null);
    const isAlone = before.length === 0 || flags.has("help");
    if (isAlone) return { kind: "help", command: null };
    throw invalidInput([{ field: "command", value: "nothing", expected: "a command" }]);
  }
  if (name === "help") {
    const topic = behind.find((word) => !word.startsWith("-"));
    return { kind: "help", command: topic === undefined ? null : findCommand(topic, commands) };
  }
  // First: of `taskgate --max 5 tasks a` the 5 would be called an unknown command.
  readOptions(before, globalOptions, null);
  const command = findCommand(name, commands);
  const all = [...before, ...behind];
  const { args, flags, ...rest } = readOptions(
    all,
    { ...command.options, ...globalOptions },
    command,
  );
  if (flags.has("help")) return { kind: "help", command };
  requireArguments(command, args);
  return { kind: "run", command, args, flags, ...rest };
}

/** Is `--json` among the options, also where the command line can't be used? */
export function asksForJson(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end === -1 ? words.length : end).includes("--json");
}

/** The command is the first word that is neither an option nor the value of one. */
function splitAtCommand(words: readonly string[]): {
  before: string[];
  name: string | undefined;
  behind: string[];
} {
  const valued = Object.entries<CommandOption>(globalOptions).flatMap(([name, { valueName }]) =>
    valueName === undefined ? [] : [`--${name}`],
  );
  let at = 0;
  while (/^-./.test(words[at] ?? "")) at += valued.includes(words[at] ?? "") ? 2 : 1;
  return { before: words.slice(0, at), name: words[at], behind: words.slice(at + 1) };
}

function findCommand(name: string, commands: readonly Command[]): Command {
  const command = commands.find((candidate) => candidate.name === name || candidate.alias === name);
  if (command !== undefined) return command;
  const names = commands.map((candidate) => candidate.name);
  const near = hintOf(name.toLowerCase()) ?? didYouMean(name, names);
  const expected = near === "" ? `one of ${names.join(", ")}` : `a command.${near}`;
  throw invalidInput([{ field: "command", value: `\`${name}\``, expected }]);
}

/** The hint for a word that other programs use; null: there is none. */
function hintOf(name: string): string | null {
  if (!Object.hasOwn(commandSynonyms, name)) return null;
  const lines = commandSynonyms[name]?.map((line) => `\`taskgate ${line}\``) ?? [];
  return ` Did you mean ${lines.join(" or ")}?`;
}

/** `command`: whose options they are; null: they stand before one. */
function readOptions(words: readonly string[], known: KnownOptions, command: Command | null) {
  const nameOf = currentNames(known);
  const { tokens } = parseArgs({
    args: words.map((word) => (negativeNumber.test(word) ? marked + word : word)),
    options: Object.fromEntries(
      Object.entries(known).flatMap(([name, { valueName, short, formerName }]) => {
        const type = valueName === undefined ? ("boolean" as const) : ("string" as const);
        const option = [name, short === undefined ? { type } : { type, short }] as const;
        return formerName === undefined ? [option] : [option, [formerName, { type }] as const];
      }),
    ),
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
    const { rawName } = token;
    const name = nameOf.get(token.name) ?? token.name;
    const option = requireOption({ name, rawName }, known, command);
    if (option.valueName === undefined) {
      if (token.value !== undefined) throw refusal(rawName, token.value, "no value");
      flags.add(name);
      continue;
    }
    // `--db --json`: the parser would take the next option as the value.
    const isOption = token.inlineValue !== true && /^-./.test(token.value ?? "");
    const value = isOption || token.value === undefined ? undefined : unmarked(token.value);
    if (value === undefined) {
      const expected = `a value: ${rawName} ${option.valueName}`;
      throw invalidInput([{ field: rawName, value: "nothing", expected }]);
    }
    if (option.isList === true) {
      (lists[name] ??= []).push(value);
      continue;
    }
    if (Object.hasOwn(values, name)) throw refusal(rawName, value, "to be given once");
    values[name] = value;
  }
  return { args, options: values, lists, flags };
}

/** The names of options by their former ones. */
function currentNames(known: KnownOptions): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(known).flatMap(([name, { formerName }]) =>
      formerName === undefined ? [] : [[formerName, name] as const],
    ),
  );
}

function unmarked(value: string): string {
  return value.startsWith(marked) ? value.slice(marked.length) : value;
}

function requireOption(
  { name, rawName }: { readonly name: string; readonly rawName: string },
  known: KnownOptions,
  command: Command | null,
): CommandOption {
  const option = Object.hasOwn(known, name) ? known[name] : undefined;
  if (option !== undefined) return option;
  const names = Object.keys(known).map((candidate) => `--${candidate}`);
  const same = Object.hasOwn(optionSynonyms, name) ? (optionSynonyms[name] ?? "") : "";
  const near = Object.hasOwn(known, same)
    ? ` Did you mean \`--${same}\`?`
    : didYouMean(`--${name}`, names);
  const place =
    command === null ? "one that may stand before the command" : `an option of \`${command.name}\``;
  const isName = command !== null && (name === "name" || name === "definition");
  const expected = isName
    ? `the name as an argument: \`taskgate ${callOf(command)}\``
    : near === ""
      ? `one of ${names.join(", ")}`
      : `${place}.${near}`;
  throw invalidInput([{ field: "option", value: `\`${rawName}\``, expected }]);
}

function requireArguments(command: Command, args: readonly string[]): void {
  const { parameters } = command;
  const missing = parameters.filter(({ isOptional }) => isOptional !== true)[args.length];
  const usage = `as in \`taskgate ${callOf(command)}\``;
  if (missing !== undefined) {
    const expected = `an argument, ${usage}`;
    throw invalidInput([{ field: showParameter(missing), value: "nothing", expected }]);
  }
  const extra = args[parameters.length];
  if (extra === undefined || parameters.at(-1)?.isList === true) return;
  const max = showNumber(parameters.length, "argument", "arguments");
  const expected =
    parameters.length === 0
      ? `no argument, ${usage}`
      : `${parameters.at(-1)?.isOptional === true ? "at most " : ""}${max}, ${usage}`;
  throw refusal("argument", extra, expected);
}
