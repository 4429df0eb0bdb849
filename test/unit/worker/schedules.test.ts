import { describe, expect, test } from "@jest/globals";
import type { JsonObject } from "../../../shared/core/json";
import { InvalidArgumentError } from "../../../shared/core/errors";
import type { HintOptions } from "../../../shared/ports/wake-up";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { TestBench } from "../../../shared/testing";
import { createSeededRandom } from "../../../shared/testing/seeded-random";
import { createRegistry } from "../../../shared/worker/define/registry";
import { register } from "../../../shared/worker/client/register";
import {
  fireSchedules,
  fireDueSchedules,
  registerSchedules,
} from "../../../shared/worker/run/schedules";
import { openWorkerBench } from "./worker-bench";
import { defineQueue } from "../../../shared/worker/define/define-queue";
import { defineTask } from "../../../shared/worker/define/define-task";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";
import type { ScheduleOptions } from "../../../shared/worker/define/kind-schedules";

// Goal: schedules declared with tasks are registered, fired and hinted for; the clock is the test's.
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const run = (): Promise<void> => Promise.resolve();

function kindWith(
  schedule: ScheduleOptions<JsonObject> | ScheduleOptions<JsonObject>[],
  name = "report",
): AnyTaskKind {
  return defineTask<JsonObject>({ name, schedule, run });
}

/** A process over a store whose clock the test moves. */
class Scene {
  nowMs = Date.parse("2026-05-01T08:30:00Z");
  readonly store = new MemoryTaskStore({
    clock: { now: () => this.nowMs },
    random: createSeededRandom(1),
  });
  readonly hints: [string, HintOptions | undefined][] = [];
  readonly lines: string[] = [];

  /** As a build starts: definitions, then schedules. */
  async start(kinds: readonly AnyTaskKind[], build = 1): Promise<void> {
    const registry = createRegistry(kinds);
    const environment = this.environment(build);
    for (const definition of registry.definitions) await register(environment, definition);
    await registerSchedules(environment, registry);
  }

  environment(build = 1) {
    const bench = openWorkerBench([], { store: this.store, build });
    const say = (message: string): void => void this.lines.push(message);
    return {
      ...bench.environment,
      logger: { debug: say, info: say, warn: say, error: say },
      wakeUp: {
        hint: async (name: string, options?: HintOptions) => void this.hints.push([name, options]),
      },
    };
  }

  async sweep(): Promise<void> {
    const { schedules } = await this.store.sweep({ max: 100 });
    await fireSchedules(this.environment(), schedules, Infinity);
  }

  async listed() {
    return (await this.store.listSchedules({ max: 100 })).schedules;
  }

  /** Instants that tasks carry, oldest first. */
  fired(): string[] {
    return [...this.store.inspect().state.tasks.values()].map(
      ({ payload }) => (JSON.parse(payload ?? "{}") as { scheduledFor: string }).scheduledFor,
    );
  }
}

describe("registering", () => {
  test("each schedule is written with its next instant, and a hint is left for it", async () => {
    const scene = new Scene();
    await scene.start([kindWith({ cron: "0 9 * * *", payload: { a: 1 } })]);
    expect(await scene.listed()).toMatchObject([
      {
        definition: "report",
        name: "report",
        kind: "report",
        cron: "0 9 * * *",
        timeZone: "UTC",
        missed: "once",
        runAt: "2026-05-01T09:00:00.000Z",
        payload: '{"a":1}',
        group: null,
      },
    ]);
    expect(scene.hints).toEqual([["report", { inMs: 30 * minuteMs, forSchedule: true }]]);
  });

  test("a second process writes nothing and leaves no hint", async () => {
    const scene = new Scene();
    const kind = kindWith([{ cron: "0 9 * * *" }, { name: "b", cron: "@hourly" }]);
    await scene.start([kind]);
    scene.hints.length = 0;
    const written = scene.store.inspect().state.settingAudit.length;
    await scene.start([kind]);
    expect(scene.hints).toEqual([]);
    expect(scene.store.inspect().state.settingAudit).toHaveLength(written);
  });

  test("a registration removes what the code no longer names; an older build changes nothing", async () => {
    const scene = new Scene();
    await scene.start([kindWith([{ cron: "0 9 * * *" }, { name: "b", cron: "@hourly" }])], 1);
    await scene.start([kindWith({ name: "b", cron: "@daily" })], 2);
    expect(await scene.listed()).toMatchObject([{ name: "b", cron: "@daily" }]);
    await scene.start([kindWith({ cron: "0 9 * * *" })], 1);
    expect(await scene.listed()).toMatchObject([{ name: "b", cron: "@daily" }]);
    await scene.start([defineTask({ name: "report", run })], 2);
    expect(await scene.listed()).toEqual([]);
  });

  test("kinds of one definition have their schedules side by side; groups are computed", async () => {
    const scene = new Scene();
    const definition = defineQueue({ name: "nightly" });
    const one = defineTask({ name: "one", queue: definition, schedule: { cron: "@daily" }, run });
    const two = defineTask<{ customer: string }>({
      name: "two",
      queue: definition,
      groupKey: ({ customer }) => customer,
      schedule: { cron: "@daily", payload: { customer: "c-7" } },
      run,
    });
    await scene.start([one, two]);
    expect(await scene.listed()).toMatchObject([
      { definition: "nightly", name: "one", kind: "one", group: null },
      { definition: "nightly", name: "two", kind: "two", group: "c-7" },
    ]);
  });
});

