import type { Admin } from "../admin/create-admin";
import type { CommandExitCode } from "./exit-codes";
import type { Output } from "../terminal/output";
import type { AppTarget } from "./app-target";
import type { Target } from "./target";

/** What a command of the program consists of. */

/** One option of a command, for the parser, the help text and the completion. */
export interface CommandOption {
  /** One letter: `n` for `-n`. */
  readonly short?: string;
  /** A name that it had before; it is still taken, and stands in no help and no completion. */
  readonly formerName?: string;
  /** The name of the value in the help text; left out: it is a flag. */
  readonly valueName?: string;
  /** It may be given several times; all values are in `lists`. */
  readonly isList?: true;
  /** What the shell completes as its value. */
  readonly values?: Completable;
  readonly sentence: string;
}

/** Values that the shell completes: names from the database, or these words. */
export type Completable = "definitions" | readonly string[];

/** One positional argument. */
export interface Parameter {
  /** In capitals: `NAME`. */
  readonly name: string;
  /** Only behind required ones. */
  readonly isOptional?: true;
  /** The last one may take several values. */
  readonly isList?: true;
  readonly values?: Completable;
}

/** A command line that does what it says when it is typed into a shell. */
export interface Example {
  readonly line: string;
  readonly sentence: string;
}

/** The name of a definition. */
export const nameParameter: Parameter = { name: "NAME", values: "definitions" };

/** The name of a definition, where a list may also be of all of them. */
export const optionalNameParameter: Parameter = { ...nameParameter, isOptional: true };

/** Of each command that changes shared state. */
export const reasonOption: CommandOption = {
  short: "r",
  valueName: "TEXT",
  sentence: "Why, for the audit; at most 400 characters.",
};

/** Of each command that asks before it does what can't be undone. */
export const yesOption: CommandOption = {
  short: "y",
  sentence: "Doesn't ask on a terminal.",
};

/** Of each list: how long it may be. */
export function maxOption(max = 1_000, fallback = 100): CommandOption {
  const sentence = `At most N, 1..${String(max)}; default ${String(fallback)}.`;
  return { short: "n", valueName: "N", sentence };
}

/** What repeats a command, or ends one that takes long. */
export interface Repeater {
  /** Waits for this time; false: the person has ended the program. */
  pause(ms: number): Promise<boolean>;
  /** The person has ended the program; absent: that can't be told. */
  readonly interrupted?: AbortSignal;
  /** Where each look is drawn over the one before; absent: standard output is no terminal. */
  readonly screen?: {
    columns(): number;
    draw(lines: readonly string[]): void;
  };
}

/** The words behind a command's name. */
export interface GivenWords {
  /** Arguments in the order of `parameters`; as many as there are required ones, or more. */
  readonly args: readonly string[];
  /** Texts of the options that were given. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** All texts of the options that may be given several times. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  /** Options without value that were given. */
  readonly flags: ReadonlySet<string>;
}

/** What a command gets to work with. */
export interface CommandContext extends GivenWords {
  readonly output: Output;
  /** true: one JSON document on standard output, for programs. */
  readonly isJson: boolean;
  /** Another look follows: JSON takes one line each. */
  readonly isRepeated?: true;
  /** Waits between two looks of `--watch`. From here on the first Ctrl+C only tells of itself. */
  readonly repeater: () => Repeater;
  /** Who acts, for the audit. */
  readonly changedBy: string;
  /** Is there a person at a terminal who could be asked? */
  readonly isAttended: boolean;
  /** The current folder. */
  readonly folder: string;
  /** The process ends soon after the command, with any wait still open. */
  readonly endSoon: () => void;
  /** Reads a file of the user's as UTF-8 text; `-` is standard input. */
  readonly readFile: (path: string) => string;
  /** Finds the database; throws SettingsError with what to do when there is none, and where an app is named in its place. */
  readonly target: () => Target;
  /** The app that is asked in place of a database; null: a database is worked on. */
  readonly app: () => AppTarget | null;
  /**
   * Asks the person at the terminal whether that is to happen. `what` is called only to ask; its text ends with a full stop. true without asking where
   * --yes or --json was given, or there is no terminal. false: nothing may be changed; that has been said.
   */
  readonly confirm: (what: () => Promise<string> | string) => Promise<boolean>;
  /** Opens the store behind `target`, or the way to `app`; closed by the program when the command has ended. */
  readonly admin: () => Admin;
  /** Gives up the connections, which may be half-open: `admin` opens new ones. */
  readonly reconnect: () => void;
}

/** What commands are for: the groups of the help. */
export type CommandGroup = "look" | "change" | "deploy" | "develop";

/** A command: its line in the help, its arguments, and what it does. */
export interface Command {
  readonly name: string;
  /** A short name that is taken as well. */
  readonly alias?: string;
  readonly group: CommandGroup;
  readonly parameters: readonly Parameter[];
  readonly options: Readonly<Record<string, CommandOption>>;
  readonly sentence: string;
  /** Further paragraphs of the help. */
  readonly details?: string;
  /** At least one. */
  readonly examples: readonly Example[];
  /** Left out: it asks an admin, which an app has, too. Else it takes no --url. */
  readonly worksOn?: WorkPlace;
  /** Goes on when its output has no reader any more: it runs tasks or other programs, or would leave half of a change. */
  readonly outlivesReader?: true;
  /** Answers the exit code; nothing: 0. */
  readonly run: (context: CommandContext) => Promise<CommandExitCode | void>;
}

/** Where commands work that no app can do for them. */
export type WorkPlace = "the database itself" | "the storage account itself" | "this computer";

/** `NAME`, `[NAME]`, `ID..` or `[ID..]`. */
export function showParameter({ name, isOptional, isList }: Parameter): string {
  const text = isList === true ? `${name}..` : name;
  return isOptional === true ? `[${text}]` : text;
}

/** `limit NAME [VALUE]` */
export function callOf({ name, parameters }: Command): string {
  return [name, ...parameters.map(showParameter)].join(" ");
}

/** Writes a result: as JSON for programs, else the text that `human` makes. */
export function report(context: CommandContext, result: unknown, human: () => string): void {
  const indent = context.isRepeated === true ? 0 : 2;
  context.output.line(context.isJson ? JSON.stringify(result, null, indent) : human());
}
