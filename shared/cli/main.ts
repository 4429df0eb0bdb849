#!/usr/bin/env node
/**
 * The command line `taskgate`: a composition root. Commands are thin: read arguments, ask the admin, print. Results go
 * to standard output, everything else to standard error; exit-codes.ts says what the exit code means.
 */
import { errorLine } from "../core/error-line";
import { messageOf } from "../core/foreign-value";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { invalidInput, moreProblemsOf, problemsOf } from "../admin/read-result";
import { describeMore, describeProblem } from "../admin/problem-list";
import { TaskgateError } from "../core/errors";
import { limits } from "../core/limits";
import { cleanText } from "../core/text";
import { sleep } from "../platform/real-clock";
import { currentEnvironment } from "../settings/load-settings";
import type { Environment } from "../settings/load-settings";
import type { Command, CommandContext, Repeater } from "./command";
import { commands } from "./commands";
import { exitCodeOf, exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import { describeHelp, renderCommandHelp, renderHelp } from "./help";
import { Redraw } from "../terminal/redraw";
import { printable, printableJson, printableLines, printableText } from "../terminal/text-width";
import { chooseTheme, plainTheme } from "../terminal/theme";
import { widthOf } from "../terminal/terminal-width";
import { openServices } from "./open-services";
import type { Services } from "./open-services";
import type { Output } from "../terminal/output";
import { asksForJson, parseCommandLine } from "./parse-arguments";
import type { Parsed } from "./parse-arguments";
import { readTime } from "./read-values";
import { createAppKinds } from "./app-kinds";
import { findApp, refuseApp } from "./app-target";
import type { AppTarget } from "./app-target";
import { openApp } from "./open-app";
import { otherVersion } from "../remote/answer-parts";
import { findTarget } from "./target";
import type { Target } from "./target";

/** What the program is started with. */
export interface CliOptions {
  /** The words behind the program's name. */
  readonly words: readonly string[];
  readonly environment: Environment;
  /** The current folder: its `.taskgate/local.json` tells of a local run. */
  readonly folder: string;
  readonly output: Output;
  /** Asks the person at the terminal and gives the typed text; absent: there is no terminal. */
  readonly ask?: (question: string) => Promise<string>;
  /** Waits between two looks of `--watch`; default: for ever, without a screen. */
  readonly repeater?: () => Repeater;
  /** Told of the command before it runs. */
  readonly onCommand?: (command: Command) => void;
  /** Something is left that the process would wait for, such as a call that was given up. */
  readonly onHang?: () => void;
}

/** Runs one command line and answers the exit code. Never rejects. */
export async function runCli(given: CliOptions): Promise<CommandExitCode> {
  const options = { ...given, output: withPlainTexts(given) };
  const { words, output } = options;
  try {
    const parsed = parseCommandLine(words, commands);
    if (parsed.kind === "help") {
      const { command } = parsed;
      const text = command === null ? renderHelp(commands) : renderCommandHelp(command);
      const isJson = asksForJson(words);
      output.line(isJson ? JSON.stringify(describeHelp(commands, command), null, 2) : text);
      return exitCodes.ok;
    }
    options.onCommand?.(parsed.command);
    return await runCommand(parsed, options);
  } catch (error) {
    reportError(error, options);
    const isMisused = error instanceof TaskgateError && error.code === "TASKGATE_ARG_INVALID";
    if (isMisused && !asksForJson(words))
      output.error("`taskgate help` lists the commands, `taskgate help COMMAND` explains one.");
    return exitCodeOf(error);
  }
}

/** How long one call that reads the whole database may last where `--timeout` doesn't say. */
const wholeMsDefault = 3_600_000;

async function runCommand(
  parsed: Parsed & { kind: "run" },
  options: CliOptions,
): Promise<CommandExitCode> {
  const { environment, folder } = options;
  const output = parsed.flags.has("no-color")
    ? { ...options.output, theme: plainTheme }
    : options.output;
  const { timeout } = parsed.options;
  const timeoutMs = readTime("--timeout", timeout ?? "15s", { max: "24h" });
  const wholeMs = timeout === undefined ? wholeMsDefault : timeoutMs;
  // With --json standard error holds the error and nothing else.
  const tell = (text: string): void => {
    if (!parsed.flags.has("json")) output.error(`taskgate: ${text}`);
  };
  const onSlow = (text: string): void => {
    tell(`${text} (--timeout).`);
  };
  const appKinds = createAppKinds(folder, tell);
  let target: Target | undefined;
  let services: Services | undefined;
  const before = { hasHung: false };
  const { db: databaseUrl, url } = parsed.options;
  const { name, worksOn } = parsed.command;
  // Found anew at each use: it costs nothing, and a bad one is told by commands that need it.
  const getApp = (): AppTarget | null => findApp({ url, databaseUrl, environment });
  const getTarget = (): Target => {
    const app = getApp();
    if (app !== null)
      throw refuseApp(app.origin, { name, worksOn: worksOn ?? "the database itself" });
    return (target ??= findTarget({ databaseUrl, environment, folder }));
  };
  if (url !== undefined && worksOn !== undefined) throw refuseApp("--url", { name, worksOn });
  const context: CommandContext = {
    ...parsed,
    output,
    isJson: parsed.flags.has("json"),
    changedBy: cleanText(`cli:${userName()}`, limits.nameLengthMax),
    isAttended: options.ask !== undefined,
    folder,
    readFile,
    repeater: options.repeater ?? (() => ({ pause: (ms) => sleep(ms).then(() => true) })),
    endSoon: () => options.onHang?.(),
    confirm: (what) => confirm(what, parsed.flags, options),
    target: getTarget,
    app: getApp,
    admin: () => {
      const waiting = { timeoutMs, wholeMs, onSlow, onHolders: tell };
      const app = getApp();
      services ??=
        app === null
          ? openServices(getTarget().settings, { output, waiting, appKinds })
          : openApp(app, waiting);
      return services.admin;
    },
    reconnect: () => {
      before.hasHung ||= services?.hasGivenUp() === true;
      services?.close().catch(() => undefined);
      services = undefined;
    },
  };
  try {
    return await untilShown(parsed.command.run(context), () => services && getApp());
  } finally {
    // The result stands whether the farewell succeeds or not.
    await services?.close().catch(() => undefined);
    if (before.hasHung || services?.hasGivenUp() === true || appKinds.hasLoaded())
      options.onHang?.();
  }
}

/** An app's answer is shown as it is; that of another program, which was asked in its place, may lack any member. */
async function untilShown(
  run: ReturnType<Command["run"]>,
  askedApp: () => AppTarget | null | undefined,
): Promise<CommandExitCode> {
  try {
    return (await run) ?? exitCodes.ok;
  } catch (error) {
    throw error instanceof TypeError && askedApp() ? otherVersion("what is shown here") : error;
  }
}

/** Only `y` and `yes` mean yes. */
async function confirm(
  what: () => Promise<string> | string,
  flags: ReadonlySet<string>,
  { ask: askPerson, output }: CliOptions,
): Promise<boolean> {
  if (askPerson === undefined || flags.has("yes") || flags.has("json")) return true;
  const answer = await askPerson(`${printableLines(await what())} Go on? [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return true;
  output.error("Nothing was changed.");
  return false;
}

/** Names, payloads, and the words of a server that is asked, may hold anything: no terminal acts on it. */
function withPlainTexts({ output, words }: CliOptions): Output {
  const isJson = asksForJson(words);
  const toLine = isJson ? printableJson : printableText;
  const toError = isJson ? printableJson : printableLines;
  const { rewrite } = output;
  return {
    ...output,
    line: (text) => {
      output.line(toLine(text));
    },
    error: (text) => {
      output.error(toError(text));
    },
    ...(rewrite === undefined
      ? {}
      : {
          rewrite: (text) => {
            rewrite(printableText(text));
          },
        }),
  };
}

function reportError(error: unknown, { words, output }: CliOptions): void {
  if (asksForJson(words)) {
    output.error(errorLine(error));
    return;
  }
  const problems = problemsOf(error).map(describeProblem);
  const lines = [...problems, ...describeMore(moreProblemsOf(error))];
  const list = lines.map((line) => `\n- ${printable(line)}`).join("");
  output.error(
    `taskgate: ${problems.length > 1 ? `this can't be used:${list}` : printable(messageOf(error))}`,
  );
}

/** Longest file that is read. */
const fileBytesMax = 16 * 1024 * 1024;

function readFile(path: string): string {
  const field = "--file";
  try {
    const bytes = readFileSync(path === "-" ? 0 : path);
    if (bytes.length <= fileBytesMax)
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const expected = `a file of at most ${String(fileBytesMax)} bytes`;
    throw invalidInput([{ field, value: `${String(bytes.length)} bytes`, expected }]);
  } catch (error) {
    if (error instanceof TaskgateError) throw error;
    const reason = messageOf(error);
    throw invalidInput([
      { field, value: `\`${path}\` (${reason})`, expected: "a file that can be read, in UTF-8" },
    ]);
  }
}

