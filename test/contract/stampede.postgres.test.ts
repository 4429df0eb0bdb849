import { beforeEach, describe, expect, test } from "@jest/globals";
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
 * tokens, work, and ask again. The stores repeat nothing: a deadlock or a lock time-out fails the test.
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

/** Moves with the first write or row lock of anybody. */
async function nextTransactionId(): Promise<string> {
  const { rows } = await scene.client.query<{ id: string }>(
    "select pg_snapshot_xmax(pg_current_snapshot())::text as id",
  );
  return rows[0]?.id ?? "";
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

    const before = await nextTransactionId();
    const denied = await all(
      async (store) => (await store.startExecution(startInput(name))).status,
    );
    expect(denied).toEqual(stores.map(() => "limited"));
    expect(await nextTransactionId()).toBe(before);

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

  test("come and go for a while: never more tokens than the limit, and everybody's turn comes", async () => {
    const name = uniqueName();
    const [first] = stores;
    if (first === undefined) throw new Error("a store expected");
    await first.registerDefinition(registration({ name, settings: { limit } }));
    await all(async (store, index) => {
      for (let turns = 0; turns < 2;) {
        const { executionId } = await store.startExecution(startInput(name));
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
