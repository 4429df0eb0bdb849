/**
 * Starts a PostgreSQL server of our own for local work, tests and benchmarks: no installation, no
 * container, nothing left behind.
 *
 * Invariants: it listens on 127.0.0.1 only; a data folder has one server at most; a data folder
 * holds a complete cluster or does not exist (a cluster is made under another name and renamed);
 * the server ends within 2 s after this process, however that ends (`supervisor.ts`).
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import {
  chown,
  lchown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, parse, resolve } from "node:path";
import { findFreePort, isPortFree, LOCAL_HOST } from "./free-port";
import {
  canOthersEnter,
  openTempDir,
  preparePostgresBinaries,
  type PostgresBinaries,
} from "./postgres-binaries";
import { startService, type ServiceUser, type SupervisedService } from "./supervised-service";

/** What kind of server is wanted. */
export interface EmbeddedPostgresOptions {
  /** The data folder. Default: a new one under the temp folder; then `keep` must be false. */
  readonly dataDir?: string;
  /** TCP port on 127.0.0.1. Default: a free one. */
  readonly port?: number;
  /**
   * True: the data stays for the next start. False: the folder is new at the start (only an
   * absent or empty one, or one left over from a start with false, is accepted) and is removed at
   * the end, also if this process is killed.
   */
  readonly keep: boolean;
  /** True: commits survive a power cut, for benchmarks. Default false: several times faster. */
  readonly durable?: boolean;
  /** The npm package with PostgreSQL's programs. Default: the one for this system. */
  readonly packageDir?: string;
}

/** A running server. */
export interface EmbeddedPostgres {
  /** `postgres://dev@127.0.0.1:<port>/postgres`; the user `dev` is a superuser, no password. */
  readonly url: string;
  readonly port: number;
  /** Process id of the server. */
  readonly pid: number;
  /** The data folder in use: not the wanted one if root asked for one that is closed to others. */
  readonly dataDir: string;
  /** Settles with the server's last words when it ends, for whatever reason. */
  readonly exited: Promise<string>;
  /** Ends all connections and the server; at most 12 s, usually 50 ms. May be called twice. */
  stop(): Promise<void>;
}

const INITDB_TIMEOUT_MS = 60_000;
/** Long because a folder of a killed server is recovered first. */
const READY_TIMEOUT_MS = 60_000;
const PORT_TRIES = 5;
const CONNECTIONS_MAX = 200;
/** Marks a folder that we may remove; contains the id of the process that made it. */
const TEMPORARY_MARK = "taskgate-temporary";

/**
 * Starts a server and returns when it takes connections: 0.5 to 1 s with a new data folder, 0.1 s
 * with an existing one. As root it runs as `nobody`, because PostgreSQL refuses root.
 *
 * Errors: an Error whose message says what is wrong and what to do: programs missing or not made
 * for this system, data folder in use (with the process that holds it), port in use, folder not
 * ours to remove.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const user = await serverUser();
  const binaries = await preparePostgresBinaries({ packageDir: options.packageDir, user });
  const dataDir = await chooseDataDir(options, user);
  const plan: StartPlan = { options, user, binaries, dataDir };
  if (options.port !== undefined && !(await isPortFree(options.port))) {
    throw new Error(portInUse(options.port));
  }
  if (!(await prepareDataDir(plan))) await createCluster(plan);
  return await startServer(plan);
}

/** Data folders under the temp folder; a temporary one has TEMPORARY_MARK in it. */
const DATA_PREFIX = "taskgate-postgres-data-";

interface StartPlan {
  readonly options: EmbeddedPostgresOptions;
  readonly user: ServiceUser | undefined;
  readonly binaries: PostgresBinaries;
  readonly dataDir: string;
}

