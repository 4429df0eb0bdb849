import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { Client } from "pg";
import { nodeTimers } from "../../shared/platform/node-timers";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskListener } from "../../shared/ports/task-listener";
import { openListener, openStore } from "../../shared/store/open-store";
import { notifyStatement } from "../../shared/store/postgres/postgres-waiting";
import { until } from "../support/gate";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";

/* Goal: of the processes that wait only those wake that a notification is meant for, whatever definitions they wait for. */

/** How many notifications the connections of this process have had. */
let notifications = (): number => 0;
let restore = (): void => undefined;

beforeAll(() => {
  const spy = jest.spyOn(Client.prototype, "emit");
  notifications = () => spy.mock.calls.filter(([event]) => event === "notification").length;
  restore = () => {
    spy.mockRestore();
  };
});
afterAll(() => {
  restore();
});

async function openScene() {
  const database = await createTestDatabase();
  const url = urlAs(database.url, "worker");
  const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  const listeners: TaskListener[] = [];
  const news: string[] = [];
  return {
    news,
    /** A process that listens, and waits for nothing yet. */
    listen: async (label: string): Promise<TaskListener> => {
      const listener = openListener({
        url,
        timers: nodeTimers,
        events: {
          onNews: (definition) => news.push(`${label} ${definition}`),
          onListening: () => undefined,
          onTrouble: () => undefined,
        },
      });
      if (listener === null) throw new Error("the database has no notifications");
      listeners.push(listener);
      await until("it listens", async () => listener.isListening);
      return listener;
    },
    notify: (definition: string, tasks: number): Promise<number> => {
      if (store.notifyWaiting === undefined) throw new Error("it can't notify");
      return store.notifyWaiting(definition, tasks);
    },
    /** Looks for processes, and ends only when the returned function is called. */
    lookSlowly: async (definition: string): Promise<() => Promise<void>> => {
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query("begin");
      const { text, values } = notifyStatement({ schema: "taskgate", definition }, 64);
      await client.query(text, values);
      return async () => {
        await client.query("rollback");
        await client.end();
      };
    },
    close: async () => {
      for (const listener of listeners) await listener.close();
      await store.close();
      await database.drop();
    },
  };
}

test("a notification of one task wakes one of the processes that wait, and reaches no other", async () => {
  const scene = await openScene();
  for (const label of ["a", "b", "c", "d"]) await (await scene.listen(label)).wait("mail");
  const before = notifications();
  for (let task = 1; task <= 5; task += 1) {
    expect(await scene.notify("mail", 1)).toBe(1);
    await until("one has heard of it", async () => scene.news.length === task);
  }
  await sleep(100);
  expect(scene.news).toHaveLength(5);
  expect(notifications() - before).toBe(5);
  expect(await scene.notify("mail", 9)).toBe(4);
  await until("all have heard", async () => scene.news.length === 9);
  expect([...new Set(scene.news.slice(5))].sort()).toEqual([
    "a mail",
    "b mail",
    "c mail",
    "d mail",
  ]);
  await scene.close();
});

test("a notification finds the process that waits while others are looking for one, too", async () => {
  const scene = await openScene();
  await (await scene.listen("a")).wait("mail");
  const ends = [await scene.lookSlowly("mail"), await scene.lookSlowly("mail")];
  for (let task = 1; task <= 20; task += 1) {
    expect(await scene.notify("mail", 1)).toBe(1);
    await until("it has heard of it", async () => scene.news.length === task);
  }
  for (const end of ends) await end();
  await scene.close();
});

test("a process that waits for several definitions has one place in all of them, and hears of each", async () => {
  const scene = await openScene();
  const [a, b] = [await scene.listen("a"), await scene.listen("b")];
  await a.wait("mail");
  await b.wait("mail");
  // First come, first served would give b the place of a.
  await b.wait("push");
  await a.wait("push");
  const before = notifications();
  expect(await scene.notify("push", 2)).toBe(2);
  await until("both have heard", async () => scene.news.length === 2);
  await sleep(100);
  expect(notifications() - before).toBe(2);
  a.stopWaiting("push");
  await until("its place is free", async () => (await scene.notify("push", 2)) === 1);
  await until("the other one has heard", async () => scene.news.length >= 3);
  expect(new Set(scene.news.slice(2))).toEqual(new Set(["b push"]));
  await a.wait("push");
  expect(await scene.notify("push", 2)).toBe(2);
  await scene.close();
});
