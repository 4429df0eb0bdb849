import { describe, expect, test } from "@jest/globals";
import { readStop, resumeAll, stopAll } from "../../../shared/admin/stop-actions";
import { StoreConflictError } from "../../../shared/core/errors";
import { nodeTimers } from "../../../shared/platform/node-timers";
import { realRandom } from "../../../shared/platform/real-clock";
import type { TaskStore } from "../../../shared/ports/task-store";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { schedule, setAll } from "../../contract/schedule-builders";
import { define, statusOf } from "../../support/builders";
import { overriding } from "../worker/worker-bench";

const ada = { changedBy: "ada", reason: "the partner is down" };
const tools = { wakeUp: { hint: () => Promise.resolve() }, timers: nodeTimers };

function openStore(): TaskStore {
  return new MemoryTaskStore({ clock: { now: () => Date.now() }, random: realRandom });
}

describe("a stop of everything", () => {
  test("a stop of everything pauses more definitions and schedules than one call lists, and its end resumes all of them", async () => {
    const store = openStore();
    for (let number = 0; number < 1_003; number += 1) await define(store, {}, `d${String(number)}`);
    const many = Array.from({ length: 100 }, (_, number) => schedule({ name: String(number) }));
    for (let number = 0; number < 11; number += 1) await setAll(store, `d${String(number)}`, many);
    const stopped = await stopAll({ store, ...tools }, ada);
    expect([stopped.definitions.length, stopped.schedules.length]).toEqual([1_003, 1_100]);
    expect(await readStop({ store, ...tools })).toMatchObject({ by: "ada", reason: ada.reason });
    const resumed = await resumeAll({ store, ...tools }, ada);
    expect([resumed.definitions.length, resumed.schedules.length]).toEqual([1_003, 1_100]);
    expect(resumed.left).toEqual([]);
    expect(await readStop({ store, ...tools })).toBeNull();
    expect((await statusOf(store, "d1002")).paused).toBe(false);
  });

  test("a stop of everything is on where nothing is registered yet, and its end resumes those that came meanwhile", async () => {
    const store = openStore();
    expect(await stopAll({ store, ...tools }, ada)).toEqual({
      definitions: [],
      schedules: [],
      left: [],
    });
    expect(await readStop({ store, ...tools })).toMatchObject({ by: "ada", definitions: [] });
    await define(store, {}, "later");
    await setAll(store, "later", [schedule()]);
    expect((await statusOf(store, "later")).paused).toBe(true);
    expect(await resumeAll({ store, ...tools }, ada)).toEqual({
      definitions: ["later"],
      schedules: [{ definition: "later", name: "nightly" }],
      left: [],
    });
  });

  test("a stop of everything names a definition that is locked, and does not try it for ever", async () => {
    const store = openStore();
    await define(store, {}, "free");
    await define(store, {}, "locked");
    await stopAll({ store, ...tools }, ada);
    const blocking = overriding(store, {
      resumeDefinition: (input) =>
        input.name === "locked"
          ? Promise.reject(new StoreConflictError("locked for too long"))
          : store.resumeDefinition(input),
    });
    const resumed = await resumeAll({ store: blocking, ...tools }, ada);
    expect(resumed).toMatchObject({ definitions: ["free"], left: ["locked"] });
    expect(await readStop({ store, ...tools })).toMatchObject({ definitions: ["locked"] });
    expect((await resumeAll({ store, ...tools }, ada)).definitions).toEqual(["locked"]);
  });

  test("a stop of everything is not held up by definitions that never answer", async () => {
    const store = openStore();
    const names = Array.from({ length: 12 }, (_, number) => `d${String(number)}`).sort();
    const last = names[11] ?? "";
    for (const name of names) await define(store, {}, name);
    const silent = overriding(store, {
      pauseDefinition: (input) =>
        input.name === last ? store.pauseDefinition(input) : new Promise(() => undefined),
    });
    const waits: number[] = [];
    const after: typeof nodeTimers.after = (ms, callback) => {
      waits.push(ms);
      return nodeTimers.after(ms, callback);
    };
    const timers = { ...nodeTimers, after };
    const stopped = await stopAll({ store: silent, ...tools, timers }, ada);
    // Four are asked at once; those that begin when one of them was late are waited for shortly.
    expect(waits).toEqual([...Array<number>(4).fill(1_250), ...Array<number>(8).fill(250)]);
    expect(stopped.definitions).toEqual([last]);
    expect(stopped.left).toHaveLength(11);
    expect([...stopped.left, last].sort()).toEqual(names);
  });
});