/** Whom to run as: undefined is this process's own user. */
async function serverUser(): Promise<ServiceUser | undefined> {
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

async function chooseDataDir(
  options: EmbeddedPostgresOptions,
  user: ServiceUser | undefined,
): Promise<string> {
  if (options.dataDir === undefined) {
    if (options.keep)
      throw new Error("Expected `dataDir` with `keep: true`: where to keep the data.");
    const temp = await openTempDir();
    await removeLeftovers(temp);
    return join(temp, `${DATA_PREFIX}${randomUUID()}`);
  }
  // Resolved first: initdb would take a relative path from its own folder.
  const wanted = resolve(options.dataDir);
  await mkdir(dirname(wanted), { recursive: true });
  if (user === undefined || (await canOthersEnter(dirname(wanted)))) return wanted;
  const key = createHash("sha256").update(wanted).digest("hex").slice(0, 12);
  return join(await openTempDir(), `${DATA_PREFIX}${key}`);
}

/** Removes temporary data of killed processes; the supervisor missed it, after a power cut say. */
async function removeLeftovers(temp: string): Promise<void> {
  for (const name of await readdir(temp)) {
    if (!name.startsWith(DATA_PREFIX)) continue;
    const path = join(temp, name);
    const maker = draftMaker(name) ?? (await readPid(join(path, TEMPORARY_MARK)));
    if (maker === null || isAlive(maker) || (await liveHolder(path)) !== null) continue;
    await rm(path, { recursive: true, force: true });
  }
}

/** True if the folder holds a cluster to use; false if one must be made (the folder is absent). */
async function prepareDataDir(plan: StartPlan): Promise<boolean> {
  const { dataDir, options, user } = plan;
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
  if (options.keep) {
    await checkOwner(dataDir, user);
    await rm(join(dataDir, TEMPORARY_MARK), { force: true });
    return true;
  }
  if (!names.includes(TEMPORARY_MARK)) {
    throw new Error(
      `The data folder ${dataDir} holds data that was to be kept, and \`keep: false\` would remove ` +
        "it. Choose another folder, or remove it.",
    );
  }
  await rm(dataDir, { recursive: true, force: true });
  return false;
}

/** Makes the folder belong to the server's user (as root), or says whose it is (otherwise). */
async function checkOwner(dataDir: string, user: ServiceUser | undefined): Promise<void> {
  const owner = (await stat(dataDir)).uid;
  if (user !== undefined) {
    if (owner !== user.uid) await chownTree(dataDir, user);
    return;
  }
  if (process.getuid !== undefined && owner !== process.getuid()) {
    throw new Error(
      `The data folder ${dataDir} belongs to another user (id ${String(owner)}), probably because ` +
        "it was made by root. Remove it as that user, or choose another folder.",
    );
  }
}

async function chownTree(path: string, user: ServiceUser): Promise<void> {
  const entries = await readdir(path, { recursive: true });
  for (const entry of ["", ...entries]) await lchown(join(path, entry), user.uid, user.gid);
}

/** The process that holds a data folder, if it is alive: the server, or who is starting it. */
async function liveHolder(dataDir: string): Promise<number | null> {
  const server = await readPid(join(dataDir, "postmaster.pid"));
  if (server !== null) {
    if (await isPostgres(server)) return server;
    // The server would look at the number alone and refuse to start.
    await rm(join(dataDir, "postmaster.pid"), { force: true });
  }
  const maker = await readPid(join(dataDir, TEMPORARY_MARK));
  return maker !== null && isAlive(maker) ? maker : null;
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
  // "<pid> (<name>) <state> ...". After a reboot the number may be anybody's, and a container
  // without an init process keeps ended ones as zombies (Z).
  const status = await readFile(`/proc/${String(pid)}/stat`, "utf8").catch(() => null);
  if (status === null) return true;
  const [, name = "", state] = /^\d+ \((.*)\) (\S)/s.exec(status) ?? [];
  return name.startsWith("postgres") && state !== "Z";
}

function folderInUse(dataDir: string, pid: number | string): string {
  return (
    `The data folder ${dataDir} is in use by another PostgreSQL server (process ${String(pid)}). ` +
    "Stop that one first, or choose another folder."
  );
}

function portInUse(port: number): string {
  return (
    `Port ${String(port)} on ${LOCAL_HOST} is in use by another program, so PostgreSQL cannot ` +
    "listen there. Choose another port, or leave it out to get a free one."
  );
}

/** Where a cluster is made before it gets its name: `<dataDir>.draft-<process id>-<random>`. */
function draftName(dataDir: string): string {
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
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Makes a cluster under a draft's name, then renames it: it is there completely or not at all. */
async function createCluster(plan: StartPlan): Promise<void> {
  const { dataDir, user, binaries, options } = plan;
  const draft = join(dirname(dataDir), draftName(dataDir));
  await mkdir(draft, { mode: 0o700 });
  if (user !== undefined) await chown(draft, user.uid, user.gid);
  const args = ["-D", draft, "-A", "trust", "-U", "dev", "-E", "UTF8", "--no-locale"];
  const initdb = await startService({
    command: binaries.initdb,
    args: options.durable === true ? args : [...args, "--no-sync"],
    cwd: parse(draft).root,
    env: serverEnvironment(),
    ...(user === undefined ? {} : { user }),
    stopSignals: ["SIGINT", "SIGKILL"],
  });
  const timer = setTimeout(() => void initdb.stop(), INITDB_TIMEOUT_MS);
  const exit = await initdb.exited;
  clearTimeout(timer);
  if (exit.code !== 0) {
    await rm(draft, { recursive: true, force: true });
    throw new Error(`PostgreSQL's initdb failed for ${dataDir}: ${initdb.output().trim()}`);
  }
  if (!options.keep) await writeFile(join(draft, TEMPORARY_MARK), String(process.pid));
  try {
    await rename(draft, dataDir);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(join(dataDir, "PG_VERSION"))) throw error;
    // Another start made the cluster meanwhile. One to be kept can be shared out by the server's
    // own lock; a temporary one is the other's alone, because we would remove it at our end.
    const holder = await liveHolder(dataDir);
    if (!options.keep) throw new Error(folderInUse(dataDir, holder ?? "unknown"), { cause: error });
  }
}

/**
 * PG* settings of the user would change what initdb and the server do; LC_* what they print. What
 * remains is what programs need to start at all.
 */
function serverEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C" };
}

