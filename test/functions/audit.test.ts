import { userInfo } from "node:os";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { createApiRoutes } from "../../shared/functions/api/routes";
import { define, enqueue, startWorker } from "../support/builders";
import { filled } from "../contract/batch-builders";
import { schedule, setAll } from "../contract/schedule-builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: every change of an operator over HTTP or on the command line has an actor in the audit.
let api: ApiSetup;
beforeAll(async () => {
  api = await setupApi();
});
// What comes later isn't stopped.
afterEach(() => api.store.setStop({ isOn: false, changedBy: "somebody else" }));
afterAll(() => api.close());

/** A definition with one of each thing that can be changed. */
async function scene() {
  const { store } = api;
  const name = await define(store);
  await setAll(store, name, [schedule({ name: "nightly" })]);
  const [cancelled, moved, redriven] = await enqueue(store, name, 3);
  await store.cancelTasks({ taskIds: [String(redriven) as never], changedBy: "somebody else" });
  const ended = await filled(store, name, { counts: [1] });
  const halted = await filled(store, name, { counts: [1, 1] });
  await store.pauseDefinition({ name, changedBy: "somebody else" });
  await store.resumeDefinition({ name, changedBy: "somebody else" });
  await store.startBatch({ batchId: halted.batchId, seal: true });
  const worker = await startWorker(store, name, { want: 4 });
  const claimed = await worker.claim(10);
  const dead = claimed.filter(({ taskId }) => halted.tasks[0]?.includes(taskId));
  await worker.fail(dead, { as: "dead" });
  await worker.finish();
  return { name, cancelled, moved, redriven, ended: ended.batchId, halted: halted.batchId };
}

type Scene = Awaited<ReturnType<typeof scene>>;

const reason = "the partner asked";

/** Each route that changes something, and what its entries say. */
const routes: Readonly<
  Record<string, (of: Scene) => { params?: Record<string, string>; body?: object; action: string }>
> = {
  "api-limit": ({ name }) => ({ params: { name }, body: { limit: 2 }, action: "set_limit" }),
  "api-rate": ({ name }) => ({
    params: { name },
    body: { rate: { count: 5, periodMs: 1_000 } },
    action: "set_rate",
  }),
  "api-shared-limit": ({ name }) => ({
    params: { name: `shared-${name}` },
    body: { limit: 2, create: true },
    action: "set_shared_limit",
  }),
  "api-pause": ({ name }) => ({ params: { name }, body: {}, action: "pause_definition" }),
  "api-resume": ({ name }) => ({ params: { name }, body: {}, action: "resume_definition" }),
  "api-enqueue": ({ name }) => ({
    params: { name },
    body: { payload: null },
    action: "enqueue_tasks",
  }),
  "api-owner": ({ name }) => ({
    params: { name },
    body: { app: "billing" },
    action: "set_definition_owner",
  }),
  "api-group": ({ name }) => ({
    params: { name },
    body: { key: "eu", slots: 2 },
    action: "set_group",
  }),
  "api-schedule-pause": ({ name }) => ({
    params: { name },
    body: { schedule: "nightly" },
    action: "set_schedule_paused",
  }),
  "api-schedule-resume": ({ name }) => ({
    params: { name },
    body: { schedule: "nightly" },
    action: "set_schedule_paused",
  }),
  "api-schedule-run": ({ name }) => ({
    params: { name },
    body: { schedule: "nightly" },
    action: "enqueue_tasks",
  }),
  "api-watermark": ({ name }) => ({
    params: { name },
    body: { watermark: "w", value: [1] },
    action: "set_watermark",
  }),
  "api-cancel": ({ cancelled }) => ({ body: { tasks: [cancelled] }, action: "cancel_tasks" }),
  "api-redrive": ({ redriven }) => ({ body: { tasks: [redriven] }, action: "redrive_tasks" }),
  "api-reschedule": ({ moved }) => ({
    body: { tasks: [moved], runInMs: 60_000 },
    action: "reschedule_tasks",
  }),
  "api-batch-resume": ({ halted }) => ({
    params: { id: halted },
    body: {},
    action: "resume_batch",
  }),
  "api-redrive-failures": ({ name }) => ({
    body: { definition: name, kind: name, like: "it broke" },
    action: "redrive_tasks",
  }),
  "api-stop": () => ({ body: {}, action: "pause_definition" }),
  "api-resume-all": () => ({ body: {}, action: "resume_definition" }),
  "api-batch-cancel": ({ ended }) => ({ params: { id: ended }, body: {}, action: "cancel_batch" }),
};

/** Each command that changes something, and what its entry says. */
const commands: readonly (readonly [
  action: string,
  words: (of: Scene) => readonly (string | undefined)[],
])[] = [
  ["set_limit", ({ name }) => ["limit", name, "2"]],
  ["set_rate", ({ name }) => ["rate", name, "5/s"]],
  ["pause_definition", ({ name }) => ["pause", name]],
  ["resume_definition", ({ name }) => ["resume", name]],
  ["enqueue_tasks", ({ name }) => ["enqueue", name]],
  ["set_definition_owner", ({ name }) => ["owner", name, "shipping"]],
  ["set_group", ({ name }) => ["group", name, "eu", "--slots", "2"]],
  ["set_schedule_paused", ({ name }) => ["schedule", name, "nightly", "--pause"]],
  ["enqueue_tasks", ({ name }) => ["schedule", name, "nightly", "--run"]],
  ["set_watermark", ({ name }) => ["watermark", name, "w", "--set", "[1]"]],
  ["redrive_tasks", ({ name }) => ["redrive", name, "--all", "--like", "it broke"]],
  ["pause_definition", () => ["stop", "--all"]],
  ["resume_definition", () => ["resume", "--all"]],
  ["set_stop", () => ["stop", "--all"]],
  ["cancel_tasks", ({ cancelled }) => ["cancel", cancelled]],
  ["redrive_tasks", ({ redriven }) => ["redrive", redriven]],
  ["reschedule_tasks", ({ moved }) => ["reschedule", "10m", moved]],
  ["resume_batch", ({ halted }) => ["batch", halted, "--resume"]],
  ["cancel_batch", ({ ended }) => ["batch", ended, "--cancel"]],
];

