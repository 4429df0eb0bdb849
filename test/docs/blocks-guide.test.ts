import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { TaskKind } from "../../shared";
import type { AnyTaskKind } from "../../shared/worker/define/task-kind";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { notingKind, openGuideScene } from "./guide-scene";
import type { GuideScene } from "./guide-scene";
import { loadBlock, testBlocksRan } from "./run-blocks";

/* Goal: the watermarks of the guide run as pasted on PostgreSQL: each row, file and hour comes into a block, and into one. */
const page = "docs/guides/blocks.md";
let scene: GuideScene;

beforeAll(async () => {
  scene = await openGuideScene(`
    create table orders (order_id bigint primary key);
    create table orders_copy (order_id bigint primary key);
    grant all on orders, orders_copy to public`);
}, 60_000);
afterAll(() => scene.close());

/** Payloads of the tasks of a definition that wait, in the order of their ids. */
async function waiting(name: string): Promise<unknown[]> {
  const rows = await scene.query(
    `select t.payload::json as payload from taskgate.task t
     join taskgate.task_definition d using (task_definition_id) where d.name = $1 order by t.task_id`,
    [name],
  );
  return rows.map((row) => (row as { payload: unknown }).payload);
}

test("cutOrders makes blocks of the new orders, and importOrders copies each order once", async () => {
  const { cutOrders, importOrders } = await loadBlock<{
    cutOrders: TaskKind<{ maxId: string }, { watermark: { last: string } }>;
    importOrders: AnyTaskKind;
  }>([page, "import-orders"]);
  const { client, work } = openWorkerBench([cutOrders, importOrders], { store: scene.store });
  const cut = async (maxId: string): Promise<unknown> => {
    const { taskId } = await client.enqueue(cutOrders, { maxId });
    await work("cut-orders");
    return (await client.waitFor(cutOrders, taskId)).result;
  };
  await work("import-orders");
  await scene.query("insert into orders select generate_series(1, 2600)");
  expect(await cut("2500")).toEqual({ watermark: { last: "2500" } });
  expect(await waiting("import-orders")).toEqual([
    { from: "1", to: "1000" },
    { from: "1001", to: "2000" },
    { from: "2001", to: "2500" },
  ]);
  await work("import-orders");
  expect(await scene.query("select count(*)::int as n from orders_copy")).toEqual([{ n: 2_500 }]);
  expect(await cut("2600")).toEqual({ watermark: { last: "2600" } });
  expect(await waiting("import-orders")).toEqual([{ from: "2501", to: "2600" }]);
});

test("cutFiles makes blocks of fifty new names, cutHours one per full hour and the hour before again", async () => {
  const { cutFiles, cutHours } = await loadBlock<{
    cutFiles: (namesAfter: (last: string) => Promise<string[]>) => Promise<void>;
    cutHours: (now: Date) => Promise<void>;
  }>([page, "import-files"]);
  const ran: string[] = [];
  const kinds = ["load-files", "sum-hour"].map((name) => notingKind(name, ran));
  const bench = openWorkerBench(kinds, { store: scene.store });
  for (const name of ["load-files", "sum-hour"]) await bench.work(name);

  const names = Array.from({ length: 120 }, (_, index) => `f${String(1_000 + index)}`);
  const asked: string[] = [];
  const namesAfter = async (last: string): Promise<string[]> => {
    asked.push(last);
    return names.filter((name) => name > last);
  };
  await cutFiles(namesAfter);
  const blocks = (await waiting("load-files")) as { items: string[] }[];
  expect(blocks.map(({ items }) => items.length)).toEqual([50, 50, 20]);
  expect(blocks.flatMap(({ items }) => items)).toEqual(names);
  await cutFiles(namesAfter);
  expect(asked).toEqual(["", "f1119"]);
  expect(await waiting("load-files")).toHaveLength(3);

  const hours = async (): Promise<unknown[]> =>
    ((await waiting("sum-hour")) as { from: string; to: string }[]).map(
      ({ from, to }) => `${from.slice(11, 16)} ${to.slice(11, 16)}`,
    );
  await cutHours(new Date("2026-01-01T02:30:00Z"));
  expect(await hours()).toEqual(["00:00 01:00", "01:00 02:00"]);
  await cutHours(new Date("2026-01-01T03:10:00Z"));
  expect((await hours()).slice(2)).toEqual(["01:00 02:00", "02:00 03:00"]);
});

testBlocksRan([
  [page, "import-orders"],
  [page, "import-files"],
]);
