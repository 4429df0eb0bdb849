import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { addAirports } from "../../functions/tasks/flights/flight-store";
import { importFlights } from "../../functions/tasks/flights/import-flights";
import { sample } from "../../functions/tasks/flights/local-sample";
import { tasks } from "../../functions/tasks";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { only, startWorker } from "../support/builders";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { openWorkerBench } from "../unit/worker/worker-bench";
import type { WorkerBench } from "../unit/worker/worker-bench";

// Goal: the sample's batch of one file, step by step on PostgreSQL: what a wave waits for, what a bad row and a dead block
// mean for the file, and that a block that is redriven when its file is over is counted after all.
const folder = mkdtempSync(join(tmpdir(), "taskgate-waves-"));
let drop: () => Promise<void>;
let owner: TaskStore;
let store: TaskStore;
let bench: WorkerBench;

beforeAll(async () => {
  const database = await createTestDatabase();
  drop = () => database.drop();
  owner = openStore({ url: database.url, connectionsMax: 1, random: realRandom, sleep });
  await owner.transaction((transaction) => sample.setUp(transaction));
  // As the app is: what the sample's tables need is granted to the worker's role.
  const url = urlAs(database.url, "app");
  store = openStore({ url, connectionsMax: 4, random: realRandom, sleep });
  const facts = { name: "", city: "", state: "", country: "", latitude: 0, longitude: 0 };
  const airports = ["LAX", "SFO"].map((code) => ({ code, ...facts }));
  await store.transaction((transaction) => addAirports(transaction, airports));
  bench = openWorkerBench(tasks, { store });
}, 60_000);
afterAll(async () => {
  await Promise.all([store, owner].map((open) => open.close()));
  await drop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await owner.transaction((transaction) =>
    transaction.query(
      "truncate flights.origin_total, flights.hour_total, flights.route_total, flights.source_file",
    ),
  );
});

const row = {
  date: "2001/02/28 23:59",
  delay: 7,
  distance: 337,
  origin: "LAX",
  destination: "SFO",
};

/** Lands a file of these rows and starts its batch. */
async function land(name: string, rows: readonly unknown[]): Promise<void> {
  const path = join(folder, "landing", name);
  mkdirSync(join(folder, "landing"), { recursive: true });
  const content = JSON.stringify(rows);
  writeFileSync(path, content);
  const sha256 = createHash("sha256").update(content).digest("hex");
  const payload = { eventId: `event of ${name}`, name, path, sha256 };
  await bench.client.enqueue(importFlights, payload);
  await work("import-file");
}

const work = (definition: string) => bench.work(definition, { idleReads: 1, idlePauseMs: 1 });

/** Of each wave the held, unfinished and dead tasks. */
async function wavesOf(name: string): Promise<{ state: string; waves: string[] }> {
  const { batches } = await store.listBatches({ max: 10 });
  const { state, waves } = only(batches.filter((batch) => batch.name === name));
  const describe = (wave: (typeof waves)[number]): string =>
    `${wave.state}: ${[wave.blocked, wave.unfinished, wave.dead].join(" ")}`;
  return { state, waves: waves.map(describe) };
}

async function flightsOf(origin: string): Promise<number> {
  const rows = await store.transaction((transaction) =>
    transaction.query("select flight_count as count from flights.origin_total where origin = $1", [
      origin,
    ]),
  );
  return Number(rows[0]?.["count"] ?? 0);
}

const filesImported = (): Promise<string[]> =>
  store.transaction((transaction) => sample.importedEvents(transaction));

test("the sample runs blocks, then totals, then the file's end; a bad row is dead and halts nothing", async () => {
  const bad = { ...row, origin: "lax" };
  await land("a.json", [row, bad, ...Array.from({ length: 250 }, () => row)]);
  const before = { state: "running", waves: ["open: 0 2 0", "blocked: 0 0 0", "blocked: 1 0 0"] };
  expect(await wavesOf("a.json")).toEqual(before);

  await work("parse-block");
  // One task for the origin of both blocks, one for the bad row.
  expect(await wavesOf("a.json")).toMatchObject({
    waves: ["done: 0 0 0", "open: 0 2 0", "blocked: 1 0 0"],
  });
  expect(await flightsOf("LAX")).toBe(0);

  await work("add-totals");
  expect(await flightsOf("LAX")).toBe(251);
  expect(await filesImported()).toEqual([]);

  await work("check-row");
  expect(await wavesOf("a.json")).toMatchObject({
    waves: ["done: 0 0 0", "done: 0 0 1", "open: 0 1 0"],
  });
  await work("import-file");
  expect((await wavesOf("a.json")).state).toBe("done");
  expect(await filesImported()).toEqual(["event of a.json"]);
});

test("a dead block halts nothing, and is counted when it is redriven after the file's end", async () => {
  await land("b.json", [row, row]);
  const worker = await startWorker(store, "parse-block", { settingsHash: null });
  const block = await worker.claimOne();
  await worker.fail([block], { as: "dead", error: "the partner refuses" });
  await worker.finish();
  await work("import-file");
  expect(await wavesOf("b.json")).toMatchObject({ state: "done" });
  expect(await filesImported()).toEqual(["event of b.json"]);

  await store.redriveTasks({ taskIds: [block.taskId] });
  await work("parse-block");
  await work("add-totals");

  expect(await flightsOf("LAX")).toBe(2);
  expect((await wavesOf("b.json")).state).toBe("done");
});
