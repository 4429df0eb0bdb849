import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createApiRoutes } from "../../shared/functions/api/routes";
import { createAppAdmin } from "../../shared/functions/app-admin";
import type { Admin } from "../../shared/admin/create-admin";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { operatorOperations } from "../../shared/store/missing-right";
import { openStore } from "../../shared/store/open-store";
import { defineTask } from "../../shared/worker/define/define-task";
import { OwnApp } from "../../shared/worker/client/own-app";
import { createRegistry } from "../../shared/worker/define/registry";
import { httpEntries } from "../bad-input/entry-points";
import { urlAs } from "../support/roles";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { openWorkerBench } from "../unit/worker/worker-bench";
import type { WorkerBench } from "../unit/worker/worker-bench";
import { callRoute, newOperationId } from "./api-setup";
import type { ApiRequest, ApiResponse } from "./api-setup";

// Goal: right after a deployment no sweep and no worker has run, and the app's own definitions and schedules are there
// all the same, for every route that names one. Method: each route on a schema without any definition.
const own = defineTask({
  name: "known",
  limit: 2,
  within: [{ name: "partner-api", limit: 6 }],
  schedule: { name: "nightly", cron: "0 2 * * *" },
  run: () => Promise.resolve(),
});
const beside = defineTask({ name: "beside", run: () => Promise.resolve() });

let url: string;
let drop: () => Promise<void>;
let store: TaskStore;
let bench: WorkerBench;
let admin: Admin;

beforeAll(async () => {
  const database = await createTestDatabase();
  url = database.url;
  drop = () => database.drop();
  store = openStore({ url: urlAs(url, "app"), connectionsMax: 3, random: realRandom, sleep });
  bench = openWorkerBench([own, beside], { store, wrap: recording });
  admin = createAppAdmin(bench.environment, createRegistry([own, beside]));
});
afterAll(async () => {
  await store.close();
  await drop();
});
beforeEach(async () => {
  await withClient(url, (client) =>
    client.query("truncate taskgate.task_definition, taskgate.schedule cascade"),
  );
  expect(await admin.definitions()).toEqual([]);
});

/** What the store was asked, by name of the operation. */
const called: string[] = [];
function recording(inner: TaskStore): TaskStore {
  return new Proxy(inner, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...given: unknown[]): unknown => {
        called.push(String(name));
        return Reflect.apply(member, target, given);
      };
    },
  });
}

const call = (request: ApiRequest): Promise<ApiResponse> =>
  callRoute(() => Promise.resolve(admin), request);

/** The routes that name a definition: in the path, in the query, in the body. */
const naming: readonly ApiRequest[] = Object.entries(httpEntries).flatMap(
  ([route, { params, query, body }]): ApiRequest[] => {
    const good = body?.good ?? undefined;
    const isNamed = params.some(({ name }) => name === "name") && route !== "api-shared-limit";
    if (isNamed) return [{ route, params: { name: "known" }, body: good }];
    if (query.some(({ name }) => name === "definition"))
      return [{ route, query: { definition: "known" } }];
    return JSON.stringify(good ?? {}).includes("definition") ? [{ route, body: good }] : [];
  },
);

/** A dead task of the definition `known`, so that there is a failure to redrive. */
async function plantFailure(): Promise<void> {
  await call({ route: "api-definition", params: { name: "known" } });
  await withClient(url, (client) =>
    client.query(`
      insert into taskgate.archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after,
                                    build, outcome, failed_count, lost_count, error)
      select 9000000, d.task_definition_id, d.name, 100, 0, now(), now(), now() + interval '1 day', 1, 11, 1, 0, 'refused'
        from taskgate.task_definition d where d.name = 'known'`),
  );
}

test("the routes that a setting leaves out are those that call what only operators may", async () => {
  const admins = () => Promise.resolve(admin);
  const plain = createApiRoutes(admins, { operatorApi: false }).map(({ name }) => name);
  expect(plain).toContain("api-enqueue");
  const { batchId } = await store.createBatch({
    name: "b",
    waves: 1,
    failurePolicy: "halt",
    operationId: newOperationId(),
  });
  await plantFailure();
  for (const { name: route } of createApiRoutes(admins)) {
    const { params = [], body } = httpEntries[route] ?? {};
    called.length = 0;
    await call({
      route,
      params: Object.fromEntries(
        params.map(({ name }) => [name, name === "id" ? batchId : "known"]),
      ),
      body: body?.good ?? undefined,
    });
    const needs = called.filter((name) => operatorOperations.some((other) => other === name));
    expect([route, needs.length > 0]).toEqual([route, !plain.includes(route)]);
  }
});

