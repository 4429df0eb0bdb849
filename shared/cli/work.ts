import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type * as ResidentRun from "../local/resident-run";
import type { ResidentAddress } from "../local/resident-run";
import { take } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import { readDuration } from "../core/duration";
import { optionalNameParameter } from "./command";
import type { Command } from "./command";
import { readTime, readWhole, refusal } from "./read-values";
import type { Target } from "./target";

const requireLater = createRequire(__filename);
/** A poll is a sweep: more of them would only burden the database. */
const pollMinMs = 100;
const pollMaxMs = 600_000;

/** `taskgate work` */
export const workCommand: Command = {
  name: "work",
  group: "deploy",
  worksOn: "the database itself",
  outlivesReader: true,
  parameters: [{ ...optionalNameParameter, isList: true }],
  options: {
    definitions: {
      short: "d",
      valueName: "LIST",
      isList: true,
      values: "definitions",
      sentence: "Names, joined by commas, for scripts: beside NAME or in its place.",
    },
    concurrency: {
      valueName: "N",
      sentence:
        "Most tasks that run at once per definition, 1..1000; default TASKGATE_CONCURRENCY_PER_WORKER.",
    },
    poll: {
      valueName: "TIME",
      sentence: "The longest pause between two looks for tasks, 100ms..10m; default 2s.",
    },
    grace: {
      valueName: "TIME",
      sentence: "How long running tasks may go on after SIGTERM or SIGINT, up to 1h; default 5s.",
    },
    app: {
      valueName: "DIR",
      sentence: "The folder with package.json; default: the current folder.",
    },
  },
  sentence: "Runs the tasks of an app in a process that stays, without Azure Functions.",
  details: [
    "NAME: definitions of the app; default: all of them.",
    "Build the app before. The settings are those of the environment.",
    "PostgreSQL notifies of new tasks. Polls find the others, and do what the sweep of a function app does.",
    "SIGTERM or SIGINT: nothing more is claimed, and running tasks may finish within --grace. The others are given back",
    "uncounted within 5 s; a second signal doesn't wait for --grace. Exit code 0 then.",
    "Exit code 75: a handler was stuck (TASKGATE_WHEN_STUCK); start the process again.",
  ].join("\n"),
  examples: [
    { line: "taskgate work", sentence: "All definitions of the app in this folder." },
    {
      line: "taskgate work resize mail --concurrency 20",
      sentence: "Two definitions, 20 tasks of each at once.",
    },
  ],
  run: async (context) => {
    const { options, args, lists, folder, output } = context;
    const target = context.target();
    const { concurrency } = options;
    const read = {
      definitions: readNames(args, lists["definitions"]),
      concurrency:
        concurrency === undefined ? null : readWhole("--concurrency", concurrency, [1, 1_000]),
      pollMs: readPoll(options["poll"] ?? "2s"),
      graceMs: readTime("--grace", options["grace"] ?? "5s", { max: "1h" }),
      appRoot: readAppRoot(resolve(folder, options["app"] ?? ".")),
    };
    const { runResident } = requireLater("../local/resident-run") as typeof ResidentRun;
    try {
      await runResident({ ...read, address: addressOf(target), say: output.error });
    } finally {
      // Handlers that ignore their signal, and what else the app has opened.
      context.endSoon();
    }
  },
};

function readAppRoot(appRoot: string): string {
  if (existsSync(join(appRoot, "package.json"))) return appRoot;
  const expected =
    "the folder of an app: it has no package.json. Run the command in the folder of your app, or name it with --app";
  throw refusal("--app", appRoot, expected);
}

/** Null: all definitions of the app. */
function readNames(args: readonly string[], lists: readonly string[] = []): string[] | null {
  const named = args.map((name) => take(readDefinitionName(name)));
  const listed = lists.flatMap((list) => list.split(","));
  const wrong = listed.find((name) => !readDefinitionName(name).ok);
  if (wrong !== undefined)
    throw refusal("--definitions", wrong, "names of definitions, joined by commas");
  const names = [...new Set([...named, ...listed])];
  return names.length === 0 ? null : names;
}

function readPoll(text: string): number {
  const ms = readDuration(text);
  if (ms !== null && ms >= pollMinMs && ms <= pollMaxMs) return ms;
  throw refusal("--poll", text, "a time of 100ms to 10m, such as 500ms or 2s");
}

/** What the command line or the local run says in place of the environment; null: nothing. */
function addressOf({ settings, origin }: Target): ResidentAddress | null {
  const { database, storage } = settings;
  if (origin !== "--db" && origin !== ".taskgate/local.json") return null;
  if (database.kind !== "url") return null;
  return {
    databaseUrl: database.url,
    storage: storage?.kind === "connection-string" ? storage.connectionString : null,
  };
}
