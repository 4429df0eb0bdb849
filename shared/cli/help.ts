import type { Command, CommandOption } from "./command";
import { exitCodes } from "./exit-codes";
import { globalOptions } from "./parse-arguments";

/** The help texts, made from the commands' own tables. */

/** Width of the first column of the help texts. */
const columnWidth = 34;

const exitSentences: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "done",
  failed: "not done, or a check found something",
  usage: "the command line or a setting can't be used",
  notFound: "no such definition or task",
  unreachable: "the database can't be reached",
};

/** The text of `taskgate --help`. */
export function renderHelp(commands: readonly Command[]): string {
  const lines = commands.map((command) => [shortUsageOf(command), command.sentence] as const);
  return [
    "Usage: taskgate COMMAND [ARGUMENTS] [OPTIONS]",
    "",
    "Commands:",
    ...indented(lines),
    "",
    "Options of every command:",
    ...indented(optionLines(globalOptions)),
    "",
    "Finds the database by --db, TASKGATE_DATABASE_URL (or TASKGATE_SQL_SERVER and TASKGATE_SQL_DATABASE),",
    "or the local run that `npm start` keeps in the current folder.",
    "",
    `Exit codes: ${exitLine()}`,
    "`taskgate help COMMAND` explains one.",
  ].join("\n");
}

/** The text of `taskgate help COMMAND`. */
export function renderCommandHelp(command: Command): string {
  const options = { ...command.options, ...globalOptions };
  return [
    `Usage: taskgate ${usageOf(command)}`,
    "",
    command.sentence,
    ...(command.details === undefined ? [] : ["", command.details]),
    "",
    "Options:",
    ...indented(optionLines(options)),
    "",
    `Exit codes: ${exitLine()}`,
  ].join("\n");
}

function shortUsageOf(command: Command): string {
  const usage = usageOf(command);
  if (usage.length <= columnWidth) return usage;
  return [command.name, ...command.parameters, "[OPTIONS]"].join(" ");
}

function usageOf(command: Command): string {
  const options = Object.entries(command.options).map(
    ([name, option]) => `[${optionText(name, option)}]${option.isList === true ? ".." : ""}`,
  );
  return [command.name, ...command.parameters, ...options].join(" ");
}

function optionText(name: string, option: CommandOption): string {
  return option.type === "boolean" ? `--${name}` : `--${name} ${option.valueName ?? "VALUE"}`;
}

function optionLines(
  options: Readonly<Record<string, CommandOption>>,
): (readonly [string, string])[] {
  return Object.entries(options).map(
    ([name, option]) => [optionText(name, option), option.sentence] as const,
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

function exitLine(): string {
  return Object.entries(exitCodes)
    .map(([name, code]) => `${String(code)} ${exitSentences[name as keyof typeof exitCodes]}`)
    .join(", ");
}
