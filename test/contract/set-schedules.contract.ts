import { describe, expect, test } from "@jest/globals";
import type { NewSchedule } from "../../shared/ports/task-store";
import {
  define,
  enqueueOne,
  operationId,
  registration,
  startWorker,
  uniqueName,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import {
  defineDue,
  fire,
  minuteMs,
  minutesAfter,
  schedule,
  setAll,
  theOne,
} from "./schedule-builders";

/** Schedules: what the code says, what operators change, what people see. */
export function describeSetSchedules(setup: StoreSetup): void {
  describe("set_schedules", () => {
    describeSet(setup);
  });
  describe("set_schedules' input", () => {
    describeSetInput(setup);
  });
  describe("set_schedule_paused", () => {
    describePause(setup);
  });
  describe("list_schedules and sweep", () => {
    describeReads(setup);
  });
  describe("several faults in schedules", () => {
    describeFaults(setup);
  });
  describe("several schedules at once", () => {
    describeChanges(setup);
  });
  describe("a schedule that goes on", () => {
    describeResumed(setup);
  });
  describe("the longest names", () => {
    describeNames(setup);
  });
}

function describeSet(setup: StoreSetup): void {
  const open = useStore(setup);

  test("schedules are created, kept, changed and removed as the code says", async () => {
    const { store } = open();
    const name = await define(store);
    const one = schedule({ name: "one", group: "g", payload: '{"a":1}' });
    const two = schedule({ name: "two", missed: "all" });
    expect(await setAll(store, name, [two, one])).toMatchObject({ status: "set", changed: 2 });
    const { schedules } = await store.listSchedules({ name, max: 10 });
    expect(schedules).toEqual([
      expect.objectContaining({
        definition: name,
        name: "one",
        kind: "a kind",
        cron: "0 2 * * *",
        timeZone: "Europe/Berlin",
        missed: "once",
        paused: false,
        group: "g",
        payload: '{"a":1}',
        runAt: null,
        inMs: null,
        lastRunAt: null,
      }),
      expect.objectContaining({ name: "two", missed: "all", group: null, payload: null }),
    ]);
    expect(await setAll(store, name, [one, two])).toMatchObject({ status: "exists", changed: 0 });
    expect(await setAll(store, name, [two, { ...one, group: null }])).toMatchObject({
      status: "set",
      changed: 1,
    });
    expect(await setAll(store, name, [{ ...one, kind: "other", payload: "{}" }])).toMatchObject({
      status: "set",
      changed: 2,
    });
    expect(await theOne(store, name)).toMatchObject({
      name: "one",
      kind: "other",
      group: "g",
      payload: "{}",
    });
    expect(await setAll(store, name, [])).toMatchObject({ status: "set", changed: 1 });
    expect(await store.listSchedules({ name, max: 10 })).toMatchObject({ schedules: [] });
  });

  test("each field that differs is a change", async () => {
    const { store } = open();
    const name = await define(store);
    const changes: Partial<NewSchedule>[] = [
      {},
      { kind: "A kind" },
      { cron: "0 2 * * 1" },
      { timeZone: "UTC" },
      { missed: "skip" },
      { missed: "all" },
      { payload: "{}" },
      { payload: '{"a":1}' },
      { payload: '{"A":1}' },
      { group: "g" },
      { group: "G" },
      { group: null },
    ];
    const told = [];
    for (const change of changes) {
      const { status } = await setAll(store, name, [schedule(change)]);
      told.push(status);
      expect(await setAll(store, name, [schedule(change)])).toMatchObject({ status: "exists" });
    }
    expect(told).toEqual(changes.map(() => "set"));
  });

  test("the next instant stays while expression and time zone do", async () => {
    const { store } = open();
    const { name, dueAt } = await defineDue(store, 30);
    const later = minutesAfter(dueAt, 600);
    const same = schedule({ nextRunAt: later, payload: '{"new":true}' });
    expect(await setAll(store, name, [same])).toMatchObject({ status: "set" });
    expect((await theOne(store, name)).runAt).toBe(dueAt.toISOString());
    await setAll(store, name, [{ ...same, cron: "5 2 * * *" }]);
    expect((await theOne(store, name)).runAt).toBe(later.toISOString());
    const latest = minutesAfter(later, 1);
    await setAll(store, name, [{ ...same, cron: "5 2 * * *", timeZone: "UTC", nextRunAt: latest }]);
    expect((await theOne(store, name)).runAt).toBe(latest.toISOString());
  });

  test("an older build changes nothing; the same and a newer one do", async () => {
    const { store } = open();
    const name = await define(store);
    await store.registerDefinition(registration({ name, build: 5, settingsHash: "5" }));
    const setBy = (build: number, schedules: readonly NewSchedule[]) =>
      store.setSchedules({ name, build, changedBy: "the code", schedules });
    const outdated = { status: "outdated", changed: 0, nextDueMs: null };
    expect(await setBy(4, [schedule()])).toEqual(outdated);
    expect(await setBy(5, [schedule()])).toMatchObject({ status: "set" });
    expect(await setBy(4, [])).toEqual(outdated);
    expect(await setBy(6, [])).toMatchObject({ status: "set" });
  });

  test("schedules of other definitions stay", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    await setAll(store, one, [schedule()]);
    await setAll(store, two, [schedule()]);
    await setAll(store, two, []);
    expect((await theOne(store, one)).definition).toBe(one);
  });

  testWith(setup, "exact clock")(
    "the nextDueMs of set_schedules tells of the earliest schedule that isn't paused",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const now = await opened.now();
      const list = [5, 3, 9].map((minutes) =>
        schedule({ name: `in ${String(minutes)}`, nextRunAt: minutesAfter(now, minutes) }),
      );
      expect(await setAll(store, name, list)).toMatchObject({ nextDueMs: 3 * minuteMs });
      await store.setSchedulePaused({
        name,
        schedule: "in 3",
        paused: true,
        nextRunAt: null,
        changedBy: "me",
      });
      expect(await setAll(store, name, list)).toMatchObject({ nextDueMs: 5 * minuteMs });
      await opened.advance(6 * minuteMs);
      expect(await setAll(store, name, list)).toMatchObject({ nextDueMs: 0 });
      expect(await setAll(store, name, [])).toMatchObject({ nextDueMs: null });
    },
  );

  testWith(setup, "audit")("each change is written down with its actor", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await setAll(store, name, [schedule({ name: "b" }), schedule({ name: "a" })]);
    await setAll(store, name, [schedule({ name: "b", cron: "1 2 * * *" })]);
    const entries = (await opened.readAudit(name)).filter((entry) => entry.setting === "schedule");
    expect(entries.map(({ oldValue, newValue }) => [oldValue, newValue])).toEqual([
      [null, "0 2 * * * Europe/Berlin of b"],
      [null, "0 2 * * * Europe/Berlin of a"],
      ["0 2 * * * Europe/Berlin of b", "1 2 * * * Europe/Berlin of b"],
      ["0 2 * * * Europe/Berlin of a", null],
    ]);
    expect(entries[0]).toMatchObject({ source: "code", changedBy: "the code" });
  });
}

