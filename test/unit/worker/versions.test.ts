/*
 * Goal: payloads of several versions wait, and builds of several versions work, on one real PostgreSQL. An older payload is
 * upgraded, a newer one is left for a newer build.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { realClock, realRandom, sleep } from "../../../shared/platform/real-clock";
import type { TaskStore } from "../../../shared/ports/task-store";
import { openStore } from "../../../shared/store/open-store";
import { TaskClient } from "../../../shared/worker/client/client";
import { completeTasks } from "../../../shared/worker/client/complete-tasks";
import { defineTask } from "../../../shared/worker/define/define-task";
import { createRegistry } from "../../../shared/worker/define/registry";
import type { StandardSchema } from "../../../shared/worker/define/standard-schema";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";
import { taskRef } from "../../../shared/worker/define/task-ref";
import { Heartbeat } from "../../../shared/worker/run/heartbeat";
import { runWorker } from "../../../shared/worker/run/run-worker";
import { registerBuild } from "../../../shared/worker/run/schedules";
import { urlAs } from "../../support/roles";
import { createTestDatabase, withClient } from "../../support/test-postgres";
import { quietEnvironment } from "../../support/quiet-environment";

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let store: TaskStore;
let seen: unknown[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const url = urlAs(database.url, "operator");
  store = openStore({ url, connectionsMax: 4, random: realRandom, sleep });
});
beforeEach(async () => {
  seen = [];
  await withClient(database.url, (client) =>
    client.query(
      "select taskgate.cancel_tasks(array_agg(task_id)) from taskgate.task having count(*) > 0",
    ),
  );
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

/** A build of the app: its worker and its client. */
function buildOf(build: number, kind: AnyTaskKind) {
  const registry = createRegistry([kind]);
  const environment = quietEnvironment(store, { workerName: `build ${String(build)}`, build });
  const heartbeat = new Heartbeat(environment);
  return {
    client: new TaskClient(environment, registry),
    registry,
    register: () => registerBuild(environment, registry),
    work: async (): Promise<unknown[]> => {
      seen = [];
      const worker = { environment, registry, heartbeat, concurrencyPerWorker: 1 };
      const loop = { idleReads: 0, idlePauseMs: 5 };
      const bounds = { deadlineMs: realClock.monotonicMs() + 20_000, marginMs: 500 };
      const { signal } = new AbortController();
      await runWorker({ ...worker, ...loop }, kind.definition.name, { ...bounds, signal });
      return seen;
    },
  };
}

const run = async (payload: unknown): Promise<void> => {
  seen.push(payload);
  await Promise.resolve();
};
/** Takes objects with a text `name`, as a schema library would. */
const named: StandardSchema<{ name: string }, { name: string }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof value === "object" &&
      value !== null &&
      "name" in value &&
      typeof value.name === "string"
        ? { value: { name: value.name } }
        : { issues: [{ message: "expected a text", path: ["name"] }] },
  },
};

const first = defineTask<{ who: string }>({ name: "greet", limit: 1, run });
const second = defineTask<{ first: string }>({
  name: "greet",
  limit: 1,
  version: 2,
  upgrade: { 1: (old: { who: string }) => ({ first: old.who }) },
  run,
});
const third = defineTask({
  name: "greet",
  limit: 1,
  version: 3,
  input: named,
  upgrade: {
    1: (old: { who: string }) => ({ first: old.who }),
    2: (old: { first: string }) => ({ name: old.first }),
  },
  run,
});

/** Kind and state of each task that waits. */
async function tasks() {
  const states = ["ready", "scheduled"] as const;
  const lists = await Promise.all(
    states.map(async (state) => (await store.listTasks({ name: "greet", state, max: 100 })).tasks),
  );
  return lists.flatMap((list, index) => list.map(({ kind }) => `${kind} ${states[index] ?? ""}`));
}

