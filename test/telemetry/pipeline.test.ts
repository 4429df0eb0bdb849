// Goal: a trace that begins with an enqueue reaches the statements of its task, and nothing else gets out.
// Method: a process goes an app's whole way and sends to an Application Insights of this test's.
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { loginPassword, urlAs } from "../support/roles";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { startIngestion } from "./ingestion";
import type { Ingestion, Item } from "./ingestion";
import { runProgram } from "./run-program";

let ingestion: Ingestion;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
/** The app's login: it has a password, which no item may hold. */
let url: string;
let seen: Record<string, string | null>;

beforeAll(async () => {
  ingestion = await startIngestion();
  database = await createTestDatabase();
  await withClient(database.url, (client) =>
    client.query("create table effect (word text); grant insert on effect to taskgate_worker"),
  );
  url = urlAs(database.url, "app");
  const ended = await runProgram("pipeline-process.ts", {
    TASKGATE_DATABASE_URL: url,
    APPLICATIONINSIGHTS_CONNECTION_STRING: ingestion.connectionString,
    WEBSITE_SITE_NAME: "func-telemetry-test",
    // Without it spans beyond the bound per second are left out.
    OTEL_TRACES_SAMPLER: "always_on",
  });
  expect(ended.code).toBe(0);
  // The log, which the host sends on: no text of the error.
  expect(ended.errors).toMatch(
    /^\S+ error a task is dead taskId=\d+ definition=failing error=Error at=[^\n]*\n$/,
  );
  expect(ended.errors).not.toContain("hunter2");
  ({ seen } = JSON.parse(ended.output) as { seen: Record<string, string | null> });
}, 90_000);

afterAll(async () => {
  await ingestion.close();
  await database.drop();
});

const traceOf = (traceParent: string | null | undefined): string => traceParent?.slice(3, 35) ?? "";
const spanOf = (traceParent: string | null | undefined): string => traceParent?.slice(36, 52) ?? "";

/** Items of one operation, which is what Application Insights calls a trace. */
function operation(traceParent: string | null | undefined): Item[] {
  return ingestion.items.filter((item) => item.tags["ai.operation.id"] === traceOf(traceParent));
}

function dependency(items: readonly Item[], name: RegExp): Item | undefined {
  return items.find((item) => name.test(item.data.baseData.name ?? ""));
}

