import { beforeEach, describe, expect, test } from "@jest/globals";
import { StoreConflictError } from "../../shared/core/errors";
import type { ExecutionId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  enqueue,
  registration,
  startInput,
  statusOf,
  uniqueName,
  Worker,
} from "../support/builders";
import { useContention } from "../support/contention";

/*
 * A hundred hosts with a connection each, woken at the same moment: they register what each of them knows, ask for
 * tokens, work, and ask again. The stores repeat nothing: a deadlock fails the test, and so does a lock time-out wherever a
 * host doesn't expect one (where all of them come and go on a loaded machine, it is the answer "busy": the host asks again).
 */
const hosts = 100;
const limit = 4;
const scene = useContention();
let stores: TaskStore[];

beforeEach(() => {
  stores = Array.from({ length: hosts }, () => scene.openStore(1));
});

const all = <Result>(act: (store: TaskStore, index: number) => Promise<Result>) =>
  Promise.all(stores.map(act));

/** Tables that an ask for tokens may write or lock rows of. */
const tables = [
  "task_definition",
  "task_execution",
  "token_demand",
  "token_gift",
  "rate_bucket",
] as const;

/** Each row's version and its last lock, by table: a write or a row lock of anybody changes them. */
async function rowVersions(): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  for (const table of tables) {
    const { rows } = await scene.client.query<{ text: string | null }>(
      `select string_agg(concat_ws(' ', ctid, xmin, xmax), ',' order by ctid) as text from taskgate.${table}`,
    );
    versions.set(table, rows[0]?.text ?? "");
  }
  return versions;
}

/** The execution that was started; null where the limit, or another host's lock for over two seconds, said no. */
async function askPatiently(store: TaskStore, name: string): Promise<ExecutionId | null> {
  try {
    return (await store.startExecution(startInput(name))).executionId;
  } catch (error) {
    if (error instanceof StoreConflictError && error.details["isLockTimeout"] === true) return null;
    throw error;
  }
}

describe("a hundred hosts at once", () => {
  test("register once, are granted what the limit says, and who is denied writes and locks nothing", async () => {
    const name = uniqueName();
    const registered = await all((store) =>
      store.registerDefinition(registration({ name, settings: { limit } })),
    );
    expect(registered.filter(({ status }) => status === "created")).toHaveLength(1);
    const [first] = stores;
    if (first === undefined) throw new Error("a store expected");
    await enqueue(first, name, 1_000);

    const started = await all((store) => store.startExecution(startInput(name)));
    const granted = started.filter(({ status }) => status === "started");
    expect(granted).toHaveLength(limit);
    expect(started.filter(({ status }) => status === "limited")).toHaveLength(hosts - limit);

    const before = await rowVersions();
    const denied = await all(
      async (store) => (await store.startExecution(startInput(name))).status,
    );
    expect(denied).toEqual(stores.map(() => "limited"));
    expect(await rowVersions()).toEqual(before);

    await all(async (store, index) => {
      const answer = started[index];
      if (answer?.executionId == null) return;
      const worker = new Worker(store, answer.executionId, answer);
      for (let held = await worker.claim(1); held.length > 0;) {
        await worker.beat();
        held = (await worker.complete(held, 1)).claimed;
      }
      await worker.finish();
    });
    expect(await statusOf(first, name)).toMatchObject({ done: 1_000, ready: 0, held: 0 });
    await scene.client.query("select pg_stat_clear_snapshot()");
    expect(await scene.countDeadlocks()).toBe(0);
  }, 60_000);

  test("find one that holds all: one denial is noted, the others write and lock nothing", async () => {
    const name = uniqueName();
    const [first] = stores;
    if (first === undefined) throw new Error("a store expected");
    await first.registerDefinition(registration({ name, settings: { limit } }));
    await first.startExecution(startInput(name, { worker: "holder", want: limit }));
    const before = await rowVersions();
    const asked = await all((store, index) =>
      store.startExecution(startInput(name, { worker: `host-${String(index)}` })),
    );
    expect(asked.map(({ status }) => status)).toEqual(stores.map(() => "limited"));
    // A hundred may take longer than a second: then another one is noted.
    expect(asked.filter(({ demand }) => demand === "noted").length).toBeGreaterThanOrEqual(1);
    const after = await rowVersions();
    expect(after.get("token_demand")).not.toBe(before.get("token_demand"));
    for (const table of tables)
      if (table !== "token_demand")
        expect([table, after.get(table)]).toEqual([table, before.get(table)]);
  }, 60_000);

  test("come and go for a while: never more tokens than the limit, and everybody's turn comes", async () => {
    const name = uniqueName();
    const [first] = stores;
    if (first === undefined) throw new Error("a store expected");
    await first.registerDefinition(registration({ name, settings: { limit } }));
    await all(async (store, index) => {
      for (let turns = 0; turns < 2;) {
        const executionId = await askPatiently(store, name);
        if (executionId === null) {
          await new Promise((resolve) => setTimeout(resolve, 5 + (index % 10)));
          continue;
        }
        await scene.note(["held"], 1);
        await store.heartbeat({ executions: [{ executionId, started: [] }] });
        await scene.note(["held"], -1);
        await store.finishExecution({ executionId });
        turns += 1;
      }
    });
    const most = (await scene.mostInUse()).get("held") ?? 0;
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(limit);
    await scene.client.query("select pg_stat_clear_snapshot()");
    expect(await scene.countDeadlocks()).toBe(0);
  }, 60_000);
});
