import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { enqueue, startWorker } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: what an operator sees of cancel, redrive, reschedule and groups, over HTTP and on the command line.
let api: ApiSetup;
beforeAll(async () => {
  api = await setupApi();
  await api.register("orders");
});
afterAll(() => api.close());
beforeEach(() => {
  api.hints.length = 0;
});

const post = (route: string, body: unknown) => api.call({ route, params: {}, body });

const taskgate: ApiSetup["taskgate"] = (...words) => api.taskgate(...words);

/** A dead letter. */
async function deadTask(): Promise<string> {
  const [id] = await enqueue(api.store, "orders", 1);
  const worker = await startWorker(api.store, "orders");
  await worker.fail([await worker.claimOne()], { as: "dead" });
  await worker.finish();
  return String(id);
}

describe("over HTTP", () => {
  test("tasks are cancelled, and told with their outcomes", async () => {
    const [id] = await enqueue(api.store, "orders", 1);
    const body = { tasks: [id, "999999"], reason: "twice" };
    const answer = await post("api-cancel", body);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      tasks: [
        { task: id, outcome: "cancelled", state: null },
        { task: "999999", outcome: "gone", state: "unknown" },
      ],
    });
    const again = await post("api-cancel", body);
    expect(again.body).toMatchObject({ tasks: [{ outcome: "gone", state: "cancelled" }, {}] });
  });

  test("the caller that cancelled a running task, and its reason, are told with the task", async () => {
    const [id] = await enqueue(api.store, "orders", 1);
    const worker = await startWorker(api.store, "orders");
    const task = await worker.claimOne();
    await post("api-cancel", { tasks: [id], reason: "ordered twice" });
    await worker.fail([task], { as: "cancelled", error: "cancelled on request" });
    await worker.finish();
    const { body } = await api.call({ route: "api-task", params: { id: String(id) } });
    expect(body).toMatchObject({
      reasons: expect.arrayContaining([
        expect.objectContaining({
          code: "cancelled",
          sentence: expect.stringMatching(
            /^Cancelled at \S+Z\. `http` asked for it\. Reason: ordered twice\.$/,
          ),
        }),
      ]),
    });
  });

  test("a redrive leaves a hint; by filter, too", async () => {
    const first = await deadTask();
    const second = await deadTask();
    const one = await post("api-redrive", { tasks: [first] });
    expect(one.body).toEqual({ tasks: [{ task: first, outcome: "redriven" }] });
    expect(api.hints).toEqual([{ definition: "orders", inMs: 0 }]);
    const two = await post("api-redrive", { definition: "orders" });
    expect(two.body).toEqual({ tasks: [{ task: second, outcome: "redriven" }] });
    expect((await post("api-redrive", { definition: "order" })).status).toBe(404);
    await post("api-cancel", { tasks: [first, second] });
  });

  test("a reschedule leaves a hint for the new instant", async () => {
    const [id] = await enqueue(api.store, "orders", 1);
    const answer = await post("api-reschedule", { tasks: [id], runInMs: 3_600_000 });
    expect(answer.body).toEqual({ tasks: [{ task: id, outcome: "rescheduled", state: null }] });
    expect(api.hints).toMatchObject([{ definition: "orders" }]);
    expect(api.hints[0]?.inMs).toBeGreaterThan(3_500_000);
    await post("api-cancel", { tasks: [id] });
  });

  test("a group is set and listed; a task that comes in by it leaves a hint", async () => {
    const tasks = await enqueue(api.store, "orders", [{ group: "c-7" }, { group: "c-7" }]);
    const put = await api.call({
      route: "api-group",
      params: { name: "orders" },
      body: { key: "c-7", slots: 2 },
    });
    expect(put.body).toEqual({
      definition: "orders",
      key: "c-7",
      status: "set",
      old: { slots: 1, paused: false, strict: false },
      new: { slots: 2, paused: false, strict: false },
      used: 2,
      waiting: 0,
    });
    expect(api.hints).toEqual([{ definition: "orders", inMs: 0 }]);
    const list = await api.call({ route: "api-groups", query: { key: "c-7" } });
    expect(list.body).toMatchObject({ groups: [{ definition: "orders", slots: 2, used: 2 }] });
    await post("api-cancel", { tasks });
  });
});

