import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import "../support/node-errors";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { ClaimedTask, TaskStore } from "../../shared/ports/task-store";
import { migrate } from "../../shared/store/migrator";
import type { SchemaScripts } from "../../shared/store/migrator";
import { openStore, postgresScripts } from "../../shared/store/open-store";
import { PostgresCaller } from "../../shared/store/postgres/postgres-caller";
import { withPostgresMigrations } from "../../shared/store/postgres/postgres-migrations";
import type { ProcedureCaller } from "../../shared/store/procedure-caller";
import { createRepeat } from "../../shared/store/repeat";
import { SqlTaskStore } from "../../shared/store/sql-task-store";
import { operations } from "../../shared/store/operations";
import type { AnswerRow } from "../../shared/store/operations/operation";
import { withClient } from "../support/test-postgres";
import { filled } from "../contract/batch-builders";
import { at, enqueue, operationId, registration, startWorker, statusOf } from "../support/builders";
import type { Worker } from "../support/builders";
import { inEmptyDatabase, rowsOf } from "./empty-database";

/*
 * Goal: a database that 0.2.0-pre made and filled is migrated while a worker of that build works, and the newest build goes
 * on beside it with every task. While there is no later migration, both builds are this one.
 */
const releaseLogic = join(__dirname, "fixtures/logic-0.2.0-pre.postgres.sql");

/** The scripts of 0.2.0-pre. The migration is frozen; the functions have to be kept once they may name later columns. */
function releasedScripts(newest: SchemaScripts): SchemaScripts {
  const migrations = newest.migrations.slice(0, 1);
  if (newest.migrations.length === 1) return newest;
  if (!existsSync(releaseLogic)) {
    throw new Error(
      `Expected ${releaseLogic}, as there is a migration after 0.2.0-pre: write the functions and views of that release into it, in the order of the migrator`,
    );
  }
  return {
    migrations,
    logic: { ...newest.logic, checksum: "0.2.0-pre", text: readFileSync(releaseLogic, "utf8") },
  };
}

const apply = (url: string, scripts: SchemaScripts) =>
  withPostgresMigrations({ url }, (target) => migrate(target, scripts, "0.2.0"));

const open = (url: string): TaskStore =>
  openStore({ url, connectionsMax: 4, random: realRandom, sleep });

/** Calls an operation as that build did: it names no parameter that came later. */
async function callThen(
  url: string,
  call: { readonly name: string; readonly values: Readonly<Record<string, unknown>> },
  parameters: readonly (readonly [name: string, ...unknown[]])[],
): Promise<AnswerRow> {
  const names = parameters.map(([name]) => name).filter((name) => !newer.includes(name));
  const marks = names.map((_, index) => `$${String(index + 1)}`).join(", ");
  const { rows } = await withClient(url, (client) =>
    client.query<AnswerRow>(
      `select * from taskgate.${call.name}(${marks})`,
      names.map((name) => call.values[name] ?? null),
    ),
  );
  const toCamelCase = (name: string): string =>
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const members = Object.entries(at(rows, 0)).map(
    ([name, value]) => [toCamelCase(name), value] as const,
  );
  return Object.fromEntries(members);
}

const newer: readonly string[] = [
  "keepPayload",
  "expectedLimit",
  "expectedApp",
  "reason",
  "isChecked",
  "startId",
  "payloads",
];

/** A store as that build had it: its calls know no newer parameter, all of which stand last. */
function openThen(url: string): TaskStore {
  const limits = { connectionsMax: 4, callTimeoutMs: 30_000, connectTimeoutMs: 15_000 };
  const caller = new PostgresCaller({ url, schema: "taskgate", ...limits });
  const then: ProcedureCaller = {
    dialect: caller.dialect,
    call: ({ name, parameters }, values, within) => {
      const known = parameters.filter(([parameter]) => !newer.includes(parameter));
      return caller.call({ name, parameters: known }, values, within);
    },
    completeAndCommit: (values, within) => caller.completeAndCommit(values, within),
    transaction: (body, bounds) => caller.transaction(body, bounds),
    close: () => caller.close(),
  };
  return new SqlTaskStore(then, createRepeat({ random: realRandom, sleep }));
}

