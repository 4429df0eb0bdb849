/**
 * The data folder of the embedded PostgreSQL: its place, its owner, and whether it may be used. A folder that another user
 * made is never taken over: started by root, the server's user would run any program in it.
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { textAt } from "../core/foreign-value";
import { makeFolder } from "./make-folder";
import { canOthersEnter, openTempDir } from "./postgres-binaries";
import type { ServiceUser } from "./supervised-service";

/** Which folder is wanted. */
export interface DataFolderOptions {
  readonly dataDir?: string;
  readonly keep: boolean;
}

/** Marks a folder that we may remove; contains the id of the process that made it. */
export const temporaryMark = "taskgate-temporary";
/** Data folders under the temp folder; a temporary one has the mark in it. */
const dataPrefix = "taskgate-postgres-data-";

/** Whom to run as: undefined is this process's own user. */
export async function serverUser(): Promise<ServiceUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = await readFile("/etc/passwd", "utf8");
  const nobody = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(accounts);
  if (nobody === null) {
    throw new Error(
      "PostgreSQL refuses to run as root and this system has no user `nobody` to run it as. Start " +
        "as another user, or set DATABASE_URL to a PostgreSQL server of your own.",
    );
  }
  return { uid: Number(nobody[1]), gid: Number(nobody[2]) };
}

/** The folder to use. Throws an Error with a sentence where it can't be made. */
export async function chooseDataDir(
  options: DataFolderOptions,
  user: ServiceUser | undefined,
): Promise<string> {
  if (options.dataDir === undefined) {
    if (options.keep)
      throw new Error("Expected `dataDir` with `keep: true`: where to keep the data.");
    const temp = await openTempDir();
    await removeLeftovers(temp, user);
    return join(temp, `${dataPrefix}${randomUUID()}`);
  }
  // Resolved first: initdb would take a relative path from its own folder.
  const wanted = resolve(options.dataDir);
  await makeFolder(dirname(wanted));
  if (user === undefined || (await canOthersEnter(dirname(wanted)))) return wanted;
  const key = createHash("sha256").update(wanted).digest("hex").slice(0, 12);
  return join(await openOwnFolder(`taskgate-postgres-of-root-${key}`), "data");
}

/**
 * A folder of root's own under the temp folder, whose name others can guess: the first to make it has it. One that root made is
 * root's for ever, because no other user may rename or remove it there.
 */
async function openOwnFolder(name: string): Promise<string> {
  const path = join(await openTempDir(), name);
  try {
    await mkdir(path, { mode: 0o711 });
  } catch (error) {
    if (textAt(error, "code") !== "EEXIST") throw error;
  }
  const info = await lstat(path);
  if (info.isDirectory() && info.uid === 0 && (info.mode & 0o022) === 0) return path;
  throw new Error(
    `${path} isn't a folder that only root may write to: another user made it. Look at it, remove it and start again.`,
  );
}

/** Removes temporary data of killed processes; the supervisor missed it, after a power cut say. */
async function removeLeftovers(temp: string, user: ServiceUser | undefined): Promise<void> {
  const own = user?.uid ?? process.getuid?.();
  for (const name of await readdir(temp)) {
    if (!name.startsWith(dataPrefix)) continue;
    const path = join(temp, name);
    const info = await lstat(path).catch(() => null);
    // Of others: not ours to remove, with any content.
    if (info?.isDirectory() !== true || (own !== undefined && info.uid !== own)) continue;
    const maker = draftMaker(name) ?? (await readPid(join(path, temporaryMark)));
    if (maker === null || isAlive(maker) || (await liveHolder(path)) !== null) continue;
    await rm(path, { recursive: true, force: true });
  }
}

