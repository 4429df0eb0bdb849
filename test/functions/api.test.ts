import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createApiRoutes } from "../../shared/functions/api/routes";
import type { Admin } from "../../shared/admin/create-admin";
import { describeThrown } from "../../shared/core/describe-thrown";
import {
  InvalidArgumentError,
  SettingsError,
  StoreUnavailableError,
} from "../../shared/core/errors";
import { enqueue, startWorker } from "../support/builders";
import { callRoute, newOperationId, setupApi } from "./api-setup";
import type { ApiRequest, ApiSetup } from "./api-setup";

// Goal: what a client sees. Method: the handlers with requests of the Functions library, over PostgreSQL.
let api: ApiSetup;
beforeAll(async () => {
  api = await setupApi();
  await api.register("resize-image");
  await api.register("send-invoice", { limit: 0 });
});
afterAll(() => api.close());
beforeEach(() => {
  api.hints.length = 0;
});

const resize = { name: "resize-image" };

/** Of a request to change something: its type, and what a browser adds. */
interface Sent {
  readonly type?: string;
  readonly site?: string;
  readonly origin?: string;
}

function headersOf({ type, site, origin }: Sent): Record<string, string> {
  return {
    ...(type === undefined ? {} : { "content-type": type }),
    ...(site === undefined ? {} : { "sec-fetch-site": site }),
    ...(origin === undefined ? {} : { origin }),
  };
}

