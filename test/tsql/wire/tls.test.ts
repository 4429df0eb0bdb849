import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { MssqlCaller } from "../../../shared/store/mssql/mssql-caller";
import { expectError } from "../../support/expect-error";
import { DriverBenches } from "../../tsql-server/tds/driver-bench";
import type { DriverBench } from "../../tsql-server/tds/driver-bench";
import { answerRows, intColumn } from "../../tsql-server/tds/scripted-engine";
import type { Script } from "../../tsql-server/tds/scripted-engine";
import type { TdsServerOptions } from "../../tsql-server/tds/server";

/* What the product makes of TLS as the driver speaks it. */

const benches = new DriverBenches();
afterEach(() => benches.close());

const one: Script = ({ events }) => {
  answerRows(events, [intColumn("A")], [[1]]);
  return { returnStatus: 0 };
};

const certificateFile = join(__dirname, "../../fixtures/tls/certificate.pem");
const credentials = {
  certificate: readFileSync(certificateFile, "utf8"),
  key: readFileSync(join(certificateFile, "../key.pem"), "utf8"),
};

function serve(
  encryption: NonNullable<TdsServerOptions["encryption"]>,
  options: Pick<TdsServerOptions, "packetSizeMax"> = {},
): Promise<DriverBench> {
  return benches.serve(one, { encryption, credentials, ...options });
}

describe("the product", () => {
  const root = join(__dirname, "../../..");

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

  test("the product sends no login when the server can't encrypt, though the driver would", async () => {
    const { server } = await serve("unsupported");
    const caller = new MssqlCaller({
      url: server.url("encrypt=true"),
      connectionsMax: 1,
      callTimeoutMs: 5_000,
      connectTimeoutMs: 5_000,
    });
    await expectError(caller.call({ name: "sweep", parameters: [["max", "int"]] }, { max: 1 }), {
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
    "the product with $options works where the certificate is trusted, else sends no login",
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

  test.each([
    { encryption: "offered", options: "encrypt=true&trustServerCertificate=false" },
    { encryption: "strict", options: "encrypt=strict" },
  ] as const)(
    "the product with $options sends no record longer than a packet, however small the server's are",
    async ({ encryption, options }) => {
      const { server } = await serve(encryption, { packetSizeMax: 4_096 });
      const answer = await callOutside(server.url(options), {
        NODE_EXTRA_CA_CERTS: certificateFile,
      });
      expect(answer).toBe('{"a":1}');
    },
  );

  test("the product trusts any certificate of this machine where the address doesn't say otherwise", async () => {
    const { server } = await serve("offered");
    expect(await callOutside(server.url("encrypt=true"), {})).toBe('{"a":1}');
  });
});
