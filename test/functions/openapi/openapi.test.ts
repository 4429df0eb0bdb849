/*
 * Goal: the document at openapi.json is true. It is valid OpenAPI 3.1, the app takes what the document allows and refuses
 * what it forbids, and every answer is what the document says. Requests are generated from the document's own schemas.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { HttpRequest, InvocationContext } from "@azure/functions";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import Ajv2020 from "ajv/dist/2020";
import type { ValidateFunction } from "ajv/dist/2020";
import type { Problem } from "../../../shared/admin/problem-list";
import { createApiRoutes } from "../../../shared/functions/api/routes";
import { startAzurite } from "../../../shared/local/azurite";
import type { Azurite } from "../../../shared/local/azurite";
import type { HostChild } from "../../../shared/local/host-children";
import { filled } from "../../contract/batch-builders";
import { schedule } from "../../contract/schedule-builders";
import { enqueue, startWorker } from "../../support/builders";
import { Dice } from "../../support/dice";
import { urlAs } from "../../support/roles";
import { isWhole } from "../../support/whole";
import { setupApi } from "../api-setup";
import type { ApiSetup } from "../api-setup";
import { startApp } from "../built-app";
import { brokenBodies, valueOf } from "./generate-values";
import type { Names, Schema } from "./generate-values";

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { name: string; in: "path" | "query" | "header"; schema: Schema }[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  readonly responses: Record<string, { content: Record<string, { schema: Schema }> }>;
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { schemas: Record<string, Schema>; securitySchemes?: object };
  readonly security: readonly object[];
}

/** What a request answered. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const name = "orders";
const names: Names = {
  definition: name,
  schedule: "nightly",
  kind: name,
  watermark: "by-id",
  burst: 1,
};
/** Of each operation; every night more. */
const runs = isWhole ? 20 : 4;

let azurite: Azurite;
let api: ApiSetup;
let host: HostChild;
let document: Document;
let ajv: Ajv2020;
let paths: Record<string, string>;

beforeAll(async () => {
  [azurite, api] = await Promise.all([startAzurite(), setupApi()]);
  paths = await plant();
  host = await startApp(
    {
      TASKGATE_DATABASE_URL: urlAs(api.ownerUrl, "app"),
      AzureWebJobsStorage: azurite.connectionString,
    },
    () => undefined,
  );
  document = (await (await fetch(`${host.url}/api/openapi.json`)).json()) as Document;
  ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat("uuid", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
  ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/);
  ajv.addSchema({ $id: "document", components: closed(document.components) });
}, 180_000);
afterAll(async () => {
  await host.stop();
  await azurite.stop();
  await api.close();
});

/** One thing of each kind, in all states; answers values of path parameters by the function's name. */
async function plant(): Promise<Record<string, string>> {
  const { store } = api;
  await api.register(name, { sharedLimits: [{ name: "partner", limit: 3 }] });
  const schedules = [schedule({ name: "nightly", kind: name })];
  await store.setSchedules({ name, build: 7, changedBy: "the code", schedules });
  const [task = "", ...others] = await enqueue(store, name, 4);
  await enqueue(store, name, [{ group: "eu" }, { runInMs: 600_000 }]);
  const worker = await startWorker(store, name, { want: 2 });
  await worker.fail(await worker.claim(1), { as: "dead" });
  await worker.claim(1);
  await store.cancelTasks({ taskIds: others.slice(-1), changedBy: "somebody" });
  const { batchId } = await filled(store, name, { counts: [1, 1] });
  const watermark = { name, watermark: "by-id", value: '{"last":"1"}', changedBy: "somebody" };
  await store.setWatermark({
    ...watermark,
    operationId: "00000000-0000-4000-8000-000000000001",
  });
  await store.setSharedLimit({
    ...{ name: "partner", limit: 2, changedBy: "somebody" },
    operationId: "00000000-0000-4000-8000-000000000002",
  });
  const ofBatches = ["api-batch", "api-batch-resume", "api-batch-cancel"];
  return {
    ...Object.fromEntries(ofBatches.map((route) => [route, String(batchId)])),
    "api-task": task,
    "api-shared-limit": "partner",
  };
}

