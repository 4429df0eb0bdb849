import { HttpRequest, InvocationContext } from "@azure/functions";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createApiRoutes } from "../../shared/functions/api/routes";
import { createDashboardRoutes } from "../../shared/functions/dashboard/routes";
import { AppProcess } from "../../shared/functions/runtime";
import type { SignInSettings } from "../../shared/settings/settings";
import { withClient } from "../support/test-postgres";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

/*
 * Goal: who may do what over HTTP, by the platform's principal and by keys. The handlers are the app's, the database is
 * real; what the platform would have written into the request is written here.
 */

const keys: SignInSettings = { apiSignIn: "keys", hasPlatformSignIn: false };
const keysBehindSignIn: SignInSettings = { apiSignIn: "keys", hasPlatformSignIn: true };
const entra: SignInSettings = { apiSignIn: "entra", hasPlatformSignIn: true };
const entraSwitchedOff: SignInSettings = { apiSignIn: "entra", hasPlatformSignIn: false };

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

let api: ApiSetup;

beforeAll(async () => {
  api = await setupApi();
  await api.register("orders");
});
afterAll(() => api.close());

/** What the platform writes: base64 of JSON, with the type of role claims as Entra's tokens name it. */
function principal(roles: readonly string[], more: Record<string, unknown> = {}): string {
  const claims = [{ typ: "name", val: "Ada" }, ...roles.map((val) => ({ typ: "roles", val }))];
  const whole = { auth_typ: "aad", name_typ: "name", role_typ: "roles", claims, ...more };
  return Buffer.from(JSON.stringify(whole)).toString("base64");
}

const signedIn = (...roles: string[]): Record<string, string> => ({
  "x-ms-client-principal": principal(roles),
  "x-ms-client-principal-name": "ada@example.com",
});
const reader = signedIn("Taskgate.Reader");
const operator = signedIn("Taskgate.Operator");

async function call(
  name: string,
  signIn: SignInSettings,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const routes = createApiRoutes(() => Promise.resolve(api.admin), { operatorApi: true, signIn });
  const route = routes.find((candidate) => candidate.name === name);
  if (route === undefined) throw new Error(`There is no route ${name}`);
  const method = route.methods[0] ?? "GET";
  const body = { "api-limit": { limit: 3 }, "api-enqueue": { payload: {} } }[name];
  const response = await route.handler(
    new HttpRequest({
      method,
      url: `http://localhost/api/${route.route}`,
      headers,
      params: { name: "orders" },
      ...(body === undefined ? {} : { body: { string: JSON.stringify(body) } }),
    }),
    new InvocationContext({
      invocationId: "6f7c",
      functionName: name,
      logHandler: () => undefined,
    }),
  );
  const { jsonBody } = response as { jsonBody?: unknown };
  const told: unknown = jsonBody ?? JSON.parse(response.body as string);
  return { status: response.status ?? 200, body: told as Record<string, unknown> };
}

