import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { runCli } from "../../shared/cli/main";
import { done, enqueue, startWorker } from "../support/builders";
import { schedule } from "../contract/schedule-builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { servePage } from "./page-server";
import type { PageServer } from "./page-server";

/*
 * Goal: with --url a command may do what the caller may do by HTTP, and the audit names the caller. Method: the API stands behind a
 * sign-in that turns a bearer token into a principal, as App Service does, or wants a key, as the Functions host does.
 */
let api: ApiSetup;
let signedIn: PageServer;
let keyed: PageServer;

beforeAll(async () => {
  api = await setupApi();
  await api.register("greet");
  await enqueue(api.store, "greet", [{ payload: '{"name":"Ada"}' }, { payload: '{"name":"Bo"}' }]);
  const worker = await startWorker(api.store, "greet");
  const [task] = await worker.claim(1);
  if (task === undefined) throw new Error("no task to end");
  await worker.work({ done: [done(task, { result: '{"text":"Hello"}' })], want: 0 });
  await worker.finish();
  await enqueue(api.store, "greet", [{ payload: null }]);
  const nightly = schedule({ name: "nightly", payload: '{"of":"night"}' });
  await api.store.setSchedules({
    name: "greet",
    build: 7,
    changedBy: "code",
    schedules: [nightly],
  });
  signedIn = await servePage(api.admin, {
    signIn: { apiSignIn: "entra", hasPlatformSignIn: true },
    platform: ({ authorization = "" }) => {
      const roles = /^Bearer as:(.+)$/.exec(authorization)?.[1];
      if (roles === undefined) return 401;
      const claims = roles.split(",").map((val) => ({ typ: "roles", val }));
      const principal = { auth_typ: "aad", role_typ: "roles", claims };
      return {
        "x-ms-client-principal": Buffer.from(JSON.stringify(principal)).toString("base64"),
        "x-ms-client-principal-name": "ada@example.com",
      };
    },
  });
  keyed = await servePage(api.admin, {
    operatorApi: false,
    platform: (headers) => (headers["x-functions-key"] === "k-1" ? {} : 401),
  });
}, 60_000);
afterAll(async () => {
  await signedIn.close();
  await keyed.close();
  await api.close();
});

async function run(server: PageServer, words: readonly string[], secrets: Record<string, string>) {
  const lines: string[] = [];
  const line = (text: string): void => void lines.push(text);
  const code = await runCli({
    words,
    environment: { TASKGATE_URL: new URL(server.url).origin, ...secrets },
    folder: "/nowhere",
    output: { line, error: line, columns: null },
  });
  return { code, out: lines.join("\n") };
}

/** A caller with these app roles. */
const as = (roles: string, ...words: readonly string[]) =>
  run(signedIn, words, { TASKGATE_TOKEN: `as:${roles}` });

describe("a caller that signs in with a token", () => {
  test("an operator with a token changes things in its own name", async () => {
    expect((await as("Taskgate.Operator", "pause", "greet", "--reason", "night")).code).toBe(0);
    expect((await as("Taskgate.Operator", "resume", "greet")).code).toBe(0);
    const { out } = await as("Taskgate.Reader", "audit", "greet", "-n", "2", "--json");
    const { entries } = JSON.parse(out) as { entries: { actor: string; reason: string | null }[] };
    expect(entries.map(({ actor, reason }) => [actor, reason])).toEqual([
      ["http:ada@example.com", null],
      ["http:ada@example.com", "night"],
    ]);
  });

  test("a reader with a token looks at everything, and a change is refused with the wanted role", async () => {
    expect((await as("Taskgate.Reader", "status")).code).toBe(0);
    const refused = await as("Taskgate.Reader", "pause", "greet");
    expect(refused.code).toBe(1);
    expect(refused.out).toContain(
      "This wants the app role Taskgate.Operator; the sign-in has Taskg",
    );
  });

  test("a caller without the role sees the sizes of payload and result in their place", async () => {
    const shown = async (roles: string, id: string) => {
      const { out } = await as(roles, "explain", id, "--json");
      return (JSON.parse(out) as { facts: object }).facts;
    };
    expect(await shown("Taskgate.Reader", "1")).toMatchObject({
      ...{ payload: null, payloadBytes: 14, result: null, resultBytes: 16 },
    });
    for (const role of ["Taskgate.Operator", "Taskgate.Reader,Taskgate.Payloads"]) {
      const facts = await shown(role, "1");
      expect(facts).toMatchObject({ payload: '{"name":"Ada"}', result: '{"text":"Hello"}' });
      expect(facts).not.toHaveProperty("payloadBytes");
    }
    // A task that has none looks the same to all.
    expect(await shown("Taskgate.Reader", "3")).toEqual(await shown("Taskgate.Operator", "3"));
    const schedules = async (roles: string) => (await as(roles, "schedules", "--json")).out;
    expect(await schedules("Taskgate.Reader")).toContain('"payloadBytes": 14');
    expect(await schedules("Taskgate.Operator")).toBe(
      (await api.taskgate("schedules", "--json")).out,
    );
  });

  test("a caller without the role exports nothing, rather than tasks without payloads", async () => {
    const refused = await as("Taskgate.Reader", "export", "greet", "--state", "done");
    expect(refused).toEqual({
      code: 1,
      out: expect.stringContaining("task 1: an export wants the"),
    });
    expect(refused.out).not.toContain('"payload"');
    const whole = await as("Taskgate.Operator", "export", "greet");
    expect(whole).toEqual(await api.taskgate("export", "greet"));
    expect(whole.out).toContain('"payload":{"name":"Ada"},"result":{"text":"Hello"}');
  });

  test("a caller without a role or a token is told of the missing one", async () => {
    expect((await as("Other", "status")).out).toContain("Taskgate.Reader or Taskgate.Operator");
    const { code, out } = await run(signedIn, ["status"], {});
    expect([code, out]).toEqual([1, expect.stringContaining("set TASKGATE_FUNCTION_KEY")]);
  });
});

describe("a caller with a key, of an app whose operator API is off,", () => {
  const withKey = (...words: readonly string[]) =>
    run(keyed, words, { TASKGATE_FUNCTION_KEY: "k-1" });

  test("a caller with a key looks and enqueues, and of a change is told that the app lacks the route", async () => {
    expect((await withKey("tasks", "greet")).code).toBe(0);
    expect((await withKey("enqueue", "greet", "--payload", '{"name":"Cy"}')).code).toBe(0);
    const { code, out } = await withKey("limit", "greet", "1");
    expect(code).toBe(1);
    expect(out).toMatch(/no route `PUT definitions\/greet\/limit`: TASKGATE_OPERATOR_API is off/);
  });

  test("a caller with a wrong key isn't let in", async () => {
    const { code, out } = await run(keyed, ["status"], { TASKGATE_FUNCTION_KEY: "k-2" });
    expect([code, out]).toEqual([1, expect.stringContaining("has no such key")]);
    expect(out).not.toContain("k-2");
  });
});
