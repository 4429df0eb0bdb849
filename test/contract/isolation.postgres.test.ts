import { beforeEach, describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import { define, done, enqueue, startWorker } from "../support/builders";
import { useContention } from "../support/use-contention";

/* In a database whose default is another isolation level: a call that waited for a row goes on with what its holder wrote. */

const scene = useContention();

describe.each(["repeatable read", "serializable"])("a database whose default is %s", (level) => {
  let store: TaskStore;

  beforeEach(async () => {
    const { pathname } = new URL(scene.url);
    await scene.client.query(
      `alter database "${pathname.slice(1)}" set default_transaction_isolation = '${level}'`,
    );
    store = scene.openStore(8);
  });

  test("a database with another default isolation takes calls that change things", async () => {
    const name = await define(store, { limit: 2 });
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    expect(await store.completeTask({ executionId: worker.executionId, ...done(task) })).toEqual(
      expect.objectContaining({ status: "done" }),
    );
  });

  test("a database with another default isolation lets calls that change the same rows at the same time succeed", async () => {
    const name = await define(store, { limit: 8, prefetchMax: 0 });
    await enqueue(store, name, 80);
    const work = async (): Promise<number> => {
      const worker = await startWorker(store, name, { want: 1 });
      let count = 0;
      for (let turn = 0; turn < 10; turn += 1) {
        const [task] = await worker.claim(1);
        if (task === undefined) continue;
        await store.completeTask({ executionId: worker.executionId, ...done(task) });
        count += 1;
      }
      return count;
    };
    const counts = await Promise.all(Array.from({ length: 8 }, work));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(80);
  });
});
