import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { SettingsError } from "../../../shared/core/errors";
import { loadSettings } from "../../../shared/settings/load-settings";
import type { Environment } from "../../../shared/settings/load-settings";
import { isExpected } from "../../../shared/settings/setting-formats";
import { settingsTable } from "../../../shared/settings/settings";

const url = "postgres://dev@127.0.0.1:5432/postgres";
const minimal = { TASKGATE_DATABASE_URL: url };

function problemsOf(environment: Environment): readonly string[] {
  try {
    loadSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe("defaults", () => {
  test("the defaults hold for everything but the database", () => {
    expect(loadSettings(minimal)).toMatchObject({
      database: { kind: "url", url },
      schema: "taskgate",
      sweepSchedule: "*/30 * * * * *",
      connectionsMax: 3,
      concurrencyPerWorker: 8,
      functionTimeoutMs: 600_000,
      deadlineMarginMs: 15_000,
      build: null,
      logLevel: "info",
      hintQueue: "taskgate-hints",
      ingestQueue: "taskgate-ingest",
      storage: null,
      telemetry: null,
    });
  });

  test("an empty text counts as not set, a name of a test is ignored", () => {
    const settings = loadSettings({
      ...minimal,
      TASKGATE_SCHEMA: "",
      TASKGATE_TEST_MSSQL_URL: "x",
    });
    expect(settings.schema).toBe("taskgate");
  });

  test("the worker's name is of this process, on Azure with the instance", () => {
    expect(loadSettings(minimal).workerName).toMatch(new RegExp(`:${String(process.pid)}$`));
    const settings = loadSettings({ ...minimal, WEBSITE_INSTANCE_ID: "abc" });
    expect(settings.workerName).toBe(`abc:${String(process.pid)}`);
  });

  test("the result is frozen through and through", () => {
    const settings = loadSettings(minimal);
    expect(Object.isFrozen(settings)).toBe(true);
    expect(Object.isFrozen(settings.database)).toBe(true);
  });

  test("every default is what its own entry accepts, and names are unique", () => {
    for (const entry of settingsTable) {
      if (entry.default !== null) expect(isExpected(entry, String(entry.default))).toBe(true);
    }
    expect(new Set(settingsTable.map((entry) => entry.name)).size).toBe(settingsTable.length);
  });

  test("the function time-out equals host.json's", () => {
    const host = JSON.parse(readFileSync(join(__dirname, "../../../host.json"), "utf8")) as {
      functionTimeout: string;
    };
    const [hours, minutes, seconds] = host.functionTimeout.split(":").map(Number);
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
    expect(loadSettings(minimal).functionTimeoutMs).toBe(ms);
  });
});

describe("the two ways to a database", () => {
  const identity = {
    TASKGATE_SQL_SERVER: "name.database.windows.net",
    TASKGATE_SQL_DATABASE: "tasks",
  };

  test("a server with an identity needs no address; AZURE_CLIENT_ID, which pipelines set for themselves, isn't the app's", () => {
    const clientId = "01234567-89ab-cdef-0123-456789abcdef";
    expect(loadSettings({ ...identity, AZURE_CLIENT_ID: clientId }).database).toMatchObject({
      clientId: null,
    });
    expect(loadSettings({ ...identity, TASKGATE_SQL_CLIENT_ID: clientId }).database).toEqual({
      kind: "identity",
      server: "name.database.windows.net",
      database: "tasks",
      clientId,
    });
  });

  test.each([
    [{}, "TASKGATE_DATABASE_URL: expected the address of the database"],
    [
      { ...minimal, ...identity },
      "TASKGATE_DATABASE_URL: expected either it or TASKGATE_SQL_SERVER",
    ],
    [{ TASKGATE_SQL_SERVER: "a.b" }, "TASKGATE_SQL_DATABASE: expected with TASKGATE_SQL_SERVER"],
    [{ TASKGATE_SQL_DATABASE: "a" }, "TASKGATE_SQL_SERVER: expected with TASKGATE_SQL_DATABASE"],
  ])("one of the two ways is wanted, and not both: %j", (environment, problem) => {
    const problems = problemsOf(environment);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });

  test.each([
    "postgresql://u:p@h/d",
    "mssql://u:p@h:1433/d?encrypt=true",
    "postgres:///d?host=/var/run/postgresql",
  ])("a setting of the database accepts %s", (address) => {
    expect(problemsOf({ TASKGATE_DATABASE_URL: address })).toEqual([]);
  });

  test("another schema is for PostgreSQL only", () => {
    const schema = { TASKGATE_SCHEMA: "other" };
    expect(problemsOf({ ...minimal, ...schema })).toEqual([]);
    expect(problemsOf({ ...identity, ...schema })[0]).toContain("expected taskgate on SQL Server");
  });

  test("a bad address is not shown: it may hold a password", () => {
    const [problem] = problemsOf({ TASKGATE_DATABASE_URL: "mysql://root:secret@h/d" });
    expect(problem).toContain("a value of 23 characters that is not shown");
    expect(problem).not.toContain("secret");
  });
});

describe("queues and telemetry", () => {
  test("a queue takes a connection string or an identity, not both", () => {
    const connection = "UseDevelopmentStorage=true";
    expect(loadSettings({ ...minimal, AzureWebJobsStorage: connection }).storage).toEqual({
      kind: "connection-string",
      connectionString: connection,
    });
    const account = {
      AzureWebJobsStorage__accountName: "abc",
      AzureWebJobsStorage__credential: "managedidentity",
    };
    expect(loadSettings({ ...minimal, ...account }).storage).toEqual({
      kind: "identity",
      queueServiceUri: "https://abc.queue.core.windows.net",
      credential: "managedidentity",
      clientId: null,
    });
    expect(problemsOf({ ...minimal, ...account, AzureWebJobsStorage: connection })[0]).toContain(
      "got both",
    );
  });

  test("telemetry signs in with an identity when the authentication says so", () => {
    const clientId = "01234567-89ab-cdef-0123-456789abcdef";
    const settings = loadSettings({
      ...minimal,
      APPLICATIONINSIGHTS_CONNECTION_STRING: "InstrumentationKey=1;IngestionEndpoint=https://x/",
      APPLICATIONINSIGHTS_AUTHENTICATION_STRING: `ClientId=${clientId};Authorization=AAD`,
    });
    expect(settings.telemetry).toMatchObject({ usesIdentity: true, clientId });
  });

  test.each([
    "foo",
    "Authorization=ADD",
    "ClientId=01234567-89ab-cdef-0123-456789abcdef",
    "Authorization=AAD;ClientId=me",
    "Authorization=AAD;ClientID:01234567-89ab-cdef-0123-456789abcdef",
  ])("an authentication of telemetry that names no identity is refused: %s", (text) => {
    expect(problemsOf({ ...minimal, APPLICATIONINSIGHTS_AUTHENTICATION_STRING: text })).toEqual([
      `APPLICATIONINSIGHTS_AUTHENTICATION_STRING: expected Authorization=AAD, with ;ClientId=GUID for a user-assigned identity, 1..500 characters, got a value of ${String(text.length)} characters that is not shown`,
    ]);
  });

  test("hints and events go to different queues", () => {
    expect(
      problemsOf({ ...minimal, TASKGATE_HINT_QUEUE: "one", TASKGATE_INGEST_QUEUE: "one" }),
    ).toEqual([
      "TASKGATE_INGEST_QUEUE: expected another queue than TASKGATE_HINT_QUEUE, got one for both",
    ]);
  });
});

describe("problems", () => {
  test("the problems of settings are listed all at once, unknown names with the near one", () => {
    const problems = problemsOf({
      TASKGATE_DATABSE_URL: url,
      TASKGATE_CONNECTIONS_MAX: "0",
      TASKGATE_LOG_LEVEL: "verbose",
      TASKGATE_SWEEP_SCHEDULE: "* * * * *",
      TASKGATE_DEADLINE_MARGIN_MS: "20000",
      TASKGATE_FUNCTION_TIMEOUT_MS: "20000",
    });
    expect(problems).toEqual([
      "TASKGATE_DATABSE_URL: expected the name of a setting, got an unknown one. Did you mean `TASKGATE_DATABASE_URL`?",
      expect.stringContaining("TASKGATE_SWEEP_SCHEDULE: expected six fields"),
      "TASKGATE_CONNECTIONS_MAX: expected a whole number in 1..100, got a value of 1 character that is not shown",
      "TASKGATE_LOG_LEVEL: expected one of debug, info, warn, error, got a value of 7 characters that is not shown",
      expect.stringContaining("TASKGATE_DATABASE_URL: expected the address"),
      "TASKGATE_DEADLINE_MARGIN_MS: expected less than TASKGATE_FUNCTION_TIMEOUT_MS, got as much or more",
    ]);
  });

  test.each(["*/30 * * * * *", "0 0 */6 * * *", "0 15,45 8-18 1 jan-jun MON", "0 0 0 31 12 0"])(
    "the schedule `%s` is accepted",
    (schedule) => {
      expect(problemsOf({ ...minimal, TASKGATE_SWEEP_SCHEDULE: schedule })).toEqual([]);
    },
  );

  test.each([
    "60 * * * * *",
    "* * 24 * * *",
    "*/0 * * * * *",
    "5-1 * * * * *",
    "* * * 0 * *",
    "* * * * x *",
    "@hourly",
  ])("the schedule `%s` is refused", (schedule) => {
    expect(problemsOf({ ...minimal, TASKGATE_SWEEP_SCHEDULE: schedule })).toHaveLength(1);
  });
});

test("a page of traces has a place for the trace's id, and is no script", () => {
  const expected =
    "TASKGATE_TRACE_URL: expected an address that begins with https:// and has {trace} in it";
  for (const wrong of ["https://traces.example/", "javascript:alert('{trace}')", "{trace}"])
    expect(problemsOf({ ...minimal, TASKGATE_TRACE_URL: wrong })).toEqual([
      expect.stringContaining(expected),
    ]);
  const right = "https://portal.example/#@tenant/query/id%20%3D%3D%20%22{trace}%22";
  expect(loadSettings({ ...minimal, TASKGATE_TRACE_URL: right }).traceUrl).toBe(right);
});
