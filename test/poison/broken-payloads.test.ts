import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { z } from "zod";
import { asTaskId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import { defineTask } from "../../shared/worker/define/define-task";
import { taskRequest } from "../../shared/worker/define/task-ref";
import { openPlainStore } from "../support/postgres-setup";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { factsOf, openWorkerBench } from "../unit/worker/worker-bench";

/*
 * An operator sets a payload right in SQL, by hand, and gets it wrong. A claim brings the payloads of all its tasks in one text,
 * so one that is no JSON spoils those of its neighbours: they run all the same, and the broken one ends dead with a reason.
 */

let url = "";
let store: TaskStore;
let drop = async (): Promise<void> => undefined;

beforeAll(async () => {
  const database = await createTestDatabase();
  ({ url, drop } = database);
  store = openPlainStore(url, 4);
});

afterAll(async () => {
  await store.close();
  await drop();
});

const setPayload = (table: "task" | "archive", taskId: string, payload: string) =>
  withClient(url, (client) =>
    client.query(`update taskgate.${table} set payload = $1 where task_id = $2`, [payload, taskId]),
  );

const broken = [
  ["cut", '{"n":'],
  ["two values", "{},{}"],
  ["a number", "7"],
  ["a text", '"seven"'],
  ["blank", ""],
] as const;

test.each(broken)(
  "a payload that became %s by hand ends its own task, and its neighbours run with theirs",
  async (what, text) => {
    const seen: { n: number }[] = [];
    const name = `broken ${what}`.replaceAll(" ", "-");
    const task = defineTask({
      name,
      limit: 8,
      input: z.object({ n: z.number() }),
      run: async (payload) => {
        seen.push(payload);
      },
    });
    const bench = openWorkerBench([task], { store });
    const added = await bench.client.enqueueAll([1, 2, 3, 4].map((n) => taskRequest(task, { n })));
    const ids = added.map(({ taskId }) => taskId);
    const [, second = ""] = ids;
    await setPayload("task", second, text);
    await bench.work(name);
    expect(seen.toSorted((a, b) => a.n - b.n)).toEqual([{ n: 1 }, { n: 3 }, { n: 4 }]);
    const facts = await factsOf(bench, second);
    expect(facts).toMatchObject({ state: "dead", failedCount: 1 });
    expect(facts.error).toBe(
      `the payload in the database was changed by another hand: expected a JSON object or array, got another text of ${String(text.length)} characters. Set it right in the archive, then redrive the task`,
    );
    expect(bench.lines.filter(({ level }) => level === "error")).toMatchObject([
      {
        message: "a task is dead",
        fields: {
          taskId: second,
          error: "the payload in the database was changed by another hand",
        },
      },
    ]);

    // As the reason says.
    await setPayload("archive", second, '{"n":2}');
    await store.redriveTasks({ taskIds: [asTaskId(second)], changedBy: "cli:ada" });
    await bench.work(name);
    expect(seen.at(-1)).toEqual({ n: 2 });
    expect(await factsOf(bench, second)).toMatchObject({ state: "done" });
  },
);
