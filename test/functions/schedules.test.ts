import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { NewSchedule } from "../../shared/store/operations/schedules";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: what an operator sees and does of schedules, over HTTP and on the command line.
let api: ApiSetup;
beforeAll(async () => {
  api = await setupApi();
  await api.register("orders");
  await api.store.setSchedules({
    name: "orders",
    build: 7,
    changedBy: "code",
    schedules: [
      {
        name: "nightly",
        kind: "orders",
        cron: "0 2 * * *",
        timeZone: "Europe/Berlin",
        missed: "once",
        payload: null,
        group: null,
        nextRunAt: new Date("2020-01-01T01:00:00Z"),
      },
    ],
  });
});
afterAll(() => api.close());
beforeEach(() => {
  api.hints.length = 0;
});

const taskgate: ApiSetup["taskgate"] = (...words) => api.taskgate(...words);

const post = (route: string, body: unknown, name = "orders") =>
  api.call({ route, params: { name }, body });

describe("over HTTP", () => {
  test("schedules are listed", async () => {
    const all = await api.call({ route: "api-schedules", query: { definition: "orders" } });
    expect(all.status).toBe(200);
    expect(all.body).toMatchObject({
      schedules: [
        {
          id: expect.stringMatching(/^\d+$/),
          definition: "orders",
          name: "nightly",
          cron: "0 2 * * *",
          timeZone: "Europe/Berlin",
          missed: "once",
          paused: false,
          runAt: "2020-01-01T01:00:00.000Z",
        },
      ],
    });
    const unknown = await api.call({ route: "api-schedules", query: { definition: "order" } });
    expect(unknown.status).toBe(404);
  });

  test("a schedule is paused over HTTP, and resumed with the next instant from now, for which a hint is left", async () => {
    const body = { schedule: "nightly", reason: "too loud" };
    const paused = await post("api-schedule-pause", body);
    expect(paused.body).toEqual({
      definition: "orders",
      schedule: "nightly",
      status: "paused",
      nextDueMs: null,
    });
    expect((await post("api-schedule-pause", body)).body).toMatchObject({ status: "exists" });
    expect(api.hints).toEqual([]);
    const resumed = await post("api-schedule-resume", { schedule: "nightly" });
    expect(resumed.body).toMatchObject({ status: "resumed", nextDueMs: expect.any(Number) });
    const { nextDueMs } = resumed.body as { nextDueMs: number };
    expect(nextDueMs).toBeLessThanOrEqual(25 * 3_600_000);
    expect(api.hints).toEqual([{ definition: "orders", inMs: nextDueMs }]);
  });

  test("an unknown one is refused with those that there are", async () => {
    const unknown = await post("api-schedule-pause", { schedule: "nightli" });
    expect(unknown.status).toBe(404);
    expect(JSON.stringify(unknown.body)).toContain("`nightly`");
    expect((await post("api-schedule-pause", { schedule: "nightly" }, "order")).status).toBe(404);
  });
});

describe("on the command line", () => {
  test("schedules are listed, paused and resumed", async () => {
    const { out } = await taskgate("schedules");
    expect(out).toContain("nightly");
    expect(out).toContain("Europe/Berlin");
    expect(await taskgate("schedule", "orders", "nightly", "--pause")).toEqual({
      code: 0,
      out: "Schedule nightly of orders is paused.",
    });
    expect((await taskgate("schedules", "orders")).out).toContain("paused");
    expect((await taskgate("schedule", "orders", "nightly", "--pause")).out).toContain("already");
    const resumed = await taskgate("schedule", "orders", "nightly", "--resume");
    expect(resumed.out).toMatch(/^Schedule nightly of orders goes on: next in /);
    const listed = JSON.parse((await taskgate("schedules", "--json")).out) as object;
    expect(listed).toMatchObject({ schedules: [{ name: "nightly", paused: false }] });
  });

  test("the command shows one schedule; to pause and to resume it is a mistake", async () => {
    const { code, out } = await taskgate("schedule", "orders", "nightly");
    expect([code, out]).toEqual([0, expect.stringContaining("0 2 * * *")]);
    expect((await taskgate("schedule", "orders", "nightly", "--pause", "--resume")).out).toContain(
      "either --pause or --resume",
    );
  });
});

