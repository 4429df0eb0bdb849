import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { enqueue, startWorker } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: a preview tells what the call then does, changes nothing and leaves no entry in the audit.
let api: ApiSetup;
beforeAll(async () => {
  api = await setupApi();
});
afterAll(() => api.close());

const post = async (route: string, body: object) => (await api.call({ route, body })).body;

/** A task in each state, and an id that no task has. */
async function makeEach(name: string): Promise<Record<string, string>> {
  await api.register(name, { limit: 8 });
  const one = async (task: object = {}): Promise<string> =>
    String((await enqueue(api.store, name, [task]))[0]);
  const [done, dead, claimed] = [await one(), await one(), await one()];
  const worker = await startWorker(api.store, name, { want: 3 });
  const [first, second] = await worker.claim(3);
  if (first === undefined || second === undefined) throw new Error("no task was claimed");
  await worker.complete([first]);
  await worker.fail([second], { as: "dead" });
  const cancelled = await one();
  await api.store.cancelTasks({ taskIds: [cancelled as never], changedBy: "somebody" });
  const held = { group: "g" };
  const [ready, waiting] = [await one(held), await one(held)];
  const scheduled = await one({ runInMs: 3_600_000 });
  return { done, dead, claimed, cancelled, ready, waiting, scheduled, unknown: "999999999" };
}

test.each([
  ["api-cancel", {}],
  ["api-redrive", {}],
  ["api-reschedule", { runInMs: 60_000 }],
])("a preview of %s tells what the call then does", async (route, more) => {
  const name = `of-${route}`;
  const tasks = Object.values(await makeEach(name));
  const query = { object: name, since: new Date(Date.now() - 60_000).toISOString() };
  const entries = async (): Promise<number> => {
    const { body } = await api.call({ route: "api-audit", query });
    return (body as { entries: unknown[] }).entries.length;
  };
  const before = await entries();
  const definition = (await api.admin.definitions(name))[0];
  api.hints.length = 0;
  const dry = await post(route, { tasks, dryRun: true, ...more });
  expect((await api.admin.definitions(name))[0]).toEqual({
    ...definition,
    nextDueMs: expect.any(Number),
  });
  expect(await entries()).toBe(before);
  expect(api.hints).toEqual([]);
  expect(dry).toEqual(await post(route, { tasks, ...more }));
  expect((dry as { tasks: unknown[] }).tasks).toHaveLength(tasks.length);
});

test.each(["api-cancel", "api-redrive", "api-reschedule"])(
  "a preview of %s takes at most 100 ids, and no definition",
  async (route) => {
    const more = route === "api-reschedule" ? { runInMs: 0 } : {};
    const ids = (count: number): string[] =>
      Array.from({ length: count }, (_, at) => String(900_000_000 + at));
    const asked = (count: number): object => ({ tasks: ids(count), dryRun: true, ...more });
    expect(await post(route, asked(100))).toMatchObject({ tasks: { length: 100 } });
    expect(await post(route, asked(101))).toMatchObject({
      status: 400,
      problems: [{ field: "tasks", expected: "at most 100 ids with dryRun" }],
    });
    if (route === "api-redrive")
      expect(await post(route, { definition: "x", dryRun: true })).toMatchObject({
        status: 400,
        problems: [{ field: "dryRun" }],
      });
  },
);