describe("tasks", () => {
  test("a task is added, wakes a worker, and can be explained and listed", async () => {
    const added = await api.call({
      route: "api-enqueue",
      params: resize,
      body: { payload: { a: 1 } },
    });

    expect(added.status).toBe(201);
    expect(added.body).toMatchObject({
      definition: "resize-image",
      enqueued: 1,
      duplicates: 0,
      nextDueMs: null,
    });
    expect(api.hints).toEqual([{ definition: "resize-image", inMs: 0 }]);
    const [{ task }] = (added.body as { tasks: [{ task: string }] }).tasks;

    const explained = await api.call({ route: "api-task", params: { id: task } });
    expect(explained.status).toBe(200);
    expect(explained.body).toMatchObject({
      status: "found",
      reasons: [{ code: "state" }, { code: "next", decides: true }],
      facts: { task, payload: '{"a":1}' },
    });

    const listed = await api.call({
      route: "api-tasks",
      params: resize,
      query: { state: "ready", max: "5" },
    });
    expect(listed.body).toMatchObject({ tasks: [{ task, state: "ready" }] });
  });

  test("many tasks are added at once; a scheduled one leaves a delayed hint", async () => {
    const tasks = [
      { payload: null, priority: 1 },
      { payload: [1], runInMs: 3_600_000 },
    ];
    const added = await api.call({ route: "api-enqueue", params: resize, body: { tasks } });

    expect(added.body).toMatchObject({ enqueued: 2 });
    expect(api.hints.map((hint) => hint.inMs > 3_000_000)).toEqual([false, true]);
  });

  test("a repeat with the same operation id adds nothing and answers the same", async () => {
    const request = {
      route: "api-enqueue",
      params: resize,
      body: { payload: { b: 1 }, operationId: newOperationId() },
    };
    const first = await api.call(request);
    const second = await api.call(request);
    expect(second.body).toEqual(first.body);
  });

  test("a duplicate answers the first task with 200", async () => {
    const request = {
      route: "api-enqueue",
      params: resize,
      body: { payload: null, dedupeKey: "k" },
    };
    const first = await api.call(request);
    const second = await api.call(request);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toMatchObject({
      enqueued: 0,
      duplicates: 1,
      tasks: [{ outcome: "duplicate" }],
    });
  });

  test("an operation id of a call with other tasks is refused, and adds nothing", async () => {
    await api.register("linked");
    const id = newOperationId();
    const call = (tasks: object[]) =>
      api.call({
        route: "api-enqueue",
        params: { name: "linked" },
        body: { tasks, operationId: id },
      });
    const first = await call([{ payload: null }, { payload: null }]);
    expect(first.status).toBe(201);
    expect((await call([{ payload: null }, { payload: null }])).body).toEqual(first.body);
    for (const [tasks, said] of [
      [[{ payload: null }], "1 task"],
      [[{ payload: null }, { payload: null }, { payload: null }], "3 tasks"],
    ] as const)
      expect(await call([...tasks])).toMatchObject({
        status: 409,
        body: {
          detail: `operationId: was used by a call with 2 tasks (${id}), expected a new one for ${said}`,
        },
      });
    expect(await api.admin.definitions("linked")).toMatchObject([{ ready: 2 }]);
  });

  test("a name with a slash is found as the host gives it, which leaves an encoded slash as it is", async () => {
    await api.register("north/south");
    for (const name of ["north%2Fsouth", "north%2fsouth", "north/south"]) {
      const answer = await api.call({ route: "api-definition", params: { name } });
      expect(answer).toMatchObject({ status: 200, body: { name: "north/south" } });
    }
    const limit = { route: "api-shared-limit", params: { name: "to%2Ffro" } };
    expect(await api.call({ ...limit, body: { limit: 2, create: true } })).toMatchObject({
      status: 200,
      body: { sharedLimit: "to/fro", newLimit: 2 },
    });
  });

  test.each<{ value: string; sent: Sent }>([
    { value: '"text/plain"', sent: { type: "text/plain", site: "cross-site" } },
    { value: '"text/plain"', sent: { type: "text/plain", origin: "http://elsewhere" } },
    { value: "none", sent: { site: "cross-site" } },
    { value: "none", sent: { site: "same-site" } },
    { value: "none", sent: { origin: "http://elsewhere" } },
    { value: "none", sent: { origin: "null" } },
  ])(
    "a page of another origin can't pause a definition by a request that needs no preflight: $sent",
    async ({ value, sent }) => {
      await api.register("guarded");
      const request = { params: { name: "guarded" }, headers: headersOf(sent) };
      expect(await api.call({ route: "api-pause", ...request })).toMatchObject({
        status: 400,
        body: { problems: [{ field: "content-type", value }] },
      });
      expect(await api.admin.definitions("guarded")).toMatchObject([{ paused: false }]);
      expect(await api.call({ route: "api-definition", ...request })).toMatchObject({
        status: 200,
      });
    },
  );

  test.each<{ sent: Sent }>([
    { sent: {} },
    { sent: { site: "same-origin" } },
    { sent: { site: "none" } },
    { sent: { origin: "http://localhost" } },
    { sent: { type: "text/plain" } },
    { sent: { type: "application/json; charset=utf-8", site: "cross-site" } },
  ])(
    "a program's request, or one that a browser has asked for before, pauses a definition: $sent",
    async ({ sent }) => {
      await api.register("open");
      const request = { params: { name: "open" }, headers: headersOf(sent) };
      expect(await api.call({ route: "api-pause", ...request })).toMatchObject({ status: 200 });
    },
  );

  test("the caller's trace goes on in the task", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await api.register("traced");
    await api.call({
      route: "api-enqueue",
      params: { name: "traced" },
      headers: { traceparent },
      body: { payload: null },
    });

    const started = await api.store.startExecution({
      name: "traced",
      operationId: newOperationId(),
      worker: "test",
      build: 7,
      settingsHash: "h",
      want: 1,
      needsReady: true,
    });
    if (started.executionId === null) throw new Error(started.status);
    const work = await api.store.work({
      executionId: started.executionId,
      callNumber: 1,
      done: [],
      started: [],
      want: 1,
    });
    expect(work.claimed[0]?.traceParent).toBe(traceparent);
    await api.store.finishExecution({ executionId: started.executionId });
  });

  test("an explanation names the page of the task's trace, to programs and to people", async () => {
    await api.register("linked");
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const [id = "", plain = ""] = await enqueue(api.store, "linked", [
      { traceParent: `00-${trace}-00f067aa0ba902b7-01` },
      {},
    ]);
    const explain = (task: string) => api.call({ route: "api-task", params: { id: task } });
    const link = `https://traces.example/of/${trace}`;
    expect((await explain(id)).body).toMatchObject({ traceUrl: link });
    expect((await explain(plain)).body).not.toHaveProperty("traceUrl");
    for (const { out } of [await api.taskgate("explain", id), await api.byUrl("explain", id)])
      expect(out.split("\n")).toContain(link);
  });

  test("tasks claimed ahead are prefetched in each answer, and a list that was cut says so", async () => {
    await api.register("ahead", { limit: 1, prefetchMax: 2 });
    const ids = await enqueue(api.store, "ahead", 4);
    const worker = await startWorker(api.store, "ahead");
    await worker.claim(3);
    const bodyOf = async (
      route: string,
      params: Record<string, string>,
      query: Record<string, string>,
    ) => (await api.call({ route, params, query })).body;
    const counts = { claimed: 3, running: 1, prefetched: 2 };
    expect(await bodyOf("api-definition", { name: "ahead" }, {})).toMatchObject(counts);
    expect(await bodyOf("api-status", {}, {})).toMatchObject({ totals: counts });
    expect(await bodyOf("api-executions", {}, { definition: "ahead" })).toMatchObject({
      executions: [{ tokens: 1, ...counts }],
      more: false,
    });
    const states = async (max: string) =>
      bodyOf("api-tasks", { name: "ahead" }, { state: "claimed", max });
    expect(await states("3")).toMatchObject({
      tasks: [{ state: "running" }, { state: "prefetched" }, { state: "prefetched" }],
      more: false,
    });
    expect(await states("2")).toMatchObject({
      tasks: [{ state: "running" }, { state: "prefetched" }],
      more: true,
    });
    expect(await bodyOf("api-task", { id: ids[1] ?? "" }, {})).toMatchObject({
      reasons: [
        { code: "state", sentence: `Task ${ids[1] ?? ""} (\`ahead\`) is prefetched.` },
        { code: "prefetched", decides: true },
      ],
      facts: { claim: { standing: "prefetched" } },
    });
    await worker.finish();
    await api.store.cancelTasks({ taskIds: ids });
  });

  test("executions are listed, of one definition, too", async () => {
    const ended = await api.call({
      route: "api-executions",
      query: { definition: "traced", open: "false" },
    });
    expect(ended.body).toMatchObject({
      executions: [{ definition: "traced", state: "ended", worker: "test" }],
    });
    expect((await api.call({ route: "api-executions" })).body).toEqual({
      executions: [],
      more: false,
      cursor: null,
    });
  });
});

