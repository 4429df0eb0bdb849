import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { taskRef } from "../../shared";
import type { TaskKind } from "../../shared";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import { statusOf } from "../support/builders";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { openGuideScene } from "./guide-scene";
import type { GuideScene } from "./guide-scene";
import { loadBlock, pasteSql, testBlocksRan } from "./run-blocks";

/* Goal: tasks of the guides run as pasted by a worker on PostgreSQL, and do what the guide says of them. */
const writeATask = "docs/guides/write-a-task.md";
const versions = "docs/guides/versions.md";
const ownTables = "docs/guides/own-tables.md";
let scene: GuideScene;

beforeAll(async () => {
  scene = await openGuideScene(
    "create schema shop; create table shop.booking (order_id text primary key, amount int)",
  );
}, 60_000);
afterAll(() => scene.close());

describe("write a task", () => {
  const image = Buffer.alloc(1_234);
  const asked: string[] = [];
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end(image);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/image`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test("the first task fetches its address, and its result is the size of the image", async () => {
    const { resizeImage } = await loadBlock<{ resizeImage: TaskKind<{ url: string }> }>([
      writeATask,
      "first-task",
    ]);
    const { client, work } = openWorkerBench([resizeImage], { store: scene.store });
    const { taskId } = await client.enqueue(resizeImage, { url });
    await work("resize-image");
    expect(await client.waitFor(resizeImage, taskId)).toMatchObject({ result: { bytes: 1_234 } });
    expect(await statusOf(scene.store, "resize-image")).toMatchObject({ limit: 4, done: 1 });
  });

  test("the schema refuses a payload, and gives the handler its default", async () => {
    const { resizeImage } = await loadBlock<{
      resizeImage: TaskKind<{ url: string; width?: number }>;
    }>([writeATask, "schema"]);
    // The next build: the same name has other settings.
    const bench = openWorkerBench([resizeImage], { store: scene.store, build: 2 });
    const wrong = { url, width: "wide" } as never;
    await expect(bench.client.enqueue(resizeImage, wrong)).rejects.toThrow("(width: ");
    const { taskId } = await bench.client.enqueue(resizeImage, { url });
    await bench.work("resize-image");
    const { result } = await bench.client.waitFor(resizeImage, taskId);
    expect([result, asked.at(-1)]).toEqual([{ bytes: 1_234 }, "/image?width=200"]);
  });
});

test("payloads of versions 1 and 2 are upgraded by the page's steps before version 3 runs them", async () => {
  const { greet } = await loadBlock<{
    greet: TaskKind<{ name: string; language: string }, { text: string }>;
  }>([versions, "upgrade"]);
  const { client, work } = openWorkerBench([greet], { store: scene.store });
  const first = taskRef<{ who: string }>({ name: "greet" });
  const second = taskRef<{ name: string }>({ name: "greet", version: 2 });
  await work("greet");
  const tasks = [
    await client.enqueue(first, { who: "Ada" }),
    await client.enqueue(second, { name: "Bob" }),
    await client.enqueue(greet, { name: "Cem", language: "de" }),
  ];
  await work("greet");
  const ends = await Promise.all(tasks.map(({ taskId }) => client.waitFor(greet, taskId)));
  expect(ends.map(({ result }) => result?.text)).toEqual(["Hello Ada", "Hello Bob", "Hallo Cem"]);
});

describe("tables of your own", () => {
  test("bookOrder writes its row together with its end, once the app's login has the rights of the page", async () => {
    const { bookOrder } = await loadBlock<{
      bookOrder: TaskKind<{ order: string; amount: number }>;
    }>([ownTables, "book-order"]);
    // Logins belong to the whole server.
    const login = `app_${randomBytes(4).toString("hex")}`;
    await scene.query(
      `create role ${login} login password 'secret'; grant taskgate_worker to ${login}`,
    );
    const url = new URL(scene.url);
    url.username = login;
    url.password = "secret";
    const parts = { connectionsMax: 3, random: realRandom, sleep };
    const store = openStore({ url: url.toString(), ...parts });
    try {
      const { client, work } = openWorkerBench([bookOrder], { store });
      const { taskId } = await client.enqueue(bookOrder, { order: "17", amount: 5 });
      await work("book-order");
      expect(await client.tasks.read(taskId)).toMatchObject({
        ...{ state: "scheduled", failedCount: 1, error: expect.stringContaining("permission") },
      });
      await pasteSql([ownTables, "own-rights"], (text) =>
        scene.query(text.replaceAll("to app", `to ${login}`)),
      );
      await client.enqueue(bookOrder, { order: "18", amount: 6 });
      await work("book-order");
      expect(await scene.query("select * from shop.booking")).toEqual([
        { order_id: "18", amount: 6 },
      ]);
      expect(await statusOf(scene.store, "book-order")).toMatchObject({ done: 1 });
    } finally {
      await store.close();
      await scene.query(`drop owned by ${login}; drop role ${login}`);
    }
  });
});

testBlocksRan([
  [writeATask, "first-task"],
  [writeATask, "schema"],
  [versions, "upgrade"],
  [ownTables, "book-order"],
  [ownTables, "own-rights"],
]);