function describeSetInput(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a bad entry is named with its field, and nothing is written", async () => {
    const { store } = open();
    const name = await define(store);
    const bad: [Partial<NewSchedule>, string][] = [
      [{ name: "" }, "schedules\\[1\\].name"],
      [{ kind: " x" }, "schedules\\[1\\].kind"],
      [{ cron: "" }, "schedules\\[1\\].cron"],
      [{ timeZone: "x".repeat(101) }, "schedules\\[1\\].timeZone"],
      [{ missed: "never" as "all" }, "schedules\\[1\\].missed"],
      [{ payload: "[1]" }, "schedules\\[1\\].payload"],
      [{ payload: "{" }, "schedules\\[1\\].payload"],
      [{ payload: ' {"a":1}' }, "schedules\\[1\\].payload"],
      [{ payload: `{"a":"${"x".repeat(65_470)}"}` }, "schedules\\[1\\].payload"],
      [{ payload: '{"scheduledFor":"x"}' }, "schedules\\[1\\].payload"],
      [{ group: "" }, "schedules\\[1\\].group"],
      [{ nextRunAt: new Date(NaN) }, "schedules\\[1\\].nextRunAt"],
      [{ name: "first" }, "schedules\\[1\\].name: expected each name once \\(first\\)"],
    ];
    for (const [change, field] of bad) {
      const list = [schedule({ name: "first" }), schedule(change)];
      await expectError(setAll(store, name, list), { code: "TASKGATE_ARG_INVALID", field });
    }
    expect(await store.listSchedules({ name, max: 10 })).toMatchObject({ schedules: [] });
  });

  test("the largest payload is taken", async () => {
    const { store } = open();
    const payload = `{"a":"${"x".repeat(65_472 - 8)}"}`;
    const { name, dueAt } = await defineDue(store, -1, { payload });
    expect(await fire(store, name)).toMatchObject({ status: "fired" });
    const worker = await startWorker(store, name);
    const [task] = await worker.claim(1);
    expect(task?.payload).toEqual({
      a: "x".repeat(65_472 - 8),
      scheduledFor: dueAt.toISOString(),
    });
  });

  test("an unknown definition and too many schedules are refused", async () => {
    const { store } = open();
    await expectError(setAll(store, "nobody", []), {
      code: "TASKGATE_ARG_UNKNOWN",
      value: "nobody",
    });
    const name = await define(store);
    const list = Array.from({ length: 101 }, (_, n) => schedule({ name: String(n) }));
    await expectError(setAll(store, name, list), {
      code: "TASKGATE_ARG_TOO_LARGE",
      field: "schedules",
      value: 101,
    });
    expect(await setAll(store, name, list.slice(1))).toMatchObject({ changed: 100 });
  });
}

