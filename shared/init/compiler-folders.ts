import { messageOf } from "../core/foreign-value";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import { parseJsonWithComments } from "../core/json-comments";

/** Where the compiler reads and writes, below the app's folder and with slashes; undefined: tsconfig.json doesn't say. */
export interface CompilerFolders {
  readonly outDir: string | undefined;
  readonly rootDir: string | undefined;
  /** Does the compiler check the declarations of every package below node_modules/@types? */
  readonly checksAllTypes: boolean;
}

/** A tsconfig.json extends another one, and so on. */
const extendsMax = 5;

/** Reads tsconfig.json and those that it extends; null: there is none. Throws an Error that names an unreadable one. */
export function readCompilerFolders(root: string): CompilerFolders | null {
  const path = join(root, "tsconfig.json");
  if (!existsSync(path)) return null;
  const found: { outDir?: string; rootDir?: string } = {};
  let checksAllTypes = true;
  let next: string | null = path;
  for (let level = 0; level < extendsMax && next !== null; level += 1) {
    const { compilerOptions, parent } = readConfig(next);
    for (const name of ["outDir", "rootDir"] as const) {
      const value = compilerOptions[name];
      if (typeof value === "string") found[name] ??= below(root, resolve(dirname(next), value));
    }
    if (compilerOptions["skipLibCheck"] === true || Array.isArray(compilerOptions["types"]))
      checksAllTypes = false;
    next = parent;
  }
  return { outDir: found.outDir, rootDir: found.rootDir, checksAllTypes };
}

function readConfig(path: string): {
  compilerOptions: Readonly<Record<string, unknown>>;
  parent: string | null;
} {
  let value: unknown;
  try {
    value = parseJsonWithComments(readFileSync(path, "utf8"));
  } catch (error) {
    const reason = messageOf(error);
    throw new Error(`${path} can't be read: ${reason}`, { cause: error });
  }
  const config = asObject(value);
  const parent = config["extends"];
  const isFile = typeof parent === "string" && /^\.{1,2}\//.test(parent);
  const file = isFile ? resolve(dirname(path), parent) : null;
  return {
    compilerOptions: asObject(config["compilerOptions"]),
    parent: file === null ? null : file.endsWith(".json") ? file : `${file}.json`,
  };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function below(root: string, path: string): string {
  return relative(root, path).split("\\").join("/");
}

/**
 * The folders in which the source of a compiled folder may lie, the likeliest first. Without `rootDir` the compiler takes
 * the folder that all sources have in common.
 */
export function sourceFolders(
  compiled: string,
  { outDir, rootDir }: Pick<CompilerFolders, "outDir" | "rootDir">,
): string[] {
  const built = outDir ?? compiled.split("/")[0] ?? "";
  const isBuilt = built !== "" && (compiled === built || compiled.startsWith(`${built}/`));
  if (!isBuilt) return [compiled];
  const rest = compiled.slice(built.length + 1);
  if (rootDir !== undefined) return [posix.join(rootDir, rest)];
  return [rest, posix.join("src", rest)];
}