/** An operation by its name, any other statement as it was sent, without the bounds of a transaction. */
function nameOfStatement(text: string): string {
  return text
    .replace(/^begin .*$/s, "begin")
    .replace(
      /^select c\.\*.* from (taskgate\.\w+)\(.*; commit; close all; .*$/s,
      "$1, commit, and a tidy session",
    )
    .replace(/^select \* from (.+)\(.*$/, "$1");
}

function metric(name: string): Item[] {
  return ingestion.items.filter((item) =>
    item.data.baseData.metrics?.some((point) => point.name === name),
  );
}

describe("what one task leaves in Application Insights", () => {
  it("the task's span goes on with the enqueue's trace and links to its worker", () => {
    const items = operation(seen["enqueue effect"]);
    const enqueue = dependency(items, /^enqueue effect$/);
    const task = dependency(items, /^task effect$/);
    expect(enqueue?.data.baseData.id).toBe(spanOf(seen["enqueue effect"]));
    expect(task).toMatchObject({
      tags: { "ai.operation.parentId": spanOf(seen["enqueue effect"]) },
      data: {
        baseType: "RemoteDependencyData",
        baseData: {
          id: spanOf(seen["handler"]),
          type: "InProc",
          success: true,
          properties: { definition: "effect", attempt: "1", end: "done" },
        },
      },
    });
    const links = JSON.parse(task?.data.baseData.properties?.["_MS.links"] ?? "[]") as unknown;
    const worker = seen["worker effect"];
    expect(links).toEqual([{ operation_Id: traceOf(worker), id: spanOf(worker) }]);
  });

  it("each statement of the handler's transaction is a dependency below the task's span", () => {
    const below = operation(seen["enqueue effect"]).filter(
      (item) => item.tags["ai.operation.parentId"] === spanOf(seen["handler"]),
    );
    const statements = below.map((item) => item.data.baseData.data ?? "task child");
    expect(statements.map(nameOfStatement)).toEqual([
      "begin",
      "insert into effect (word) values ($1)",
      "taskgate.enqueue_tasks",
      "select set_config('taskgate.completion_values', $1, true), set_config('array_nulls', 'on', true)",
      "taskgate.complete_task, commit, and a tidy session",
      "task child",
    ]);
    const insert = below.find((item) => item.data.baseData.data?.startsWith("insert"));
    expect(insert?.data).toMatchObject({
      baseType: "RemoteDependencyData",
      baseData: {
        type: "postgresql",
        target: `127.0.0.1|${new URL(database.url).pathname.slice(1)}`,
        success: true,
      },
    });
  });

  it("children that are written with the completion belong to their parent's trace", () => {
    const items = operation(seen["enqueue parent"]);
    const below = items.filter(
      (item) => item.tags["ai.operation.parentId"] === spanOf(seen["parent"]),
    );
    const statements = below.map((item) => item.data.baseData.data ?? "");
    expect(statements.some((text) => text.includes("complete_task"))).toBe(true);
    expect(dependency(below, /^task child$/)).toBeDefined();
  });

  it("a task that an invocation enqueues goes on with the trace of the host's request item", () => {
    const items = operation(seen["host"]);
    expect(dependency(items, /enqueueTasks/)?.tags["ai.operation.parentId"]).toBe(
      spanOf(seen["host"]),
    );
    expect(dependency(items, /^task child$/)?.tags["ai.operation.parentId"]).toBe(
      spanOf(seen["host"]),
    );
  });

  it("the calls for many tasks stand in the worker's trace, heartbeats in none of them", () => {
    const work = ingestion.items.filter((item) =>
      /taskgate_work /.test(item.data.baseData.name ?? ""),
    );
    const workers = ["effect", "parent", "failing", "child"].map((name) =>
      traceOf(seen[`worker ${name}`]),
    );
    expect(work.length).toBeGreaterThan(3);
    for (const item of work) expect(workers).toContain(item.tags["ai.operation.id"]);
    const beats = ingestion.items.filter((item) =>
      /taskgate_heartbeat/.test(item.data.baseData.name ?? ""),
    );
    const known = Object.values(seen).map(traceOf);
    expect(beats.length).toBeGreaterThan(0);
    for (const beat of beats) expect(known).not.toContain(beat.tags["ai.operation.id"]);
  });

  it("a failed task is a failed dependency, without the text of its error", () => {
    const task = dependency(operation(seen["enqueue failing"]), /^task failing$/);
    expect(task?.data.baseData).toMatchObject({ success: false, properties: { end: "failed" } });
  });

  it("a call to another system stands below its task, without its query", () => {
    const call = operation(seen["enqueue failing"]).find(
      (item) => item.data.baseData.type === "Http",
    );
    expect(call?.tags["ai.operation.parentId"]).toBe(spanOf(seen["failing"]));
    expect(call?.data.baseData.data).toBe("http://127.0.0.1:9/word");
  });

  it("statements of tedious are dependencies of type SQL in the caller's trace", () => {
    const item = operation(seen["tedious"]).find((found) => found.data.baseData.type === "SQL");
    expect(item?.data.baseData).toMatchObject({ data: "select @word", success: false });
    expect(item?.tags["ai.operation.parentId"]).toBe(spanOf(seen["tedious"]));
  });

  it("counters and distributions arrive under their names with their attributes", () => {
    const done = metric("taskgate.task.done").map((item) => [
      item.data.baseData.properties?.["definition"],
      item.data.baseData.metrics?.[0]?.value,
    ]);
    expect(done.sort()).toEqual([
      ["child", 4],
      ["effect", 1],
      ["parent", 1],
    ]);
    expect(metric("taskgate.task.enqueued")[0]?.data.baseData.metrics?.[0]?.value).toBe(7);
    expect(metric("taskgate.task.duration")[0]?.data.baseData).toMatchObject({
      metrics: [{ count: 1 }],
      properties: { kind: "effect" },
    });
  });

  it("the trace has no second request item, and the role has the app's name", () => {
    const types = new Set(ingestion.items.map((item) => item.data.baseType));
    expect([...types].sort()).toEqual(["ExceptionData", "MetricData", "RemoteDependencyData"]);
    const roles = new Set(ingestion.items.map((item) => item.tags["ai.cloud.role"]));
    expect([...roles]).toEqual(["func-telemetry-test"]);
  });

  it("a thrown error passes unchanged and leaves its type, not its message", () => {
    expect(seen["thrown"]).toContain("TypeError: bad word: ");
    const texts = ingestion.items
      .filter((item) => item.data.baseType === "ExceptionData")
      .map((item) => JSON.stringify(item));
    expect(texts.some((text) => text.includes('"typeName":"TypeError"'))).toBe(true);
  });

  it("no item holds a payload, a parameter, a result, an error's text or a password", () => {
    const all = JSON.stringify(ingestion.items);
    expect(all).not.toContain("hunter2");
    expect(all).not.toContain("bad word");
    expect(all).not.toContain(loginPassword);
  });
});
