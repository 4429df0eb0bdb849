import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import { findFreePort } from "../../shared/local/free-port";
import { preparePostgresBinaries } from "../../shared/local/postgres-binaries";
import { readServerPid, serverUser } from "../../shared/local/postgres-data-folder";
import { launchThroughPgCtl } from "../../shared/local/postgres-launch";
import { startService, type SupervisedService } from "../../shared/local/supervised-service";

/* On Windows the server is started and ended through pg_ctl. It is the same program elsewhere, so it is tried with a real server. */

let folder: string;
let dataDir: string;
let service: SupervisedService;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "taskgate-test-"));
  await chmod(folder, 0o755);
  dataDir = join(folder, "data with a blank");
  const made = await startEmbeddedPostgres({ dataDir, keep: true, fast: true });
  await made.stop();
  const user = await serverUser();
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${String(await findFreePort())}`,
    "unix_socket_directories=",
  ];
  const binaries = await preparePostgresBinaries({ user });
  service = await startService({
    ...launchThroughPgCtl({ binaries, dataDir, settings }),
    cwd: folder,
    env: { ...process.env, LC_ALL: "C" },
    ...(user === undefined ? {} : { user }),
  });
  await service.waitForOutput(/ready to accept connections/, 20_000);
});

afterEach(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

test("a server that pg_ctl has started is told to shut down and ends in order", async () => {
  expect(await readServerPid(dataDir)).not.toBe(null);
  await service.stop();
  expect(service.output()).toContain("received fast shutdown request");
  expect(service.output()).toContain("database system is shut down");
  expect(existsSync(join(dataDir, "postmaster.pid"))).toBe(false);
});

test("a server that pg_ctl has started and that is killed has ended, although pg_ctl ended long before", async () => {
  const pid = await readServerPid(dataDir);
  process.kill(pid ?? 0, "SIGKILL");
  expect(await service.exited).toMatchObject({ problems: [] });
});
