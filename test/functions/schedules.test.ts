import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
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

  test("paused, and resumed with the next instant from now, for which a hint is left", async () => {
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

  test("one is shown; to pause and to resume it is a mistake", async () => {
    const { code, out } = await taskgate("schedule", "orders", "nightly");
    expect([code, out]).toEqual([0, expect.stringContaining("0 2 * * *")]);
    expect((await taskgate("schedule", "orders", "nightly", "--pause", "--resume")).out).toContain(
      "either --pause or --resume",
    );
  });
});
