import { callOf } from "./command";
import type { Command, CommandGroup, CommandOption } from "./command";
import { exitCodes } from "./exit-codes";
import { globalOptions } from "./parse-arguments";

/** The help texts, made from the commands' own tables. */

/** Width of the first column of the help texts. */
const columnWidth = 28;

/** The groups in the order of the help, with their headings. */
export const groupTitles: Readonly<Record<CommandGroup, string>> = {
  look: "Looking",
  change: "Changing",
  deploy: "Deploying",
  develop: "Developing",
};

const exitSentences: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "done",
  failed: "not done, or a check found something",
  usage: "the command line or a setting can't be used",
  notFound: "no such definition or task",
  unreachable: "the database or the app can't be reached",
};

/** The text of `taskgate --help`. */
export function renderHelp(commands: readonly Command[]): string {
  const groups = Object.entries(groupTitles).flatMap(([group, title]) => {
    const members = commands.filter((command) => command.group === group);
    return [
      `${title}:`,
      ...indented(members.map((command) => [callOf(command), command.sentence] as const)),
      "",
    ];
  });
  return [
    "Usage: taskgate COMMAND [ARGUMENTS] [OPTIONS]",
    "",
    ...groups,
    "Options of every command, before or behind it:",
    ...indented(optionLines(globalOptions)),
    "",
    "The database is the first of --db, TASKGATE_DATABASE_URL (or TASKGATE_SQL_SERVER and",
    "TASKGATE_SQL_DATABASE), and the run that `taskgate dev` keeps in the current folder.",
    "--url, or TASKGATE_URL where no database is named, asks a deployed app over HTTP instead.",
    "",
    exitLines(),
    "",
    "`taskgate help COMMAND` has options and examples. `taskgate --version` prints the version.",
  ].join("\n");
}

/** The text of `taskgate help COMMAND`. */
export function renderCommandHelp(command: Command): string {
  const own = optionLines(command.options);
  return [
    `Usage: taskgate ${usageOf(command)}`,
    "",
    command.sentence,
    ...(command.alias === undefined ? [] : [`Also: taskgate ${command.alias}`]),
    ...(command.details === undefined ? [] : ["", command.details]),
    "",
    "Examples:",
    ...command.examples.flatMap(({ line, sentence }) => [`  # ${sentence}`, `  ${line}`]),
    "",
    ...(own.length === 0 ? [] : ["Options:", ...indented(own), ""]),
    "Options of every command:",
    ...indented(optionLines(globalOptions)),
    "",
    exitLines(),
  ].join("\n");
}

/** `taskgate help --json`: what the help says, for programs; `command` null: of all commands. */
export function describeHelp(commands: readonly Command[], command: Command | null): object {
  const shared = { globalOptions: describeOptions(globalOptions), exitCodes };
  if (command === null) return { commands: commands.map(describeCommand), ...shared };
  return { ...describeCommand(command), ...shared };
}

function describeCommand(command: Command): object {
  const { name, alias = null, group, sentence, details = null, parameters, examples } = command;
  const options = describeOptions(command.options);
  const usage = usageOf(command);
  return { name, alias, usage, group, sentence, details, parameters, options, examples };
}

function describeOptions(options: Readonly<Record<string, CommandOption>>): object[] {
  return Object.entries(options).map(
    ([name, { short, valueName = null, isList = false, sentence }]) => ({
      name: `--${name}`,
      short: short === undefined ? null : `-${short}`,
      ...{ valueName, isList, sentence },
    }),
  );
}

/** `limit NAME [VALUE] [OPTIONS]` */
export function usageOf(command: Command): string {
  const options = Object.keys(command.options).length === 0 ? [] : ["[OPTIONS]"];
  return [callOf(command), ...options].join(" ");
}

/** `-n, --max N`, or `--db URL`. */
export function showOption(name: string, option: CommandOption): string {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  const value = option.valueName === undefined ? "" : ` ${option.valueName}`;
  return `${short}--${name}${value}`;
}

function optionLines(
  options: Readonly<Record<string, CommandOption>>,
): (readonly [string, string])[] {
  return Object.entries(options).map(
    ([name, option]) =>
      // Long names stand below each other, whether a letter stands before them or not.
      [
        `${option.short === undefined ? "    " : ""}${showOption(name, option)}`,
        option.sentence,
      ] as const,
  );
}

/** Two columns; a long first column puts its sentence on the next line. */
function indented(lines: readonly (readonly [string, string])[]): string[] {
  return lines.map(([left, right]) =>
    left.length <= columnWidth
      ? `  ${left.padEnd(columnWidth)}  ${right}`
      : `  ${left}\n  ${" ".repeat(columnWidth)}  ${right}`,
  );
}

function exitLines(): string {
  const lines = Object.entries(exitCodes).map(
    ([name, code]) => `${String(code)} ${exitSentences[name as keyof typeof exitCodes]}`,
  );
  return `Exit codes: ${lines.slice(0, 2).join(", ")},\n            ${lines.slice(2).join(", ")}`;
}
