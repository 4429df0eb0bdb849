/*
 * Goal: a secret reaches no log, no telemetry, no answer and no terminal. Method: secrets are planted in settings,
 * addresses and requests, by the compiled app and the command line; everything that comes out is searched.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { QueueServiceClient } from "@azure/storage-queue";
import { runCli } from "../../shared/cli/main";
import { SettingsError } from "../../shared/core/errors";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import type { HostChild } from "../../shared/local/host-children";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { loadSettings, loadTriggerSettings } from "../../shared/settings/load-settings";
import { settingsTable } from "../../shared/settings/settings";
import { openStore } from "../../shared/store/open-store";
import { moreTasks, startApp } from "../functions/built-app";
import { loginPassword, urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { certificateFile, startIngestion } from "../telemetry/ingestion";
import type { Ingestion } from "../telemetry/ingestion";

const secret = "hunter2-Very.Secret_17";

function messageOf(body: () => unknown): string {
  try {
    body();
  } catch (error) {
    if (error instanceof Error) return `${error.message} ${JSON.stringify(error)}`;
  }
  return "";
}

describe("settings", () => {
  /** Forms in which a secret gets into a setting by mistake: alone, behind another thing, in an address. */
  const forms = [
    secret,
    `"${secret}"`,
    ` ${secret} `,
    `postgres://u:${secret}@`,
    `mysql://u:${secret}@h/d`,
    `https://${secret}.example/ x`,
    `AccountName=a;AccountKye=${secret}`,
    `InstrumentationKye=${secret}`,
    `${secret}\u0000`,
    secret.repeat(500),
  ];
  const good = { TASKGATE_DATABASE_URL: "postgres://u:p@127.0.0.1/d" };

  test.each(settingsTable.map(({ name }) => name))(
    "%s is named and its value isn't shown",
    (name) => {
      let refused = 0;
      for (const form of forms) {
        const environment = { ...good, [name]: form };
        for (const load of [loadSettings, loadTriggerSettings]) {
          const message = messageOf(() => load(environment));
          expect(message).not.toContain("hunter2");
          if (message.includes(name)) refused += 1;
        }
      }
      expect(refused).toBeGreaterThan(0);
    },
  );

  test.each(["TASKGATE_SMTP_PASSWORD", "TASKGATE_DATABSE_URL", "TASKGATE_X"])(
    "an unknown %s is shown by its name alone",
    (name) => {
      const message = messageOf(() => loadSettings({ ...good, [name]: secret }));
      expect(message).toContain(name);
      expect(message).not.toContain("hunter2");
    },
  );

  test("a setting that contradicts another one isn't shown either", () => {
    for (const more of [
      { TASKGATE_HINT_QUEUE: "hunter2", TASKGATE_INGEST_QUEUE: "hunter2" },
      { TASKGATE_FUNCTION_TIMEOUT_MS: "20017", TASKGATE_DEADLINE_MARGIN_MS: "20017" },
      { TASKGATE_DATABASE_URL: "mssql://u:p@h/d", TASKGATE_SCHEMA: "hunter2" },
    ]) {
      expect(() => loadSettings({ ...good, ...more })).toThrow(SettingsError);
      expect(messageOf(() => loadSettings({ ...good, ...more }))).not.toMatch(/hunter2|20017/);
    }
  });
});

test.each([
  secret,
  `mysql://u:${secret}@127.0.0.1/d`,
  `mssql://u:p@127.0.0.1/d?${secret}=1`,
  `mssql://u:p@127.0.0.1/d?encrypt=${secret}`,
  `mssql://u:p@127.0.0.1/d?trustServerCertificate=${secret}`,
  `mssql://u:${secret}@127.0.0.1:99999/d`,
])("an address that can't be used isn't shown: %s", (url) => {
  const open = () => openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  const message = messageOf(open);
  expect(message).not.toContain("hunter2");
  expect(message).not.toBe("");
});

