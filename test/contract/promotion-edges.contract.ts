import { describe, expect } from "@jest/globals";
import { at, define, enqueue, startWorker, stateOf, statusOf } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Promotion steps over groups that somebody has locked: their tasks wait for the next one. */
export function describePromotionEdges(setup: StoreSetup): void {
  describe("a promotion while somebody has locked a group", () => {
    describeLocked(setup);
  });
}

function describeLocked(setup: StoreSetup): void {
  const open = useStore(setup);
  const lock =
    setup.dialect === "mssql"
      ? "UPDATE Taskgate.TaskGroup SET Slots = Slots WHERE GroupKey = N'g'"
      : "update taskgate.task_group set slots = slots where group_key = 'g'";

  testWith(
    setup,
    "raw sql",
    "row locks",
  )(
    "leaves that group's tasks scheduled, and moves the others; next time it moves them, too",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { groupSlots: 3 });
      // Both are there: these hold a slot each.
      await enqueue(store, name, [{ group: "g" }, { group: "h" }]);
      const ids = await enqueue(
        store,
        name,
        [{ group: "g" }, { group: "h" }, { group: "g" }, {}].map((task) => ({
          ...task,
          runInMs: 1_000,
        })),
      );
      await opened.advance(1_001);
      const promoted = await store.transaction(async (transaction) => {
        await transaction.query(lock);
        return (await store.promoteScheduled({ name, most: 10 })).promoted;
      });
      expect(promoted).toBe(2);
      const states = () => Promise.all(ids.map((id) => stateOf(store, id)));
      expect(await states()).toEqual(["scheduled", "ready", "scheduled", "ready"]);
      expect((await store.promoteScheduled({ name, most: 10 })).promoted).toBe(2);
      expect(await states()).toEqual(["ready", "ready", "ready", "ready"]);
    },
  );

  testWith(
    setup,
    "raw sql",
    "row locks",
  )("leaves a strict group's retry scheduled as well, whose slot it keeps", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupStrict: true });
    const [strict, other] = await enqueue(store, name, [{ group: "g" }, { group: "h" }]);
    const worker = await startWorker(store, name, { want: 2 });
    await worker.fail(await worker.claim(2), { retryInMs: 1_000 });
    await opened.advance(1_001);
    const promoted = await store.transaction(async (transaction) => {
      await transaction.query(lock);
      return (await store.promoteScheduled({ name, most: 10 })).promoted;
    });
    expect(promoted).toBe(1);
    const ids = [strict, other].flatMap((id) => id ?? []);
    expect(await stateOf(store, at(ids, 0))).toBe("scheduled");
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 1, waiting: 0 });
  });
}