async function startServer(plan: StartPlan): Promise<EmbeddedPostgres> {
  const { port: wantedPort } = plan.options;
  for (let tries = 1; ; tries += 1) {
    const port = wantedPort ?? (await findFreePort());
    const service = await startService(serverCommand(plan, port));
    try {
      await service.waitForOutput(/ready to accept connections/, READY_TIMEOUT_MS);
      return describeServer(plan, port, service);
    } catch (error) {
      await service.stop();
      const text = service.output();
      if (/Address already in use|could not create any TCP/.test(text)) {
        // Between finding the port and listening on it somebody else took it.
        if (wantedPort === undefined && tries < PORT_TRIES) continue;
        throw new Error(portInUse(port), { cause: error });
      }
      const holder = /another (?:postmaster|postgres) \(PID (\d+)\)/.exec(text);
      if (holder !== null) {
        throw new Error(folderInUse(plan.dataDir, holder[1] ?? "unknown"), { cause: error });
      }
      throw new Error(`PostgreSQL did not start in ${plan.dataDir}: ${text.trim()}`, {
        cause: error,
      });
    }
  }
}

function serverCommand(plan: StartPlan, port: number): Parameters<typeof startService>[0] {
  const { dataDir, options, user, binaries } = plan;
  const settings = [
    `listen_addresses=${LOCAL_HOST}`,
    `port=${String(port)}`,
    "unix_socket_directories=",
    `max_connections=${String(CONNECTIONS_MAX)}`,
    "timezone=UTC",
    "log_timezone=UTC",
  ];
  if (options.durable !== true) {
    settings.push("fsync=off", "synchronous_commit=off", "full_page_writes=off");
  }
  return {
    command: binaries.postgres,
    args: ["-D", dataDir, ...settings.flatMap((setting) => ["-c", setting])],
    cwd: parse(dataDir).root,
    env: serverEnvironment(),
    ...(user === undefined ? {} : { user }),
    // Fast shutdown, immediate shutdown, the end. After SIGKILL the server's own children notice
    // the loss of their parent and go as well.
    stopSignals: ["SIGINT", "SIGQUIT", "SIGKILL"],
    removeAfter: options.keep ? [] : [dataDir],
  };
}

function describeServer(
  plan: StartPlan,
  port: number,
  service: SupervisedService,
): EmbeddedPostgres {
  return {
    url: `postgres://dev@${LOCAL_HOST}:${String(port)}/postgres`,
    port,
    pid: service.pid,
    dataDir: plan.dataDir,
    exited: service.exited.then(() => service.output().trim()),
    async stop() {
      const { problems } = await service.stop();
      if (problems.length > 0) throw new Error(problems.join(" "));
    },
  };
}
