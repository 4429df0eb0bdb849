#!/usr/bin/env node
/**
 * The command line `taskgate`: a composition root. Commands are thin: read arguments, ask the admin, print. Results go
 * to standard output, everything else to standard error; exit-codes.ts says what the exit code means.
 */
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { invalidInput, moreProblemsOf, problemsOf } from "../admin/object-reader";
import { describeMore, describeProblem } from "../admin/problem-list";
import { readDuration } from "../core/duration";
import { TaskgateError } from "../core/errors";
import { limits } from "../core/limits";
import { cleanText } from "../core/text";
import { currentEnvironment } from "../settings/load-settings";
import type { Environment } from "../settings/load-settings";
import { batchCommand } from "./batch";
import { batchesCommand } from "./batches";
import { cancelCommand } from "./cancel";
import type { Command, CommandContext } from "./command";
import { definitionsCommand } from "./definitions";
import { doctorCommand } from "./doctor";
import { enqueueCommand } from "./enqueue";
import { executionsCommand } from "./executions";
import { exitCodeOf, exitCodes } from "./exit-codes";
import type { ExitCode } from "./exit-codes";
import { explainCommand } from "./explain";
import { groupCommand } from "./group";
import { groupsCommand } from "./groups";
import { scheduleCommand } from "./schedule";
import { schedulesCommand } from "./schedules";
import { renderCommandHelp, renderHelp } from "./help";
import { limitCommand } from "./limit";
import { limitsCommand } from "./limits";
import { migrateCommand } from "./migrate";
import { openServices } from "./open-services";
import type { Services } from "./open-services";
import type { Output } from "./output";
import { parseCommandLine } from "./parse-arguments";
import type { Parsed } from "./parse-arguments";
import { pauseCommand } from "./pause";
import { rateCommand } from "./rate";
import { redriveCommand } from "./redrive";
import { replayCommand } from "./replay";
import { rescheduleCommand } from "./reschedule";
import { resumeCommand } from "./resume";
import { statusCommand } from "./status";
import { findTarget } from "./target";
import type { Target } from "./target";
import { tasksCommand } from "./tasks";
import { readVersion } from "./version";
import { watermarkCommand } from "./watermark";
import { watermarksCommand } from "./watermarks";

/** All commands, in the order of the help text. */
export const commands: readonly Command[] = [
  statusCommand,
  definitionsCommand,
  executionsCommand,
  tasksCommand,
  explainCommand,
  enqueueCommand,
  limitsCommand,
  limitCommand,
  rateCommand,
  pauseCommand,
  resumeCommand,
  cancelCommand,
  redriveCommand,
  rescheduleCommand,
  groupsCommand,
  groupCommand,
  schedulesCommand,
  scheduleCommand,
  watermarksCommand,
  watermarkCommand,
  batchesCommand,
  batchCommand,
  replayCommand,
  doctorCommand,
  migrateCommand,
];

/** What the program is started with. */
export interface CliOptions {
  /** The words behind the program's name. */
  readonly words: readonly string[];
  readonly environment: Environment;
  /** The current folder: its `.taskgate/local.json` tells of a local run. */
  readonly folder: string;
  readonly output: Output;
  /** A call was given up and still hangs: the process would wait for it. */
  readonly onHang?: () => void;
}

/** Runs one command line and answers the exit code. Never rejects. */
export async function runCli(options: CliOptions): Promise<ExitCode> {
  const { words, output } = options;
  try {
    const parsed = parseCommandLine(words, commands);
    if (parsed.kind === "version") output.line(readVersion());
    if (parsed.kind === "help") {
      output.line(
        parsed.command === null ? renderHelp(commands) : renderCommandHelp(parsed.command),
      );
    }
    return parsed.kind === "run" ? await runCommand(parsed, options) : exitCodes.ok;
  } catch (error) {
    const code = exitCodeOf(error);
    reportError(error, options);
    if (
      code === exitCodes.usage &&
      !words.includes("--json") &&
      error instanceof TaskgateError &&
      error.code === "TASKGATE_ARG_INVALID"
    ) {
      output.error("`taskgate help` lists the commands, `taskgate help COMMAND` explains one.");
    }
    return code;
  }
}

