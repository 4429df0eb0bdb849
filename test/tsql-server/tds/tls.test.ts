import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { DriverBenches, failureOf, until } from "./driver-bench";
import type { DriverBench, PoolConfig } from "./driver-bench";
import { answerRows, intColumn } from "./scripted-engine";
import type { Script } from "./scripted-engine";
import type { TdsServerOptions } from "./server";

/* TLS as the driver speaks it. */

const benches = new DriverBenches();
afterEach(() => benches.close());

const one: Script = ({ events }) => {
  answerRows(events, [intColumn("A")], [[1]]);
  return { returnStatus: 0 };
};

const certificateFile = join(__dirname, "../fixtures/tls/certificate.pem");
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
    length = 40_000,
  ): Promise<unknown> {
    const bench = await serve(encryption);
    const pool = await bench.pool({ options: options ?? {} });
    const { recordset } = await pool.request().query(`SELECT -- ${"x".repeat(length)}`);
    return recordset[0];
  }

  test("the driver uses TLS inside the connection, when both want it", async () => {
    expect(await answerOf("offered", trusting)).toEqual({ A: 1 });
  });

  test("the driver uses TLS inside the connection, with the certificate checked", async () => {
    expect(await answerOf("offered", checking)).toEqual({ A: 1 });
  });

  test("the driver in TLS from the first byte takes several packets in one record as an end of the connection", async () => {
    const strict: PoolConfig["options"] = { ...checking, encrypt: "strict" };
    expect(await answerOf("strict", strict, 1_000)).toEqual({ A: 1 });
    expect(await failureOf(answerOf("strict", strict))).toMatchObject({
      code: expect.stringMatching(/^(?:ECONNRESET|EPIPE|ESOCKET)$/),
    });
  });

  test("the driver uses no TLS when the client doesn't ask and the server doesn't insist", async () => {
    expect(await answerOf("offered", { encrypt: false })).toEqual({ A: 1 });
  });

  test("the driver uses no TLS, though the client asks, when the server says it can't: it goes on in the clear", async () => {
    expect(await answerOf("unsupported", trusting)).toEqual({ A: 1 });
  });

  test("a client without TLS fails where the server insists on it", async () => {
    const bench = await serve("required");
    const failure = await failureOf(
      bench.unconnectedPool({ options: { encrypt: false } }).connect(),
    );
    expect(failure).toMatchObject({ code: "EENCRYPT" });
  });

  test.each(["offered", "strict"] as const)(
    "the driver meets a certificate that no authority vouches for: %s",
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