describe("shared limits", () => {
  test("a shared limit is set and listed with those that draw from it", async () => {
    await api.register("pick", { sharedLimits: [{ name: "partner", limit: 3 }] });
    const put = { route: "api-shared-limit", params: { name: "partner" }, body: { limit: 2 } };
    expect((await api.call(put)).body).toMatchObject({ status: "set", oldLimit: 3, newLimit: 2 });
    const list = await api.call({ route: "api-shared-limits", query: { name: "partner" } });
    expect(list.body).toEqual({
      more: false,
      cursor: null,
      sharedLimits: [
        {
          name: "partner",
          limit: 2,
          limitSource: "operator",
          codeLimit: 3,
          held: 0,
          definitions: [{ name: "pick", held: 0 }],
          etag: list.headers["etag"],
        },
      ],
    });
    const none = await api.call({ route: "api-shared-limits", query: { name: "nobody" } });
    expect(none.body).toEqual({ sharedLimits: [], more: false, cursor: null });
  });

  test("PUT shared-limits/NAME of a mistyped name is refused with the near one, and makes nothing", async () => {
    await api.register("pack", { sharedLimits: [{ name: "partner-api", limit: 3 }] });
    const typed = { route: "api-shared-limit", params: { name: "partner-ap" }, body: { limit: 1 } };
    const { status, body } = await api.call(typed);
    expect(status).toBe(404);
    expect(body).toMatchObject({
      problems: [
        {
          field: "name",
          value: '"partner-ap"',
          expected: expect.stringMatching(/`create: true`\); did you mean `partner-api`/),
        },
      ],
    });
    const list = await api.call({ route: "api-shared-limits", query: { name: "partner-ap" } });
    expect(list.body).toMatchObject({ sharedLimits: [] });
  });

  test("PUT shared-limits/NAME makes a missing limit with `create`, and tells who draws from it", async () => {
    await api.register("send", { sharedLimits: [{ name: "mailer", limit: 3 }] });
    const put = (name: string, body: object) =>
      api.call({ route: "api-shared-limit", params: { name }, body });
    const made = await put("night-window", { limit: 1, create: true });
    expect(made.body).toMatchObject({ status: "created", newLimit: 1, drawnBy: [] });
    const again = await put("night-window", { limit: 2 });
    expect(again.body).toMatchObject({ status: "set", oldLimit: 1, drawnBy: [] });
    expect((await put("mailer", { limit: 2 })).body).toMatchObject({ drawnBy: ["send"] });
    const { out } = await api.taskgate("limit", "night-window", "3", "--shared");
    expect(out).toBe(
      "The shared limit night-window is 3, it was 2. No definition draws from it yet: it throttles nothing.",
    );
  });
});

describe("watermarks", () => {
  const put = (body: object) =>
    api.call({ route: "api-watermark", params: { name: "orders" }, body });

  test("a watermark over HTTP is set, refused from another version, listed, taken away", async () => {
    const body = { watermark: "by-id", value: { last: "1000" }, version: "0" };
    const change = { definition: "orders", watermark: "by-id" };
    expect((await put(body)).body).toEqual({ ...change, status: "set", old: null, version: "1" });
    const conflict = { ...change, status: "conflict", old: { last: "1000" }, version: "1" };
    expect((await put(body)).body).toEqual(conflict);
    const list = await api.call({ route: "api-watermarks", query: { watermark: "by-id" } });
    expect(list.body).toMatchObject({
      watermarks: [{ definition: "orders", name: "by-id", value: { last: "1000" }, version: "1" }],
    });
    expect((await put({ watermark: "by-id", value: null })).body).toMatchObject({ version: "2" });
    expect((await put({ watermark: "by-id" })).status).toBe(400);
  });

  test("a watermark on the command line is set, listed and taken away", async () => {
    const back = ["watermark", "orders", "daily", "--set", '{"until":"2026-01-01T00:00:00Z"}'];
    expect(await taskgate(...back, "--reason", "late data")).toEqual({
      code: 0,
      out: 'Watermark daily of orders is {"until":"2026-01-01T00:00:00Z"} now, version 1; it was none.',
    });
    expect(
      await taskgate("watermark", "orders", "daily", "--clear", "--from-version", "7"),
    ).toEqual({
      code: 1,
      out: 'Nothing was set: watermark daily of orders is {"until":"2026-01-01T00:00:00Z"}, version 1.',
    });
    const list = await taskgate("watermarks", "orders", "--watermark", "daily");
    expect(list.out).toMatch(/orders\s+daily\s+1\s+.*\{"until":"2026-01-01T00:00:00Z"\}/);
    expect((await taskgate("watermark", "orders", "daily")).out).toMatch(
      /^Watermark daily of orders: \{"until":"2026-01-01T00:00:00Z"\}, version 1, since .*\.$/,
    );
    expect((await taskgate("watermark", "orders", "none")).out).toBe(
      "Watermark none of orders: there is none yet.",
    );
    const cleared = await taskgate("watermark", "orders", "daily", "--clear");
    expect(cleared.out).toMatch(/^Watermark daily of orders is none now, version 2; it was/);
    expect((await taskgate("watermarks", "--watermark", "none")).out).toBe(
      "There are no such watermarks.",
    );
  });
});

