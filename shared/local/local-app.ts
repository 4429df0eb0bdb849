import { isObject, messageOf, textAt } from "../core/foreign-value";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseJsonWithComments } from "../core/json-comments";
import type { AppSettings } from "./functions-host/app-settings";

/** A Functions app on this machine, as its files describe it. */
export interface LocalApp {
  /** The folder with host.json and package.json. */
  readonly root: string;
  readonly name: string;
  /** The compiled files with the functions: a path or a pattern, below `root`. */
  readonly main: string;
  /** The module of the app's sample, below `root`; null: the app has none. */
  readonly samplePath: string | null;
}

/** Reads an app. Throws an Error with a sentence for people where the folder holds none. */
export function readLocalApp(root: string): LocalApp {
  for (const file of ["host.json", "package.json"])
    if (!existsSync(join(root, file)))
      throw new Error(
        `${root} is no Functions app: it has no ${file}. Run the command in the folder of your app, or name it with --app.`,
      );
  const path = join(root, "package.json");
  const manifest = readObject(path);
  const { main, name } = manifest;
  if (typeof main !== "string" || main === "")
    throw new Error(
      `${path}: expected \`main\` to name the files with the functions, got none. Add for example "main": "dist/src/functions/*.js".`,
    );
  return {
    root,
    name: typeof name === "string" ? name : "this app",
    main: main.replace(/^\.\//, ""),
    samplePath: sampleOf(manifest),
  };
}

/** The module of a sample that package.json of a folder names; null: none, or no package.json. */
export function readSamplePath(root: string): string | null {
  const path = join(root, "package.json");
  return existsSync(path) ? sampleOf(readObject(path)) : null;
}

function sampleOf({ taskgate }: Readonly<Record<string, unknown>>): string | null {
  return textAt(taskgate, "sample") ?? null;
}

/**
 * The app's own settings: `Values` of local.settings.json, none where there is no such file. Throws an Error that names
 * the member which can't be used.
 */
export function readLocalSettings(root: string): AppSettings {
  const path = join(root, "local.settings.json");
  if (!existsSync(path)) return {};
  const { IsEncrypted: isEncrypted, Values: values } = readObject(path);
  if (isEncrypted === true)
    throw new Error(
      `${path}: expected values in plain text, got encrypted ones. Run \`func settings decrypt\`.`,
    );
  if (values === undefined) return {};
  if (!isObject(values)) throw new Error(`${path}: expected \`Values\` to be an object of texts.`);
  return Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => {
      if (typeof value === "string") return [name, value];
      if (typeof value === "number" || typeof value === "boolean") return [name, String(value)];
      throw new Error(
        `${path}: expected \`Values.${name}\` to be a text, got ${JSON.stringify(value)}.`,
      );
    }),
  );
}

function readObject(path: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJsonWithComments(readFileSync(path, "utf8"));
  } catch (error) {
    const reason = messageOf(error);
    throw new Error(`${path} is no valid JSON: ${reason}`, { cause: error });
  }
  if (!isObject(value)) throw new Error(`${path}: expected a JSON object.`);
  return value;
}

/** The folder, below the app, that a build writes: the first one that `main` names. Null: the app's folder itself. */
export function builtFolder({ main }: Pick<LocalApp, "main">): string | null {
  const [first = "", ...rest] = main.split("/");
  return rest.length === 0 || /[*?{}[\]!()]/.test(first) ? null : first;
}
