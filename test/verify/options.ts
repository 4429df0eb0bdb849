import { parseArgs } from "node:util";

/** What to verify, and how long it may take. */
export interface VerifyOptions {
  /** A user's server, or the endpoint of the simulation. */
  readonly server:
    | { readonly kind: "mssql"; readonly url: string }
    | { readonly kind: "simulated" };
  /** Where the whole result goes as JSON. */
  readonly jsonFile: string | undefined;
  readonly minutes: number;
}

/** Shown with `--help`, and with what can't be read. */
export const usage = `npm run verify -- --mssql URL [--json FILE] [--minutes N]
npm run verify -- --simulated [--json FILE] [--minutes N]

  --mssql URL     the server: mssql://user:password@host:port/database. A database of its own is made and removed
                  when the login may do that (not on Azure SQL Database, where a database costs money); else the
                  schemas Taskgate and TaskgateLitmus of the named database, which must not exist.
                  Without it: the environment variable TASKGATE_TEST_MSSQL_URL.
  --simulated     our own endpoint instead, which isn't SQL Server: shows that this program works
  --json FILE     writes every detail
  --minutes N     time for all of it; default 10. What finds no time is told as incomplete
`;

/** A command line that can't be read; the message is for people. */
export class UsageError extends Error {}

/** Reads the command line; undefined: only help was wanted. */
export function readOptions(
  args: readonly string[],
  environmentUrl: string | undefined,
): VerifyOptions | undefined {
  const values = parse(args);
  if (values.help === true) return undefined;
  const url = values.mssql ?? (values.simulated === true ? undefined : environmentUrl);
  if (values.simulated === true && url !== undefined) {
    throw new UsageError("Expected one of --mssql and --simulated, got both");
  }
  if (values.simulated !== true && url === undefined) {
    throw new UsageError(
      "Expected --mssql URL, --simulated or the variable TASKGATE_TEST_MSSQL_URL, got none",
    );
  }
  return {
    server: url === undefined ? { kind: "simulated" } : { kind: "mssql", url },
    jsonFile: values.json,
    minutes: readMinutes(values.minutes),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        mssql: { type: "string" },
        simulated: { type: "boolean" },
        json: { type: "string" },
        minutes: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readMinutes(text: string | undefined): number {
  if (text === undefined) return 10;
  const minutes = Number(text);
  if (minutes > 0 && minutes <= 1_440) return minutes;
  throw new UsageError(`Expected --minutes to be above 0 and at most 1440, got \`${text}\``);
}
