import { messageOf } from "../core/foreign-value";
import { TaskgateError } from "../core/errors";
import type { Command, CommandContext, CommandOption } from "./command";
import { exitCodeOf, exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import { printableText } from "../terminal/text-width";
import { readTime } from "./read-values";

const watchOptions: Readonly<Record<string, CommandOption>> = {
  watch: { short: "w", sentence: "Reads again at an interval, until Ctrl+C." },
  every: {
    valueName: "TIME",
    sentence: "Watches with this time between two looks, 200ms to 1h; default 2s.",
  },
};

/** The time of `--every`. More looks would cost the database more, and show a person nothing. Throws InvalidArgumentError. */
export function readEvery(text: string): number {
  return readTime("--every", text, { min: "200ms", max: "1h" });
}

/**
 * The command with `--watch`: on a terminal each look is drawn over the one before, else they follow each other. Words that
 * ask for a change are the command's to refuse.
 */
export function watchable(command: Command): Command {
  const { options } = command;
  return {
    ...command,
    // A command with `--every` of its own keeps its sentence, and there the time alone asks for no watch.
    options: { ...options, ...watchOptions, ...options },
    run: (context) => {
      const { every } = context.options;
      const isAsked = every !== undefined && options["every"] === undefined;
      const isWatched = context.flags.has("watch") || isAsked;
      return isWatched ? watch(command, context, every ?? "2s") : command.run(context);
    },
  };
}

async function watch(
  command: Command,
  context: CommandContext,
  every: string,
): Promise<CommandExitCode | void> {
  const everyMs = readEvery(every);
  const { pause, screen } = context.repeater();
  const drawn = context.isJson ? undefined : screen;
  let hasLooked = false;
  do {
    const texts: string[] = [];
    try {
      const columns = drawn?.columns() ?? context.output.columns;
      const output = { ...context.output, columns, line: (text: string) => texts.push(text) };
      const code = await command.run({ ...context, output, isRepeated: true });
      if (code !== undefined && code !== exitCodes.ok) {
        for (const text of texts) context.output.line(text);
        return code;
      }
      hasLooked = true;
    } catch (error) {
      // A database that comes and goes is what a person watches for; what can't be right later ends the program.
      if (!hasLooked || exitCodeOf(error) !== exitCodes.unreachable) throw error;
      texts.push(unreachable(error, context.isJson));
      context.reconnect();
    }
    if (drawn === undefined) for (const text of texts) context.output.line(text);
    else {
      const lines = texts.flatMap((text) => printableText(text).split("\n"));
      drawn.draw([titleOf(command, context, every), "", ...lines]);
    }
  } while (await pause(everyMs));
}

function titleOf({ name }: Command, { args, output }: CommandContext, every: string): string {
  const words = ["taskgate", name, ...args].join(" ");
  const title = `${words}  every ${every}, Ctrl+C ends`;
  return output.theme?.faint(title) ?? title;
}

function unreachable(error: unknown, isJson: boolean): string {
  const message = messageOf(error);
  if (!isJson) return `taskgate: ${message}`;
  const code = error instanceof TaskgateError ? error.code : null;
  return JSON.stringify({ error: { code, message } });
}
