import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { InvocationContext } from "@azure/functions";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { EventRoute } from "../../shared";
import { taskgate } from "../../shared/functions";
import type { Gate } from "../../shared/functions";
import type { AnyTaskKind } from "../../shared/worker/define/task-kind";
import { ensureBuilt } from "../functions/built-app";
import { statusOf } from "../support/builders";
import { until } from "../support/gate";
import { openGuideScene } from "./guide-scene";
import type { GuideScene } from "./guide-scene";
import { writeLocalRun } from "./local-run";
import { readBlock } from "./markdown";
import { pasteShell } from "./paste-shell";
import { loadBlock, noteRun, pastedApp, testBlocksRan } from "./run-blocks";

/*
 * Goal: the pipeline of the quickstart makes the totals of its event, from its own table and tasks. The gate runs in this process;
 * test/e2e/pipeline-quickstart.test.ts goes through the page step by step.
 */
const page = "docs/quickstart-pipeline.md";
let scene: GuideScene;
let gate: Gate;

const save = (name: string, text: string): void => {
  writeFileSync(join(pastedApp, name), text);
};

beforeAll(async () => {
  ensureBuilt();
  scene = await openGuideScene();
  writeLocalRun({ databaseUrl: scene.url, queueConnection: scene.azurite.connectionString });
}, 180_000);
afterAll(async () => {
  await gate.end();
  await scene.close();
});

test("the event of the page becomes one batch, whose second wave sums each region up once", async () => {
  save("sales.sql", readBlock(page, "pipeline-table").text);
  await pasteShell([page, "pipeline-create"]);
  noteRun([page, "pipeline-table"]);
  await scene.query("grant all on sale, region_total to public");
  const { salesRoute, ...kinds } = await loadBlock<
    { salesRoute: EventRoute } & Record<
      "importSales" | "startSales" | "loadSales" | "sumRegion",
      AnyTaskKind
    >
  >([page, "pipeline-tasks"]);
  const { importSales, startSales, loadSales, sumRegion } = kinds;
  gate = taskgate({
    tasks: [importSales, startSales, loadSales, sumRegion],
    events: [salesRoute],
  });
  save("event.json", readBlock(page, "pipeline-event").text);
  const queue = scene.queue("taskgate-ingest");
  await queue.createIfNotExists();
  // An event that is sent again changes nothing.
  for (let times = 1; times <= 2; times += 1) {
    await pasteShell([page, "pipeline-send"]);
    const [sent] = (await queue.receiveMessages()).receivedMessageItems;
    const event: unknown = JSON.parse(Buffer.from(sent?.messageText ?? "", "base64").toString());
    await gate.ingest.handler(event, new InvocationContext({ functionName: "ingest" }));
  }
  const end = new AbortController();
  const working = gate.work({ signal: end.signal });
  const batches = async (): Promise<unknown[]> => {
    const answer = await scene.store.listBatches({ max: 10 });
    return answer.batches.map(({ name, state }) => [name, state]);
  };
  try {
    await until("the batch is done", async () => JSON.stringify(await batches()).includes("done"));
  } finally {
    end.abort();
    await working;
  }
  expect(await batches()).toEqual([["monday.json", "done"]]);
  expect(await scene.query("select * from region_total order by region")).toEqual([
    { region: "north", amount: "40" },
    { region: "south", amount: "20" },
  ]);
  // Three sales in parts of two; one task per region, though both parts ask for the north.
  expect(await statusOf(scene.store, "load-sales")).toMatchObject({ limit: 4, done: 2 });
  expect(await statusOf(scene.store, "sum-region")).toMatchObject({ limit: 2, done: 2 });
  expect(await pasteShell([page, "pipeline-watch"])).toMatch(
    /monday\.json[^]*sum-region[^]*\n( +\d+ +sum-region .*\n){2}The limit of load-sales is 1, it was 4\./,
  );
});

testBlocksRan([
  [page, "pipeline-create"],
  [page, "pipeline-send"],
  [page, "pipeline-table"],
  [page, "pipeline-tasks"],
  [page, "pipeline-watch"],
]);
