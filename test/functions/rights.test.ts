import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createApiRoutes } from "../../shared/functions/api/routes";
import { operatorOperations } from "../../shared/store/missing-right";
import { toSnakeCase } from "../../shared/store/operations/operation";
import type { OperationName } from "../../shared/store/operations";
import type { TaskStore } from "../../shared/ports/task-store";
import { enqueue, operationId, startWorker } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiRequest, ApiSetup } from "./api-setup";

/*
 * Goal: what each route needs of the database. With both roles the app answers 2xx everywhere; with the worker's role
 * only, a route of operators answers 403 and names the right.
 */

interface OperatorRoute {
  readonly operation: OperationName;
  readonly request: (ids: Ids) => ApiRequest;
}

/** Routes that add tasks, as every worker may. */
const adding: readonly string[] = ["api-enqueue", "api-schedule-run"];

/** What the scene has. */
interface Ids {
  readonly ready: string;
  readonly dead: string;
  readonly batch: string;
}

const params = { name: "orders" };
const operatorRoutes: readonly OperatorRoute[] = [
  {
    operation: "setLimit",
    request: () => ({ route: "api-limit", params, body: { limit: 3 } }),
  },
  {
    operation: "setDefinitionOwner",
    request: () => ({ route: "api-owner", params, body: { app: "billing" } }),
  },
  {
    operation: "setRate",
    request: () => ({ route: "api-rate", params, body: { rate: { count: 5, periodMs: 1_000 } } }),
  },
  {
    operation: "setSharedLimit",
    request: () => ({
      route: "api-shared-limit",
      params: { name: "all" },
      body: { limit: 3, create: true },
    }),
  },
  { operation: "pauseDefinition", request: () => ({ route: "api-pause", params, body: {} }) },
  { operation: "resumeDefinition", request: () => ({ route: "api-resume", params, body: {} }) },
  {
    operation: "setGroup",
    request: () => ({ route: "api-group", params, body: { key: "g", slots: 2 } }),
  },
  {
    operation: "setSchedulePaused",
    request: () => ({ route: "api-schedule-pause", params, body: { schedule: "nightly" } }),
  },
  {
    operation: "setSchedulePaused",
    request: () => ({ route: "api-schedule-resume", params, body: { schedule: "nightly" } }),
  },
  {
    operation: "setWatermark",
    request: () => ({ route: "api-watermark", params, body: { watermark: "w", value: [1] } }),
  },
  {
    operation: "rescheduleTasks",
    request: ({ ready }) => ({ route: "api-reschedule", body: { tasks: [ready], runInMs: 1 } }),
  },
  {
    operation: "cancelTasks",
    request: ({ ready }) => ({ route: "api-cancel", body: { tasks: [ready] } }),
  },
  {
    operation: "redriveTasks",
    request: () => ({
      route: "api-redrive-failures",
      body: { definition: "orders", kind: "orders", like: "it broke" },
    }),
  },
  {
    operation: "redriveTasks",
    request: ({ dead }) => ({ route: "api-redrive", body: { tasks: [dead] } }),
  },
  {
    operation: "resumeBatch",
    request: ({ batch }) => ({ route: "api-batch-resume", params: { id: batch }, body: {} }),
  },
  {
    operation: "cancelBatch",
    request: ({ batch }) => ({ route: "api-batch-cancel", params: { id: batch }, body: {} }),
  },
  { operation: "setStop", request: () => ({ route: "api-stop", body: {} }) },
  { operation: "setStop", request: () => ({ route: "api-resume-all", body: {} }) },
];

