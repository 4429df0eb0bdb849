import { expect, test } from "@jest/globals";
import { dueRuns } from "../../shared/core/cron";
import { define } from "../support/builders";
import { useContention } from "../support/use-contention";
import type { TaskStore } from "../../shared/ports/task-store";
import { minutesAfter, schedule, setAll } from "./schedule-builders";

// Goal: one task per due instant for any number of sweepers, on real connections. Evidence: payloads of all tasks.
const scene = useContention();

const sweepers = 6;
const schedules = 5;
const minutes = 20;

/** Sweeps and fires until nothing is due, as functions do, in small slices. */
async function sweepAway(store: TaskStore): Promise<{ fired: number; stale: number }> {
  const counts = { fired: 0, stale: 0 };
  for (;;) {
    const { schedules: due } = await store.sweep({ max: 100 });
    if (due.length === 0) return counts;
    for (const { id, runAt, inMs, ...rest } of due) {
      const dueAt = new Date(runAt);
      const now = new Date(Math.min(dueAt.getTime() - inMs, dueAt.getTime() + 3 * 60_000));
      const runs = dueRuns(rest, { dueAt, now });
      const answer = await store.fireSchedule({ scheduleId: id, expectedRunAt: dueAt, ...runs });
      if (answer.status === "fired") counts.fired += 1;
      else counts.stale += 1;
    }
  }
}

test("many sweepers and deployments at once fire each instant once", async () => {
  const store = scene.openStore(2);
  const name = await define(store);
  const { now } = await store.listSchedules({ max: 1 });
  const first = minutesAfter(new Date(Math.floor(now.getTime() / 60_000) * 60_000), -minutes);
  const list = Array.from({ length: schedules }, (_, n) =>
    schedule({
      name: `s ${String(n)}`,
      cron: "* * * * *",
      timeZone: "UTC",
      missed: "all",
      nextRunAt: first,
    }),
  );
  await setAll(store, name, list);
  const workers = Array.from({ length: sweepers }, () => sweepAway(scene.openStore(1)));
  const over = new AbortController();
  const disturbing = (async () => {
    for (let turn = 1; !over.signal.aborted; turn += 1) {
      const payload = JSON.stringify({ turn });
      await setAll(
        store,
        name,
        list.map((one) => ({ ...one, payload })),
      );
    }
  })();
  const counts = await Promise.all(workers);
  over.abort();
  await disturbing;
  const { rows } = await scene.client.query<{ at: string; n: string }>(
    "select payload::json ->> 'scheduledFor' as at, count(*) as n from taskgate.task group by 1 order by 1",
  );
  const stale = counts.reduce((sum, one) => sum + one.stale, 0);
  const found = `${String(stale)} came second`;
  expect([found, rows.map((row) => Number(row.n))]).toEqual([found, rows.map(() => schedules)]);
  expect(rows.length).toBeGreaterThanOrEqual(minutes);
  expect(rows[0]?.at).toBe(first.toISOString());
  expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
}, 120_000);
