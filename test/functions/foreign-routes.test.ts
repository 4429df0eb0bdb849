import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openLimitedApp } from "./limited-app";
import type { LimitedApp } from "./limited-app";

/*
 * Goal: in an app whose platform signs callers in, and lets the others through (`AllowAnonymous`), Taskgate guards its own routes and no other.
 * Method: a route of the app's own beside the API, in the local host; what the platform writes into requests is written here.
 */
let app: LimitedApp;
beforeAll(async () => {
  app = await openLimitedApp(
    `app.http("hello", { route: "hello", authLevel: "anonymous", handler: async (request) => ({
      body: "hello " + (request.headers.get("x-ms-client-principal-name") ?? "stranger"),
    }) });`,
    "base64",
    { register: '{ api: { prefix: "taskgate" } }' },
  );
}, 180_000);
afterAll(() => app.close());

const claims = [{ typ: "roles", val: "Taskgate.Reader" }];
const principal = { auth_typ: "aad", name_typ: "name", role_typ: "roles", claims };
const reader = {
  "x-ms-client-principal": Buffer.from(JSON.stringify(principal)).toString("base64"),
  "x-ms-client-principal-name": "ada",
};

test("the app's own route answers strangers as before, and the API wants a role", async () => {
  const settings = { TASKGATE_API_SIGN_IN: "entra", WEBSITE_AUTH_ENABLED: "true" };
  const host = await app.start(settings);
  const ask = async (route: string, headers = {}): Promise<[number, string]> => {
    const response = await fetch(`${host.url}/api/${route}`, { headers });
    return [response.status, await response.text()];
  };
  expect(await ask("hello")).toEqual([200, "hello stranger"]);
  expect(await ask("hello", reader)).toEqual([200, "hello ada"]);
  expect((await ask("taskgate/status"))[0]).toBe(401);
  expect((await ask("taskgate/status", reader))[0]).toBe(200);
}, 60_000);