const taskgate: ApiSetup["taskgate"] = (...words) => api.taskgate(...words);

/** The newest entry of an action, which must be newer than `since`. */
async function newest(action: string, since: string) {
  const query = { action, since, max: "1" };
  const { body } = await api.call({ route: "api-audit", params: {}, query });
  return (body as { entries: unknown[] }).entries[0];
}

async function now(): Promise<string> {
  return (await api.store.listSchedules({ max: 1 })).now.toISOString();
}

describe("Every change has an actor", () => {
  test("the list of routes here has every route that isn't a GET", () => {
    const changing = createApiRoutes(() => Promise.reject(new Error("asked")))
      .filter(({ methods }) => !methods.includes("GET"))
      .map(({ name }) => name);
    expect(changing.sort()).toEqual(Object.keys(routes).sort());
  });

  test.each(Object.entries(routes))("%s leaves an entry of `http`", async (route, make) => {
    const of = await scene();
    const { params = {}, body = {}, action } = make(of);
    const since = await now();
    const why = action === "enqueue_tasks" ? {} : { reason };
    if (route === "api-resume-all") await api.call({ route: "api-stop", body: {} });
    if (route === "api-resume") await api.call({ route: "api-pause", params, body: {} });
    if (route === "api-schedule-resume")
      await api.call({ route: "api-schedule-pause", params, body });
    const answer = await api.call({ route, params, body: { ...body, ...why } });
    expect(Math.trunc(answer.status / 100)).toBe(2);
    expect(await newest(action, since)).toMatchObject({
      action,
      actor: "http",
      reason: action === "enqueue_tasks" ? null : reason,
    });
  });

  test.each(commands)("%s by its command leaves an entry of the user", async (action, make) => {
    const of = await scene();
    const since = await now();
    if (action === "resume_definition") await taskgate("pause", of.name);
    if (action === "resume_definition") await taskgate("stop", "--all");
    const why = action === "enqueue_tasks" ? [] : ["--reason", reason];
    const words = make(of).map(String);
    const { code, out } = await taskgate(...words, ...why, "--json");
    expect({ code, out }).toMatchObject({ code: 0 });
    expect(await newest(action, since)).toMatchObject({
      action,
      actor: `cli:${userInfo().username}`,
      reason: action === "enqueue_tasks" ? null : reason,
    });
  });

  test("a limit that is taken away is `no limit` over HTTP and on the command line", async () => {
    const { name } = await scene();
    await taskgate("limit", name, "none", "--reason", reason);
    await api.call({ route: "api-limit", params: { name }, body: { limit: "code" } });
    const shared = `shared-${name}`;
    for (const limit of [null, 3])
      await api.call({
        route: "api-shared-limit",
        params: { name: shared },
        body: { limit, create: true },
      });
    const entriesOf = async (object: string, action: string) => {
      const { body } = await api.call({ route: "api-audit", query: { object, action } });
      return (body as { entries: { old: string; new: string }[] }).entries;
    };
    expect(await entriesOf(name, "set_limit")).toMatchObject([
      { old: "no limit", new: null },
      { old: null, new: "no limit" },
    ]);
    expect(await entriesOf(shared, "set_shared_limit")).toMatchObject([
      { old: "no limit", new: "3" },
      { old: null, new: "no limit" },
    ]);
    const { out } = await taskgate("audit", name, "--action", "set_limit");
    expect(out).toContain("limit_override as in code -> no limit");
    expect(out).toContain("limit_override no limit -> as in code");
  });

  test("`taskgate audit` shows entries of an object, and says that the list was cut", async () => {
    const { name, moved = "" } = await scene();
    await taskgate("limit", name, "2", "--reason", reason);
    await taskgate("reschedule", "10m", moved);
    const { code, out } = await taskgate("audit", name, "-n", "2");
    expect(code).toBe(0);
    expect(out).toMatch(/AT +ACTOR +ACTION +OBJECT +CHANGE +REASON/);
    expect(out).toMatch(new RegExp(`reschedule_tasks +${name} +1 task \\(${moved}\\)`));
    expect(out).toMatch(
      new RegExp(`set_limit +${name} +limit_override as in code -> 2 +${reason}`),
    );
    expect(out).toMatch(/more/);
    const byTask = await taskgate("audit", moved, "--since", "1h", "--json");
    expect(JSON.parse(byTask.out)).toMatchObject({
      entries: [{ action: "reschedule_tasks", tasks: [moved], taskCount: 1 }],
      more: false,
    });
    const { halted } = await scene();
    await taskgate("batch", halted, "--cancel", "--reason", reason);
    const ofBatch = await taskgate("audit", "--batch", halted, "--json");
    expect(JSON.parse(ofBatch.out)).toMatchObject({
      entries: [{ action: "cancel_batch", object: `batch ${halted}`, reason }],
      more: false,
    });
    expect((await taskgate("audit", `batch ${halted}`, "--json")).out).toBe(ofBatch.out);
    expect((await taskgate("audit", "no-such-thing")).out).toBe("There are no such entries.");
  });
});
