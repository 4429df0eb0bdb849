import type { NewSchedule } from "../../../shared/ports/task-store";
import { define } from "../../support/builders";
import type { Scenario, Scene } from "./scenario";

const each = [1, 10, 100] as const;

/** So many schedules of one definition, all due. */
async function dueSchedules({ store, name, batch }: Scene): Promise<NewSchedule[]> {
  await define(store, { limit: null }, name);
  const schedules = some(batch, name);
  await store.setSchedules({ name, build: 1, changedBy: "code", schedules });
  return schedules;
}

/** With names of one length. */
function some(count: number, kind: string): NewSchedule[] {
  return Array.from({ length: count }, (_, n) =>
    newSchedule(`s ${String(n).padStart(3, "0")}`, kind),
  );
}

function newSchedule(schedule: string, kind: string): NewSchedule {
  const rest = { cron: "* * * * *", timeZone: "UTC", payload: null, group: null };
  const nextRunAt = new Date("2020-01-01T00:00:00Z");
  return { name: schedule, kind, missed: "once", nextRunAt, ...rest };
}

/** What deployments, sweepers and operators do with schedules. */
export const scheduling: readonly Scenario[] = [
  {
    operation: "setSchedules",
    what: "so many, nothing to be done",
    batches: each,
    prepare: async (scene) => {
      const schedules = await dueSchedules(scene);
      const { name } = scene;
      return () => scene.store.setSchedules({ name, build: 1, changedBy: "code", schedules });
    },
  },
  {
    operation: "setSchedules",
    what: "so many new ones",
    batches: each,
    prepare: async (scene) => {
      const { store, name, batch } = scene;
      await define(store, { limit: null }, name);
      return () =>
        store.setSchedules({ name, build: 1, changedBy: "code", schedules: some(batch, name) });
    },
  },
  {
    operation: "fireSchedule",
    what: "so many instants of one",
    batches: each,
    prepare: async (scene) => {
      await dueSchedules(scene);
      const firstMs = Date.UTC(2020, 0, 1);
      const runAts = Array.from({ length: scene.batch }, (_, n) => new Date(firstMs + n * 60_000));
      const nextRunAt = new Date("2099-01-01T00:00:00Z");
      return () =>
        scene.store.fireSchedule({
          scheduleId: 1,
          expectedRunAt: new Date(firstMs),
          runAts,
          nextRunAt,
        });
    },
  },
  {
    operation: "setSchedulePaused",
    what: "one of so many",
    batches: each,
    prepare: async (scene) => {
      await dueSchedules(scene);
      const { name } = scene;
      const change = { schedule: "s 000", paused: true, nextRunAt: null, changedBy: "operator" };
      return () => scene.store.setSchedulePaused({ name, ...change });
    },
  },
  {
    operation: "sweep",
    what: "so many due schedules",
    batches: each,
    prepare: async (scene) => {
      await dueSchedules(scene);
      return () => scene.store.sweep({ max: 1_000 });
    },
  },
  {
    operation: "listSchedules",
    what: "so many",
    batches: each,
    prepare: async (scene) => {
      await dueSchedules(scene);
      return () => scene.store.listSchedules({ max: 1_000 });
    },
  },
];