/** The user at the keyboard; an account without a name is its number. */
function userName(): string {
  try {
    return userInfo().username.slice(0, 180);
  } catch {
    return "unknown";
  }
}

/** The terminal that the process has. */
function processOutput(): Output {
  return {
    line: (text) => process.stdout.write(`${text}\n`),
    error: (text) => process.stderr.write(`${text}\n`),
    columns: widthOf(process.stdout),
    theme: chooseTheme(process.stdout, currentEnvironment()),
    ...(process.stderr.isTTY
      ? { rewrite: (text: string) => process.stderr.write(`\r\u001b[2K${text}`) }
      : {}),
  };
}

/** The answer to a question on standard error; an empty text where the input ends. */
async function ask(question: string): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const closed = once(lines, "close").then(() => "");
  const answer = await Promise.race([lines.question(question).catch(() => ""), closed]);
  lines.close();
  return answer;
}

/** Ctrl+C ends the pause of a program that watches; a second one ends the program at once, as ever. */
function processRepeater(): Repeater {
  const interrupted = new AbortController();
  process.once("SIGINT", () => {
    interrupted.abort();
  });
  return {
    pause: async (ms) => {
      await sleep(ms, interrupted.signal);
      return !interrupted.signal.aborted;
    },
    interrupted: interrupted.signal,
    ...(process.stdout.isTTY ? { screen: new Redraw(process.stdout) } : {}),
  };
}

/** For output that is still on its way to a pipe. */
const lingerMs = 1_000;

/** Runs the command line that these words are, in this process, and sets its exit code. */
export async function runProgram(words: readonly string[]): Promise<void> {
  let command: Command | undefined;
  // A reader such as `head` that has seen enough is no error: with it the command has done what it was for.
  process.stdout.on("error", (error: Error & { code?: string }) => {
    if (error.code !== "EPIPE") {
      process.stderr.write(`taskgate: standard output can't be written: ${error.message}\n`);
      process.exit(exitCodes.failed);
    }
    if (command?.outlivesReader !== true) process.exit();
  });
  process.exitCode = await runCli({
    words,
    environment: currentEnvironment(),
    folder: process.cwd(),
    output: processOutput(),
    ...(process.stdin.isTTY && process.stderr.isTTY ? { ask } : {}),
    repeater: processRepeater,
    onCommand: (started) => {
      command = started;
    },
    onHang: () => {
      setTimeout(() => process.exit(), lingerMs).unref();
    },
  });
}

if (require.main === module) void runProgram(process.argv.slice(2));
