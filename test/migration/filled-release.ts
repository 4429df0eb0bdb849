import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "@jest/globals";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { ClaimedTask, TaskStore } from "../../shared/ports/task-store";
import type { MigrationResult, SchemaScripts } from "../../shared/store/migrator";
import { operations } from "../../shared/store/operations";
import type { ProcedureCaller } from "../../shared/store/procedure-caller";
import { createRepeat } from "../../shared/store/repeat";
import { SqlTaskStore } from "../../shared/store/sql-task-store";
import { filled } from "../contract/batch-builders";
import { at, enqueue, operationId, registration, startWorker, statusOf } from "../support/builders";
import type { Worker } from "../support/builders";

/*
 * A database that 0.2.0-pre made and filled is migrated while a worker of that build works, and the newest build goes on
 * beside it with every task. While there is no later migration, both builds are this one.
 */

/** The scripts of 0.2.0-pre. The migration is frozen; the logic has to be kept once it may name later columns. */
export function releasedScripts(
  newest: SchemaScripts,
  dialect: "postgres" | "mssql",
): SchemaScripts {
  if (newest.migrations.length === 1) return newest;
  const path = join(__dirname, `fixtures/logic-0.2.0-pre.${dialect}.sql`);
  if (!existsSync(path)) {
    throw new Error(
      `Expected ${path}, as there is a migration after 0.2.0-pre: write the logic of that release into it, in the order of the migrator`,
    );
  }
  return {
    migrations: newest.migrations.slice(0, 1),
    logic: { ...newest.logic, checksum: "0.2.0-pre", text: readFileSync(path, "utf8") },
  };
}

/** Parameters that came later; all of them stand last. */
const newer: readonly string[] = [
  "keepPayload",
  "expectedLimit",
  "expectedApp",
  "reason",
  "isChecked",
  "startId",
  "payloads",
  "needsAll",
];

/** Calls as that build made them: they name no newer parameter. */
function callsThen(caller: ProcedureCaller): ProcedureCaller {
  return {
    dialect: caller.dialect,
    call: ({ name, parameters }, values, within) => {
      const known = parameters.filter(([parameter]) => !newer.includes(parameter));
      return caller.call({ name, parameters: known }, values, within);
    },
    completeAndCommit: (values, within) => caller.completeAndCommit(values, within),
    transaction: (body, bounds) => caller.transaction(body, bounds),
    close: () => caller.close(),
  };
}

/** What that build answered here this one doesn't read. */
async function defineThen(then: ProcedureCaller): Promise<string> {
  const { registerDefinition } = operations;
  const settings = { limit: 8, retryBaseMs: 0, retryCapMs: 0 };
  const input = registerDefinition.check(registration({ settings }));
  await then.call(registerDefinition, registerDefinition.bind(input, false));
  return input.name;
}

async function setLimitThen(then: ProcedureCaller, name: string, limit: number): Promise<void> {
  const { setLimit } = operations;
  const input = setLimit.check({ name, limit, operationId: operationId(), changedBy: "a test" });
  await then.call(setLimit, setLimit.bind(input, false));
}

/** Tasks in every container: ready, claimed, due later, behind a group's only slot, in an open wave and in a blocked one, done, dead. */
async function fill(
  store: TaskStore,
  then: ProcedureCaller,
): Promise<{ name: string; worker: Worker; tasks: number }> {
  const name = await defineThen(then);
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
  await setLimitThen(then, name, 6);
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

/** A database with the scripts of 0.2.0-pre, and what happens to it. */
export interface Release {
  readonly newest: SchemaScripts;
  readonly caller: ProcedureCaller;
  readonly apply: (scripts: SchemaScripts) => Promise<MigrationResult>;
  readonly openNewest: () => TaskStore;
  /** Moves the database's clock on by so many milliseconds, where it stands still. */
  readonly tick?: (ms: number) => void;
}

/** Fills the database, migrates it under its worker, and lets both builds end all tasks. */
export async function migrateFilled({
  newest,
  caller,
  apply,
  openNewest,
  tick,
}: Release): Promise<void> {
  const then = callsThen(caller);
  const oldStore = new SqlTaskStore(then, createRepeat({ random: realRandom, sleep }));
  const { name, worker, tasks } = await fill(oldStore, then);
  let isOver = false;
  const again = await worker.again({ want: 2 });
  const oldWork = workOn(worker, again.claimed, () => isOver);

  const logic = { ...newest.logic, checksum: "renewed in any case" };
  const result = await apply({ ...newest, logic });
  const later = newest.migrations.slice(1);
  expect(result).toEqual({
    applied: later.map(({ version, name: what }) => `${String(version).padStart(4, "0")}_${what}`),
    isLogicRenewed: true,
  });

  const newStore = openNewest();
  const newWorker = await startWorker(newStore, name, { want: 2, worker: "newest" });
  const newWork = workOn(newWorker, [], () => isOver);
  for (let tries = 0; tries < 500; tries += 1) {
    const { done, dead } = await statusOf(newStore, name);
    if (done + dead === tasks) break;
    await wait(20);
    tick?.(20);
  }
  isOver = true;
  await Promise.all([oldWork, newWork]);
  await worker.finish();
  await newWorker.finish();

  expect(await statusOf(newStore, name)).toMatchObject({ done: tasks - 1, dead: 1, held: 0 });
  expect((await newStore.checkInvariants()).findings).toEqual([]);
  await oldStore.close();
  await newStore.close();
}
