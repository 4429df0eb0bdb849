import { appendFile, chown, copyFile, mkdtemp, rm, stat, chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import type { EmbeddedPostgres } from "../../shared/local/embedded-postgres";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore, readStoreSchema } from "../../shared/store/open-store";
import { expectError } from "../support/expect-error";
import { FirstBytes, sslRequest } from "../support/first-bytes";

/*
 * A real PostgreSQL with TLS, and a recorder before it that sees what a stranger on the network would. 0.0.0.0 is this
 * machine under a name that isn't one of its own addresses, so the rules for all other hosts hold for it.
 */

const fixtures = join(__dirname, "../fixtures/tls");
const authority = join(fixtures, "certificate.pem");
const secret = "hunter2-very-secret";

let server: EmbeddedPostgres;
let recorder: FirstBytes;
const opened: TaskStore[] = [];
const recorders: FirstBytes[] = [];

/** Settings are read again on SIGHUP: TLS needs no restart. The key must be the server's user's own. */
async function switchTlsOn({ dataDir, pid }: EmbeddedPostgres): Promise<void> {
  const { uid, gid } = await stat(dataDir);
  for (const name of ["certificate.pem", "key.pem"]) {
    const copy = join(dataDir, name);
    await copyFile(join(fixtures, name), copy);
    await chown(copy, uid, gid);
    await chmod(copy, 0o600);
  }
  const lines = ["ssl = on", "ssl_cert_file = 'certificate.pem'", "ssl_key_file = 'key.pem'"];
  await appendFile(join(dataDir, "postgresql.auto.conf"), `${lines.join("\n")}\n`);
  process.kill(pid, "SIGHUP");
}

/** The embedded server's own address, over the recorder, under another host. */
function addressAt(host: string, query: string, port = recorder.port): string {
  const url = new URL(server.url);
  url.host = `${host}:${String(port)}`;
  // A server that asks for none gets one all the same: it must not be seen on the way.
  if (url.password === "") url.password = secret;
  url.search = query;
  return url.toString();
}

function storeAt(url: string): TaskStore {
  const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep: () => sleep(1) });
  opened.push(store);
  return store;
}

/** Does the server itself say that this connection is encrypted? */
function isEncrypted(store: TaskStore): Promise<unknown> {
  return store.transaction(async (transaction) => {
    const text = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    return (await transaction.query(text))[0]?.["ssl"];
  });
}

/** The store's only connection ends itself. */
async function endSessions(store: TaskStore): Promise<void> {
  await store
    .transaction((transaction) =>
      transaction.query("select pg_terminate_backend(pg_backend_pid())"),
    )
    .catch(() => undefined);
}

const beginnings = (): string[] =>
  recorder.sent.map((bytes) => bytes.subarray(0, 8).toString("hex"));

beforeAll(async () => {
  server = await startEmbeddedPostgres({ keep: false });
  await switchTlsOn(server);
  const trusted = `?sslmode=verify-full&sslrootcert=${authority}`;
  for (let tries = 0; ; tries += 1) {
    recorder = await FirstBytes.start(server.port);
    const read = readStoreSchema({ url: addressAt("127.0.0.1", trusted) });
    if (
      await read.then(
        () => true,
        () => tries > 100,
      )
    )
      break;
    await recorder.close();
    await sleep(20);
  }
  await recorder.close();
}, 60_000);

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const recorded of recorders.splice(0)) await recorded.close();
});

afterAll(async () => {
  await server.stop();
});

/** A recorder for one test, so that it counts its own connections. */
async function record(target: number | null = server.port): Promise<void> {
  recorder = await FirstBytes.start(target);
  recorders.push(recorder);
}