describe("firing", () => {
  test("the due instant becomes a task, with a hint now and one for the next", async () => {
    const scene = new Scene();
    await scene.start([kindWith({ cron: "0 * * * *" })]);
    scene.hints.length = 0;
    await scene.sweep();
    expect(scene.hints).toEqual([]);
    scene.nowMs += 31 * minuteMs;
    await scene.sweep();
    expect(scene.fired()).toEqual(["2026-05-01T09:00:00.000Z"]);
    expect(scene.hints).toEqual([
      ["report", undefined],
      ["report", { inMs: 59 * minuteMs, forSchedule: true }],
    ]);
    await scene.sweep();
    expect(scene.fired()).toHaveLength(1);
  });

  test.each([
    ["skip", []],
    ["once", ["2026-05-01T12:00:00.000Z"]],
    [
      "all",
      [9, 10, 11, 12].map((hour) => `2026-05-01T${String(hour).padStart(2, "0")}:00:00.000Z`),
    ],
  ] as const)("a schedule fires after an outage: %s", async (missed, expected) => {
    const scene = new Scene();
    await scene.start([kindWith({ cron: "0 * * * *", missed })]);
    scene.nowMs += 4 * hourMs;
    await scene.sweep();
    expect(scene.fired()).toEqual(expected);
    expect(await scene.listed()).toMatchObject([{ runAt: "2026-05-01T13:00:00.000Z" }]);
    expect(scene.lines.some((line) => line.includes("skipped"))).toBe(missed === "skip");
  });

  test("hundreds of missed instants come in slices of 100, in order", async () => {
    const scene = new Scene();
    await scene.start([kindWith({ cron: "* * * * *", missed: "all" })]);
    scene.nowMs += 250 * minuteMs;
    await scene.sweep();
    const fired = scene.fired();
    expect(fired).toHaveLength(250);
    expect([...fired].sort()).toEqual(fired);
    expect(new Set(fired).size).toBe(250);
  });

  test("a schedule that can't be read doesn't keep the others", async () => {
    const scene = new Scene();
    await scene.start([kindWith([{ cron: "0 * * * *" }, { name: "bad", cron: "0 * * * *" }])]);
    scene.store.damage((state) => {
      for (const row of state.schedules.values()) if (row.name === "bad") row.cron = "never";
    });
    scene.nowMs += hourMs;
    await scene.sweep();
    expect(scene.fired()).toHaveLength(1);
    expect(scene.lines).toContain("a schedule could not be fired; the next sweep tries again");
  });

  test("a hint that comes early leaves the next; one in time fires", async () => {
    const scene = new Scene();
    await scene.start([kindWith({ cron: "0 9 * * *" })]);
    scene.hints.length = 0;
    const look = () =>
      fireDueSchedules(scene.environment(), { definition: "report", untilMs: Infinity });
    await look();
    expect(scene.hints).toEqual([["report", { inMs: 30 * minuteMs, forSchedule: true }]]);
    expect(scene.fired()).toEqual([]);
    scene.nowMs += 30 * minuteMs;
    await look();
    expect(scene.fired()).toEqual(["2026-05-01T09:00:00.000Z"]);
  });
});

describe("in a test bench", () => {
  test("time moves, and the handler knows its instant", async () => {
    const seen: unknown[] = [];
    const report = defineTask<{ scheduledFor: string; a: number }>({
      name: "report",
      schedule: { cron: "0 2 * * *", timeZone: "Europe/Berlin", payload: { a: 1 } },
      run: async (payload) => void seen.push(payload),
    });
    const bench = new TestBench([report], { startAt: new Date("2026-03-28T12:00:00Z") });
    await bench.drain();
    bench.advance(24 * hourMs);
    expect(await bench.drain()).toEqual({ ran: 1 });
    // 02:00 doesn't exist on that day.
    expect(seen).toEqual([{ a: 1, scheduledFor: "2026-03-29T01:00:00.000Z" }]);
  });
});

describe("a bad declaration names field and value", () => {
  test.each([
    [{ cron: "every day" }, "schedule.cron: expected five fields"],
    [{ cron: "@daily", timeZone: "Berlin" }, "schedule.timeZone: expected the IANA name"],
    [
      { cron: "@daily", missed: "never" as "all" },
      "schedule.missed: expected skip, once or all (never)",
    ],
    [{ cron: "@daily", name: " x" }, "schedule.name: expected"],
    [
      { cron: "@daily", payload: { scheduledFor: "x" } },
      'schedule.payload.scheduledFor: expected no such member, since each instant adds its own ("x")',
    ],
    [{ cron: "@daily", payload: { scheduledFor: null } }, "schedule.payload.scheduledFor: "],
    [{ cron: "@daily", payload: [1] as never }, "schedule.payload: expected an object"],
    [
      { cron: "@daily", payload: { a: "x".repeat(65_536) } },
      "schedule.payload: expected an object",
    ],
  ])("the declaration %j is refused", (schedule, message) => {
    expect(() => kindWith(schedule)).toThrow(InvalidArgumentError);
    expect(() => kindWith(schedule)).toThrow(message);
  });

  test("a bad declaration of several names its place, and names come once", () => {
    expect(() => kindWith([{ cron: "@daily" }, { cron: "x" }])).toThrow("schedule[1].cron");
    expect(() => createRegistry([kindWith([{ cron: "@daily" }, { cron: "@hourly" }])])).toThrow(
      "Expected each schedule of definition `report` to have a name of its own, got `report` twice",
    );
  });
});