describe("a worker of a newer build", () => {
  test("a worker of a newer build gets payloads of every older version as its handler takes them", async () => {
    await buildOf(1, first).client.enqueue(first, { who: "Ada" });
    await buildOf(2, second).client.enqueue(second, { first: "Bob" });
    const newest = buildOf(3, third);
    await newest.client.enqueue(third, { name: "Cleo" });
    expect(await tasks()).toEqual(["greet ready", "greet@2 ready", "greet@3 ready"]);
    expect(await newest.work()).toEqual([{ name: "Ada" }, { name: "Bob" }, { name: "Cleo" }]);
  });

  test("a worker of a newer build upgrades what SQL enqueues under the plain name, which is version 1", async () => {
    const newest = buildOf(3, third);
    await newest.register();
    await withClient(database.url, (client) =>
      client.query("select taskgate.enqueue_tasks('greet', 0, $1)", [
        JSON.stringify([
          { payload: { who: "Ada" } },
          { kind: "greet@3", payload: { name: "Bob" } },
        ]),
      ]),
    );
    expect(await newest.work()).toEqual([{ name: "Ada" }, { name: "Bob" }]);
  });

  test("a worker of a newer build makes a dead letter of a payload that its schema refuses after the upgrade", async () => {
    const id = (await buildOf(1, first).client.enqueue(first, { who: 7 as unknown as string }))
      .taskId;
    const newest = buildOf(3, third);
    expect(await newest.work()).toEqual([]);
    const { facts } = await store.explainTask({ taskId: id });
    expect(facts?.state).toBe("dead");
    expect(facts?.error).toContain("the payload is invalid: name: expected a text");
  });

  test("a worker of a newer build makes a dead letter of a version whose step is gone, and says so", async () => {
    const id = (await buildOf(1, first).client.enqueue(first, { who: "Ada" })).taskId;
    const forgetful = defineTask<{ name: string }>({
      name: "greet",
      limit: 1,
      version: 3,
      upgrade: { 2: (old: { first: string }) => ({ name: old.first }) },
      run,
    });
    await buildOf(4, forgetful).work();
    const { facts } = await store.explainTask({ taskId: id });
    expect(facts?.state).toBe("dead");
    expect(facts?.error).toContain(
      "version 1 of kind greet has no upgrade in this build, whose version is 3",
    );
  });

  test("a worker of a newer build counts an upgrade that throws as a failed attempt", async () => {
    const id = (await buildOf(1, first).client.enqueue(first, { who: "Ada" })).taskId;
    const broken = defineTask<{ name: string }>({
      name: "greet",
      limit: 1,
      version: 2,
      upgrade: {
        1: () => {
          throw new Error("not today");
        },
      },
      run,
    });
    await buildOf(5, broken).work();
    const { facts } = await store.explainTask({ taskId: id });
    expect(facts).toMatchObject({ state: "scheduled", failedCount: 1 });
    expect(facts?.error).toContain("not today");
  });

  test("a worker of a newer build enqueues a schedule's tasks as its own version", () => {
    const daily = defineTask<{ name: string; scheduledFor?: string }>({
      name: "greet",
      version: 2,
      upgrade: { 1: () => ({ name: "" }) },
      schedule: { cron: "@daily", payload: { name: "Ada" } },
      run,
    });
    expect(daily.schedules.map(({ name, kind }) => [name, kind])).toEqual([["greet", "greet@2"]]);
  });
});

describe("a worker of an older build", () => {
  test("a worker of an older build puts a newer payload back uncounted, runs older ones, and a newer build finishes", async () => {
    const [older, newer] = [buildOf(1, first), buildOf(2, second)];
    await older.client.enqueue(first, { who: "Ada" });
    const { taskId } = await newer.client.enqueue(second, { first: "Bob" });
    expect(await older.work()).toEqual([{ who: "Ada" }]);
    expect(await tasks()).toEqual(["greet@2 scheduled"]);
    const { facts } = await store.explainTask({ taskId });
    expect(facts).toMatchObject({ failedCount: 0 });
    expect(facts?.error).toContain("kind `greet@2` is unknown to build 1");
    await store.rescheduleTasks({ taskIds: [taskId], to: { runInMs: 0 } });
    expect(await newer.work()).toEqual([{ first: "Bob" }]);
  });

  test("a worker of an older build goes on after a rollback with what it knows, and leaves the rest to the next release", async () => {
    const [older, newer] = [buildOf(1, first), buildOf(2, second)];
    await newer.register();
    await newer.client.enqueue(second, { first: "Bob" });
    // Rolled back: the database keeps the newer build's settings.
    await older.register();
    await older.client.enqueue(first, { who: "Ada" });
    expect(await older.work()).toEqual([{ who: "Ada" }]);
    expect(await tasks()).toEqual(["greet@2 scheduled"]);
  });

  test("a worker of an older build gives a newer payload up after as many returns as an unknown kind has", async () => {
    const older = buildOf(1, first);
    const { taskId } = await buildOf(2, second).client.enqueue(second, { first: "Bob" });
    let returns = 0;
    for (; returns < 40; returns += 1) {
      await older.work();
      const { facts } = await store.explainTask({ taskId });
      if (facts?.state === "dead") break;
      await store.rescheduleTasks({ taskIds: [taskId], to: { runInMs: 0 } });
    }
    expect(returns).toBe(20);
  }, 60_000);
});