describe("an enqueue that no worker would run is refused:", () => {
  test("an enqueue of the app's own task is refused while its definition belongs to another app", async () => {
    const forgetOwners = "truncate taskgate.definition_owner";
    await withClient(url, (client) => client.query(forgetOwners));
    await store.registerApp({ app: "billing", definitions: ["beside"], address: null });
    const { environment } = bench;
    const app = new OwnApp(
      { name: "shipping", definitions: ["known", "beside"], address: null },
      { store, clock: environment.clock },
    );
    const shipping = createAppAdmin({ ...environment, app }, createRegistry([own, beside]));
    const enqueue = (name: string): Promise<ApiResponse> =>
      callRoute(() => Promise.resolve(shipping), {
        route: "api-enqueue",
        params: { name },
        body: { payload: {} },
      });
    expect(await enqueue("beside")).toMatchObject({
      status: 409,
      body: { code: "TASKGATE_ARG_OWNER" },
    });
    expect((await enqueue("known")).status).toBe(201);
    await withClient(url, (client) => client.query(forgetOwners));
  });

  test("an enqueue of the definition that holds the tokens of calls under a limit is refused", async () => {
    const response = await call({
      route: "api-enqueue",
      params: { name: "calls:partner" },
      body: { payload: {} },
    });
    expect(response.status).toBe(400);
    expect(JSON.stringify(response.body)).toContain(
      "definition: expected one that has tasks (calls:partner)",
    );
  });
});

describe("on a schema that no worker and no sweep has seen", () => {
  test("the routes that name a definition are those that the tests below call", () => {
    expect(naming.map(({ route }) => route)).toEqual(
      expect.arrayContaining([
        "api-enqueue",
        "api-limit",
        "api-pause",
        "api-resume",
        "api-schedule-pause",
        "api-redrive",
        "api-schedules",
      ]),
    );
  });

  test.each(naming.map((request) => [request.route, request] as const))(
    "%s of a definition of the app registers what the app has and goes on",
    async (_, request) => {
      const response = await call(request);
      expect({ status: response.status, body: response.body }).toMatchObject({
        status: request.route === "api-enqueue" ? 201 : 200,
      });
    },
  );

  test.each(naming.map((request) => [request.route, request] as const))(
    "%s of another definition stays unknown and registers nothing",
    async (route, request) => {
      // A list that is empty for an idle definition is so for one that isn't there.
      const text = JSON.stringify(request).replaceAll('"known"', '"other"');
      const { status } = await call(JSON.parse(text) as ApiRequest);
      const isList = ["api-groups", "api-schedules", "api-watermarks", "api-redrive"].includes(
        route,
      );
      expect(isList ? [200, 404] : [404]).toContain(status);
      expect(await admin.definitions()).toEqual([]);
    },
  );

  test("an enqueue registers all definitions of the app with their settings, and its schedules", async () => {
    await call({ route: "api-enqueue", params: { name: "known" }, body: { payload: { a: 1 } } });
    const definitions = await admin.definitions();
    expect(definitions.map(({ name, limit }) => [name, limit])).toEqual([
      ["beside", 1],
      ["known", 2],
    ]);
    expect(await admin.schedules({ max: 10 })).toMatchObject([
      { definition: "known", name: "nightly", cron: "0 2 * * *" },
    ]);
    expect(await bench.work("known")).toMatchObject({ status: "worked" });
  });

  test("a limit that the app's definitions share is registered when it is first set", async () => {
    const put = (name: string) =>
      call({ route: "api-shared-limit", params: { name }, body: { limit: 2 } });
    await withClient(url, (client) => client.query("truncate taskgate.shared_limit cascade"));
    expect(await put("partner-ap")).toMatchObject({ status: 404 });
    expect(await admin.definitions()).toEqual([]);
    expect(await put("partner-api")).toMatchObject({
      status: 200,
      body: { status: "set", oldLimit: 6, newLimit: 2, drawnBy: ["known"] },
    });
  });

  test("a schedule of a definition that a worker has registered alone is registered when it is named", async () => {
    await bench.client.enqueue(own, null);
    expect(await admin.schedules({ max: 10 })).toEqual([]);
    const body = { schedule: "nightly" };
    const response = await call({ route: "api-schedule-pause", params: { name: "known" }, body });
    expect(response).toMatchObject({ status: 200, body: { status: "paused" } });
    const missing = { schedule: "hourly" };
    expect(
      await call({ route: "api-schedule-pause", params: { name: "known" }, body: missing }),
    ).toMatchObject({ status: 404 });
  });
});
