// Goal: an app that has its own OpenTelemetry sees Taskgate's spans and metrics there, and nothing of a second telemetry is loaded.
// Method: a process with the SDK's exporters in memory enqueues in a request's span and works.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createClient } from "../../shared/client/create-client";
import { InvalidArgumentError } from "../../shared/core/errors";
import { taskgate } from "../../shared/functions/taskgate";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { runProgram } from "./run-program";

interface Told {
  readonly name: string;
  readonly traceId: string;
  readonly id: string;
  readonly parent: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
}

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let answer: {
  request: { traceId: string; spanId: string };
  seen: string[];
  told: Told[];
  names: string[];
};
let errors: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const ended = await runProgram("own-process.ts", {
    TASKGATE_DATABASE_URL: urlAs(database.url, "app"),
    TASKGATE_LOG_LEVEL: "warn",
    // It isn't asked: a connection to it would be refused, and said so.
    APPLICATIONINSIGHTS_CONNECTION_STRING:
      "InstrumentationKey=00000000-0000-0000-0000-000000000001;IngestionEndpoint=https://127.0.0.1:9/",
  });
  expect({ code: ended.code, output: ended.output === "" ? ended.errors : "" }).toEqual({
    code: 0,
    output: "",
  });
  errors = ended.errors;
  answer = JSON.parse(ended.output) as typeof answer;
}, 60_000);

afterAll(() => database.drop());

describe("an app with its own OpenTelemetry", () => {
  test("an app with its own OpenTelemetry has one trace from the request over the task to the task's child", () => {
    const { traceId, spanId } = answer.request;
    expect(answer.seen).toEqual([traceId, traceId]);
    const tasks = answer.told.filter(({ name }) => name === "task ship");
    expect(tasks).toHaveLength(2);
    const [first, child] = tasks;
    expect(first).toMatchObject({ traceId, parent: spanId });
    expect(first?.attributes).toMatchObject({ definition: "ship", attempt: 1, end: "done" });
    expect(child).toMatchObject({ traceId, parent: first?.id });
  });

  test("an app with its own OpenTelemetry gets the counters and distributions, sent when the app ends", () => {
    expect(answer.names).toEqual(
      expect.arrayContaining([
        ...["taskgate.task.enqueued", "taskgate.task.claimed", "taskgate.task.done"],
        ...["taskgate.task.duration", "taskgate.store.call"],
      ]),
    );
  });

  test("an app with its own OpenTelemetry gets gauges of waiting and running tasks and of tokens", () => {
    const gauges = answer.names.filter((name) => name.startsWith("taskgate.definition."));
    expect(gauges.sort()).toEqual(
      [
        ...["dead", "held", "limit", "oldest_ready", "ready", "running", "scheduled", "waiting"],
      ].map((name) => `taskgate.definition.${name}`),
    );
  });

  test("an app with its own OpenTelemetry says nothing in its log, and no other telemetry is started", () => {
    expect(errors).toBe("");
  });
});

describe("another value than the module", () => {
  test.each([null, {}, "@opentelemetry/api", { trace: {}, metrics: {}, context: {} }])(
    "a telemetry that is another value than the module is refused by taskgate and createClient: %j",
    (openTelemetry) => {
      const calls = [
        () => taskgate({ tasks: [], openTelemetry: openTelemetry as never }),
        () =>
          createClient({
            store: "postgres://a:b@localhost/c",
            openTelemetry: openTelemetry as never,
          }),
      ];
      for (const call of calls) {
        expect(call).toThrow(InvalidArgumentError);
        expect(call).toThrow("openTelemetry: expected the module `@opentelemetry/api`");
      }
    },
  );
});