describe("a caller", () => {
  test("a caller with a reference has its older payload upgraded by an app that knows the kind", async () => {
    const newest = buildOf(3, third);
    const old = taskRef<{ first: string }>({ name: "greet", version: 2 });
    const { taskId } = await newest.client.enqueue(old, { first: "Ada" });
    expect(await tasks()).toEqual(["greet@3 ready"]);
    expect(await newest.work()).toEqual([{ name: "Ada" }]);
    expect(await newest.client.waitFor(old, taskId)).toMatchObject({ state: "done" });
    expect(await newest.client.waitFor(third, taskId)).toMatchObject({ state: "done" });
  });

  test("a caller with a reference to a version that the app doesn't have is refused", async () => {
    const future = taskRef<{ name: string }>({ name: "greet", version: 4 });
    await expect(buildOf(3, third).client.enqueue(future, { name: "Ada" })).rejects.toThrow(
      "kind: expected one of definition greet's kinds, which are greet@3 (greet@4)",
    );
  });

  test("a caller by HTTP or command line has an older payload upgraded, and is told how the current version is named", async () => {
    const { registry } = buildOf(3, third);
    const call = { definition: "greet" };
    const upgraded = await completeTasks(registry, call, [{ payload: '{"who":"Ada"}' }]);
    expect(upgraded).toEqual([{ kind: "greet@3", payload: '{"name":"Ada"}' }]);
    const asIs = [{ kind: "greet@3", payload: '{"name":"Ada"}' }];
    expect(await completeTasks(registry, call, asIs)).toEqual(asIs);
    await expect(completeTasks(registry, call, [{ payload: '{"name":"Ada"}' }])).rejects.toThrow(
      "payload: expected what kind greet@3 (upgraded from greet) takes (name: expected a text)",
    );
  });

  test("a caller by HTTP or command line may write version 1 out; a kind of that very name goes before", async () => {
    const { registry } = buildOf(3, third);
    const given = { kind: "greet@1", payload: '{"who":"Ada"}' };
    const call = { definition: "greet" };
    const upgraded = [{ kind: "greet@3", payload: '{"name":"Ada"}' }];
    expect(await completeTasks(registry, call, [given])).toEqual(upgraded);
    const own = createRegistry([
      first,
      defineTask({ name: "greet@1", queue: first.definition, run }),
    ]);
    expect(await completeTasks(own, call, [given])).toEqual([given]);
    const alone = createRegistry([first]);
    expect(await completeTasks(alone, call, [given])).toEqual([{ ...given, kind: "greet" }]);
    const unknown = [{ ...given, kind: "other@1" }];
    await expect(completeTasks(alone, call, unknown)).rejects.toThrow("(other@1)");
  });

  test("a caller is told the message of an upgrade that throws, without its stack", async () => {
    const broken = defineTask<{ name: string }>({
      name: "greet",
      version: 2,
      upgrade: {
        1: () => {
          throw new TypeError("no such customer");
        },
      },
      run,
    });
    const { registry, client } = buildOf(5, broken);
    const expected =
      "what version 1 of kind greet takes (no such customer). Version 2 is kind greet@2";
    await expect(
      completeTasks(registry, { definition: "greet" }, [{ payload: '{"who":"Ada"}' }]),
    ).rejects.toMatchObject({
      message: `payload: expected ${expected}`,
      details: { problems: [{ field: "payload", value: "an object", expected }] },
    });
    const old = taskRef<{ who: string }>({ name: "greet" });
    await expect(client.enqueue(old, { who: "Ada" })).rejects.toThrow(
      `payload: expected ${expected}`,
    );
  });
});

describe("defineTask", () => {
  const wrong = (version: number, upgrade?: Record<number, unknown>) => () =>
    defineTask({ name: "greet", version, upgrade, run } as never);

  test.each([
    [0, undefined, "version: expected a whole number in 1..20 (0)"],
    [21, {}, "version: expected a whole number in 1..20 (21)"],
    [2, undefined, "upgrade: expected steps from older versions, such as { 1: (old) => .. }"],
    [3, { 1: run }, "upgrade: expected one step for each version up to 2, without a gap (1)"],
    [2, { 2: run }, "upgrade: expected one step for each version up to 1, without a gap (2)"],
    [
      2,
      { 0: run, 1: run },
      "upgrade: expected one step for each version up to 1, without a gap (0, 1)",
    ],
    [2, { x: run }, "upgrade: expected one step for each version up to 1, without a gap (NaN)"],
    [2, { 1: "run" }, "upgrade[1]: expected a function"],
  ])("defineTask refuses version %j with the steps %j", (version, upgrade, says) => {
    expect(wrong(version, upgrade)).toThrow(says);
  });

  test("defineTask takes a later version without any step: then no older payload is left", () => {
    expect(wrong(2, {})).not.toThrow();
  });

  test("defineTask refuses a kind whose name is another kind's older version", () => {
    const clash = defineTask({ name: "greet@2", run });
    expect(() => createRegistry([third, clash])).toThrow(
      "Expected each kind once, got `greet@2` twice",
    );
  });
});