describe("the app", () => {
  let azurite: Azurite;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let ingestion: Ingestion;
  const hosts: HostChild[] = [];
  const lines: string[] = [];
  const answers: string[] = [];
  let accountKey = "";

  beforeAll(async () => {
    [azurite, database, ingestion] = await Promise.all([
      startAzurite(),
      createTestDatabase(),
      startIngestion(),
    ]);
    accountKey = /AccountKey=([^;]+)/.exec(azurite.connectionString)?.[1] ?? "";
    const good = {
      TASKGATE_DATABASE_URL: urlAs(database.url, "app"),
      AzureWebJobsStorage: azurite.connectionString,
      AzureFunctionsJobHost__extensions__queues__maxPollingInterval: "00:00:00.100",
      TASKGATE_LOG_LEVEL: "debug",
      NODE_OPTIONS: moreTasks,
      APPLICATIONINSIGHTS_CONNECTION_STRING: ingestion.connectionString,
      APPLICATION_INSIGHTS_NO_STATSBEAT: "true",
      OTEL_TRACES_SAMPLER: "always_on",
      NODE_EXTRA_CA_CERTS: certificateFile,
    };
    const bad = { ...good, TASKGATE_SMTP_PASSWORD: secret, TASKGATE_CONNECTIONS_MAX: secret };
    const queues = { TASKGATE_HINT_QUEUE: "other-hints", TASKGATE_INGEST_QUEUE: "other-ingest" };
    const onLine = (line: string): void => void lines.push(line);
    hosts.push(
      ...(await Promise.all([startApp(good, onLine), startApp({ ...bad, ...queues }, onLine)])),
    );
    await callAll();
  }, 180_000);
  afterAll(async () => {
    await Promise.all(hosts.map((host) => host.stop()));
    await ingestion.close();
    await azurite.stop();
    await database.drop();
  });

  async function callAll(): Promise<void> {
    const headers = { "x-functions-key": secret, "content-type": "application/json" };
    const service = QueueServiceClient.fromConnectionString(azurite.connectionString);
    for (const name of ["taskgate-hints", "taskgate-ingest", "other-hints"]) {
      await service.getQueueClient(name).createIfNotExists();
      const text = Buffer.from(JSON.stringify({ taskDefinition: " " })).toString("base64");
      await service.getQueueClient(name).sendMessage(text);
    }
    const call = async (url: string, init: RequestInit = {}): Promise<void> => {
      const response = await fetch(url, { ...init, headers });
      answers.push(JSON.stringify([...response.headers]), await response.text());
    };
    for (const { url } of hosts) {
      for (const path of ["status", "definitions", "definitions/unknown", "dashboard", "schedules"])
        await call(`${url}/api/${path}?code=${secret}`);
      const method = "POST";
      const tasks = `${url}/api/definitions/weigh/tasks?code=${secret}`;
      await call(tasks, { method, body: JSON.stringify({ payload: { password: secret } }) });
      await call(tasks, { method, body: JSON.stringify({ payload: { password: secret }, x: 1 }) });
    }
    for (let tries = 0; tries < 100 && !isDone(); tries += 1) await sleep(50);
  }

  /** All queues have been looked at by the two apps. */
  const isDone = (): boolean =>
    ["'run'", "'ingest'"].every((name) => lines.some((line) => line.includes(`Executed ${name}`)));

  test("the two apps have worked, and failed, and said why", () => {
    expect(lines.join("\n")).toContain("a message was refused");
    expect(lines.join("\n")).toContain("TASKGATE_SMTP_PASSWORD");
    expect(answers.join("\n")).toContain("TASKGATE_CONNECTIONS_MAX");
    expect(answers.join("\n")).toContain("weigh");
  });

  test("no secret stands in the log", () => {
    const log = lines.join("\n");
    for (const word of [secret, loginPassword, accountKey, ingestion.instrumentationKey])
      expect(log).not.toContain(word);
  });

  test("no secret stands in an answer", () => {
    const all = answers.join("\n");
    for (const word of [secret, loginPassword, accountKey, ingestion.instrumentationKey])
      expect(all).not.toContain(word);
  });

  test("no secret stands in the telemetry", async () => {
    await Promise.all(hosts.splice(0).map((host) => host.stop()));
    expect(ingestion.items.length).toBeGreaterThan(0);
    const items = JSON.stringify(ingestion.items);
    for (const word of [secret, loginPassword, accountKey]) expect(items).not.toContain(word);
  });

  test("no secret stands on the terminal when any command fails", async () => {
    const said: string[] = [];
    const output = {
      line: (text: string) => void said.push(text),
      error: (text: string) => void said.push(text),
      columns: null,
    };
    const run = (words: string[], environment: Record<string, string>) =>
      runCli({ words, environment, folder: "/nowhere", output });
    const good = { TASKGATE_DATABASE_URL: urlAs(database.url, "operator") };
    const wrong = new URL(good.TASKGATE_DATABASE_URL);
    wrong.password = secret;
    wrong.username = "nobody";
    await run(["status"], { TASKGATE_DATABASE_URL: wrong.toString() });
    await run(["status"], { ...good, TASKGATE_SMTP_PASSWORD: secret });
    await run(["status", "--json"], { ...good, TASKGATE_LOG_LEVEL: secret });
    await run(["replay", "hints"], {
      ...good,
      AzureWebJobsStorage: `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=${Buffer.from(secret).toString("base64")};QueueEndpoint=http://127.0.0.1:9/a;`,
    });
    await run(["doctor"], good);
    await run(["migrate", "--check"], good);
    expect(said.length).toBeGreaterThan(5);
    for (const word of [secret, loginPassword, Buffer.from(secret).toString("base64")])
      expect(said.join("\n")).not.toContain(word);
  });
});