test("an attempt tells its worker, and the error with its causes", async () => {
  await api.register("failing");
  const [task = ""] = await enqueue(api.store, "failing", 1);
  const worker = await startWorker(api.store, "failing", { worker: "web-1:4711" });
  const thrown = new Error("the order failed", { cause: new TypeError("no customer") });
  const error = describeThrown(thrown);
  await worker.fail([await worker.claimOne()], { as: "dead", error });
  await worker.finish();
  const { body } = await api.call({ route: "api-task", params: { id: task } });
  expect(body).toMatchObject({ facts: { attempts: [{ worker: "web-1:4711", error }] } });
  expect(error).toMatch(/^Error: the order failed\ncaused by TypeError: no customer\n {4}at /);
  const { out } = await api.taskgate("explain", task);
  expect(out).toContain("web-1:4711");
});

describe("definitions", () => {
  test("the definitions are listed, alone, and summed up in the status", async () => {
    const all = await api.call({ route: "api-definitions" });
    expect(
      (all.body as { definitions: { name: string }[] }).definitions.map(({ name }) => name),
    ).toContain("send-invoice");
    expect((await api.call({ route: "api-definition", params: resize })).body).toMatchObject({
      name: "resize-image",
      limit: 4,
    });
    expect((await api.call({ route: "api-status" })).body).toMatchObject({
      dialect: "postgres",
      build: 7,
      totals: { held: 0 },
    });
  });

  test("a limit is set, taken away, given back; a hint goes out when tokens are free", async () => {
    const put = (limit: unknown) =>
      api.call({
        route: "api-limit",
        params: resize,
        body: { limit, reason: "load" },
        headers: { "x-ms-client-principal-name": "ada@example.com" },
      });

    expect((await put(0)).body).toMatchObject({ oldLimit: 4, newLimit: 0, held: 0, overLimit: 0 });
    expect(api.hints).toEqual([]);
    expect((await put(null)).body).toMatchObject({ oldLimit: 0, newLimit: null });
    expect((await put("code")).body).toMatchObject({ oldLimit: null, newLimit: 4 });
    expect(api.hints).toHaveLength(2);
  });

  test("a pause and its end are idempotent", async () => {
    const statusOf = async (route: string) =>
      ((await api.call({ route, params: resize })).body as { status: string }).status;
    expect(await statusOf("api-pause")).toBe("paused");
    expect(await statusOf("api-pause")).toBe("exists");
    expect(await statusOf("api-resume")).toBe("resumed");
    expect(await statusOf("api-resume")).toBe("exists");
  });

  test("the limit decides in an explanation", async () => {
    const invoice = { name: "send-invoice" };
    const added = await api.call({
      route: "api-enqueue",
      params: invoice,
      body: { payload: null },
    });
    const [{ task }] = (added.body as { tasks: [{ task: string }] }).tasks;
    const { body } = await api.call({ route: "api-task", params: { id: task } });
    expect(body).toMatchObject({
      reasons: [{ code: "state" }, { code: "limit-zero", decides: true }, { decides: false }],
    });
  });
});