describe("with Entra's sign-in", () => {
  test.each([
    { who: "nobody", reading: 401, changing: 401, headers: {} },
    {
      who: "a name without a principal",
      reading: 401,
      changing: 401,
      headers: { "x-ms-client-principal-name": "ada" },
    },
    { who: "somebody without a role", reading: 403, changing: 403, headers: signedIn() },
    {
      who: "somebody with other roles",
      reading: 403,
      changing: 403,
      headers: signedIn("Owner", "taskgate.operator"),
    },
    { who: "a reader", reading: 200, changing: 403, headers: reader },
    { who: "an operator", reading: 200, changing: 200, headers: operator },
    {
      who: "a reader who is an operator",
      reading: 200,
      changing: 200,
      headers: signedIn("Taskgate.Reader", "Taskgate.Operator"),
    },
  ])(
    "the sign-in lets $who read with $reading, and change with $changing",
    async ({ reading, changing, headers }) => {
      const statuses = async (names: string[]): Promise<number[]> =>
        Promise.all(names.map(async (name) => (await call(name, entra, headers)).status));
      expect(await statuses(["api-status", "api-definitions", "api-groups"])).toEqual(
        Array(3).fill(reading),
      );
      const changed = await statuses(["api-limit", "api-pause", "api-enqueue"]);
      expect(changed.map((status) => (status === 201 ? 200 : status))).toEqual(
        Array(3).fill(changing),
      );
    },
  );

  test("a reader may call no route that isn't a GET, and is told which role is wanted", async () => {
    const routes = createApiRoutes(() => Promise.reject(new Error("asked")), {
      operatorApi: true,
      signIn: entra,
    });
    const changing = routes.filter(({ methods }) => methods[0] !== "GET");
    expect(changing.length).toBeGreaterThan(14);
    for (const { name } of changing) {
      const { status, body } = await call(name, entra, reader);
      expect([name, status, body["title"]]).toEqual([name, 403, "The sign-in may not do that"]);
      expect(body["detail"]).toMatch(
        /app role Taskgate\.Operator; the sign-in has Taskgate\.Reader/,
      );
    }
  });

  test.each([
    ["not base64 of JSON", "%%%"],
    ["JSON's null", Buffer.from("null").toString("base64")],
    ["another provider's", principal(["Taskgate.Operator"], { auth_typ: "github" })],
    ["no list of claims", principal([], { claims: { typ: "roles", val: "Taskgate.Operator" } })],
    ["too long", principal(["Taskgate.Operator", "x".repeat(70_000)])],
  ])("a principal that is %s is no caller", async (_, header) => {
    const { status, body } = await call("api-status", entra, { "x-ms-client-principal": header });
    expect([status, body["title"]]).toEqual([401, "Nobody is signed in"]);
  });

  test("claims of another type or shape give no role, the principal's own type of role does", async () => {
    const type = "http://schemas.microsoft.com/ws/2008/06/identity/claims/role";
    const claims = [{ typ: type, val: "Taskgate.Operator" }, null, 7, { typ: "roles", val: 1 }];
    const ask = (more: Record<string, unknown>): Promise<Answer> =>
      call("api-pause", entra, { "x-ms-client-principal": principal([], more) });
    expect((await ask({ claims })).status).toBe(403);
    expect((await ask({ claims, role_typ: type })).status).toBe(200);
  });

  test.each([
    ["cross-site", 403],
    ["same-site", 403],
    ["same-origin", 200],
    ["none", 200],
  ])("an operator's browser that comes from %s may change something: %i", async (site, status) => {
    const headers = { ...operator, "sec-fetch-site": site };
    expect((await call("api-resume", entra, headers)).status).toBe(status);
    expect((await call("api-status", entra, headers)).status).toBe(200);
  });

  test.each([
    ["https://ops.test", { host: "ops.test" }, 200],
    ["http://ops.test:7500", { host: "ops.test:7500" }, 200],
    ["https://www.test", { host: "ops.test", "x-forwarded-host": "www.test, proxy" }, 200],
    ["http://ops.test:7501", { host: "ops.test:7500" }, 403],
    ["http://blog.ops.test", { host: "ops.test" }, 403],
    ["null", { host: "ops.test" }, 403],
    ["null", {}, 403],
    ["no address", { host: "ops.test" }, 403],
  ])(
    "an operator's browser that names no site, on a page of %s, may change something at %p: %i",
    async (origin, more, status) => {
      const headers = { ...operator, ...more, origin };
      expect((await call("api-resume", entra, headers)).status).toBe(status);
      expect((await call("api-status", entra, headers)).status).toBe(200);
    },
  );

  test("the status tells a reader's page to leave its buttons out", async () => {
    expect((await call("api-status", entra, reader)).body["operatorApi"]).toBe(false);
    expect((await call("api-status", entra, operator)).body["operatorApi"]).toBe(true);
    expect((await call("api-status", keys)).body["operatorApi"]).toBe(true);
  });
});

describe("the host", () => {
  test.each([
    ["keys", "function", keys],
    ["keys, behind the platform's sign-in", "function", keysBehindSignIn],
    ["entra, but the platform checks no sign-in", "function", entraSwitchedOff],
    ["entra", "anonymous", entra],
  ])("the host lets callers in with %s: %s", (_, level, signIn) => {
    const rejecting = (): Promise<never> => Promise.reject(new Error("not called"));
    const routes = [
      ...createApiRoutes(rejecting, { operatorApi: true, signIn }),
      ...createDashboardRoutes(new AppProcess({ tasks: [] }), signIn).filter(
        ({ isStatic }) => !isStatic,
      ),
    ];
    expect(new Set(routes.map(({ authLevel }) => authLevel))).toEqual(new Set([level]));
  });
});

describe("the audit", () => {
  test.each([
    { who: "a header that any caller may write", signIn: keys, headers: operator, actor: "http" },
    {
      who: "the same where the app is set to Entra and the platform isn't",
      signIn: entraSwitchedOff,
      headers: operator,
      actor: "http",
    },
    {
      who: "the platform's name beside a key",
      signIn: keysBehindSignIn,
      headers: operator,
      actor: "http:ada@example.com",
    },
    { who: "an operator", signIn: entra, headers: operator, actor: "http:ada@example.com" },
    {
      who: "a program that has an id only",
      signIn: entra,
      headers: {
        "x-ms-client-principal": principal(["Taskgate.Operator"]),
        "x-ms-client-principal-id": "7-8",
      },
      actor: "http:7-8",
    },
  ])("the audit has $actor for $who", async ({ signIn, headers, actor }) => {
    expect((await call("api-limit", signIn, headers)).status).toBe(200);
    const last = await withClient(api.ownerUrl, (client) =>
      client.query<{ changed_by: string }>(
        "select changed_by from taskgate.setting_audit order by setting_audit_id desc limit 1",
      ),
    );
    expect(last.rows[0]?.changed_by).toBe(actor);
  });
});
