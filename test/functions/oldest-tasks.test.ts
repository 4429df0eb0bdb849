import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../shared/core/ids";
import { readOldest, renderOldest } from "../../shared/cli/oldest-tasks";
import { enqueue } from "../support/builders";
import { withClient } from "../support/test-postgres";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: `taskgate tasks NAME --oldest` shows what has waited longest, and says what it compared.
let api: ApiSetup;
beforeAll(async () => {
  api = await setupApi();
}, 60_000);
afterAll(() => api.close());

/** As if these tasks had been enqueued so many minutes ago. */
async function age(minutes: Readonly<Record<string, number>>): Promise<void> {
  await withClient(api.ownerUrl, async (client) => {
    for (const [task, count] of Object.entries(minutes))
      await client.query(
        "update taskgate.task set created_at = created_at - $2 * interval '1 min' where task_id = $1",
        [task, count],
      );
  });
}

describe("the oldest ready tasks", () => {
  test("the oldest ready tasks stand with their ages under all priorities", async () => {
    await api.register("few");
    const [low = "", first = "", second = ""] = await enqueue(api.store, "few", [
      { priority: 500 },
      { priority: 1 },
      { priority: 1 },
    ]);
    await enqueue(api.store, "few", [{ runInMs: 3_600_000 }]);
    await age({ [low]: 90, [second]: 10 });
    const { code, out } = await api.taskgate("tasks", "few", "--oldest");
    expect(code).toBe(0);
    const rows = out.split("\n").map((line) => line.trim().split(/ {2,}/).slice(0, 2));
    expect(rows).toEqual([
      ["TASK", "AGE"],
      [low, "1 h 30 min"],
      [second, expect.stringMatching(/^10 min/)],
      [first, expect.stringMatching(/^\d+ m?s$/)],
    ]);
    const json: unknown = JSON.parse(
      (await api.taskgate("tasks", "few", "--oldest", "-n", "1", "--json")).out,
    );
    expect(json).toMatchObject({
      tasks: [{ task: low, priority: 500, state: "ready", ageMs: expect.any(Number) }],
      more: true,
      isWhole: true,
    });
    expect((await api.taskgate("tasks", "few", "--oldest", "-n", "1")).out).toMatch(
      /\n\nThe 1 oldest; --max N shows more\.$/,
    );
  });

  test("the oldest of more than 1,000 ready tasks is one of those that start next, and of the first 100 of each priority", async () => {
    await api.register("many");
    await enqueue(api.store, "many", 1_000);
    const [last = ""] = await enqueue(api.store, "many", [{ priority: 900 }]);
    await age({ [last]: 30 });
    const { out } = await api.taskgate("tasks", "many", "--oldest", "-n", "3");
    expect(out).toMatch(new RegExp(`^TASK .*\\n *${last} +30 min .*900`));
    expect(out).toMatch(
      /Of the 1000 that start next and the oldest of the first 100 of each priority/,
    );
  });

  test("the oldest of no ready tasks is said to be none", async () => {
    await api.register("none");
    expect((await api.taskgate("tasks", "none", "--oldest")).out).toBe("No task of none is ready.");
  });

  test("a task without a clock to compare with has no age", async () => {
    const row = {
      task: asTaskId("1"),
      kind: "k",
      priority: 1,
      state: "ready",
      worker: null,
    } as const;
    const task = {
      ...row,
      createdAt: "2026-01-01T00:00:00Z",
      failedCount: 0,
      lostCount: 0,
      error: null,
    };
    const admin = {
      ...api.admin,
      pace: () => Promise.resolve({ oldestReady: null } as never),
      tasks: () => Promise.resolve({ tasks: [task], lookedAt: 1, next: null, stoppedAt: null }),
    };
    const oldest = await readOldest(admin, "k", 10);
    expect(oldest.tasks[0]?.ageMs).toBeNull();
    expect(renderOldest(oldest, { columns: null })).toMatch(/\n {3}1 +- +k/);
  });
});