describe("errors", () => {
  test("an answer names the error as problem+json", async () => {
    const response = await api.call({ route: "api-limit", params: resize, body: { limit: 1_001 } });

    expect(response).toMatchObject({ status: 400, contentType: "application/problem+json" });
    expect(response.body).toEqual({
      type: "urn:taskgate:error:TASKGATE_ARG_INVALID",
      title: "The request can't be used",
      status: 400,
      detail:
        'limit: got 1001, expected null (no limit), "code" (the code\'s own again) or a whole number in 0..1000',
      instance: "urn:taskgate:invocation:6f7c",
      code: "TASKGATE_ARG_INVALID",
      problems: [
        {
          field: "limit",
          value: "1001",
          expected: 'null (no limit), "code" (the code\'s own again) or a whole number in 0..1000',
        },
      ],
    });
  });

  test.each([
    ["api-definition", undefined],
    ["api-limit", { limit: 1 }],
    ["api-pause", {}],
    ["api-resume", {}],
    ["api-tasks", undefined],
    ["api-enqueue", { payload: null }],
  ])("%s names near definitions for one that doesn't exist", async (route, body) => {
    const response = await api.call({ route, params: { name: "resize-imag" }, body });
    expect(response.status).toBe(404);
    expect(response.body).toMatchObject({
      code: "TASKGATE_ARG_UNKNOWN",
      problems: [{ field: "definition", value: '"resize-imag"' }],
    });
    expect(JSON.stringify(response.body)).toContain("did you mean `resize-image`?");
  });

  test("an error without a near name lists those that exist", async () => {
    const response = await api.call({ route: "api-executions", query: { definition: "zzz" } });
    expect(response.status).toBe(404);
    expect(JSON.stringify(response.body)).toContain(
      "there are `ahead`, `failing`, `guarded`, `linked`, `north/south`, `open`, `resize-image`, `send-invoice`, `traced`",
    );
  });

  test("a task that doesn't exist is 404", async () => {
    expect((await api.call({ route: "api-task", params: { id: "999999999" } })).status).toBe(404);
  });

  test("a body in another encoding or over 2 MiB is refused", async () => {
    const enqueue = (body: unknown) => api.call({ route: "api-enqueue", params: resize, body });
    expect((await enqueue(new Uint8Array([0x7b, 0xff, 0x7d]))).status).toBe(400);
    expect((await enqueue(new Uint8Array(2 * 1024 * 1024 + 1).fill(32))).status).toBe(413);
  });

  test("the host's own query parameters pass", async () => {
    expect(
      (await api.call({ route: "api-status", query: { code: "key", clientId: "default" } })).status,
    ).toBe(200);
  });

  test("a database that can't be reached is 503 with a time to try again", async () => {
    const logged: unknown[][] = [];
    const admin = () => Promise.reject(new StoreUnavailableError("PostgreSQL can't be reached"));
    const response = await callRoute(admin, { route: "api-status" }, logged);
    expect(response).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    expect(logged).toHaveLength(1);
  });

  test("internal matters stay inside, missing set-up is told", async () => {
    const inside = await callRoute(() => Promise.reject(new Error("secret in a stack")), {
      route: "api-status",
    });
    expect(inside.status).toBe(500);
    expect(JSON.stringify(inside.body)).not.toContain("secret");
    const setup = await callRoute(
      () => Promise.reject(new SettingsError(["TASKGATE_X: expected y"])),
      { route: "api-status" },
    );
    expect(JSON.stringify(setup.body)).toContain("TASKGATE_X: expected y");
  });
});

