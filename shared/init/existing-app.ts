import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { parseJsonWithComments } from "../core/json-comments";
import { adviseOnHost } from "../local/host-advice";
import { readLocalApp, readLocalSettings } from "../local/local-app";
import { adviseOnCompiler } from "./compiler-advice";
import { readCompilerFolders, sourceFolders } from "./compiler-folders";
import { readMain } from "./main-pattern";

/** What `taskgate init` wants to know about an app. */
export interface ExistingApp {
  readonly root: string;
  /** Names of the packages in all sections of package.json. */
  readonly packages: ReadonlySet<string>;
  /** The folder of the functions' sources, below `root` and with slashes; empty: `root` itself. */
  readonly sourceFolder: string;
  /** Every file there is loaded by the host. */
  readonly isWholeFolder: boolean;
  /** Of a new source file: `.ts`, `.mts`, `.js`, `.mjs`, `.cjs`. */
  readonly ending: string;
  /** Its sources are written with `import`. */
  readonly isModule: boolean;
  /** The host loads ES modules: imports name files with their endings. */
  readonly isEsModule: boolean;
  /** Something makes of the sources what the host loads; `script`: package.json has `build` for it. */
  readonly build: "none" | "script" | "other";
  /** The file that connects the app to Taskgate, below `root`; null: there is none. */
  readonly gateFile: string | null;
  /** Names of the functions that the sources register. */
  readonly functionNames: readonly string[];
  /** Names of the values of local.settings.json. */
  readonly settingNames: ReadonlySet<string>;
  /** Advice on host.json and tsconfig.json, a sentence or two each. */
  readonly advice: readonly string[];
}

/** Files that are searched for functions. */
const filesMax = 5_000;
const isSource = /\.[cm]?[jt]s$/;

/**
 * Reads a Functions app of the programming model v4. `folder`: where its functions' sources are, for an app whose package.json
 * and tsconfig.json don't tell. Throws an Error with a sentence for people where the folder holds no such app.
 */
export async function readExistingApp(root: string, folder?: string): Promise<ExistingApp> {
  const { main } = readLocalApp(root);
  const manifest = parseJsonWithComments(
    readFileSync(join(root, "package.json"), "utf8"),
  ) as Record<string, unknown>;
  const packages = packagesOf(manifest);
  requireModel(root, manifest);
  const pattern = readMain(main);
  const compiler = readCompilerFolders(root);
  const sourceFolder = folder ?? findSources(root, pattern.folder, compiler);
  // A compiler that only checks JavaScript (checkJs) writes nothing: what the host loads is the source.
  const isCompiled = packages.has("typescript") && sourceFolder !== pattern.folder;
  const isTypeScript = compiler !== null && (isCompiled || hasTypeScript(join(root, sourceFolder)));
  const isEsModule =
    pattern.ending === ".mjs" || (pattern.ending === ".js" && manifest["type"] === "module");
  const hostAdvice = (await adviseOnHost(root, readLocalSettings(root))) ?? [];
  const sources = readSources(root, compiler?.outDir ?? (isTypeScript ? "dist" : null));
  return {
    root,
    packages,
    sourceFolder,
    isWholeFolder: pattern.isWholeFolder,
    ending: isTypeScript ? pattern.ending.replace("js", "ts") : pattern.ending,
    // The compiler makes of imports what the app wants.
    isModule: isEsModule || isTypeScript,
    isEsModule,
    build: hasBuildScript(manifest) ? "script" : isTypeScript ? "other" : "none",
    gateFile:
      sources.find(({ text }) => connects.test(text) || connectsRenamed.test(text))?.path ?? null,
    functionNames: sources.flatMap(({ text }) => namesIn(text)),
    settingNames: new Set(Object.keys(readLocalSettings(root))),
    advice: [
      ...hostAdvice.map((advice) => `host.json: ${advice}`),
      ...adviseOnCompiler(root, manifest, compiler),
    ],
  };
}

function hasBuildScript({ scripts }: Readonly<Record<string, unknown>>): boolean {
  return typeof scripts === "object" && scripts !== null && "build" in scripts;
}

function packagesOf(manifest: Readonly<Record<string, unknown>>): Set<string> {
  const sections = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
  return new Set(
    sections.flatMap((section) => {
      const listed = manifest[section];
      return typeof listed === "object" && listed !== null ? Object.keys(listed) : [];
    }),
  );
}

/** Taskgate registers functions in code: the model v4. */
function requireModel(root: string, { dependencies }: Readonly<Record<string, unknown>>): void {
  const listed = (dependencies ?? {}) as Readonly<Record<string, unknown>>;
  const range = listed["@azure/functions"];
  const major = typeof range === "string" ? /\d+/.exec(range)?.[0] : undefined;
  if (range !== undefined && (major === undefined || Number(major) >= 4)) return;
  const got = range === undefined ? "none" : `\`${JSON.stringify(range)}\``;
  throw new Error(
    `${join(root, "package.json")}: expected a dependency "@azure/functions" of version 4, got ${got}. Taskgate needs the programming model v4: \`npm install @azure/functions@4\`.`,
  );
}

function findSources(
  root: string,
  compiled: string,
  compiler: ReturnType<typeof readCompilerFolders>,
): string {
  const candidates = compiler === null ? [compiled] : sourceFolders(compiled, compiler);
  const found = candidates.find((candidate) => existsSync(join(root, candidate)));
  if (found !== undefined) return found;
  throw new Error(
    `The folder of your functions wasn't found: looked for ${candidates.join(", ")}, as \`main\` in package.json says. Name it with --folder DIR.`,
  );
}

function hasTypeScript(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => /(?<!\.d)\.[cm]?ts$/.test(name));
}

interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The app's own sources; what a build writes, packages and hidden folders are left out. */
function readSources(root: string, built: string | null): SourceFile[] {
  const files: string[] = [];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      const isForeign = entry.name === "node_modules" || entry.name.startsWith(".");
      if (entry.isDirectory() && !isForeign && path !== built) folders.push(path);
      if (entry.isFile() && isSource.test(path) && files.length < filesMax) files.push(path);
    }
  }
  return files.sort().map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** An import of the door, with a call behind it, under its own name. */
const connects = /["']taskgate\/functions["'][^]*\btaskgate\s*\(/;
/** The same under another name: `{ taskgate as tg }` of an import, `{ taskgate: tg }` of a require. */
const connectsRenamed =
  /\btaskgate\s*(?:\bas\b|:)\s*([\w$]+)[^;{}]*\}[^;{}]*["']taskgate\/functions["'][^]*\b\1\s*\(/;

/** Names behind `app.http(`, `app.timer(` and the like. */
function namesIn(text: string): string[] {
  const registrations = text.matchAll(/\bapp\s*\.\s*\w+\s*(?:<[^()]*>)?\(\s*(["'`])([\w-]+)\1/g);
  return [...registrations].map(([, , name = ""]) => name);
}
