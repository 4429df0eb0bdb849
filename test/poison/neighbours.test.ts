import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { realClock, realRandom } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { MemoryTaskStore } from "../../shared/testing/memory-store/memory-task-store";
import { openPlainStore } from "../support/postgres-setup";
import { createTestDatabase } from "../support/test-postgres";
import { badOutcomes } from "./bad-outcomes";
import { neighbourMs, playScene } from "./scene";
import type { SceneEnd } from "./scene";

/*
 * The review's table: five good tasks beside each bad outcome. All scenes of a store run at the same time, each in a definition
 * of its own; the durations are printed. "In the execution that claimed it": one execution claimed it, its handler ran once.
 */

const untouched = { state: "done", attempts: 0, runs: 1, executions: 1 };

let postgres: { store: TaskStore; drop: () => Promise<void> } | undefined;

beforeAll(async () => {
  const { url, drop } = await createTestDatabase();
  postgres = { store: openPlainStore(url, 8), drop };
});

afterAll(async () => {
  await postgres?.store.close();
  await postgres?.drop();
});

describe.each([
  [
    "the store in memory",
    (): TaskStore =>
      new MemoryTaskStore({ clock: { now: () => realClock.nowMs() }, random: realRandom }),
  ],
  [
    "PostgreSQL",
    (): TaskStore => {
      if (postgres === undefined) throw new Error("PostgreSQL isn't there");
      return postgres.store;
    },
  ],
])("on %s", (place, open) => {
  const ends = new Map<string, SceneEnd>();

  beforeAll(async () => {
    const store = open();
    // Eight at a time: as many connections.
    const left = [...badOutcomes];
    const lane = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        ends.set(next.name, await playScene(store, next.name, next));
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    const rows = [...ends].map(
      ([name, { slowestMs }]) => `${String(slowestMs).padStart(6)} ms  ${name}`,
    );
    process.stdout.write(
      `five neighbours of ${String(neighbourMs)} ms on ${place}, the slowest done after\n${rows.join("\n")}\n`,
    );
  });

  test.each(badOutcomes)(
    "a task that $name harms no neighbour and ends with its reason",
    ({ name, reason }) => {
      const end = ends.get(name);
      expect(end?.neighbours).toEqual(Array.from({ length: 5 }, () => untouched));
      expect(end?.culprit.state).toBe(reason === null ? "done" : "dead");
      if (reason !== null) expect(end?.culprit.error).toMatch(reason);
      expect(end?.culprit).toMatchObject({ lostCount: 0 });
    },
  );
});
