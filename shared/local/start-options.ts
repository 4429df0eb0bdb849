import { didYouMean } from "../core/near-name";
import { isDatabaseUrl } from "../settings/setting-formats";

/** What `npm start` was asked for. */
export interface StartOptions {
  /** End when the pipeline is done, with an exit code that says how it went. */
  readonly isOnce: boolean;
  /** Without the sample: only the app's own tasks; it runs until it is ended. */
  readonly isWithoutSample: boolean;
  /** Go on with the data of the last run, also when that run was finished. */
  readonly keepsData: boolean;
  /** The embedded PostgreSQL doesn't wait for the disk: a power cut may cost the data. */
  readonly isFast: boolean;
  /** Address of a database of the user's own; null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  /** TCP port of the first host. */
  readonly port: number;
  /** Limit of the sample's paced definition; null: the code's. */
  readonly limit: number | null;
  /** Hosts, each a process, on the same queues and database. */
  readonly hosts: number;
  /** The folder of `.taskgate/` and `landing/`. */
  readonly home: string;
}

/** Options that can be used, a call for help, or what is wrong. */
export type StartArguments =
  | { readonly kind: "start"; readonly options: StartOptions }
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly problem: string };

/** What `--help` shows. */
export const startHelp = `Runs Taskgate on this machine: database, queues, the functions, and the sample pipeline if there is one.

Usage: npm start -- [options]

  --once         end when the pipeline is done: exit code 0 when all went as expected, else 1
  --no-sample    only the app's own tasks, without the sample pipeline; q or Ctrl-C ends
  --keep         go on with the data of the last run (a run that was interrupted always goes on)
  --fast         don't wait for the disk: quicker, but a power cut may cost the data of the embedded PostgreSQL
  --db URL       use this database: postgres://.. or mssql://..; nothing in it is ever removed
  --port N       port of the functions, default 7071
  --limit N      how many blocks are parsed at once, 0..1000, default 4
  --hosts N      how many processes run the functions, 1..8, default 1
  --home DIR     where .taskgate/ and landing/ are, default: the current folder
  --help         this text

While the sample runs: drop .json or .csv files into landing/; keys + and - change the limit. q ends.
Exit codes: 0 done; 1 failed, or not what was expected; 2 wrong options; 130 and 143 interrupted before the end.
`;

const flags = ["--once", "--no-sample", "--keep", "--fast", "--help"] as const;
const valued = ["--db", "--port", "--limit", "--hosts", "--home"] as const;
type Flag = (typeof flags)[number];
type Valued = (typeof valued)[number];

/** Reads the command line. `home`: what holds without `--home`. Values follow as `--port 7072` or `--port=7072`. */
export function parseStartArguments(args: readonly string[], home: string): StartArguments {
  const given = new Map<string, string>();
  for (let index = 0; index < args.length; index += 1) {
    const [name, inline] = splitOnce(args[index] ?? "");
    if (isFlag(name)) {
      if (inline !== undefined) return wrong(`${name} takes no value, got \`${inline}\`.`);
      given.set(name, "");
    } else if (isValued(name)) {
      const value = inline ?? args[(index += 1)];
      if (value === undefined || value === "") return wrong(`${name} wants a value.`);
      given.set(name, value);
    } else {
      // Whoever forgets the dashes, or one of them, means the option all the same.
      const near = didYouMean(`--${name.replace(/^-+/, "")}`, [...flags, ...valued]);
      return wrong(`There is no option \`${name}\`.${near}`);
    }
  }
  return given.has("--help") ? { kind: "help" } : toOptions(given, home);
}

function toOptions(given: ReadonlyMap<string, string>, home: string): StartArguments {
  const problems: string[] = [];
  const whole = (name: Valued, range: { min: number; max: number }): number | null => {
    const text = given.get(name);
    if (text === undefined) return null;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= range.min && value <= range.max) return value;
    const { min, max } = range;
    problems.push(`${name}: expected a whole number in ${min}..${max}, got \`${text}\`.`);
    return null;
  };
  const databaseUrl = given.get("--db") ?? null;
  if (databaseUrl !== null && !isDatabaseUrl(databaseUrl)) {
    problems.push("--db: expected postgres://user:password@host:port/database or mssql://..");
  }
  if (databaseUrl !== null && given.has("--fast")) {
    problems.push("--fast is about the embedded PostgreSQL: leave it out, or leave out --db.");
  }
  const isWithoutSample = given.has("--no-sample");
  for (const name of ["--once", "--limit"])
    if (isWithoutSample && given.has(name))
      problems.push(`${name} is about the sample: leave it out, or leave out --no-sample.`);
  const options: StartOptions = {
    isOnce: given.has("--once"),
    isWithoutSample,
    keepsData: given.has("--keep"),
    isFast: given.has("--fast"),
    databaseUrl,
    port: whole("--port", { min: 1, max: 65_535 }) ?? 7_071,
    limit: whole("--limit", { min: 0, max: 1_000 }),
    hosts: whole("--hosts", { min: 1, max: 8 }) ?? 1,
    home: given.get("--home") ?? home,
  };
  return problems.length > 0 ? wrong(problems.join("\n")) : { kind: "start", options };
}

function wrong(problem: string): StartArguments {
  return { kind: "wrong", problem };
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.startsWith("--") ? text.indexOf("=") : -1;
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function isFlag(name: string): name is Flag {
  return flags.some((flag) => flag === name);
}

function isValued(name: string): name is Valued {
  return valued.some((option) => option === name);
}