describe("on the command line", () => {
  /** Of a definition that no other test takes tasks of. */
  async function newTask(): Promise<readonly string[]> {
    await api.register("told");
    return enqueue(api.store, "told", 1);
  }

  test("cancel tells each outcome in a line and ends with 1 for an unknown task", async () => {
    const ids = await enqueue(api.store, "orders", 2);
    const good = await taskgate("cancel", ...ids, "--reason", "twice");
    expect(good).toEqual({ code: 0, out: `2 tasks are cancelled: ${ids.join(", ")}` });
    const bad = await taskgate("cancel", "999999", ...ids.slice(0, 1));
    expect(bad).toEqual({
      code: 1,
      out: `1 task has ended before: ${ids[0] ?? ""}\n1 task is unknown or was removed: 999999`,
    });
    expect((await taskgate("cancel", ...ids)).code).toBe(0);
  });

  test.each([["cancel"], ["redrive"], ["reschedule", "1h"]])(
    "the command %s tells ids that no task has in the same words, with exit code 3 where there are no others",
    async (...command) => {
      const [id = ""] = await newTask();
      for (const face of [taskgate, api.byUrl]) {
        expect(await face(...command, "999998", "999999")).toMatchObject({
          code: 3,
          out: "2 tasks are unknown or were removed: 999998, 999999",
        });
        const { code, out } = await face(...command, id, "999999");
        expect(code).toBe(1);
        expect(out).toContain("1 task is unknown or was removed: 999999");
      }
    },
  );

  test("reschedule tells a task that has ended apart from one that never was", async () => {
    const [id = ""] = await newTask();
    await taskgate("cancel", id);
    const { code, out } = await taskgate("reschedule", "1h", id);
    expect([code, out]).toEqual([1, `1 task has ended before: ${id}`]);
  });

  test("audit of a mistyped definition or shared limit names the near one", async () => {
    await api.register("audited", { sharedLimits: [{ name: "night-window", limit: 3 }] });
    for (const [typed, meant] of [
      ["auditde", "audited"],
      ["nigth-window", "night-window"],
    ] as const) {
      const { code, out } = await taskgate("audit", typed);
      expect([code, out]).toEqual([0, `There are no such entries. Did you mean \`${meant}\`?`]);
    }
    expect((await taskgate("audit", "customer-17")).out).toBe("There are no such entries.");
  });

  test("redrive takes ids or a definition; --json of ids is the API's answer", async () => {
    const id = await deadTask();
    expect(await taskgate("redrive", id)).toEqual({
      code: 0,
      out: `1 task will run again: ${id}`,
    });
    expect((await taskgate("redrive", id)).code).toBe(1);
    const none = await taskgate("redrive", "orders", "--all", "--json");
    expect(none.code).toBe(0);
    const nothing = { definition: "orders", found: 0, outcomes: {}, isStopped: false };
    expect(JSON.parse(none.out)).toEqual(nothing);
    await post("api-cancel", { tasks: [id] });
  });

  test("reschedule takes now, a time from now or an instant", async () => {
    const [id] = await enqueue(api.store, "orders", 1);
    for (const when of ["1h30m", "2099-01-31T08:30:00Z", "now"]) {
      const answer = await taskgate("reschedule", when, String(id));
      expect(answer).toEqual({ code: 0, out: `1 task is rescheduled: ${String(id)}` });
    }
    await post("api-cancel", { tasks: [id] });
  });

  test("the command group sets, and the command groups shows", async () => {
    const answer = await taskgate("group", "orders", "c-9", "--slots", "3", "--pause", "--strict");
    expect(answer).toEqual({
      code: 0,
      out: "Group c-9 of orders has 3 slots (new), paused, strict: 0 used, 0 tasks wait.",
    });
    const list = await taskgate("groups", "orders", "--key", "c-9");
    expect(list.code).toBe(0);
    expect(list.out).toMatch(/orders\s+c-9\s+3\s+0\s+0\s+paused strict/);
    expect((await taskgate("groups", "--key", "nobody")).out).toBe("There are no such groups.");
  });
});
