import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SettingsError } from "../core/errors";
import { jsonMembers } from "../core/json-members";
import { invalidInput } from "../admin/read-result";
import { loadSettings } from "../settings/load-settings";
import { problemsOfDatabase } from "./database-option";
import type { Environment } from "../settings/load-settings";
import type { Settings } from "../settings/settings";

/** Finds the database and the queue that a command works on. */

/** What a command works on. */
export interface Target {
  readonly settings: Settings;
  /** Where the address came from, for people. */
  readonly origin:
    | "--db"
    | "TASKGATE_DATABASE_URL"
    | "TASKGATE_SQL_SERVER"
    | ".taskgate/local.json";
}

/** Where to look. */
export interface TargetOptions {
  /** The value of `--db`. */
  readonly databaseUrl: string | undefined;
  readonly environment: Environment;
  /** The folder whose `.taskgate/local.json` tells of a local run. */
  readonly folder: string;
}

/** What `taskgate dev` writes into `.taskgate/local.json`. */
interface LocalRun {
  readonly databaseUrl: string;
  readonly queueConnection: string | null;
  /** The process of `taskgate dev`; null: a note of an older version. */
  readonly pid: number | null;
}

/**
 * The first of: `--db`, the environment's settings, the local run of the current folder. The queue for hints comes from
 * the environment, or from the local run when that is the target. Throws SettingsError, or InvalidArgumentError for `--db`, with what to do.
 */
export function findTarget(options: TargetOptions): Target {
  const { environment, folder, databaseUrl } = options;
  const local = readLocalRun(folder);
  if (databaseUrl !== undefined) {
    const problems = problemsOfDatabase(databaseUrl);
    if (problems.length > 0) throw invalidInput(problems);
    const queue = local?.databaseUrl === databaseUrl ? local.queueConnection : null;
    return { settings: load(environment, databaseUrl, queue), origin: "--db" };
  }
  if (isSet(environment, "TASKGATE_DATABASE_URL")) {
    return { settings: loadSettings(environment), origin: "TASKGATE_DATABASE_URL" };
  }
  if (isSet(environment, "TASKGATE_SQL_SERVER") || isSet(environment, "TASKGATE_SQL_DATABASE")) {
    return { settings: loadSettings(environment), origin: "TASKGATE_SQL_SERVER" };
  }
  if (local !== null) {
    refuseEnded(local);
    const settings = load(environment, local.databaseUrl, local.queueConnection);
    return { settings, origin: ".taskgate/local.json" };
  }
  throw new SettingsError([
    "TASKGATE_DATABASE_URL: expected a database to work on, got none. Give --db postgres://.., set TASKGATE_DATABASE_URL, or run `taskgate dev` in this folder first",
  ]);
}

/** A run that was killed leaves its note behind: its database is gone, and a refused connection wouldn't say why. */
function refuseEnded({ pid }: LocalRun): void {
  if (pid === null || isAlive(pid)) return;
  throw new SettingsError([
    `.taskgate/local.json: expected a run that is alive, got that of process ${String(pid)}, which has ended. Run \`taskgate dev\` again: it resumes; or give --db`,
  ]);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: alive, and of another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Settings with another database than the environment's, and a queue where the environment names none. */
function load(environment: Environment, databaseUrl: string, queue: string | null): Settings {
  const hasQueue = Object.keys(environment).some(
    (name) => name.startsWith("AzureWebJobsStorage") && isSet(environment, name),
  );
  return loadSettings({
    ...environment,
    TASKGATE_DATABASE_URL: databaseUrl,
    TASKGATE_SQL_SERVER: undefined,
    TASKGATE_SQL_DATABASE: undefined,
    ...(queue === null || hasQueue ? {} : { AzureWebJobsStorage: queue }),
  });
}

function isSet(environment: Environment, name: string): boolean {
  const value = environment[name];
  return value !== undefined && value !== "";
}

function readLocalRun(folder: string): LocalRun | null {
  let text: string;
  try {
    text = readFileSync(join(folder, ".taskgate", "local.json"), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
  const run = parseLocalRun(text);
  if (run !== null) return run;
  throw new SettingsError([
    '.taskgate/local.json: expected { "databaseUrl", "queueConnection", "url" } as texts, got something else. Delete it and run `taskgate dev` again',
  ]);
}

function parseLocalRun(text: string): LocalRun | null {
  const { databaseUrl, queueConnection: queue, pid } = jsonMembers(text);
  if (typeof databaseUrl !== "string") return null;
  return {
    databaseUrl,
    queueConnection: typeof queue === "string" ? queue : null,
    // 0 and below would mean whole groups of processes.
    pid: typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 ? pid : null,
  };
}
