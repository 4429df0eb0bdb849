import { describe, expect, test } from "@jest/globals";
import type { NewSchedule } from "../../shared/ports/schedules";
import { define, enqueueOne, operationId } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { defineDue, fire, minutesAfter, schedule, setAll, theOne } from "./schedule-builders";

/** Schedules and watermarks at their limits: which fault is told, what is written down, the longest names. */
export function describeScheduleEdges(setup: StoreSetup): void {
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
      expect(await store.listSchedules({ name, most: 1 })).toMatchObject({ schedules: [] });
    });
  }

  test("of several instants that can't be fired the first is told", async () => {
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
    "only what changes is written down: changed ones and new ones as they are listed, then removed ones by name",
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
    const { schedules } = await store.listSchedules({ name, most: 10 });
    expect([...schedules].sort((a, b) => a.id - b.id).map((row) => row.name)).toEqual([
      "c",
      "a",
      "b",
    ]);
  });
}

function describeResumed(setup: StoreSetup): void {
  const open = useStore(setup);

  test("is due at once when its instant has passed, and never when it has none", async () => {
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

  test("of a definition, a schedule and a watermark are taken whole", async () => {
    const { store } = open();
    const longest = "n".repeat(200);
    await define(store, {}, longest);
    const { now } = await store.listSchedules({ most: 1 });
    const nextRunAt = minutesAfter(now, 60);
    const list = [schedule({ name: longest, kind: longest, group: longest, nextRunAt })];
    expect(await setAll(store, longest, list)).toMatchObject({ status: "set", changed: 1 });
    expect(await setAll(store, longest, list)).toMatchObject({ status: "exists" });
    const change = { name: longest, schedule: longest, changedBy: longest, nextRunAt: null };
    expect(await store.setSchedulePaused({ ...change, paused: true })).toMatchObject({
      status: "paused",
    });
    expect((await store.listSchedules({ name: longest, most: 10 })).schedules).toMatchObject([
      { definition: longest, name: longest, kind: longest, group: longest, paused: true },
    ]);
    const set = { name: longest, watermark: longest, value: "[]", changedBy: "me" };
    expect(await store.setWatermark({ ...set, operationId: operationId() })).toMatchObject({
      status: "set",
    });
    const { watermarks } = await store.listWatermarks({
      name: longest,
      watermark: longest,
      most: 10,
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
      const { watermarks } = await store.listWatermarks({ watermark, most: 10 });
      expect(watermarks).toMatchObject([{ name: watermark }]);
    }
  });
}
