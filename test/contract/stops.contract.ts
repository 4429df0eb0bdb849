import { describe, expect, test } from "@jest/globals";
import {
  define,
  enqueue,
  enqueueOne,
  registration,
  startWorker,
  statusOf,
  tryStart,
} from "../support/builders";
import type { TaskStore } from "../../shared/ports/task-store";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { minuteMs, schedule, setAll, theOne } from "./schedule-builders";
import { inDialect } from "./two-dialects";

const stop = { changedBy: "ada", reason: "the partner is down", isStop: true } as const;
const operator = { changedBy: "bob" } as const;

/** What a stop of everything has paused is told apart from an operator's own pauses. */
export function describeStops(setup: StoreSetup): void {
  describe("set_stop", () => {
    describeSetStop(setup);
  });
  describe("list_stopped", () => {
    const open = useStore(setup);
    const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";

    test("list_stopped lists nothing where nothing was stopped", async () => {
      const { store } = open();
      expect(await store.listStopped({ max: 10 })).toEqual({
        stop: null,
        definitions: [],
        schedules: [],
      });
    });

    test("definitions that a stop has paused are listed by name, with actor, reason and time", async () => {
      const { store } = open();
      const second = await define(store, {}, "stop-b");
      const first = await define(store, {}, "stop-a");
      const paused = await define(store, {}, "stop-c");
      await store.pauseDefinition({ name: paused, ...operator });
      await store.pauseDefinition({ name: first, ...stop });
      await store.pauseDefinition({ name: second, ...stop });
      const { definitions } = await store.listStopped({ max: 10 });
      expect(definitions).toEqual(
        [first, second].map((definition) => ({
          definition,
          by: "ada",
          reason: "the partner is down",
          at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        })),
      );
      // Of more than fit those that were registered first.
      expect((await store.listStopped({ max: 1 })).definitions).toMatchObject([
        { definition: second },
      ]);
    });

    test("a stop leaves a definition that is paused already to its operator", async () => {
      const { store } = open();
      const name = await define(store);
      await store.pauseDefinition({ name, ...operator });
      expect((await store.pauseDefinition({ name, ...stop })).status).toBe("exists");
      expect((await store.listStopped({ max: 10 })).definitions).toEqual([]);
    });

    test("a repeated stop changes nothing", async () => {
      const { store } = open();
      const name = await define(store);
      await store.pauseDefinition({ name, ...stop });
      const before = await store.listStopped({ max: 10 });
      await store.pauseDefinition({ name, ...stop, changedBy: "somebody else" });
      expect(await store.listStopped({ max: 10 })).toEqual(before);
    });

    test("a stopped definition starts nothing until it is resumed", async () => {
      const { store } = open();
      const name = await define(store);
      await enqueueOne(store, name);
      await store.pauseDefinition({ name, ...stop });
      expect(await tryStart(store, name)).toBe("paused");
      await store.resumeDefinition({ name, ...operator });
      const worker = await startWorker(store, name);
      expect((await worker.work({ want: 1 })).claimed).toHaveLength(1);
      expect((await store.listStopped({ max: 10 })).definitions).toEqual([]);
    });

    test("an operator's own pause takes the definition out of the stop, and it stays paused", async () => {
      const { store } = open();
      const name = await define(store);
      await store.pauseDefinition({ name, ...stop });
      await store.pauseDefinition({ name, ...operator });
      expect((await store.listStopped({ max: 10 })).definitions).toEqual([]);
      expect((await statusOf(store, name)).paused).toBe(true);
    });

    testWith(setup, "audit")(
      "an operator's own pause of a stopped definition stands in the audit, once",
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store);
        await setAll(store, name, [schedule({ name: "nightly" })]);
        const change = { name, schedule: "nightly", paused: true, nextRunAt: null };
        await store.pauseDefinition({ name, ...stop });
        await store.setSchedulePaused({ ...change, ...stop });
        const own = { ...operator, reason: "for longer" };
        for (let call = 0; call < 2; call += 1) {
          expect(await store.pauseDefinition({ name, ...own })).toMatchObject({ status: "exists" });
          expect((await store.setSchedulePaused({ ...change, ...own })).status).toBe("exists");
        }
        const entries = await opened.readAudit(name);
        const by = { source: "operator", changedBy: "bob", reason: "for longer" };
        expect(entries.filter(({ changedBy }) => changedBy === "bob")).toEqual([
          { setting: "paused", oldValue: "stopped", newValue: "true", ...by },
          {
            setting: "schedule_paused",
            oldValue: "stopped of nightly",
            newValue: "true of nightly",
            ...by,
          },
        ]);
      },
    );

    test("a stop, a resume and a second stop are listed as the second one", async () => {
      const { store } = open();
      const name = await define(store);
      await enqueue(store, name, 1);
      await store.pauseDefinition({ name, ...stop });
      await store.resumeDefinition({ name, ...operator });
      await store.pauseDefinition({ name, ...stop, changedBy: "eve", reason: "again" });
      const { definitions } = await store.listStopped({ max: 10 });
      expect(definitions).toMatchObject([{ definition: name, by: "eve", reason: "again" }]);
    });

    test("schedules that a stop has paused are listed by definition and name", async () => {
      const { store } = open();
      const name = await define(store, {}, "stop-b");
      const other = await define(store, {}, "stop-a");
      const at = { nextRunAt: new Date(Date.now() + 60 * minuteMs) };
      await setAll(store, name, [
        schedule({ name: "nightly", ...at }),
        schedule({ name: "hourly", ...at }),
        schedule({ name: "weekly", ...at }),
      ]);
      const pause = { name, paused: true, nextRunAt: null };
      await store.setSchedulePaused({ ...pause, schedule: "weekly", ...operator });
      await store.setSchedulePaused({ ...pause, schedule: "hourly", ...stop });
      await store.setSchedulePaused({ ...pause, schedule: "nightly", ...stop });
      await store.setSchedulePaused({ ...pause, schedule: "weekly", ...stop });
      await setAll(store, other, [schedule({ name: "yearly", ...at })]);
      await store.setSchedulePaused({ ...pause, name: other, schedule: "yearly", ...stop });
      const { schedules } = await store.listStopped({ max: 10 });
      expect(schedules).toMatchObject([
        { definition: other, name: "yearly" },
        { definition: name, name: "hourly", by: "ada", reason: "the partner is down" },
        { definition: name, name: "nightly", by: "ada", reason: "the partner is down" },
      ]);
      expect((await store.listStopped({ max: 1 })).schedules).toMatchObject([{ name: "nightly" }]);
    });

    test("a resume takes a schedule out of the stop, and so does an operator's own pause", async () => {
      const { store } = open();
      const name = await define(store);
      await setAll(store, name, [schedule({ name: "nightly" })]);
      const change = { name, schedule: "nightly", nextRunAt: null };
      await store.setSchedulePaused({ ...change, paused: true, ...stop });
      await store.setSchedulePaused({ ...change, paused: false, ...operator });
      expect((await store.listStopped({ max: 10 })).schedules).toEqual([]);
      expect((await theOne(store, name)).paused).toBe(false);
      await store.setSchedulePaused({ ...change, paused: true, ...stop });
      await store.setSchedulePaused({ ...change, paused: true, ...operator });
      expect((await store.listStopped({ max: 10 })).schedules).toEqual([]);
      expect((await theOne(store, name)).paused).toBe(true);
    });

    test("a schedule that the code has removed isn't listed", async () => {
      const { store } = open();
      const name = await define(store);
      await setAll(store, name, [schedule({ name: "nightly" })]);
      const pause = { name, schedule: "nightly", paused: true, nextRunAt: null };
      await store.setSchedulePaused({ ...pause, ...stop });
      await setAll(store, name, []);
      expect((await store.listStopped({ max: 10 })).schedules).toEqual([]);
    });

    test("a schedule that the code has removed takes the place of none that is there", async () => {
      const { store } = open();
      const name = await stopTwo(store);
      await setAll(store, name, [schedule({ name: "stays" })]);
      const { schedules } = await store.listStopped({ max: 1 });
      expect(schedules).toMatchObject([{ name: "stays" }]);
    });

    testWith(setup, "raw sql")(
      "a schedule that the code removes leaves no row behind",
      async () => {
        const opened = open();
        const name = await stopTwo(opened.store);
        const rows = "SELECT schedule_id FROM taskgate.stopped_schedule";
        expect(await opened.raw(inDialect(dialect, rows, new Map()))).toHaveLength(2);
        await setAll(opened.store, name, [schedule({ name: "stays" })]);
        expect(await opened.raw(inDialect(dialect, rows, new Map()))).toHaveLength(1);
      },
    );

    testWith(setup, "raw sql")(
      "a row without its schedule, as earlier releases left it, takes no place either",
      async () => {
        const opened = open();
        await stopTwo(opened.store);
        const remove = "DELETE FROM taskgate.schedule WHERE name = 'goes'";
        await opened.raw(inDialect(dialect, remove, new Map()));
        const { schedules } = await opened.store.listStopped({ max: 1 });
        expect(schedules).toMatchObject([{ name: "stays" }]);
      },
    );

    test.each([0, 1_001])("max %p is refused", async (max) => {
      const { store } = open();
      await expectError(store.listStopped({ max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    });
  });
}

/** Two schedules that a stop has paused, of which the code keeps `stays` alone later. */
async function stopTwo(store: TaskStore): Promise<string> {
  const name = await define(store);
  await setAll(store, name, [schedule({ name: "goes" }), schedule({ name: "stays" })]);
  for (const one of ["goes", "stays"]) {
    await store.setSchedulePaused({ name, schedule: one, paused: true, nextRunAt: null, ...stop });
  }
  return name;
}

/** Registrations while a stop of everything is on. */
function describeSetStop(setup: StoreSetup): void {
  const open = useStore(setup);
  const ada = { changedBy: "ada", reason: "the partner is down" };
  const note = () => ({
    by: "ada",
    reason: "the partner is down",
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });

  test("a stop is on from its call to its end, and a repeat changes nothing", async () => {
    const { store } = open();
    expect(await store.setStop({ isOn: true, ...ada })).toEqual({ status: "stopped" });
    expect(await store.setStop({ isOn: true, changedBy: "eve" })).toEqual({ status: "exists" });
    const { stop: noted, definitions } = await store.listStopped({ max: 10 });
    expect([noted, definitions]).toEqual([note(), []]);
    expect(await store.setStop({ isOn: false, ...operator })).toEqual({ status: "resumed" });
    expect(await store.setStop({ isOn: false, ...operator })).toEqual({ status: "exists" });
    expect((await store.listStopped({ max: 10 })).stop).toBeNull();
  });

  test("the audit tells the begin and the end of a stop", async () => {
    const { store } = open();
    await store.setStop({ isOn: true, ...ada });
    await store.setStop({ isOn: false, ...operator });
    const { entries } = await store.listAudit({ action: "set_stop", max: 10 });
    expect(entries).toMatchObject([
      { setting: "stop", definition: null, old: "true", new: "false", actor: "bob", reason: null },
      { setting: "stop", old: "false", new: "true", actor: "ada", reason: "the partner is down" },
    ]);
  });

  test("a definition that is registered while a stop is on is paused from its beginning, as a part of the stop", async () => {
    const { store } = open();
    await store.setStop({ isOn: true, ...ada });
    const name = await define(store);
    await enqueueOne(store, name);
    expect(await tryStart(store, name)).toBe("paused");
    expect((await store.listStopped({ max: 10 })).definitions).toEqual([
      { definition: name, ...note() },
    ]);
    const { entries } = await store.listAudit({ action: "pause_definition", max: 10 });
    expect(entries).toMatchObject([
      { definition: name, setting: "paused", old: "false", new: "true", actor: "ada" },
    ]);
    await store.setStop({ isOn: false, ...operator });
    expect(await tryStart(store, name)).toBe("paused");
    expect((await store.resumeDefinition({ name, ...operator })).status).toBe("resumed");
    expect(await tryStart(store, name)).toBe("started");
  });

  testWith(setup, "audit")(
    "schedules that are made while a stop is on stand paused in the audit in the order in which they were given",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await store.setStop({ isOn: true, ...ada });
      await setAll(
        store,
        name,
        ["b", "c", "a"].map((one) => schedule({ name: one })),
      );
      const paused = (await opened.readAudit(name)).filter(
        ({ setting }) => setting === "schedule_paused",
      );
      expect(paused.map(({ newValue }) => newValue)).toEqual([
        "true of b",
        "true of c",
        "true of a",
      ]);
    },
  );

  test("a new build of a definition that was resumed during a stop leaves it going", async () => {
    const { store } = open();
    await store.setStop({ isOn: true, ...ada });
    const name = await define(store);
    await store.resumeDefinition({ name, ...operator });
    const newer = { name, build: 2, settings: { limit: 7 } };
    expect((await store.registerDefinition(registration(newer))).status).toBe("updated");
    expect(await statusOf(store, name)).toMatchObject({ limit: 7, paused: false });
    expect((await store.listStopped({ max: 10 })).definitions).toEqual([]);
  });

  test("a definition that is registered after the end of a stop isn't paused", async () => {
    const { store } = open();
    await store.setStop({ isOn: true, ...ada });
    await store.setStop({ isOn: false, ...operator });
    const name = await define(store);
    expect((await statusOf(store, name)).paused).toBe(false);
  });

  test("new schedules are paused while a stop is on, and the others stay as they are", async () => {
    const { store } = open();
    const name = await define(store);
    await setAll(store, name, [schedule({ name: "nightly" })]);
    await store.setStop({ isOn: true, ...ada });
    await setAll(store, name, [
      schedule({ name: "nightly", cron: "5 5 * * *" }),
      schedule({ name: "hourly" }),
    ]);
    const { schedules } = await store.listSchedules({ name, max: 10 });
    expect(schedules.map((row) => [row.name, row.paused])).toEqual([
      ["hourly", true],
      ["nightly", false],
    ]);
    expect((await store.listStopped({ max: 10 })).schedules).toEqual([
      { definition: name, name: "hourly", ...note() },
    ]);
    const { entries } = await store.listAudit({ action: "set_schedule_paused", max: 10 });
    expect(entries).toMatchObject([
      { definition: name, object: "hourly", old: "false", new: "true", actor: "ada" },
    ]);
    const resume = { name, schedule: "hourly", paused: false, nextRunAt: null, ...operator };
    expect((await store.setSchedulePaused(resume)).status).toBe("resumed");
    expect((await store.listStopped({ max: 10 })).schedules).toEqual([]);
  });
}