function describePause(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")(
    "a paused schedule isn't due; resumed in time it goes on where it was",
    async () => {
      const opened = open();
      const { store } = opened;
      const { name, dueAt } = await defineDue(store, 10);
      const change = { name, schedule: "nightly", changedBy: "me" };
      const later = minutesAfter(dueAt, 50);
      const pause = { ...change, paused: true, nextRunAt: null };
      expect(await store.setSchedulePaused(pause)).toEqual({ status: "paused", nextDueMs: null });
      expect(await store.setSchedulePaused(pause)).toEqual({ status: "exists", nextDueMs: null });
      expect(await theOne(store, name)).toMatchObject({ paused: true });
      expect(await store.sweep({ max: 10 })).toMatchObject({ nextDueMs: null, schedules: [] });
      const resume = { ...change, paused: false, nextRunAt: later };
      expect(await store.setSchedulePaused(resume)).toEqual({
        status: "resumed",
        nextDueMs: 10 * minuteMs,
      });
      expect(await store.setSchedulePaused(resume)).toMatchObject({ status: "exists" });
      expect((await theOne(store, name)).runAt).toBe(dueAt.toISOString());
    },
  );

  testWith(setup, "exact clock")(
    "instants that pass while it is paused aren't fired later",
    async () => {
      const opened = open();
      const { store } = opened;
      const { name, dueAt } = await defineDue(store, 10);
      const change = { name, schedule: "nightly", changedBy: "me" };
      await store.setSchedulePaused({ ...change, paused: true, nextRunAt: null });
      await opened.advance(10 * minuteMs);
      expect((await store.sweep({ max: 10 })).schedules).toEqual([]);
      const nextRunAt = minutesAfter(dueAt, 20);
      expect(await store.setSchedulePaused({ ...change, paused: false, nextRunAt })).toEqual({
        status: "resumed",
        nextDueMs: 20 * minuteMs,
      });
      expect(await theOne(store, name)).toMatchObject({
        paused: false,
        runAt: nextRunAt.toISOString(),
        lastRunAt: null,
      });
    },
  );

  test("the code's changes leave a pause alone", async () => {
    const { store } = open();
    const { name } = await defineDue(store, 10);
    const change = { name, schedule: "nightly", changedBy: "me", nextRunAt: null };
    await store.setSchedulePaused({ ...change, paused: true });
    await setAll(store, name, [schedule({ cron: "0 3 * * *", nextRunAt: new Date() })]);
    expect(await theOne(store, name)).toMatchObject({ paused: true, cron: "0 3 * * *" });
  });

  test("set_schedule_paused refuses an unknown schedule", async () => {
    const { store } = open();
    const { name } = await defineDue(store, 10);
    const change = { paused: true, changedBy: "me", nextRunAt: null };
    await expectError(store.setSchedulePaused({ ...change, name, schedule: "Nightly" }), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "schedule",
      value: "Nightly",
    });
    await expectError(store.setSchedulePaused({ ...change, name: "x", schedule: "nightly" }), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
    });
    await expectError(
      store.setSchedulePaused({
        ...change,
        name,
        schedule: "nightly",
        nextRunAt: new Date(NaN),
      }),
      { code: "TASKGATE_ARG_INVALID", field: "nextRunAt" },
    );
  });

  testWith(setup, "audit")(
    "set_schedule_paused writes down the actor that paused a schedule",
    async () => {
      const opened = open();
      const { name } = await defineDue(opened.store, 10);
      const change = { name, schedule: "nightly", changedBy: "me", nextRunAt: null };
      await opened.store.setSchedulePaused({ ...change, paused: true, reason: "too loud" });
      await opened.store.setSchedulePaused({ ...change, paused: false });
      const entries = (await opened.readAudit(name)).slice(-2);
      expect(entries).toEqual([
        {
          setting: "schedule_paused",
          oldValue: "false of nightly",
          newValue: "true of nightly",
          source: "operator",
          changedBy: "me",
          reason: "too loud",
        },
        expect.objectContaining({ oldValue: "true of nightly", newValue: "false of nightly" }),
      ]);
    },
  );
}