describe("a run out of turn", () => {
  const scheduleNow = async () => (await api.admin.schedule({ definition: "reports" })) as object;
  const taskOf = async (body: unknown) => {
    const { task } = body as { task: TaskId };
    return (await api.admin.explain(task)).facts;
  };
  const hourly = {
    name: "hourly",
    kind: "mail",
    cron: "0 * * * *",
    timeZone: "UTC",
    missed: "once",
    payload: '{"region":"north"}',
    group: "eu",
    nextRunAt: new Date("2090-01-01T00:00:00Z"),
  } as const;
  const setAll = (schedules: readonly NewSchedule[]) =>
    api.store.setSchedules({ name: "reports", build: 7, changedBy: "code", schedules });
  beforeAll(async () => {
    await api.register("reports");
    await setAll([hourly]);
  });

  test("a run out of turn adds the task that an instant would, leaves a hint, and moves nothing", async () => {
    const before = await scheduleNow();
    const run = await post("api-schedule-run", { schedule: "hourly" }, "reports");
    expect(run).toMatchObject({ status: 200, body: { definition: "reports", schedule: "hourly" } });
    const facts = await taskOf(run.body);
    expect(facts).toMatchObject({ kind: "mail", priority: 100, group: { key: "eu" } });
    const { scheduledFor, ...payload } = JSON.parse(facts?.payload ?? "{}") as Record<
      string,
      string
    >;
    expect(payload).toEqual({ region: "north" });
    expect(Math.abs(Date.now() - Date.parse(scheduledFor ?? ""))).toBeLessThan(60_000);
    expect(api.hints).toEqual([{ definition: "reports", inMs: expect.any(Number) }]);
    expect(await scheduleNow()).toEqual({ ...before, inMs: expect.any(Number) });
  });

  test("a run out of turn adds nothing for a repeat with its operation id, and has the instant that is asked for", async () => {
    const body = {
      scheduledFor: "2030-01-31T08:30:00+01:00",
      operationId: "3f1c5b7e-7b0e-4c0a-9a52-5a1f0f7f2d11",
    };
    const first = await post("api-schedule-run", body, "reports");
    expect((await post("api-schedule-run", body, "reports")).body).toMatchObject({
      task: (first.body as { task: string }).task,
    });
    expect((await taskOf(first.body))?.payload).toBe(
      '{"region":"north","scheduledFor":"2030-01-31T07:30:00.000Z"}',
    );
  });

  test("a run out of turn works by command during a pause, for the only schedule without its name", async () => {
    await taskgate("schedule", "reports", "--pause");
    const { code, out } = await taskgate("schedule", "reports", "--run");
    expect(code).toBe(0);
    expect(out).toMatch(/^Task \d+ was added to reports, as schedule hourly would\./);
    const json = await taskgate("schedule", "orders", "nightly", "--run", "--json");
    expect((await taskOf(JSON.parse(json.out)))?.payload).toMatch(/^\{"scheduledFor":"[^"]+"\}$/);
    expect((await taskgate("schedule", "reports")).out).toContain("paused");
    await taskgate("schedule", "reports", "hourly", "--resume");
  });

  test("a run out of turn has its reason in the audit, by HTTP and by command; a longer one is refused", async () => {
    const auditOf = async (task: string) =>
      (await api.admin.audit({ object: task, max: 5 })).map(({ action, reason }) => [
        action,
        reason,
      ]);
    const { body } = await post("api-schedule-run", { reason: "asked by Ada" }, "reports");
    expect(await auditOf((body as { task: string }).task)).toEqual([
      ["enqueue_tasks", "asked by Ada"],
    ]);
    const words = ["schedule", "reports", "--run", "--json"];
    const { out } = await taskgate(...words, "--reason", "missed on Sunday");
    expect(await auditOf((JSON.parse(out) as { task: string }).task)).toEqual([
      ["enqueue_tasks", "missed on Sunday"],
    ]);
    const refused = await taskgate(...words, "--reason", "x".repeat(401));
    expect([refused.code, refused.out]).toEqual([2, expect.stringContaining("reason")]);
    expect((await post("api-schedule-run", { reason: "" }, "reports")).status).toBe(400);
  });

  test("a run out of turn of several schedules must name one", async () => {
    await setAll([hourly, { ...hourly, name: "daily" }]);
    const { code, out } = await taskgate("schedule", "reports", "--run");
    expect(code).toBe(2);
    expect(out).toContain("schedule: got nothing, expected the name of one of the definition's");
    expect((await post("api-schedule-run", {}, "reports")).status).toBe(400);
  });
});
