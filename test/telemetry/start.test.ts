// Goal: telemetry costs nothing where it isn't wanted, and stops nothing where it doesn't work.
// Method: processes that start it in each way.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "@jest/globals";
import { startIngestion } from "./ingestion";
import type { Ingestion } from "./ingestion";
import { runProgram } from "./run-program";
import type { Ended } from "./run-program";

interface Report {
  readonly importedPackages: string[];
  readonly packages: string[];
  readonly flushMs: number;
  readonly instrumented: { pg: boolean; tedious: boolean } | null;
}

const database = { TASKGATE_DATABASE_URL: "postgres://nobody:nothing@127.0.0.1:9/none" };
const isTelemetry = (name: string): boolean =>
  /^(applicationinsights|@opentelemetry\/|@azure\/(monitor|identity|opentelemetry)|require-in-the-middle)/.test(
    name,
  );
const open: { close(): Promise<void> }[] = [];

async function ingest(options?: { isSilent?: boolean }): Promise<Ingestion> {
  const ingestion = await startIngestion(options);
  open.push(ingestion);
  return ingestion;
}

async function start(
  environment: Record<string, string>,
): Promise<{ report: Report; ended: Ended }> {
  const ended = await runProgram("start-process.ts", { ...database, ...environment });
  expect(ended.code).toBe(0);
  const line = ended.output.slice(ended.output.lastIndexOf('{"importedPackages"'));
  return { report: JSON.parse(line) as Report, ended };
}

describe("starting telemetry", () => {
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  it("the start without a connection string loads no package of telemetry, nor a driver by the functions' modules", async () => {
    const { report } = await start({});
    expect(report.packages.filter(isTelemetry)).toEqual([]);
    // Azure's own library, which the app has anyway; the cookie parser comes with it.
    expect(report.importedPackages).toEqual([
      "@azure/functions",
      "@azure/functions-extensions-base",
      "cookie",
    ]);
  }, 60_000);

  it.each(["before", "after"])(
    "the start of telemetry instruments drivers that are loaded %s it",
    async (driversAt) => {
      const { connectionString } = await ingest();
      const { report } = await start({
        APPLICATIONINSIGHTS_CONNECTION_STRING: connectionString,
        TASKGATE_TEST_DRIVERS: driversAt,
      });
      expect(report.instrumented).toEqual({ pg: true, tedious: true });
    },
    60_000,
  );

  it("a string that can't be used is logged once, and the app runs without", async () => {
    const { report, ended } = await start({
      APPLICATIONINSIGHTS_CONNECTION_STRING: "InstrumentationKey=no-guid",
      TASKGATE_TEST_FLUSH_MS: "20000",
    });
    const lines = `${ended.output}${ended.errors}`
      .split("\n")
      .filter((line) => line.includes("telemetry could not"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain("no-guid");
    // Nothing to wait for.
    expect(report.flushMs).toBeLessThan(10_000);
  }, 60_000);

  it("a flush ends in time without an answer", async () => {
    const { connectionString } = await ingest({ isSilent: true });
    const { report } = await start({
      APPLICATIONINSIGHTS_CONNECTION_STRING: connectionString,
      TASKGATE_TEST_FLUSH_MS: "500",
    });
    expect(report.flushMs).toBeGreaterThan(450);
    // Far less than an exporter would try by itself.
    expect(report.flushMs).toBeLessThan(10_000);
    expect(report.packages).not.toContain("@azure/identity");
  }, 60_000);

  it("the start of telemetry signs in with the app's identity where the settings say so", async () => {
    const asked: (string | undefined)[] = [];
    const identity = createServer((request, response) => {
      asked.push(request.url);
      response.setHeader("content-type", "application/json");
      const expiresOn = Math.floor(Date.now() / 1_000) + 86_400;
      response.end(
        JSON.stringify({
          access_token: "token-of-the-test",
          expires_on: String(expiresOn),
          token_type: "Bearer",
        }),
      );
    });
    await new Promise<void>((resolve) => identity.listen(0, "127.0.0.1", resolve));
    open.push({
      close: () =>
        new Promise((resolve) => {
          identity.closeAllConnections();
          identity.close(() => {
            resolve();
          });
        }),
    });
    const { port } = identity.address() as AddressInfo;
    const ingestion = await ingest();
    const clientId = "22222222-3333-4444-8555-666666666666";

    await start({
      APPLICATIONINSIGHTS_CONNECTION_STRING: ingestion.connectionString,
      APPLICATIONINSIGHTS_AUTHENTICATION_STRING: `Authorization=AAD;ClientId=${clientId}`,
      IDENTITY_ENDPOINT: `http://127.0.0.1:${String(port)}/msi/token`,
      IDENTITY_HEADER: "header-of-the-test",
      OTEL_TRACES_SAMPLER: "always_on",
      TASKGATE_TEST_FLUSH_MS: "10000",
    });

    expect(asked[0]).toContain(clientId);
    expect(ingestion.authorizations.length).toBeGreaterThan(0);
    expect(new Set(ingestion.authorizations)).toEqual(new Set(["Bearer token-of-the-test"]));
    expect(ingestion.items.map((item) => item.data.baseData.name)).toContain("sweep");
  }, 60_000);
});