test("every route wants a key, has one method, and no two share method and path", () => {
  const routes = createApiRoutes(() => Promise.reject(new Error("not called")));
  expect(routes.map((route) => `${route.methods.join()} ${route.route}`)).toEqual([
    "GET status",
    "GET definitions",
    "GET definitions/{name}",
    "PUT definitions/{name}/limit",
    "PUT definitions/{name}/rate",
    "PUT definitions/{name}/owner",
    "GET shared-limits",
    "PUT shared-limits/{name}",
    "POST definitions/{name}/pause",
    "POST definitions/{name}/resume",
    "GET definitions/{name}/tasks",
    "POST definitions/{name}/tasks",
    "PUT definitions/{name}/group",
    "GET groups",
    "GET schedules",
    "POST definitions/{name}/schedules/pause",
    "POST definitions/{name}/schedules/resume",
    "POST definitions/{name}/schedules/run",
    "PUT definitions/{name}/watermark",
    "GET watermarks",
    "GET audit",
    "GET failures",
    "POST failures/redrive",
    "GET definitions/{name}/pace",
    "GET definitions/{name}/statistics",
    "GET statistics",
    "GET stop",
    "POST stop",
    "POST resume",
    "GET executions",
    "GET tasks/{id}",
    "POST tasks/cancel",
    "POST tasks/redrive",
    "POST tasks/reschedule",
    "GET batches",
    "GET batches/{id}",
    "POST batches/{id}/resume",
    "POST batches/{id}/cancel",
    "GET openapi.json",
  ]);
  expect(new Set(routes.map((route) => route.authLevel))).toEqual(new Set(["function"]));
  expect(new Set(routes.map((route) => route.name)).size).toBe(routes.length);
});

describe("a refusal names the caller's own member", () => {
  const refusalOf = async (request: ApiRequest) => (await api.call(request)).body;
  const problem = (field: string) => ({ problems: [expect.objectContaining({ field })] });

  test("the caller's own member is named in a refusal of instants that no database knows", async () => {
    for (const at of ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00"]) {
      expect(
        await refusalOf({ route: "api-tasks", params: resize, query: { since: at } }),
      ).toMatchObject(problem("since"));
      expect(await refusalOf({ route: "api-audit", query: { since: at } })).toMatchObject(
        problem("since"),
      );
      const body = { payload: null, runAt: at };
      expect(await refusalOf({ route: "api-enqueue", params: resize, body })).toMatchObject(
        problem("runAt"),
      );
    }
  });

  test("the caller's own member is named in a refusal of what only the database refuses", async () => {
    const admin = Object.assign(Object.create(api.admin) as Admin, {
      enqueue: () =>
        Promise.reject(new InvalidArgumentError("group_key: expected another text (a b)")),
    });
    const body = { payload: null };
    const refused = await callRoute(() => Promise.resolve(admin), {
      ...{ route: "api-enqueue", params: resize, body },
    });
    expect(refused.body).toMatchObject({
      detail: 'group: got "a b", expected another text',
      problems: [{ field: "group", value: '"a b"', expected: "another text" }],
    });
  });

  test("the caller's own member is named in a refusal of a batch that doesn't exist", async () => {
    const refused = await api.call({ route: "api-batch", params: { id: "999999" } });
    expect(refused).toMatchObject({ status: 404, body: problem("batch") });
  });

  test("the caller's own member is named in a refusal of a payload with U+0000, with its place", async () => {
    const body = { payload: { customer: { lines: ["a", "b\u0000"] } } };
    expect(await refusalOf({ route: "api-enqueue", params: resize, body })).toMatchObject({
      problems: [{ field: "payload", expected: expect.stringMatching(/ at customer\.lines\.1$/) }],
    });
  });

  test("a refusal names the caller's own parameters of the address that are unknown or come twice, whatever their names", async () => {
    for (const [search, field] of [
      ["?__proto__=1", "__proto__"],
      ["?max=1&max=2", "max"],
      ["?constructor=1", "constructor"],
    ] as const) {
      const refused = await api.call({ route: "api-audit", search });
      expect([search, refused]).toMatchObject([search, { status: 400, body: problem(field) }]);
    }
  });
});