function describeReads(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")("sweep lists due schedules, the longest due first", async () => {
    const opened = open();
    const { store } = opened;
    const now = await opened.now();
    const one = await defineDue(store, 1, { missed: "skip" });
    const two = await defineDue(store, 2, { missed: "all", timeZone: "UTC" });
    await defineDue(store, 3);
    expect(await store.sweep({ max: 10 })).toMatchObject({ nextDueMs: minuteMs, schedules: [] });
    await opened.advance(2 * minuteMs);
    const common = { name: "nightly", cron: "0 2 * * *", id: expect.any(Number) };
    const found = [
      {
        ...common,
        definition: one.name,
        timeZone: "Europe/Berlin",
        missed: "skip",
        runAt: minutesAfter(now, 1).toISOString(),
        inMs: -minuteMs,
      },
      {
        ...common,
        definition: two.name,
        timeZone: "UTC",
        missed: "all",
        runAt: minutesAfter(now, 2).toISOString(),
        inMs: 0,
      },
    ];
    expect(await store.sweep({ max: 10 })).toMatchObject({ nextDueMs: 0, schedules: found });
    expect((await store.sweep({ max: 1 })).schedules).toEqual(found.slice(0, 1));
  });

  testWith(setup, "exact clock")("the earlier of schedule and scheduled task is next", async () => {
    const opened = open();
    const { store } = opened;
    const { name } = await defineDue(store, 5);
    const runIn = (runInMs: number) =>
      store.enqueueTasks({
        name,
        build: 1,
        operationId: null,
        tasks: [{ payload: null, runInMs }],
      });
    await runIn(6 * minuteMs);
    expect((await store.sweep({ max: 10 })).nextDueMs).toBe(5 * minuteMs);
    await runIn(4 * minuteMs);
    expect((await store.sweep({ max: 10 })).nextDueMs).toBe(4 * minuteMs);
  });

  testWith(setup, "exact clock")(
    "lists are by definition as registered, then name, and tell the time",
    async () => {
      const opened = open();
      const { store } = opened;
      const one = await define(store, {}, uniqueName("z"));
      const two = await define(store, {}, uniqueName("a"));
      await setAll(store, two, [schedule({ name: "b" }), schedule({ name: "B" })]);
      await setAll(store, one, [schedule({ name: "c" })]);
      const listed = async (input: { name?: string; max: number }) =>
        (await store.listSchedules(input)).schedules.map((row) => [row.definition, row.name]);
      expect(await listed({ max: 10 })).toEqual([
        [one, "c"],
        [two, "B"],
        [two, "b"],
      ]);
      expect(await listed({ max: 2 })).toEqual([
        [one, "c"],
        [two, "B"],
      ]);
      expect(await listed({ name: two, max: 1 })).toEqual([[two, "B"]]);
      expect((await store.listSchedules({ max: 1 })).now).toEqual(await opened.now());
    },
  );

  test("bad input of a list is refused", async () => {
    const { store } = open();
    for (const max of [0, 1_001]) {
      await expectError(store.listSchedules({ max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    }
    await expectError(store.listSchedules({ name: "x", max: 1 }), {
      code: "TASKGATE_ARG_UNKNOWN",
      value: "x",
    });
  });
}

function describeFaults(setup: StoreSetup): void {
  const open = useStore(setup);
  const never = "never" as "all";
  const seldom = "seldom" as "all";

  const lists: readonly [about: string, list: Partial<NewSchedule>[], says: RegExp][] = [
    [
      "of two bad entries the first is told",
      [{ name: "a" }, { name: "b", missed: never }, { name: "c", missed: seldom }],
      /^schedules\[1\]\.missed: .*\(never\)$/,
    ],
    [
      "of an entry's two bad fields the first is told",
      [{ name: "a", missed: never, timeZone: "x".repeat(101) }],
      /^schedules\[0\]\.timeZone: /,
    ],
    [
      "a bad entry is told before a name that is there twice",
      [{ name: "a" }, { name: "a" }, { name: "b", missed: never }],
      /^schedules\[2\]\.missed: .*\(never\)$/,
    ],
    [
      "of two names that are there twice the first is told",
      [{ name: "a" }, { name: "b" }, { name: "b" }, { name: "a" }],
      /^schedules\[2\]\.name: expected each name once \(b\)$/,
    ],
  ];
  for (const [about, list, says] of lists) {
    test(about, async () => {
      const { store } = open();
      const name = await define(store);
      await expect(setAll(store, name, list.map(schedule))).rejects.toMatchObject({
        code: "TASKGATE_ARG_INVALID",
        message: expect.stringMatching(says),
      });
      expect(await store.listSchedules({ name, max: 1 })).toMatchObject({ schedules: [] });
    });
  }

  test("the first of several instants that can't be fired is told", async () => {
    const { store } = open();
    const { name, dueAt } = await defineDue(store, -10);
    for (const [minutes, first] of [
      [[0, -1, 20, 3], -1],
      [[0, 5, 3, 2], 3],
      [[20, 21], 20],
    ] as const) {
      await expectError(fire(store, name, { minutes: [...minutes] }), {
        code: "TASKGATE_ARG_INVALID",
        field: "runAts",
        value: `(${minutesAfter(dueAt, first).toISOString()})`,
      });
    }
    expect(await theOne(store, name)).toMatchObject({ runAt: dueAt.toISOString() });
  });
}

function describeChanges(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "audit")(
    "set_schedules writes down only what changes: changed and new schedules as they are listed, then removed ones by name",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const one = (of: string, minute = 0) =>
        schedule({ name: of, cron: `${String(minute)} 2 * * *` });
      await setAll(
        store,
        name,
        ["d", "c", "b", "a"].map((of) => one(of)),
      );
      const before = (await opened.readAudit(name)).length;
      expect(await setAll(store, name, [one("e"), one("b", 1), one("d")])).toMatchObject({
        status: "set",
        changed: 4,
      });
      const entries = (await opened.readAudit(name)).slice(before);
      const was = (of: string, minute = 0) => `${String(minute)} 2 * * * Europe/Berlin of ${of}`;
      expect(entries.map(({ oldValue, newValue }) => [oldValue, newValue])).toEqual([
        [null, was("e")],
        [was("b"), was("b", 1)],
        [was("a"), null],
        [was("c"), null],
      ]);
    },
  );

  test("ids are given in the order of the list", async () => {
    const { store } = open();
    const name = await define(store);
    await setAll(
      store,
      name,
      ["c", "a", "b"].map((of) => schedule({ name: of })),
    );
    const { schedules } = await store.listSchedules({ name, max: 10 });
    expect([...schedules].sort((a, b) => a.id - b.id).map((row) => row.name)).toEqual([
      "c",
      "a",
      "b",
    ]);
  });
}

