import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { MssqlCaller } from "../../../../shared/store/mssql/mssql-caller";
import { expectError } from "../../../support/expect-error";
import { DriverBenches, failureOf, until } from "./driver-bench";
import type { DriverBench, PoolConfig } from "./driver-bench";
import { answerRows, intColumn } from "./scripted-engine";
import type { Script } from "./scripted-engine";
import type { TdsServerOptions } from "./server";

/* TLS as the driver speaks it, and what the product makes of it. */

const benches = new DriverBenches();
afterEach(() => benches.close());

const one: Script = ({ events }) => {
  answerRows(events, [intColumn("A")], [[1]]);
  return { returnStatus: 0 };
};

const certificateFile = join(__dirname, "../../../fixtures/tls/certificate.pem");
const credentials = {
  certificate: readFileSync(certificateFile, "utf8"),
  key: readFileSync(join(certificateFile, "../key.pem"), "utf8"),
};

type Encryption = NonNullable<TdsServerOptions["encryption"]>;

function serve(encryption: Encryption): Promise<DriverBench> {
  return benches.serve(one, { encryption, credentials });
}

describe("the driver", () => {
  // The bench's address is an IP address, which can't be a TLS server name (RFC 6066): the driver would warn of it.
  const serverName = "localhost";
  const trusting: PoolConfig["options"] = {
    serverName,
    encrypt: true,
    trustServerCertificate: true,
  };
  const checking: PoolConfig["options"] = {
    serverName,
    encrypt: true,
    trustServerCertificate: false,
    cryptoCredentialsDetails: { ca: credentials.certificate },
  };

  async function answerOf(
    encryption: Encryption,
    options: PoolConfig["options"],
  ): Promise<unknown> {
    const bench = await serve(encryption);
    const pool = await bench.pool({ options: options ?? {} });
    const text = "x".repeat(40_000);
    const { recordset } = await pool.request().query(`SELECT -- ${text}`);
    return recordset[0];
  }

  test("inside the connection, when both want it", async () => {
    expect(await answerOf("offered", trusting)).toEqual({ A: 1 });
  });

  test("inside the connection, with the certificate checked", async () => {
    expect(await answerOf("offered", checking)).toEqual({ A: 1 });
  });

  test("from the first byte", async () => {
    expect(await answerOf("strict", { ...checking, encrypt: "strict" })).toEqual({ A: 1 });
  });

  test("none, when the client doesn't ask and the server doesn't insist", async () => {
    expect(await answerOf("offered", { encrypt: false })).toEqual({ A: 1 });
  });

  test("none, though the client asks, when the server says it can't: the driver goes on in the clear", async () => {
    expect(await answerOf("unsupported", trusting)).toEqual({ A: 1 });
  });

  test("that the server insists on: a client without fails", async () => {
    const bench = await serve("required");
    const failure = await failureOf(
      bench.unconnectedPool({ options: { encrypt: false } }).connect(),
    );
    expect(failure).toMatchObject({ code: "EENCRYPT" });
  });

  test.each(["offered", "strict"] as const)(
    "with a certificate that nobody vouches for: %s",
    async (encryption) => {
      const bench = await serve(encryption);
      const encrypt = encryption === "strict" ? "strict" : true;
      const pool = bench.unconnectedPool({
        // Trust isn't asked for where TLS comes first.
        options: { serverName, encrypt, trustServerCertificate: encryption === "strict" },
      });
      expect(await failureOf(pool.connect())).toMatchObject({ code: "ESOCKET" });
      await until(() => bench.server.openConnections === 0);
      expect(bench.engine.sessions).toEqual([]);
    },
  );
});

describe("the product", () => {
  const root = join(__dirname, "../../../..");

  /** Calls through the adapter in a process of its own, which may trust the certificate: Node reads that at its start. */
  async function callOutside(url: string, trust: Record<string, string>): Promise<string> {
    const program = join(__dirname, "tls-client-process.ts");
    const child = spawn(process.execPath, ["-r", "./test/support/register-swc.cjs", program, url], {
      cwd: root,
      env: { PATH: process.env["PATH"] ?? "", NODE_NO_WARNINGS: "1", ...trust },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
    await new Promise((resolve) => child.on("close", resolve));
    return output.trim();
  }

  test("sends no login when the server can't encrypt, though the driver would", async () => {
    const { server } = await serve("unsupported");
    const caller = new MssqlCaller({
      url: server.url("encrypt=true"),
      connectionsMax: 1,
      callTimeoutMs: 5_000,
      connectTimeoutMs: 5_000,
    });
    await expectError(caller.call("sweep", { most: 1 }), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "doesn't offer encryption",
    });
    await caller.close();
    expect(server.connectionCount).toBe(1);
    expect(server.log).toEqual([]);
  });

  test.each([
    { encryption: "offered", options: "encrypt=true&trustServerCertificate=false" },
    { encryption: "strict", options: "encrypt=strict" },
  ] as const)(
    "$options: works where the certificate is trusted, else sends no login",
    async (entry) => {
      const { server } = await serve(entry.encryption);
      const url = server.url(entry.options);
      expect(await callOutside(url, { NODE_EXTRA_CA_CERTS: certificateFile })).toBe('{"a":1}');
      expect(server.log.at(-1)).toContain("procedure Taskgate.Sweep");
      const lines = server.log.length;
      expect(await callOutside(url, {})).toMatch(/^TASKGATE_STORE_UNAVAILABLE .*self-signed/);
      expect(server.log.slice(lines).filter((line) => line.includes("login"))).toEqual([]);
    },
  );

  test("trusts any certificate of this machine where the address doesn't say otherwise", async () => {
    const { server } = await serve("offered");
    expect(await callOutside(server.url("encrypt=true"), {})).toBe('{"a":1}');
  });
});
