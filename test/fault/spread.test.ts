import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Client } from "pg";
import { asOperationId } from "../../shared/core/ids";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import type { TaskStore } from "../../shared/ports/task-store";
import { defaultSettings } from "../support/builders";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { databaseMs, findViolations, readIntervals } from "./limit-evidence";
import { overlapTables } from "./overlap-log";

/*
 * Goal: three processes that arrive one after the other share a limit of 4 that the first one held alone, and the limit holds
 * meanwhile. Method: real processes whose tasks block them; each arrives with one message and is woken
 * by hints that any of them may fetch; no host polls, no sweep runs. The overlap log is compared with the limit's formula. Nothing
 * is timed: how fast it comes about is measured by the bench.
 */
const name = "busy";
const names = ["host 1", "host 2", "host 3"];
const leaseMs = 10_000;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let client: Client;
let store: TaskStore;
const hosts: ChildProcess[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  client.on("error", () => undefined);
  await client.connect();
  await client.query(overlapTables);
  await client.query(
    `create table hint (entry bigint generated always as identity primary key, definition text not null,
                        visible_at timestamptz not null)`,
  );
  const url = urlAs(database.url, "operator");
  store = openStore({ url, connectionsMax: 2, random: realRandom, sleep });
});

afterEach(async () => {
  for (const host of hosts.splice(0)) host.kill("SIGKILL");
  await store.close();
  await client.end();
  await database.drop();
});

function arrive(host: string): void {
  const register = join(__dirname, "../support/register-swc.cjs");
  const program = join(__dirname, "spread-worker-process.ts");
  const words = [urlAs(database.url, "worker"), host, "log", database.url];
  hosts.push(
    spawn(process.execPath, ["-r", register, program, ...words], {
      stdio: ["ignore", "inherit", "inherit"],
    }),
  );
}

/** What each process holds, in the order of names. */
async function shares(): Promise<number[]> {
  const { rows } = await client.query<{ tokens: number }>(
    `select sum(e.token_count)::int as tokens from taskgate.task_execution e where e.state = 1 and e.token_count > 0
      group by e.worker order by e.worker`,
  );
  return rows.map(({ tokens }) => tokens);
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt += 1) {
    if (await isTrue()) return;
    await sleep(50);
  }
  throw new Error(`not within a minute; shares are ${JSON.stringify(await shares())}`);
}

async function countBegun(): Promise<Map<string, number>> {
  const { rows } = await client.query<{ process: string; count: number }>(
    "select process, count(*)::int as count from overlap group by process",
  );
  return new Map(rows.map(({ process: host, count }) => [host, count]));
}

test("three processes that arrive one by one get a part each of the tokens that the first held, and run their shares (S0.1)", async () => {
  const beforeMs = await databaseMs(client);
  await store.registerDefinition({
    name,
    build: 1,
    settingsHash: "test",
    registeredBy: "test",
    settings: { ...defaultSettings, limit: 4, leaseMs },
  });
  const changes = [{ limit: 4, beforeMs, afterMs: await databaseMs(client) }];
  await store.enqueueTasks({
    name,
    build: 1,
    operationId: asOperationId(realRandom.uuid()),
    // More than three processes can run in all the time given below, twenty a second each.
    tasks: Array.from({ length: 10_000 }, () => ({ payload: "{}" })),
  });
  arrive("host 1");
  await until(async () => (await shares()).join() === "4");
  // How the parts come to be equal is the contract's and the simulation's: here each gets some from the process that had all.
  arrive("host 2");
  await until(async () => (await shares()).length === 2);
  arrive("host 3");
  await until(async () => (await shares()).length === 3);
  const before = await countBegun();
  await until(async () => {
    const begun = await countBegun();
    return names.every((host) => (begun.get(host) ?? 0) - (before.get(host) ?? 0) >= 20);
  });
  const ended = hosts.map((host) => new Promise((resolve) => host.once("exit", resolve)));
  for (const host of hosts) host.kill("SIGTERM");
  await Promise.all(ended);
  expect(findViolations(await readIntervals(client, []), changes)).toEqual([]);
  expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
}, 240_000);