/** A ready task, a dead one, a batch and a schedule: what workers make. */
async function makeScene(api: ApiSetup): Promise<Ids> {
  const { store } = api;
  await api.register("orders");
  const [dead, ready] = await enqueue(store, "orders", 2);
  const worker = await startWorker(store, "orders");
  await worker.fail([await worker.claimOne()], { as: "dead" });
  await worker.finish();
  const batch = await makeBatch(store);
  const schedule = { name: "nightly", kind: "orders", cron: "@daily", timeZone: "UTC" };
  const more = { missed: "once", payload: null, group: null, nextRunAt: null } as const;
  const schedules = [{ ...schedule, ...more }];
  await store.setSchedules({ name: "orders", build: 7, changedBy: "code", schedules });
  return { ready: String(ready), dead: String(dead), batch };
}

async function makeBatch(store: TaskStore): Promise<string> {
  const input = { operationId: operationId(), name: "import", failurePolicy: "halt" } as const;
  const { batchId } = await store.createBatch({ ...input, waves: 1 });
  return batchId;
}

for (const login of ["app", "worker"] as const) {
  describe(`an app whose login is a member of ${login === "app" ? "both roles" : "taskgate_worker only"}`, () => {
    let api: ApiSetup;
    let ids: Ids;
    const logged = (): unknown[][] => api.logged.splice(0);
    beforeAll(async () => {
      api = await setupApi(login);
      ids = await makeScene(api);
    });
    afterAll(() => api.close());

    test("an app with this login reads and enqueues", async () => {
      const reads = createApiRoutes(() => Promise.resolve(api.admin)).filter(
        ({ methods }) => methods[0] === "GET",
      );
      expect(reads.length).toBeGreaterThan(9);
      for (const { name } of reads) {
        const id = name === "api-batch" ? ids.batch : ids.ready;
        const answer = await api.call({ route: name, params: { ...params, id } });
        expect([name, answer.status]).toEqual([name, 200]);
      }
      const enqueued = await api.call({ route: "api-enqueue", params, body: { payload: {} } });
      expect(enqueued.status).toBeLessThan(300);
      const run = await api.call({ route: "api-schedule-run", params, body: {} });
      expect([run.status, run.body]).toEqual([200, expect.anything()]);
    });

    for (const { operation, request } of operatorRoutes) {
      const { route } = request({ ready: "1", dead: "1", batch: "1" });
      test(`${route} answers ${login === "app" ? "2xx" : "403, naming the right"}`, async () => {
        const answer = await api.call(request(ids));
        if (login === "app") {
          expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
          return;
        }
        expect(answer).toMatchObject({
          status: 403,
          contentType: "application/problem+json",
          body: {
            type: "urn:taskgate:error:TASKGATE_STORE_FORBIDDEN",
            title: "The app's login lacks a right in the database",
            detail: `The database refuses this to the login (permission denied for function ${toSnakeCase(operation)}). Only operators may do that: as owner of the schema run \`grant taskgate_operator to LOGIN\`.`,
          },
        });
        // The app's administrator reads it, too.
        expect(logged()).toHaveLength(1);
      });
    }
  });
}

/** Operations that the admin's code calls. */
const adminFolder = join(__dirname, "../../shared/admin");
const adminCalls = new Set(
  readdirSync(adminFolder).flatMap((file) =>
    [...readFileSync(join(adminFolder, file), "utf8").matchAll(/\bstore\.(\w+)\(/g)].map(
      ([, name = ""]) => name,
    ),
  ),
);

test("every operation of operators that people call over HTTP has its route here", () => {
  const writing = createApiRoutes(() => Promise.reject(new Error("not called")))
    .filter(({ methods, name }) => methods[0] !== "GET" && !adding.includes(name))
    .map(({ name }) => name);
  const tried = operatorRoutes.map(({ request }) => request({ ready: "", dead: "", batch: "" }));
  expect(tried.map(({ route }) => route).sort()).toEqual(writing.sort());
  const called = new Set(operatorRoutes.map(({ operation }) => operation));
  // People check invariants on the command line only; what isn't called by the admin has no route.
  const others = operatorOperations.filter(
    (operation) => operation !== "checkInvariants" && adminCalls.has(operation),
  );
  expect(others.length).toBeGreaterThan(10);
  expect([...called].sort()).toEqual([...others].sort());
});
