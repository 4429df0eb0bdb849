import type { Admin } from "../admin/create-admin";
import type { ExitCode } from "./exit-codes";
import type { Output } from "./output";
import type { Target } from "./target";

/** What a command of the program consists of. */

/** One option of a command, for the parser and the help text. */
export interface CommandOption {
  readonly type: "string" | "boolean";
  /** What stands for the value in the help text. */
  readonly valueName?: string;
  /** It may be given several times; all values are in `lists`. */
  readonly isList?: true;
  readonly sentence: string;
}

/** Of each command that changes something for everybody. */
export const reasonOption: CommandOption = {
  type: "string",
  valueName: "TEXT",
  sentence: "Why, for the audit; at most 400 characters.",
};

/** What a command gets to work with. */
export interface CommandContext {
  /** Arguments in the order of `parameters`; as many as there are required ones, or more. */
  readonly args: readonly string[];
  /** Texts of the options that were given. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** All texts of the options that may be given several times. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  /** Options without value that were given. */
  readonly flags: ReadonlySet<string>;
  readonly output: Output;
  /** true: one JSON document on standard output, for programs. */
  readonly isJson: boolean;
  /** Who acts, for the audit. */
  readonly changedBy: string;
  /** Reads a file of the user's as UTF-8 text; `-` is standard input. */
  readonly readFile: (path: string) => string;
  /** Finds the database; throws SettingsError with what to do when there is none. */
  readonly target: () => Target;
  /** Opens the store behind `target`; closed by the program when the command has ended. */
  readonly admin: () => Promise<Admin>;
}

/** A command: its line in the help, its arguments, and what it does. */
export interface Command {
  readonly name: string;
  /** Names of positional arguments; a last one with two dots behind it, such as `ID..`, stands for one or more. */
  readonly parameters: readonly string[];
  /** The last one may also be left out. */
  readonly isListOptional?: true;
  readonly options: Readonly<Record<string, CommandOption>>;
  readonly sentence: string;
  /** Further paragraphs of the help. */
  readonly details?: string;
  readonly run: (context: CommandContext) => Promise<ExitCode>;
}

/** Writes a result: as JSON for programs, else the text that `human` makes. */
export function report(context: CommandContext, result: unknown, human: () => string): void {
  context.output.line(context.isJson ? JSON.stringify(result, null, 2) : human());
}