/** All operations of the document. */
function operations(): { method: string; path: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
}

/** The same schemas, with objects that take no other members: an answer has nothing that the document doesn't know. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  // A relation names some members of an object that is closed already.
  const members = Object.entries(schema).map(
    ([key, value]) =>
      [key, key === "dependentSchemas" ? (value as unknown) : closed(value)] as const,
  );
  const shut = "properties" in schema ? { additionalProperties: false } : {};
  return { ...Object.fromEntries(members), ...shut };
}

/** Compiles a schema of the document. */
function compile(schema: Schema): ValidateFunction {
  const text = JSON.stringify(closed(schema)).replaceAll('"#/components', '"document#/components');
  return ajv.compile(JSON.parse(text) as object);
}

async function send(
  { method, path, operation }: ReturnType<typeof operations>[number],
  query: Readonly<Record<string, unknown>>,
  body: unknown,
): Promise<Answer> {
  const value = paths[operation.operationId] ?? name;
  const address = new URL(`${host.url}/api${path.replace(/\{\w+\}/, encodeURIComponent(value))}`);
  for (const [key, text] of Object.entries(query)) address.searchParams.append(key, String(text));
  const response = await fetch(address, {
    method: method.toUpperCase(),
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return { status: response.status, body: await response.json() };
}

/** The answer is what the document says of its status. */
function expectDescribed({ responses }: Operation, { status, body }: Answer): void {
  const response = responses[String(status)] ?? responses["default"];
  const [content] = Object.values(response?.content ?? {});
  const validate = compile(content?.schema ?? {});
  validate(body);
  expect(validate.errors ?? []).toEqual([]);
}

async function validateApi(text: string): Promise<{ code: number; out: string }> {
  const folder = mkdtempSync(join(tmpdir(), "openapi-"));
  const file = join(folder, "openapi.json");
  writeFileSync(file, text);
  const home = dirname(require.resolve("@seriousme/openapi-schema-validator/package.json"));
  const program = join(home, "bin/validate-api-cli.js");
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, file]);
    return { code: 0, out: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("The document", () => {
  test("the document is valid OpenAPI 3.1, and a fault in it is found", async () => {
    const text = JSON.stringify(document);
    expect(await validateApi(text)).toMatchObject({ code: 0 });
    const broken = text.replace('"in":"query"', '"in":"nowhere"');
    expect((await validateApi(broken)).code).not.toBe(0);
  });

  test("the document has every route of the API with its method, and no other", () => {
    const routes = createApiRoutes(() => Promise.reject(new Error("asked"))).map(
      ({ methods, route }) => `${String(methods[0])} /${route}`,
    );
    const told = operations().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(told.sort()).toEqual(routes.sort());
  });

  test("the document leaves out operators' routes where the app does, and the key where callers sign in", async () => {
    const routes = createApiRoutes(() => Promise.resolve(api.admin), {
      operatorApi: false,
      signIn: { apiSignIn: "entra", hasPlatformSignIn: true },
    });
    const claims = [{ typ: "roles", val: "Taskgate.Reader" }];
    const principal = JSON.stringify({ auth_typ: "aad", role_typ: "roles", claims });
    const response = await routes
      .find((route) => route.name === "api-openapi")
      ?.handler(
        new HttpRequest({
          method: "GET",
          url: "http://localhost/api/openapi.json",
          headers: { "x-ms-client-principal": Buffer.from(principal).toString("base64") },
        }),
        new InvocationContext({ functionName: "api-openapi", logHandler: () => undefined }),
      );
    const told = response?.jsonBody as Document;
    expect(told.security).toEqual([]);
    expect(told.components.securitySchemes).toBeUndefined();
    expect(document.security).toEqual([{ key: [] }]);
    const changing = Object.entries(told.paths).filter(
      ([, methods]) => !("get" in methods) || Object.keys(methods).length > 1,
    );
    expect(changing.map(([path]) => path)).toEqual([
      "/definitions/{name}/tasks",
      "/definitions/{name}/schedules/run",
    ]);
  });
});

describe("Requests that the document allows", () => {
  test("the requests that the document allows are taken, and answered as it says", async () => {
    const dice = new Dice(1);
    const taken = new Set<string>();
    for (const given of operations()) {
      const { operation } = given;
      const body = operation.requestBody?.content["application/json"]?.schema;
      const validate = compile(body ?? {});
      for (let run = 0; run < runs; run += 1) {
        const query = Object.fromEntries(
          operation.parameters
            .filter((parameter) => parameter.in === "query" && (run === 0 || dice.int(0, 1) === 1))
            // A cursor is what an answer has given.
            .filter((parameter) => parameter.name !== "cursor")
            .map(({ name: key, schema }) => [key, names[key] ?? valueOf(schema, dice, names)]),
        );
        let made: unknown;
        for (let tries = 0; body !== undefined && tries < 100; tries += 1) {
          made = valueOf(body, dice, names);
          if (validate(made)) break;
        }
        const answer = await send(given, query, made);
        const told = JSON.stringify({ query, made, answer }).slice(0, 900);
        expect([operation.operationId, Math.trunc(answer.status / 100), told]).toEqual([
          operation.operationId,
          2,
          told,
        ]);
        expectDescribed(operation, answer);
      }
      taken.add(operation.operationId);
    }
    expect(taken.size).toBe(operations().length);
  }, 120_000);
});

describe("Requests that the document forbids", () => {
  test("the requests that the document forbids are refused as a whole, with the member named", async () => {
    const dice = new Dice(2);
    let refused = 0;
    for (const given of operations()) {
      const { operation } = given;
      const schema = operation.requestBody?.content["application/json"]?.schema;
      if (schema === undefined) continue;
      const validate = compile(schema);
      let good: unknown;
      do good = valueOf(schema, dice, names);
      while (!validate(good));
      for (const { title, member, body } of brokenBodies(schema, good)) {
        if (validate(body)) continue;
        const answer = await send(given, {}, body);
        expectRefused({ ...answer, about: `${operation.operationId}: ${title}`, member });
        expectDescribed(operation, answer);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(200);
  }, 120_000);

  test("the requests that the document forbids are refused for their query, with the parameter named", async () => {
    let refused = 0;
    for (const given of operations()) {
      const known = given.operation.parameters.filter((parameter) => parameter.in === "query");
      const bad: [string, string][] = [["nonsense", "1"]];
      for (const { name: key, schema } of known) {
        const values = ["", "nonsense\u0000", "x".repeat(500), "0", "1001", "1.5"];
        for (const value of values) {
          const read = schema["type"] === "integer" ? Number(value || "x") : value;
          if (!compile(schema)(read)) bad.push([key, value]);
        }
      }
      for (const [key, value] of bad) {
        const answer = await send(given, { [key]: value }, undefined);
        expectRefused({ ...answer, about: `${given.operation.operationId}?${key}`, member: key });
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(60);
  }, 60_000);
});

function expectRefused({
  status,
  body,
  about,
  member,
}: Answer & { about: string; member: string }): void {
  const { problems } = body as { problems: Problem[] };
  expect([about, status]).toEqual([about, 400]);
  const fields = problems.map(({ field }) => field);
  expect([about, fields]).toEqual([
    about,
    expect.arrayContaining([
      expect.stringMatching(new RegExp(`(^|\\.)(${member}|nonsense)(\\[\\d+\\].*)?$`)),
    ]),
  ]);
}
