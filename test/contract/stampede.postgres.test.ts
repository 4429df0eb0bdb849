import { beforeEach, describe, expect, test } from "@jest/globals";
import { StoreConflictError } from "../../shared/core/errors";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  enqueue,
  registration,
  startInput,
  statusOf,
  uniqueName,
  Worker,
} from "../support/builders";
import { useContention } from "../support/use-contention";
import { isWhole } from "../support/whole";

/*
 * A hundred hosts with a connection each, woken at the same moment: they register what each of them knows, ask for
 * tokens, work, and ask again. The stores repeat nothing: a deadlock fails the test. A lock time-out is the
 * answer "busy" of a loaded machine: a hundred connections on two cores may hold one another up for two seconds, and the
 * host makes its call again.
 */
const hosts = 100;
const limit = 4;
const backlog = isWhole ? 1_000 : 400;
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

/** Each row's version and its last lock, by table: any write or row lock changes them. */
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

/** The call's answer; a call that found the rows of its definition taken for over two seconds is made again, as hosts do. */
async function patiently<Result>(call: () => Promise<Result>): Promise<Result> {
  for (;;)
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreConflictError && error.details["isLockTimeout"] === true))
        throw error;
    }
}

/** The answer to one host's ask for tokens. */
const ask = (store: TaskStore, name: string, worker?: string) =>
  patiently(() => store.startExecution(startInput(name, worker === undefined ? {} : { worker })));

describe("a hundred hosts at once", () => {
  test("a hundred hosts register once and are granted what the limit says, and a denied one writes and locks nothing", async () => {
    const name = uniqueName();
    const registered = await all((store) =>
      patiently(() => store.registerDefinition(registration({ name, settings: { limit } }))),
    );
    expect(registered.filter(({ status }) => status === "created")).toHaveLength(1);
    const [first] = stores;
    if (first === undefined) throw new Error("a store expected");
    await enqueue(first, name, backlog);

    const started = await all((store) => ask(store, name));
    const granted = started.filter(({ status }) => status === "started");
    expect(granted).toHaveLength(limit);
    expect(started.filter(({ status }) => status === "limited")).toHaveLength(hosts - limit);

    const before = await rowVersions();
    const denied = await all(async (store) => (await ask(store, name)).status);
    expect(denied).toEqual(stores.map(() => "limited"));
    expect(await rowVersions()).toEqual(before);

    await all(async (store, index) => {
      const answer = started[index];
      if (answer?.executionId == null) return;
      const worker = new Worker(store, answer.executionId, answer);
      for (let held = await patiently(() => worker.claim(1)); held.length > 0;) {
        await patiently(() => worker.beat());
        const done = held;
        held = (await patiently(() => worker.complete(done, 1))).claimed;
      }
      await patiently(() => worker.finish());
    });
    expect(await statusOf(first, name)).toMatchObject({ done: backlog, ready: 0, held: 0 });
    await scene.client.query("select pg_stat_clear_snapshot()");
    expect(await scene.countDeadlocks()).toBe(0);
  }, 60_000);

  test("a hundred hosts find one that holds all: one denial is noted, the others write and lock nothing", async () => {
    const name = uniqueName();
    const [first] = stores;
    if (first === undefined) throw new Error("a store expected");
    await first.registerDefinition(registration({ name, settings: { limit } }));
    await first.startExecution(startInput(name, { worker: "holder", want: limit }));
    const before = await rowVersions();
    const asked = await all((store, index) => ask(store, name, `host-${String(index)}`));
    expect(asked.map(({ status }) => status)).toEqual(stores.map(() => "limited"));
    // A hundred may take longer than a second: then another one is noted.
    expect(asked.filter(({ demand }) => demand === "noted").length).toBeGreaterThanOrEqual(1);
    const after = await rowVersions();
    expect(after.get("token_demand")).not.toBe(before.get("token_demand"));
    for (const table of tables)
      if (table !== "token_demand")
        expect([table, after.get(table)]).toEqual([table, before.get(table)]);
  }, 60_000);

  test("a hundred hosts that come and go for a while never hold more tokens than the limit, and each gets its turn", async () => {
    const name = uniqueName();
    const [first] = stores;
    if (first === undefined) throw new Error("a store expected");
    await first.registerDefinition(registration({ name, settings: { limit } }));
    await all(async (store, index) => {
      for (let turns = 0; turns < (isWhole ? 2 : 1);) {
        const { executionId } = await ask(store, name);
        if (executionId === null) {
          await new Promise((resolve) => setTimeout(resolve, 5 + (index % 10)));
          continue;
        }
        await scene.note(["held"], 1);
        await patiently(() => store.heartbeat({ executions: [{ executionId, started: [] }] }));
        await scene.note(["held"], -1);
        await patiently(() => store.finishExecution({ executionId }));
        turns += 1;
      }
    });
    const max = (await scene.mostInUse()).get("held") ?? 0;
    expect(max).toBeGreaterThan(1);
    expect(max).toBeLessThanOrEqual(limit);
    await scene.client.query("select pg_stat_clear_snapshot()");
    expect(await scene.countDeadlocks()).toBe(0);
  }, 60_000);
});