describe("a PostgreSQL with TLS", () => {
  test("a PostgreSQL with TLS is used encrypted by calls, by cancelled statements and by migrations, with its own authority", async () => {
    await record();
    const url = addressAt("127.0.0.1", `?sslmode=verify-full&sslrootcert=${authority}`);
    const store = storeAt(url);
    expect(await isEncrypted(store)).toBe(true);
    const abort = new AbortController();
    const slow = store.transaction((transaction) =>
      transaction.query("select pg_sleep(60)", [], { signal: abort.signal }),
    );
    setTimeout(() => {
      abort.abort();
    }, 200);
    await expect(slow).rejects.toMatchObject({ name: "AbortError" });
    expect((await readStoreSchema({ url })).versions).toEqual([]);
    expect(beginnings()).toEqual([sslRequest, sslRequest, sslRequest]);
  });

  test("a PostgreSQL with TLS is reached with a replaced certificate file, and with the last one while the file is missing", async () => {
    await record();
    const folder = await mkdtemp(join(tmpdir(), "taskgate-tls-"));
    const file = join(folder, "authority.pem");
    // A text in PEM form that holds no authority.
    await copyFile(join(fixtures, "key.pem"), file);
    const store = storeAt(addressAt("127.0.0.1", `?sslmode=verify-full&sslrootcert=${file}`));
    await expectError(isEncrypted(store), { code: "TASKGATE_STORE_UNAVAILABLE", value: "SELF_" });
    await copyFile(authority, file);
    expect(await isEncrypted(store)).toBe(true);
    await rm(folder, { recursive: true });
    await endSessions(store);
    expect(await isEncrypted(store)).toBe(true);
  });

  test("a PostgreSQL with TLS under a name that its certificate lacks gets nothing but the question for TLS", async () => {
    await record();
    const url = addressAt("0.0.0.0", `?sslrootcert=${authority}`);
    await expectError(isEncrypted(storeAt(url)), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
    expect(new Set(beginnings())).toEqual(new Set([sslRequest]));
  });

  test("a PostgreSQL with TLS whose authority isn't named gets no login, and the error names sslrootcert and sslmode=disable", async () => {
    await record();
    const url = addressAt("0.0.0.0", "");
    const called = isEncrypted(storeAt(url));
    await expect(called).rejects.toMatchObject({
      code: "TASKGATE_STORE_UNAVAILABLE",
      message: expect.stringMatching(/SELF_SIGNED.*sslrootcert=FILE.*sslmode=disable/) as unknown,
    });
    await expect(called).rejects.not.toMatchObject({
      message: expect.stringContaining(new URL(url).password) as unknown,
    });
    expect(new Set(beginnings())).toEqual(new Set([sslRequest]));
  });

  test("a PostgreSQL with TLS is used in the clear where the address says sslmode=disable", async () => {
    await record();
    expect(await isEncrypted(storeAt(addressAt("0.0.0.0", "?sslmode=disable")))).toBe(false);
    expect(beginnings()[0]).not.toBe(sslRequest);
  });

  test("a PostgreSQL with TLS on this machine is used in the clear unasked, for any value of PGSSLMODE", async () => {
    await record();
    const before = process.env["PGSSLMODE"];
    process.env["PGSSLMODE"] = "require";
    try {
      expect(await isEncrypted(storeAt(addressAt("127.0.0.1", "")))).toBe(false);
    } finally {
      if (before === undefined) delete process.env["PGSSLMODE"];
      else process.env["PGSSLMODE"] = before;
    }
  });
});

describe("a PostgreSQL without TLS, off this machine", () => {
  test.each([
    ["", "nothing in the environment"],
    ["?sslmode=require", "nothing in the environment"],
    ["", "PGSSLMODE=disable"],
  ])(
    "a remote PostgreSQL without TLS, with `%s` and %s, gets neither user nor password: calls and migrations",
    async (query, set) => {
      await record(null);
      if (set.includes("=")) process.env["PGSSLMODE"] = "disable";
      try {
        const url = addressAt("0.0.0.0", query);
        for (const call of [isEncrypted(storeAt(url)), readStoreSchema({ url })]) {
          await expectError(call, {
            code: "TASKGATE_STORE_UNAVAILABLE",
            value: "PostgreSQL offers no TLS",
          });
        }
        expect(new Set(recorder.sent.map((bytes) => bytes.toString("hex")))).toEqual(
          new Set([sslRequest]),
        );
      } finally {
        delete process.env["PGSSLMODE"];
      }
    },
  );
});
