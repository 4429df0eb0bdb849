/**
 * Starts a PostgreSQL server of our own for local work, tests and benchmarks: no installation, no
 * container, nothing left behind.
 *
 * Invariants: it listens on 127.0.0.1 only; a data folder has one server at most; a data folder
 * holds a complete cluster or does not exist (a cluster is made under another name and renamed);
 * every sign-in needs a random password (SCRAM); a folder that others made is not taken over;
 * committed data survives the end of the server, however it ends; the server ends within 2 s after this process, however that ends (`supervisor.ts`).
 */
import { existsSync } from "node:fs";
import { chown, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { findFreePort, isPortFree, LOCAL_HOST } from "./free-port";
import { lastWords } from "./last-words";
import { preparePostgresBinaries, type PostgresBinaries } from "./postgres-binaries";
import {
  chooseDataDir,
  draftName,
  folderInUse,
  liveHolder,
  prepareDataDir,
  readServerPid,
  serverUser,
  temporaryMark,
} from "./postgres-data-folder";
import { launchDirectly, launchThroughPgCtl, startsThroughPgCtl } from "./postgres-launch";
import {
  addressOf,
  ensureAppLogin,
  makeLogins,
  readLogins,
  superuserName,
  writeForServer,
  writeLogins,
} from "./postgres-login";
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
  /**
   * True: commits survive the end of the server, but not a power cut: for tests. Default false:
   * they survive both, as on a server.
   */
  readonly fast?: boolean;
  /** True: `url` is that of a superuser, for tests that make databases. Default false. */
  readonly isSuperuser?: boolean;
  /** The npm package with PostgreSQL's programs. Default: the one for this system. */
  readonly packageDir?: string;
}

/** A running server. */
export interface EmbeddedPostgres {
  /**
   * `postgres://dev:<password>@127.0.0.1:<port>/postgres`: the owner of the database, who makes
   * schemas and roles and may do nothing outside it. The password stays with the data folder.
   */
  readonly url: string;
  readonly port: number;
  /** Process id of the server. */
  readonly pid: number;
  /** The data folder in use: not the wanted one if root asked for one that is closed to others. */
  readonly dataDir: string;
  /** Settles with the server's last output when it ends, for any reason. */
  readonly exited: Promise<string>;
  /** Ends all connections and the server; at most 12 s, usually 50 ms. May be called twice. */
  stop(): Promise<void>;
}

const INITDB_TIMEOUT_MS = 60_000;
/** Long because a folder of a killed server is recovered first. */
const READY_TIMEOUT_MS = 60_000;
const PORT_TRIES = 5;
const CONNECTIONS_MAX = 200;
/**
 * Starts a server and returns when it takes connections: 0.5 to 1 s with a new data folder, 0.1 s
 * with an existing one. As root it runs as `nobody`, because PostgreSQL refuses root.
 *
 * Errors: an Error whose message names the fault and its cure: programs missing or not made
 * for this system, data folder in use (with the process that holds it), port in use, folder not
 * ours to use or to remove.
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
  if (!(await prepareDataDir(dataDir, options.keep, user))) await createCluster(plan);
  // Before the server starts: one without passwords isn't ours, and might let in every user.
  const logins = await readLogins(dataDir);
  const { port, service } = await startServer(plan);
  try {
    await ensureAppLogin(logins, port);
  } catch (error) {
    await service.stop();
    throw error;
  }
  return describeServer(dataDir, service, {
    port,
    url: addressOf(logins, port, options.isSuperuser === true),
  });
}

interface StartPlan {
  readonly options: EmbeddedPostgresOptions;
  readonly user: ServiceUser | undefined;
  readonly binaries: PostgresBinaries;
  readonly dataDir: string;
}

/** Makes a cluster under a draft's name, then renames it: it is there completely or not at all. */
async function createCluster(plan: StartPlan): Promise<void> {
  const { dataDir, user, binaries, options } = plan;
  const draft = join(dirname(dataDir), draftName(dataDir));
  // initdb wants the password in a file and the folder empty. A killed start's file goes with its draft.
  const passwordFile = `${draft}p`;
  const logins = makeLogins();
  await mkdir(draft, { mode: 0o700 });
  if (user !== undefined) await chown(draft, user.uid, user.gid);
  await writeForServer(passwordFile, logins.superuserPassword, user);
  const who = ["-A", "scram-sha-256", "-U", superuserName, `--pwfile=${passwordFile}`];
  const args = ["-D", draft, ...who, "-E", "UTF8", "--no-locale"];
  const initdb = await startService({
    command: binaries.initdb,
    args: options.fast === true ? [...args, "--no-sync"] : args,
    cwd: parse(draft).root,
    env: serverEnvironment(),
    ...(user === undefined ? {} : { user }),
    stopSteps: ["SIGINT", "SIGKILL"],
  });
  const timer = setTimeout(() => void initdb.stop(), INITDB_TIMEOUT_MS);
  const exit = await initdb.exited;
  clearTimeout(timer);
  await rm(passwordFile, { force: true });
  if (exit.code !== 0) {
    await rm(draft, { recursive: true, force: true });
    throw new Error(`PostgreSQL's initdb failed for ${dataDir}: ${initdb.output().trim()}`);
  }
  await writeLogins(draft, logins, user);
  if (!options.keep) await writeFile(join(draft, temporaryMark), String(process.pid));
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

async function startServer(plan: StartPlan): Promise<{ port: number; service: SupervisedService }> {
  const { port: wantedPort } = plan.options;
  for (let tries = 1; ; tries += 1) {
    const port = wantedPort ?? (await findFreePort());
    const service = await startService(serverCommand(plan, port));
    try {
      await service.waitForOutput(/ready to accept connections/, READY_TIMEOUT_MS);
      if (startsThroughPgCtl) service.pid = (await readServerPid(plan.dataDir)) ?? service.pid;
      return { port, service };
    } catch (error) {
      await service.stop();
      const text = service.output();
      if (/Address already in use|could not create any TCP/.test(text)) {
        // Another process took the port between finding it and listening on it.
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
  // Not synchronous_commit: with it off, the last acknowledged commits are lost with the server.
  if (options.fast === true) settings.push("fsync=off", "full_page_writes=off");
  const launch = startsThroughPgCtl ? launchThroughPgCtl : launchDirectly;
  return {
    ...launch({ binaries, dataDir, settings }),
    cwd: parse(dataDir).root,
    env: serverEnvironment(),
    ...(user === undefined ? {} : { user }),
    removeAfter: options.keep ? [] : [dataDir],
  };
}

function describeServer(
  dataDir: string,
  service: SupervisedService,
  place: { readonly url: string; readonly port: number },
): EmbeddedPostgres {
  return {
    ...place,
    pid: service.pid,
    dataDir,
    exited: service.exited.then((exit) => lastWords(exit, service.output())),
    async stop() {
      const { problems } = await service.stop();
      if (problems.length > 0) throw new Error(problems.join(" "));
    },
  };
}

function portInUse(port: number): string {
  return (
    `Port ${String(port)} on ${LOCAL_HOST} is in use by another program, so PostgreSQL cannot ` +
    "listen there. Choose another port, or leave it out to get a free one."
  );
}