/** True if the folder holds a cluster to use; false if one must be made (the folder is absent). */
export async function prepareDataDir(
  dataDir: string,
  keep: boolean,
  user: ServiceUser | undefined,
): Promise<boolean> {
  await removeDrafts(dataDir);
  const names = existsSync(dataDir) ? await readdir(dataDir) : [];
  if (names.length === 0) return false;
  const holder = await liveHolder(dataDir);
  if (holder !== null) throw new Error(folderInUse(dataDir, holder));
  if (!names.includes("PG_VERSION")) {
    throw new Error(
      `The data folder ${dataDir} holds something that is not a PostgreSQL cluster. Choose another ` +
        "folder, or remove it.",
    );
  }
  if (keep) {
    await checkOwner(dataDir, user);
    await rm(join(dataDir, temporaryMark), { force: true });
    return true;
  }
  if (!names.includes(temporaryMark)) {
    throw new Error(
      `The data folder ${dataDir} holds data that was to be kept, and \`keep: false\` would remove ` +
        "it. Choose another folder, or remove it.",
    );
  }
  await rm(dataDir, { recursive: true, force: true });
  return false;
}

/** Refuses a folder of another user, and one that others may enter: PostgreSQL would refuse the second later. */
async function checkOwner(dataDir: string, user: ServiceUser | undefined): Promise<void> {
  const wanted = user?.uid ?? process.getuid?.();
  if (wanted === undefined) return;
  const { uid, mode } = await stat(dataDir);
  if (uid !== wanted) {
    throw new Error(
      `The data folder ${dataDir} belongs to another user (id ${String(uid)}, the server's is ${String(wanted)}), ` +
        "probably because root made it, or somebody who isn't root. Start as that user, remove it, or choose another folder.",
    );
  }
  if ((mode & 0o022) !== 0) {
    throw new Error(
      `Others may write to the data folder ${dataDir}. Look at what is in it; if it is yours, take that right away (chmod 700).`,
    );
  }
}

/** The process that holds a data folder, if it is alive: the server, or the process that starts it. */
export async function liveHolder(dataDir: string): Promise<number | null> {
  const server = await readServerPid(dataDir);
  if (server !== null) {
    if (await isPostgres(server)) return server;
    // The server would look at the number alone and refuse to start.
    await rm(join(dataDir, "postmaster.pid"), { force: true });
  }
  const maker = await readPid(join(dataDir, temporaryMark));
  return maker !== null && isAlive(maker) ? maker : null;
}

/** The process id that the server of a data folder has noted there; null: it has ended in order, or never started. */
export async function readServerPid(dataDir: string): Promise<number | null> {
  return await readPid(join(dataDir, "postmaster.pid"));
}

/** The number in a file's first line; null if there is none, or the file is not ours to read. */
async function readPid(file: string): Promise<number | null> {
  const [firstLine] = (await readFile(file, "utf8").catch(() => "")).split("\n");
  const pid = Number(firstLine);
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

/** Whether a process is a living PostgreSQL server, as far as the system tells. */
async function isPostgres(pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  // "<pid> (<name>) <state> ...". After a reboot another process may have the number, and a container
  // without an init process keeps ended ones as zombies (Z).
  const status = await readFile(`/proc/${String(pid)}/stat`, "utf8").catch(() => null);
  if (status === null) return true;
  const [, name = "", state] = /^\d+ \((.*)\) (\S)/s.exec(status) ?? [];
  return name.startsWith("postgres") && state !== "Z";
}

/** In a sentence. */
export function folderInUse(dataDir: string, pid: number | string): string {
  return (
    `The data folder ${dataDir} is in use by another PostgreSQL server (process ${String(pid)}). ` +
    "Stop that one first, or choose another folder."
  );
}

/** Where a cluster is made before it gets its name: `<dataDir>.draft-<process id>-<random>`. */
export function draftName(dataDir: string): string {
  return `${basename(dataDir)}.draft-${String(process.pid)}-${randomUUID().slice(0, 8)}`;
}

function draftMaker(name: string): number | null {
  const maker = /\.draft-(\d+)-\w+$/.exec(name)?.[1];
  return maker === undefined ? null : Number(maker);
}

/** Removes drafts of this cluster whose makers were killed. */
async function removeDrafts(dataDir: string): Promise<void> {
  const folder = dirname(dataDir);
  for (const name of await readdir(folder)) {
    const maker = name.startsWith(`${basename(dataDir)}.draft-`) ? draftMaker(name) : null;
    if (maker === null || isAlive(maker)) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: alive, and not ours to signal.
    return textAt(error, "code") === "EPERM";
  }
}
