import { invalidInput } from "../admin/read-result";
import { SettingsError } from "../core/errors";
import { readAppAddress } from "../remote/app-address";
import { isSecretForm } from "../remote/sign-in";
import type { SignIn } from "../remote/sign-in";
import type { Environment } from "../settings/load-settings";

/** Finds the app that a command asks in place of a database. */

/** An app and the sign-in there. */
export interface AppTarget {
  /** Where its routes begin, without a slash at the end. */
  readonly base: string;
  /** Where the address came from, for people. */
  readonly origin: "--url" | "TASKGATE_URL";
  readonly signIn: SignIn;
}

/** Where to look. */
export interface AppTargetOptions {
  /** The value of `--url`. */
  readonly url: string | undefined;
  /** The value of `--db`. */
  readonly databaseUrl: string | undefined;
  readonly environment: Environment;
}

/** Variables that name a database: a database that is named comes before TASKGATE_URL. */
const databaseNames = ["TASKGATE_DATABASE_URL", "TASKGATE_SQL_SERVER", "TASKGATE_SQL_DATABASE"];

/**
 * The app of `--url`, or of TASKGATE_URL where neither `--db` nor the environment names a database; null: a database is worked on. Throws
 * InvalidArgumentError for a bad `--url` and for one beside `--db`, SettingsError for a bad variable; neither shows an address or a secret.
 */
export function findApp({ url, databaseUrl, environment }: AppTargetOptions): AppTarget | null {
  if (url !== undefined && databaseUrl !== undefined)
    throw refuseUrl("two addresses", "either --url or --db, not both");
  const named = environment["TASKGATE_URL"] ?? "";
  const isDatabase =
    databaseUrl !== undefined || databaseNames.some((name) => (environment[name] ?? "") !== "");
  if (url === undefined && (named === "" || isDatabase)) return null;
  const read = readAppAddress(url ?? named);
  if ("expected" in read)
    throw url === undefined
      ? new SettingsError([`TASKGATE_URL: expected ${read.expected}, got another text`])
      : refuseUrl("another text", read.expected);
  const origin = url === undefined ? "TASKGATE_URL" : "--url";
  return { base: read.base, origin, signIn: readSignIn(environment) };
}

function readSignIn(environment: Environment): SignIn {
  const problems: string[] = [];
  const read = (name: string): string | null => {
    const value = environment[name] ?? "";
    if (value === "") return null;
    if (!isSecretForm(value))
      problems.push(
        `${name}: expected letters, digits and signs of ASCII without blanks and line breaks, got a value of ${String(value.length)} characters that is not shown`,
      );
    return value;
  };
  const signIn = { key: read("TASKGATE_FUNCTION_KEY"), token: read("TASKGATE_TOKEN") };
  if (problems.length > 0) throw new SettingsError(problems);
  return signIn;
}

/** The error of a command that no app can do: it names the option and the way that there is. */
export function refuseApp(
  origin: AppTarget["origin"],
  { name, worksOn }: { readonly name: string; readonly worksOn: string },
): Error {
  const way =
    worksOn === "the database itself"
      ? "give --db postgres://.., or set TASKGATE_DATABASE_URL"
      : worksOn === "the storage account itself"
        ? "set AzureWebJobsStorage, and give --db or TASKGATE_DATABASE_URL in its place"
        : "leave it out";
  const expected = `none: \`taskgate ${name}\` works on ${worksOn}; ${way}`;
  return origin === "--url"
    ? refuseUrl("an address", expected)
    : new SettingsError([`TASKGATE_URL: got an address, expected ${expected}`]);
}

/** The value isn't shown: a key may stand in it by mistake. */
function refuseUrl(value: string, expected: string): Error {
  return invalidInput([{ field: "--url", value, expected }]);
}