async function defineThen(url: string): Promise<string> {
  const { parameters, check, bind } = operations.registerDefinition;
  const settings = { limit: 8, retryBaseMs: 0, retryCapMs: 0 };
  const input = check(registration({ settings }));
  await callThen(url, { name: "register_definition", values: bind(input, false) }, parameters);
  return input.name;
}

async function setLimitThen(url: string, name: string, limit: number): Promise<void> {
  const { parameters, check, bind } = operations.setLimit;
  const input = check({ name, limit, operationId: operationId(), changedBy: "a test" });
  await callThen(url, { name: "set_limit", values: bind(input, false) }, parameters);
}

/** Tasks in every container: ready, claimed, due later, behind a group's only slot, in an open wave and in a blocked one, done, dead. */
async function fill(
  url: string,
  store: TaskStore,
  name: string,
): Promise<{ name: string; worker: Worker; tasks: number }> {
  await enqueue(store, name, 12);
  await enqueue(store, name, [{ group: "g" }, { group: "g" }, { group: "h" }]);
  await enqueue(store, name, [{ runInMs: 300 }, { runInMs: 300, dedupeKey: "k" }]);
  const batch = await filled(store, name, { counts: [2, 3] });
  await store.startBatch({ batchId: batch.batchId, seal: true });
  const worker = await startWorker(store, name, { want: 4 });
  const claimed = await worker.claim(4);
  await worker.fail([at(claimed, 0)], { as: "dead" });
  await worker.fail([at(claimed, 1)]);
  await worker.complete(claimed.slice(2), 2);
  await setLimitThen(url, name, 6);
  return { name, worker, tasks: 12 + 3 + 2 + 5 };
}

/** Completes and claims until `isOver`. */
async function workOn(worker: Worker, first: ClaimedTask[], isOver: () => boolean): Promise<void> {
  let claimed = first;
  while (claimed.length > 0 || !isOver()) {
    claimed = (await worker.complete(claimed, isOver() ? 0 : 3)).claimed;
    await wait(2);
  }
}

test("a database that 0.2.0-pre filled is migrated under its worker, and both builds end all tasks", async () => {
  await inEmptyDatabase(async (url) => {
    const newest = postgresScripts();
    await apply(url, releasedScripts(newest));
    const oldStore = openThen(url);
    const { name, worker, tasks } = await fill(url, oldStore, await defineThen(url));
    let isOver = false;
    const again = await worker.again({ want: 2 });
    const oldWork = workOn(worker, again.claimed, () => isOver);

    const logic = { ...newest.logic, checksum: "renewed in any case" };
    const result = await apply(url, { ...newest, logic });
    const later = newest.migrations.slice(1);
    expect(result).toEqual({
      applied: later.map(
        ({ version, name: what }) => `${String(version).padStart(4, "0")}_${what}`,
      ),
      isLogicRenewed: true,
    });

    const newStore = open(url);
    const newWorker = await startWorker(newStore, name, { want: 2, worker: "newest" });
    const newWork = workOn(newWorker, [], () => isOver);
    for (let tries = 0; tries < 500; tries += 1) {
      const { done, dead } = await statusOf(newStore, name);
      if (done + dead === tasks) break;
      await wait(20);
    }
    isOver = true;
    await Promise.all([oldWork, newWork]);
    await worker.finish();
    await newWorker.finish();

    expect(await statusOf(newStore, name)).toMatchObject({ done: tasks - 1, dead: 1, held: 0 });
    expect((await newStore.checkInvariants()).findings).toEqual([]);
    expect(
      await rowsOf(url, "select version from taskgate.schema_version order by version"),
    ).toEqual(
      [0, ...newest.migrations.map(({ version }) => version)].map((version) => ({ version })),
    );
    await oldStore.close();
    await newStore.close();
  });
}, 60_000);
