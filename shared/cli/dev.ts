import { createRequire } from "node:module";
import { resolve } from "node:path";
import { invalidInput } from "../admin/read-result";
import type { Problem } from "../admin/read-result";
import { problemsOfDatabase } from "./database-option";
import type * as DevRun from "../local/dev-run";
import type { StartOptions } from "../local/start-options";
import type { Command, CommandContext } from "./command";
import { printSettings } from "./print-settings";

const requireLater = createRequire(__filename);

/** `taskgate dev` */
export const devCommand: Command = {
  name: "dev",
  group: "develop",
  worksOn: "this computer",
  outlivesReader: true,
  parameters: [],
  options: {
    port: { valueName: "N", sentence: "Port of the functions; default 7071." },
    hosts: {
      valueName: "N",
      sentence:
        "How many processes run the functions, 0..8; default 1. 0: only the database and the queues.",
    },
    keep: {
      sentence: "Goes on with the data of the last run; a run that was interrupted always goes on.",
    },
    fast: {
      sentence:
        "Doesn't wait for the disk: quicker, but a power cut may cost the data of the embedded PostgreSQL.",
    },
    app: {
      valueName: "DIR",
      sentence: "The folder with host.json and package.json; default: the current folder.",
    },
    home: {
      valueName: "DIR",
      sentence: "Where .taskgate/ is, and landing/ of a sample; default: the current folder.",
    },
    "no-sample": { sentence: "Without the sample of the app, where package.json names one." },
    once: {
      sentence: "Ends when the sample is done: exit code 0 when all went as expected, else 1.",
    },
    limit: { valueName: "N", sentence: "How many blocks of the sample run at once, 0..1000." },
    "print-settings": {
      sentence:
        "Prints local.settings.json for `func start`, with the database of --db or of the run in this folder, and ends.",
    },
  },
  sentence: "Runs a Functions app on this machine: database, queues, workers.",
  details:
    "Build the app before. Its workers start again when the build or local.settings.json changes; tasks that run are given back. The database is --db, else TASKGATE_DATABASE_URL of local.settings.json, else an embedded PostgreSQL. The queues are those of an Azurite that it starts, in place of AzureWebJobsStorage.\nWith --json each line is an object: `event` is notice, started, progress (every 5 s, and when a worker ends), or done with the sums of a sample.\nExit code: 0 after q or Ctrl-C, the usual end of a run. 130 when Ctrl-C breaks off the start or a run with --once, or comes twice. 143 or 129 after SIGTERM or SIGHUP.",
  examples: [
    { line: "taskgate dev", sentence: "In the folder of the app; q or Ctrl-C ends." },
    {
      line: 'taskgate dev --db "postgres://owner:PASSWORD@localhost:5432/billing"',
      sentence: "With a database of yours: nothing in it is removed.",
    },
    { line: "taskgate dev --print-settings", sentence: "For `func start` with any Azurite." },
  ],
  run: async (context) => {
    if (context.flags.has("print-settings")) return printSettings(context);
    const options = readStartOptions(context);
    const { runDev } = requireLater("../local/dev-run") as typeof DevRun;
    const code = await runDev(options);
    context.endSoon();
    return code;
  },
};

/** Reads and checks the options. Throws InvalidArgumentError with all problems. */
export function readStartOptions({
  options,
  flags,
  folder,
}: Pick<CommandContext, "options" | "flags" | "folder">): StartOptions {
  const problems: Problem[] = [];
  const whole = (name: string, min: number, max: number): number | null => {
    const text = options[name];
    if (text === undefined) return null;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    const expected = `a whole number in ${String(min)}..${String(max)}`;
    problems.push({ field: `--${name}`, value: `\`${text.slice(0, 100)}\``, expected });
    return null;
  };
  const databaseUrl = options["db"] ?? null;
  problems.push(...problemsOfDatabase(databaseUrl));
  if (databaseUrl !== null && flags.has("fast")) {
    const expected = "no --db beside it: it is about the embedded PostgreSQL";
    problems.push({ field: "--fast", value: "set", expected });
  }
  for (const name of ["once", "limit"])
    if (flags.has("no-sample") && (flags.has(name) || options[name] !== undefined)) {
      const expected = "no --no-sample beside it: it is about the sample";
      problems.push({ field: `--${name}`, value: "set", expected });
    }
  const read = {
    port: whole("port", 1, 65_535) ?? 7_071,
    limit: whole("limit", 0, 1_000),
    hosts: whole("hosts", 0, 8) ?? 1,
  };
  if (problems.length > 0) throw invalidInput(problems);
  return {
    appRoot: resolve(folder, options["app"] ?? "."),
    isOnce: flags.has("once"),
    isWithoutSample: flags.has("no-sample"),
    keepsData: flags.has("keep"),
    isFast: flags.has("fast"),
    isJson: flags.has("json"),
    databaseUrl,
    ...read,
    home: resolve(folder, options["home"] ?? "."),
  };
}
