import { HttpRequest, InvocationContext } from "@azure/functions";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createApiRoutes } from "../../shared/functions/api/routes";
import { schedule } from "../contract/schedule-builders";
import { done, enqueue, startWorker } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: payloads and results are answered to callers with the role alone; a reader learns their sizes. No route is forgotten.
const secret = "s3cret-käse";
const payload = JSON.stringify({ card: secret });
const result = JSON.stringify({ told: secret });
const name = "orders";

let api: ApiSetup;
/** Tasks by state. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  api = await setupApi();
  const { store } = api;
  await api.register(name, { limit: 8 });
  const [ready, finished, dead, cancelled] = await enqueue(
    store,
    name,
    Array.from({ length: 4 }, (_, at) => ({ payload, priority: at === 0 ? 200 : at })),
  );
  const worker = await startWorker(store, name, { want: 2 });
  const [first, second] = await worker.claim(2);
  if (first === undefined || second === undefined) throw new Error("no task was claimed");
  await worker.work({ done: [done(first, { result })] });
  await worker.fail([second], { as: "dead" });
  await worker.finish();
  await store.cancelTasks({ taskIds: [String(cancelled) as never], changedBy: "somebody" });
  Object.assign(ids, { ready, done: finished, dead, cancelled });
  const schedules = [schedule({ name: "nightly", kind: name, payload })];
  await store.setSchedules({ name, build: 7, changedBy: "the code", schedules });
});
afterAll(() => api.close());

const signedIn = (...roles: string[]): Record<string, string> => ({
  "x-ms-client-principal": Buffer.from(
    JSON.stringify({
      auth_typ: "aad",
      role_typ: "roles",
      claims: roles.map((val) => ({ typ: "roles", val })),
    }),
  ).toString("base64"),
});
const reader = signedIn("Taskgate.Reader");

/** One GET as the platform hands it over. */
async function get(
  route: string,
  headers: Record<string, string>,
  { query, ...params }: { query?: Record<string, string>; name?: string; id?: string } = {},
): Promise<{ status: number; body: unknown; text: string }> {
  const found = createApiRoutes(() => Promise.resolve(api.admin), {
    operatorApi: true,
    signIn: { apiSignIn: "entra", hasPlatformSignIn: true },
  }).find((candidate) => candidate.name === route);
  if (found === undefined) throw new Error(`There is no route ${route}`);
  const request = {
    method: "GET",
    url: "http://localhost/api/x",
    headers,
    params,
    query: query ?? {},
  };
  const context = new InvocationContext({
    invocationId: "1",
    functionName: route,
    logHandler: () => undefined,
  });
  const answer = await found.handler(new HttpRequest(request), context);
  const body = (answer.jsonBody ?? JSON.parse(answer.body as string)) as unknown;
  return { status: answer.status ?? 200, body, text: JSON.stringify(body) };
}

const bytes = Buffer.byteLength(payload);

describe("a payload", () => {
  test.each(["ready", "done", "dead", "cancelled"])(
    "a payload of a task that is %s has its size for a reader, and its content for the role",
    async (state) => {
      const params = { id: ids[state] ?? "" };
      const hidden = await get("api-task", reader, params);
      expect(hidden).toMatchObject({
        status: 200,
        body: { facts: { state, payload: null, payloadBytes: bytes } },
      });
      expect(hidden.text).not.toContain(secret);
      for (const roles of [["Taskgate.Reader", "Taskgate.Payloads"], ["Taskgate.Operator"]]) {
        const shown = await get("api-task", signedIn(...roles), params);
        expect(shown.body).toMatchObject({ facts: { payload, payloadBytes: bytes } });
      }
    },
  );

  test("a payload of a schedule is hidden alike", async () => {
    const hidden = await get("api-schedules", reader);
    expect(hidden.body).toMatchObject({ schedules: [{ payload: null, payloadBytes: bytes }] });
    const shown = await get("api-schedules", signedIn("Taskgate.Operator"));
    expect(shown.body).toMatchObject({ schedules: [{ payload, payloadBytes: bytes }] });
  });
});

test("a search in payloads is refused without the role, hit or miss: its hits would tell the content", async () => {
  for (const value of [secret, "another"]) {
    const query = { where: `card=${value}`, state: "dead" };
    const refused = await get("api-tasks", reader, { name, query });
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining("Taskgate.Payloads"),
    ]);
    const withCursor = { ...query, cursor: "A".repeat(20) };
    expect((await get("api-tasks", reader, { name, query: withCursor })).status).toBe(403);
    for (const roles of [["Taskgate.Reader", "Taskgate.Payloads"], ["Taskgate.Operator"]]) {
      const found = await get("api-tasks", signedIn(...roles), { name, query });
      const tasks = value === secret ? [{ task: ids["dead"] }] : [];
      expect(found).toMatchObject({ status: 200, body: { tasks } });
      expect(found.text).not.toContain(secret);
    }
  }
  const byKey = await get("api-tasks", reader, { name, query: { keyPrefix: "x" } });
  expect(byKey.status).toBe(200);
});

test("a result has its size for a reader, and its content for the role", async () => {
  const params = { id: ids["done"] ?? "" };
  const resultBytes = Buffer.byteLength(result);
  const hidden = await get("api-task", reader, params);
  expect(hidden.body).toMatchObject({ facts: { result: null, resultBytes } });
  const shown = await get("api-task", signedIn("Taskgate.Operator"), params);
  expect(shown.body).toMatchObject({ facts: { result, resultBytes } });
});

test("no read tells a reader the content, and errors stay readable", async () => {
  const reads = createApiRoutes(() => Promise.reject(new Error("not called"))).filter(
    ({ methods }) => methods[0] === "GET",
  );
  expect(reads.length).toBeGreaterThan(14);
  for (const { name: route } of reads) {
    if (route === "api-batch") continue;
    const { status, text } = await get(route, reader, { name, id: ids["dead"] ?? "" });
    expect([route, status, text.includes(secret)]).toEqual([route, 200, false]);
  }
  const { body } = await get("api-task", reader, { id: ids["dead"] ?? "" });
  expect(body).toMatchObject({ facts: { error: "it broke" } });
});

test("the role for payloads lets no caller in by itself", async () => {
  expect((await get("api-status", signedIn("Taskgate.Payloads"))).status).toBe(403);
});