async function runCommand(
  parsed: Parsed & { kind: "run" },
  options: CliOptions,
): Promise<ExitCode> {
  const { environment, folder, output } = options;
  const timeoutMs = readTimeout(parsed.options["timeout"]);
  // With --json standard error holds the error and nothing else.
  const onSlow = (text: string): void => {
    if (!parsed.flags.has("json")) output.error(`taskgate: ${text} (--timeout).`);
  };
  let target: Target | undefined;
  let services: Services | undefined;
  const getTarget = (): Target =>
    (target ??= findTarget({ databaseUrl: parsed.options["db"], environment, folder }));
  const context: CommandContext = {
    args: parsed.args,
    options: parsed.options,
    lists: parsed.lists,
    flags: parsed.flags,
    output,
    isJson: parsed.flags.has("json"),
    changedBy: cleanText(`cli:${userName()}`, limits.nameLengthMax),
    readFile,
    target: getTarget,
    admin: () => {
      services ??= openServices(getTarget().settings, output, { timeoutMs, onSlow });
      return Promise.resolve(services.admin);
    },
  };
  try {
    return await parsed.command.run(context);
  } finally {
    // The result stands whether the farewell succeeds or not.
    await services?.close().catch(() => undefined);
    if (services?.hasGivenUp() === true) options.onHang?.();
  }
}

const timeoutMsMax = 24 * 60 * 60_000;

/** Of `--timeout`; default 15 s. Throws InvalidArgumentError. */
function readTimeout(text = "15s"): number {
  const ms = readDuration(text);
  if (ms !== null && ms > 0 && ms <= timeoutMsMax) return ms;
  const expected = "a time of 1ms to 24h such as 15s, 500ms or 2m";
  throw invalidInput([{ field: "--timeout", value: `\`${text.slice(0, 100)}\``, expected }]);
}

function reportError(error: unknown, { words, output }: CliOptions): void {
  const message = error instanceof Error ? error.message : String(error);
  if (!words.includes("--json")) {
    const problems = problemsOf(error).map(describeProblem);
    const lines = [...problems, ...describeMore(moreProblemsOf(error))];
    const list = lines.map((line) => `\n- ${line}`).join("");
    output.error(`taskgate: ${problems.length > 1 ? `this can't be used:${list}` : message}`);
    return;
  }
  const code = error instanceof TaskgateError ? error.code : null;
  const details = error instanceof TaskgateError ? error.details : {};
  output.error(JSON.stringify({ error: { code, message, ...details } }));
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
    const reason = error instanceof Error ? error.message : String(error);
    throw invalidInput([
      { field, value: `\`${path}\` (${reason})`, expected: "a file that can be read, in UTF-8" },
    ]);
  }
}

/** Who is at the keyboard; an account without a name is its number. */
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
    columns: process.stdout.isTTY ? process.stdout.columns : null,
    ...(process.stderr.isTTY
      ? { rewrite: (text: string) => process.stderr.write(`\r\u001b[2K${text}`) }
      : {}),
  };
}

/** For what is still on its way to a pipe. */
const lingerMs = 1_000;

async function main(): Promise<void> {
  // A reader such as `head` that has seen enough is no error.
  process.stdout.on("error", (error: Error & { code?: string }) => {
    if (error.code !== "EPIPE") throw error;
  });
  process.exitCode = await runCli({
    words: process.argv.slice(2),
    environment: currentEnvironment(),
    folder: process.cwd(),
    output: processOutput(),
    onHang: () => {
      setTimeout(() => process.exit(), lingerMs).unref();
    },
  });
}

if (require.main === module) void main();