function describeResumed(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a schedule that goes on is due at once when its instant has passed, and never when it has none", async () => {
    const { store } = open();
    const { name, dueAt } = await defineDue(store, -10);
    const change = { name, schedule: "nightly", changedBy: "me" };
    const resume = (nextRunAt: Date | null) =>
      store.setSchedulePaused({ ...change, paused: false, nextRunAt });
    const pause = () => store.setSchedulePaused({ ...change, paused: true, nextRunAt: null });
    expect(await resume(null)).toEqual({ status: "exists", nextDueMs: 0 });
    await pause();
    const passed = minutesAfter(dueAt, 5);
    expect(await resume(passed)).toEqual({ status: "resumed", nextDueMs: 0 });
    expect(await theOne(store, name)).toMatchObject({ runAt: passed.toISOString() });
    await pause();
    expect(await resume(null)).toEqual({ status: "resumed", nextDueMs: null });
    expect(await resume(null)).toEqual({ status: "exists", nextDueMs: null });
    expect(await theOne(store, name)).toMatchObject({ runAt: null });
  });
}

function describeNames(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the longest names of a definition, a schedule and a watermark are taken whole", async () => {
    const { store } = open();
    const longest = "n".repeat(200);
    await define(store, {}, longest);
    const { now } = await store.listSchedules({ max: 1 });
    const nextRunAt = minutesAfter(now, 60);
    const list = [schedule({ name: longest, kind: longest, group: longest, nextRunAt })];
    expect(await setAll(store, longest, list)).toMatchObject({ status: "set", changed: 1 });
    expect(await setAll(store, longest, list)).toMatchObject({ status: "exists" });
    const change = { name: longest, schedule: longest, changedBy: longest, nextRunAt: null };
    expect(await store.setSchedulePaused({ ...change, paused: true })).toMatchObject({
      status: "paused",
    });
    expect((await store.listSchedules({ name: longest, max: 10 })).schedules).toMatchObject([
      { definition: longest, name: longest, kind: longest, group: longest, paused: true },
    ]);
    const set = { name: longest, watermark: longest, value: "[]", changedBy: "me" };
    expect(await store.setWatermark({ ...set, operationId: operationId() })).toMatchObject({
      status: "set",
    });
    const { watermarks } = await store.listWatermarks({
      name: longest,
      watermark: longest,
      max: 10,
    });
    expect(watermarks).toMatchObject([{ definition: longest, name: longest }]);
    expect(await enqueueOne(store, longest)).toEqual(expect.any(String));
  });

  test("a watermark's value of 64 KiB is taken, one byte more isn't", async () => {
    const { store } = open();
    const name = await define(store);
    const set = (bytes: number) =>
      store.setWatermark({
        name,
        watermark: "w",
        value: `["${"é".repeat((bytes - 4) / 2)}${"x".repeat(bytes % 2)}"]`,
        changedBy: "me",
        operationId: operationId(),
      });
    expect(await set(65_536)).toMatchObject({ status: "set", version: "1" });
    await expectError(set(65_537), {
      code: "TASKGATE_ARG_TOO_LARGE",
      field: "value",
      value: 65_537,
    });
  });

  test("a watermark of the same length is another one", async () => {
    const { store } = open();
    const name = await define(store);
    for (const watermark of ["one", "two", "One"]) {
      const set = { name, watermark, value: "[]", changedBy: "me" };
      await store.setWatermark({ ...set, operationId: operationId() });
    }
    for (const watermark of ["one", "One"]) {
      const { watermarks } = await store.listWatermarks({ watermark, max: 10 });
      expect(watermarks).toMatchObject([{ name: watermark }]);
    }
  });
}
